"""Which of the paper's findings hold on some results: counts of problems, nothing else.

One function for each finding; a problem that lacks a score or a length is left out of its count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from deltavec.evaluation.results import Problem

# Mean words per document at which the paper saw the order of forms change (section 5).
CENTER_UP_TO = 450
SUM_UP_TO = 300

# The longest problem's documents must be so many times as long as the shortest's before it
# makes sense to ask at which length an order changes.
LENGTHS_DIFFER = 2

VARIANTS = tuple(
    f"{form}{removal}" for form in ("sum", "center", "delta") for removal in ("", "-pca")
)


class Count(NamedTuple):
    """On how many problems something held, of those that could tell."""

    held: int
    problems: int

    def __str__(self) -> str:
        return f"{self.held} of {self.problems}" if self.problems else "no such problems"


class Finding(NamedTuple):
    """A finding of the paper, and on how many problems it held.

    Attributes
    ----------
    claim : str
        What the paper found.
    counted : Count
        The problems on which it held.
    note : str
        What else there is to say; may be empty.
    """

    claim: str
    counted: Count
    note: str


Problems = Sequence[Problem]


def findings(problems: Problems) -> list[Finding]:
    """Every finding of the paper, counted on these problems."""
    return [finding(problems) for finding in FINDINGS]


def wins(problems: Iterable[Problem], better: str, worse: str) -> Count:
    """On how many problems one method scores higher than another."""
    gaps = differences(problems, better, worse)
    return Count(sum(gap > 0 for gap in gaps), len(gaps))


def differences(problems: Iterable[Problem], one: str, other: str) -> list[float]:
    """By how much one method is ahead of another, on each problem that has both."""
    return [
        problem.scores[one] - problem.scores[other]
        for problem in problems
        if one in problem.scores and other in problem.scores
    ]


def weight_differences(problems: Iterable[Problem], other: str) -> list[float]:
    """By how much idf is ahead of another weight, over all forms, removal and problems."""
    problems = list(problems)
    return [
        gap
        for variant in VARIANTS
        for gap in differences(problems, f"idf-{variant}", f"{other}-{variant}")
    ]


def mean_length(problem: Problem) -> float | None:
    """The mean number of words in the problem's documents, if it is known."""
    return problem.lengths and problem.lengths.mean


def shorter(problems: Problems, words: float) -> list[Problem]:
    """The problems whose documents hold fewer words than this on average."""
    return [p for p in problems if (length := mean_length(p)) is not None and length < words]


def longer(problems: Problems, words: float) -> list[Problem]:
    """The problems whose documents hold this many words or more on average."""
    return [p for p in problems if (length := mean_length(p)) is not None and length >= words]


def removal_helps(problems: Problems, form: str) -> Finding:
    """Removal helps sum and delta on every problem (Schmidt, section 5)."""
    count = wins(problems, f"idf-{form}-pca", f"idf-{form}")
    return Finding(f"Removal always helps {form}", count, with_other_weights(problems, form))


def removal_is_mixed(problems: Problems) -> Finding:
    """Removal helps center on some problems only (Schmidt, section 5)."""
    count = wins(problems, "idf-center-pca", "idf-center")
    return Finding(
        "Removal is mixed for center: it helps on some problems, not on all",
        count,
        with_other_weights(problems, "center"),
    )


def with_other_weights(problems: Problems, form: str) -> str:
    """The same count for the weights that the paper's tables leave out."""
    counts = {w: wins(problems, f"{w}-{form}-pca", f"{w}-{form}") for w in ("sif", "subsampling")}
    return "; ".join(f"with {w}, {count}" for w, count in counts.items() if count.problems)


def center_beats_delta(problems: Problems) -> Finding:
    """Without removal, center is ahead on short documents (Schmidt, section 5)."""
    return Finding(
        f"Without removal, center beats delta on documents below {CENTER_UP_TO} words",
        wins(shorter(problems, CENTER_UP_TO), "idf-center", "idf-delta"),
        crossing(problems, "idf-center", "idf-delta"),
    )


