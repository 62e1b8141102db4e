"""The lightest words of queries, which may be left out at first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float64s, Int64s, UInt8s, read_only
from deltavec.core.jit import compiled

LIGHT = 0.1  # what the lightest words may add, as a share of all


class NonEssentialTerms(NamedTuple):
    """Which terms of queries may be left out at first, and what those can add at most."""

    terms: UInt8s
    most: Float64s  # (queries,)

    @classmethod
    def of(cls, begins: Int64s, weights: Float64s) -> NonEssentialTerms:
        """The lightest terms of each query, as many as add a tenth of all at most."""
        light = cls(np.zeros(len(weights), np.uint8), np.zeros(len(begins) - 1))
        write_nonessential(begins, weights, light.terms, light.most)
        return cls(read_only(light.terms), read_only(light.most))


@compiled
def write_nonessential(begins: Int64s, weights: Float64s, terms: UInt8s, most: Float64s) -> None:
    """Write the lightest terms and what they add; both are zeros before."""
    for query in range(most.size):
        own = weights[begins[query] : begins[query + 1]]
        total, light = own.sum(), 0.0
        for place in np.argsort(own, kind="mergesort"):
            if light + own[place] > LIGHT * total:
                break
            light += own[place]
            terms[begins[query] + place] = 1
            # n / (n + K) is below 1. Sums of a few dozen numbers are off by less than the rest.
            most[query] = light + 1e-9 * total
