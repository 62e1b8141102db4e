"""``deltavec evaluate``: the paper's experiments on one's own data, one file per command."""
