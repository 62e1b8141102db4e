"""The paper's benchmark of duplicate questions (Table 2)."""
