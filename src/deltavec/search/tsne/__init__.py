"""t-SNE: two-dimensional coordinates of rows."""