def delta_beats_center(problems: Problems) -> Finding:
    """Without removal, delta is ahead on long documents (Schmidt, section 5)."""
    return Finding(
        f"Without removal, delta beats center from {CENTER_UP_TO} words on",
        wins(longer(problems, CENTER_UP_TO), "idf-delta", "idf-center"),
        "",
    )


def sum_beats_delta(problems: Problems) -> Finding:
    """With removal, sum is ahead on short documents (Schmidt, sections 5 and 7)."""
    return Finding(
        f"With removal, sum beats delta on documents below {SUM_UP_TO} words",
        wins(shorter(problems, SUM_UP_TO), "idf-sum-pca", "idf-delta-pca"),
        crossing(problems, "idf-sum-pca", "idf-delta-pca"),
    )


def delta_beats_sum(problems: Problems) -> Finding:
    """With removal, delta is ahead on long documents (Schmidt, sections 5 and 7)."""
    return Finding(
        f"With removal, delta beats sum from {SUM_UP_TO} words on",
        wins(longer(problems, SUM_UP_TO), "idf-delta-pca", "idf-sum-pca"),
        "",
    )


def crossing(problems: Problems, first: str, then: str) -> str:
    """Between which lengths the lead goes from one method to another."""
    ordered = sorted(
        (length, problem.scores[first] > problem.scores[then])
        for problem in problems
        if (length := mean_length(problem)) is not None
        and first in problem.scores
        and then in problem.scores
    )
    changes = [
        (before[0], after[0]) for before, after in pairwise(ordered) if before[1] != after[1]
    ]
    if not ordered or ordered[-1][0] < LENGTHS_DIFFER * ordered[0][0]:
        return ""
    if not changes:
        leader = first if ordered[0][1] else then
        return f"{leader} leads at every length"
    if len(changes) > 1:
        return f"the lead changes {len(changes)} times as documents grow"
    (short, long), leader = changes[0], then if ordered[0][1] else first
    return f"{leader} takes the lead between {short:,.0f} and {long:,.0f} words"


def unit_sum_is_behind(problems: Problems) -> Finding:
    """The plain sum is behind every variant with idf (Schmidt, section 5)."""
    behind, gaps = 0, []
    for problem in problems:
        others = [s for m in VARIANTS if (s := problem.scores.get(f"idf-{m}")) is not None]
        if others and "unit-sum" in problem.scores:
            behind += problem.scores["unit-sum"] < min(others)
            gaps.append(max(others) - problem.scores["unit-sum"])
    note = f"{sum(gaps) / len(gaps):.3f} below the best of them on average" if gaps else ""
    return Finding(
        "unit-sum is far behind: below every idf variant", Count(behind, len(gaps)), note
    )


def idf_beats(problems: Problems, other: str) -> Finding:
    """Idf is ahead of the other weights in every form, on every problem (Schmidt, section 5)."""
    gaps = weight_differences(problems, other)
    mean = sum(gaps) / len(gaps) if gaps else 0.0
    note = f"{abs(mean):.4f} {'ahead' if mean > 0 else 'behind'} on average" if gaps else ""
    return Finding(
        f"idf beats {other}, in every form, with and without removal",
        Count(sum(gap > 0 for gap in gaps), len(gaps)),
        note,
    )


FINDINGS: tuple[Callable[[Problems], Finding], ...] = (
    lambda problems: removal_helps(problems, "sum"),
    lambda problems: removal_helps(problems, "delta"),
    removal_is_mixed,
    center_beats_delta,
    delta_beats_center,
    sum_beats_delta,
    delta_beats_sum,
    unit_sum_is_behind,
    lambda problems: idf_beats(problems, "sif"),
    lambda problems: idf_beats(problems, "subsampling"),
)
