"""Text: tokenizer rules, batches of UTF-8 bytes, normalization."""
