"""How good vectors are: exact measures, the paper's experiments, baselines and reports."""
