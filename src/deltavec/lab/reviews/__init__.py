"""The paper's review benchmark (Tables 1 and 3)."""
