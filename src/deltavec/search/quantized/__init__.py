"""int8 scalar quantization with exact rescoring."""
