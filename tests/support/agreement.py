"""Whether a matrix of document vectors is the one the reference computes: one check for all.

The laws ask it of the library, and the mutations ask it of methods with a term missing: what
passes in the one place must fail in the other.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from reference import ROUNDING, Embedded, Fitted, Method, embed, fit, words
from support.strategies import Problem

TOLERANCE = 1e-5
"""Between unit vectors, wherever the document's sum is well conditioned."""

# Unit vectors, their product with a weight, that with a share and each sum of these are rounded
# to float32: 2**-24 of their size at most, each in its own direction. Together they come to half
# of this bound in thousands of examples.
EPSILON = 2.0**-23


def disagreements(matrix: npt.NDArray[np.float32], problem: Problem, method: Method) -> list[str]:
    """One line for each text of which the row is not what the reference's method makes of it."""
    documents = [words(text) for text in problem.texts]
    if matrix.shape != (len(documents), problem.matrix.shape[1]):
        return [f"a matrix of shape {matrix.shape} for {len(documents)} documents"]
    fitted = fit([words(text) for text in problem.corpus], problem.vectors, method)
    turn = component_error(fitted)
    found = []
    for actual, document in zip(matrix, documents, strict=True):
        complaint = difference(actual.astype(np.float64), embed(fitted, document), turn)
        if complaint:
            found.append(f"{' '.join(document)!r}: {complaint}")
    return found


def difference(actual: npt.NDArray[np.float64], expected: Embedded, turn: float) -> str:
    """What is wrong with one row, or nothing."""
    if not np.isfinite(actual).all():
        return "not finite"
    length = float(np.linalg.norm(actual))
    if length != 0 and abs(length - 1) > TOLERANCE:
        return f"of length {length}, neither 0 nor 1"
    remaining = float(np.linalg.norm(expected.c))
    if length == 0 or not expected.u.any():
        if (length == 0) == (not expected.u.any()):
            return ""
        # Near the line between rounding and meaning either answer will do; a sum that is zero
        # but for float64 rounding is zero, whatever the conditioning.
        line = ROUNDING * expected.magnitude
        undecided = abs(remaining - line) <= absolute_error(expected, turn)
        if undecided and remaining > 1e-12 * expected.inputs:
            return ""
        return f"{actual} where {expected.u} is expected"
    distance = float(np.linalg.norm(actual - expected.u))
    allowed = max(TOLERANCE, direction_error(expected, turn))
    return "" if distance <= allowed else f"{distance:.2g} off, {allowed:.2g} allowed"


def absolute_error(embedded: Embedded, turn: float) -> float:
    """A bound on the rounding in a document's sum c, when the components may be off by `turn`."""
    return EPSILON * embedded.inputs + turn * embedded.length


def direction_error(embedded: Embedded, turn: float) -> float:
    """A bound on the rounding in u = c / |c|: large where the words cancel each other."""
    return 2 * absolute_error(embedded, turn) / float(np.linalg.norm(embedded.c))


def component_error(fitted: Fitted) -> float:
    """A bound on the sine of the angle between the removed components and the reference's.

    Davis and Kahan (as in Yu, Wang and Samworth 2015): at most 2 |E| / gap, where E is the error
    in the second moment and gap the distance between the smallest eigenvalue that is removed and
    the largest that stays. Without a gap (a tie for the last component) the components are
    anybody's, and so are the vectors.
    """
    if fitted.method.removed == 0:
        return 0.0
    errors = [
        min(1.0, absolute_error(embedded, 0.0) / embedded.length) if embedded.length else 0.0
        for embedded in fitted.corpus
    ]
    # Documents round each in their own direction, so their errors add up as squares do.
    shift = math.hypot(*errors)
    s = [*fitted.singular_values, 0.0]
    removed = len(fitted.components)
    line = ROUNDING * s[0]
    if any(abs(value - line) <= shift for value in s[: fitted.method.removed]):
        return math.inf  # there or not there: rounding decides
    if removed == 0:
        return 0.0
    gap = s[removed - 1] ** 2 - s[removed] ** 2
    return 2 * shift / gap if gap > 0 else math.inf
