"""The lab: the experiments of the paper, the choice of parameters on labeled pairs, and reports."""
