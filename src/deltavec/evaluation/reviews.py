"""Deprecated: moved to `deltavec.paper.reviews.benchmark`; this name goes with the next release."""

from deltavec.paper.reviews.benchmark import review_benchmark

__all__ = ["review_benchmark"]
