"""Which of the paper's findings hold on some results, as counts of problems.

A problem without the scores or lengths that a finding needs is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from deltavec.lab.results import Problem

# Mean words per document at which the paper saw the order of forms change (section 5).
CENTER_UP_TO = 450
SUM_UP_TO = 300

VARIANTS = tuple(
    f"{form}{removal}" for form in ("sum", "center", "delta") for removal in ("", "-pca")
)


class Count(NamedTuple):
    """On how many problems a finding held, of those that have the scores."""

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
        More about it; may be empty.
    of_all : bool
        Whether it is about all problems together.
    """

    claim: str
    counted: Count
    note: str = ""
    of_all: bool = False


Problems = Sequence[Problem]


def findings(problems: Problems) -> list[Finding]:
    """Every finding of the paper, counted on these problems."""
    return [
        removal_helps(problems, "sum"),
        removal_helps(problems, "delta"),
        removal_is_mixed(problems),
        *ahead_of_delta(problems, "center", "", CENTER_UP_TO),
        *ahead_of_delta(problems, "sum", "-pca", SUM_UP_TO),
        unit_sum_is_behind(problems),
        idf_beats(problems, "sif"),
        idf_beats(problems, "subsampling"),
    ]


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


def removal_helps(problems: Problems, form: str) -> Finding:
    """Removal helps sum and delta on every problem (Schmidt, section 5)."""
    count = wins(problems, f"idf-{form}-pca", f"idf-{form}")
    return Finding(f"Removal always helps {form}", count)


def removal_is_mixed(problems: Problems) -> Finding:
    """Removal helps center on some problems only (Schmidt, section 5)."""
    helps, there = wins(problems, "idf-center-pca", "idf-center")
    told = int(there > 1)  # one problem alone cannot be mixed
    return Finding(
        "Removal is mixed for center: it helps on some problems, not on all",
        Count(int(0 < helps < there) * told, told),
        f"helps on {helps} of {there}" if there else "",
        of_all=True,
    )


def ahead_of_delta(problems: Problems, form: str, removal: str, words: int) -> list[Finding]:
    """A form is ahead of delta on short documents, and behind on long ones (Schmidt, section 5)."""
    one, delta = f"idf-{form}{removal}", f"idf-delta{removal}"
    how = f"{'With' if removal else 'Without'} removal"
    short = [p for p in problems if p.lengths and p.lengths.mean < words]
    long = [p for p in problems if p.lengths and p.lengths.mean >= words]
    return [
        Finding(
            f"{how}, {form} beats delta on documents below {words} words",
            wins(short, one, delta),
        ),
        Finding(f"{how}, delta beats {form} from {words} words on", wins(long, delta, one)),
    ]


def unit_sum_is_behind(problems: Problems) -> Finding:
    """The plain sum is behind every variant with idf (Schmidt, section 5)."""
    behind, gaps = 0, []
    for problem in problems:
        others = [s for m in VARIANTS if (s := problem.scores.get(f"idf-{m}")) is not None]
        if others and "unit-sum" in problem.scores:
            behind += problem.scores["unit-sum"] < min(others)
            gaps.append(max(others) - problem.scores["unit-sum"])
    note = f"{sum(gaps) / len(gaps):.3f} below the best of them on average" if gaps else ""
    claim = "unit-sum is far behind: below every idf variant"
    return Finding(claim, Count(behind, len(gaps)), note)


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
