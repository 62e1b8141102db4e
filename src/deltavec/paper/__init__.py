"""The paper's experiments, and what they are compared with."""
