"""The recipes that are compared: the default, its few parameters that matter, the paper's best.

Recipes that share work stand together in a step. Every step has the spectral recipe at three
exponents: they cost no factorisation of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import NamedTuple

from deltavec.core.recipes import Recipe, settled
from deltavec.core.spectral import NARROWEST_WINDOW, WIDEST_WINDOW, usual_window
from deltavec.core.statistics import CorpusStatistics
from deltavec.evaluation.tuning.budget import Pace

DEFAULT = Recipe.named("spectral")
EXPONENTS = (0.75, 0.5, 1.0)  # the default's first
SHARES = (0.5, 1.5, 0.0)
DIMENSIONS = (150, 75, 600)
PAPERS_BEST = ("idf-delta-pca", "idf-sum-pca", "idf-center-pca")
VARIED = ("identity_share", "window", "dimensions")
# Windows closer to each other than this are not worth a count of their own.
NEXT_WINDOW = 1.25
PPMI_WINDOW, PPMI_DIMENSIONS = 20, 300  # of `deltavec.train_vectors`


class Candidate(NamedTuple):
    """A recipe and what it is called in a table."""

    name: str
    recipe: Recipe


class Step(NamedTuple):
    """Candidates that share the work which comes before any comparison."""

    candidates: tuple[Candidate, ...]
    window: int = 0
    dimensions: int = 0
    readings: int = 0

    def seconds(self, pace: Pace) -> float:
        """How long the step will take."""
        return pace.estimate(
            window=self.window,
            dimensions=self.dimensions,
            recipes=len(self.candidates),
            readings=self.readings,
        )

    @property
    def name(self) -> str:
        """What its candidates are called, in one."""
        first, *others = (candidate.name for candidate in self.candidates)
        if not others or not all(name.startswith(first) for name in others):
            return "; ".join([first, *others])
        return f"{first} (at {len(self.candidates)} exponents)"


def named(recipe: Recipe) -> Candidate:
    """The spectral recipe, called by what is different from the default."""
    changes = [
        f"{field.name} {getattr(recipe, field.name):g}"
        for field in fields(recipe)
        if getattr(recipe, field.name) != getattr(DEFAULT, field.name)
    ]
    return Candidate(", ".join(["spectral", *changes]), recipe)


def spectral_step(recipe: Recipe, window: int = 0) -> Step:
    """A spectral recipe at every exponent; the window is given if it must be counted first."""
    candidates = tuple(named(replace(recipe, spectrum_exponent=e)) for e in EXPONENTS)
    return Step(candidates, window, recipe.dimensions)


def steps(statistics: CorpusStatistics, *, vectors_given: bool) -> list[Step]:
    """All steps, the default in the first, those that take less time before the rest."""
    usual = usual_window(statistics)
    words = len(statistics.token_counts)
    default = spectral_step(DEFAULT, usual)
    papers = papers_step(statistics, vectors_given)
    shares = [spectral_step(replace(DEFAULT, identity_share=share)) for share in SHARES]
    sizes = [
        spectral_step(replace(DEFAULT, dimensions=dimensions))
        for dimensions in DIMENSIONS
        if min(dimensions, words) != min(DEFAULT.dimensions, words)
    ]
    windows = [
        spectral_step(replace(DEFAULT, window=window), window) for window in other_windows(usual)
    ]
    if vectors_given:
        return [default, papers, *shares, *sizes, *windows]
    return [default, *shares, *sizes, papers, *windows]


def papers_step(statistics: CorpusStatistics, vectors_given: bool) -> Step:
    """The paper's best recipes; the one that ``auto`` would choose says so."""
    automatic = settled(Recipe.named("auto"), statistics).recipe
    candidates = []
    for name in PAPERS_BEST:
        recipe = Recipe.named(name)
        candidates.append(Candidate(name + (" (auto)" if recipe == automatic else ""), recipe))
    if vectors_given:
        return Step(tuple(candidates))
    return Step(tuple(candidates), PPMI_WINDOW, PPMI_DIMENSIONS, readings=2)


def other_windows(usual: int) -> list[int]:
    """Half and twice the usual window, within the bounds of the usual one."""
    bounded = (max(NARROWEST_WINDOW, usual // 2), min(WIDEST_WINDOW, 2 * usual))
    return [w for w in bounded if max(w, usual) / min(w, usual) >= NEXT_WINDOW]


def combined(scores: Mapping[str, float], tried: Sequence[Candidate]) -> Recipe | None:
    """The values that were best by themselves, together; None if at most one is not the default's.

    Parameters
    ----------
    scores
        What each candidate scored on the choosing half, by name.
    tried
        The candidates that were tried.
    """
    values = {}
    for parameter in VARIED:
        alone = [
            candidate
            for candidate in tried
            if candidate.recipe.form == "spectral"
            and all(
                getattr(candidate.recipe, other) == getattr(DEFAULT, other)
                for other in VARIED
                if other != parameter
            )
        ]
        best = max(alone, key=lambda candidate: scores[candidate.name]).recipe
        if getattr(best, parameter) != getattr(DEFAULT, parameter):
            values[parameter] = getattr(best, parameter)
    return replace(DEFAULT, **values) if len(values) > 1 else None
