"""The parts of ``benchmarks/bench.py``: what is measured, on what, and how it is told."""
