"""The recipes that are compared: the default, its few parameters that matter, the paper's best.

Recipes that share work stand together in a step. Every step has the spectral recipe at three
exponents: they cost no factorisation of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import NamedTuple

from deltavec.core.learning import ppmi
from deltavec.core.learning.spectral import NARROWEST_WINDOW, WIDEST_WINDOW, usual_window
from deltavec.core.recipes import Recipe, SpectralRecipe, WeightedRecipe, resolve
from deltavec.core.statistics import CorpusStatistics
from deltavec.lab.tuning.budget import Pace

DEFAULT = SpectralRecipe()
EXPONENTS = (0.75, 0.5, 1.0)  # the default's first
SHARES = (0.5, 1.5, 0.0)
DIMENSIONS = (150, 75, 600)
PAPERS_BEST = ("idf-delta-pca", "idf-sum-pca", "idf-center-pca")
VARIED = ("identity_share", "window", "dimensions")
# Windows closer to each other than this are not worth a count of their own.
NEXT_WINDOW = 1.25


class Candidate(NamedTuple):
    """A recipe and what it is called in a table."""

    name: str
    recipe: SpectralRecipe | WeightedRecipe


class Step(NamedTuple):
    """Candidates that share the work which comes before any comparison."""

    candidates: tuple[Candidate, ...]
    window: int = 0
    dimensions: int = 0
    readings: int = 0

    def seconds(self, pace: Pace) -> float:
        """How long the step will take."""
        return (
            self.window * pace.counting
            + self.dimensions * pace.factorising
            + len(self.candidates) * pace.comparing
            + self.readings * pace.reading
        )

    @property
    def name(self) -> str:
        """What its candidates are called, in one."""
        first, *others = (candidate.name for candidate in self.candidates)
        if not others or not all(name.startswith(first) for name in others):
            return "; ".join([first, *others])
        return f"{first} (at {len(self.candidates)} exponents)"


def named(recipe: SpectralRecipe) -> Candidate:
    """The spectral recipe, called by what is different from the default."""
    changes = [
        f"{field.name} {getattr(recipe, field.name):g}"
        for field in fields(recipe)
        if getattr(recipe, field.name) != getattr(DEFAULT, field.name)
    ]
    return Candidate(", ".join(["spectral", *changes]), recipe)


def spectral_step(recipe: SpectralRecipe, window: int = 0) -> Step:
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
    automatic = resolve(WeightedRecipe.named("auto"), statistics).recipe
    candidates = []
    for name in PAPERS_BEST:
        recipe = WeightedRecipe.named(name)
        candidates.append(Candidate(name + (" (auto)" if recipe == automatic else ""), recipe))
    if vectors_given:
        return Step(tuple(candidates))
    return Step(tuple(candidates), ppmi.WINDOW, ppmi.DIMENSIONS, readings=2)


def other_windows(usual: int) -> list[int]:
    """Half and twice the usual window, within the bounds of the usual one."""
    bounded = (max(NARROWEST_WINDOW, usual // 2), min(WIDEST_WINDOW, 2 * usual))
    return [w for w in bounded if max(w, usual) / min(w, usual) >= NEXT_WINDOW]


def combined(scores: Mapping[Recipe, float]) -> SpectralRecipe | None:
    """The values that were best by themselves, together; None if at most one is not the default's.

    Parameters
    ----------
    scores
        What each recipe that was tried scored on the choosing half.
    """
    values = {}
    for parameter in VARIED:
        alone = [
            recipe
            for recipe in scores
            if isinstance(recipe, SpectralRecipe)
            and all(
                getattr(recipe, other) == getattr(DEFAULT, other)
                for other in VARIED
                if other != parameter
            )
        ]
        best = getattr(max(alone, key=scores.__getitem__), parameter)
        if best != getattr(DEFAULT, parameter):
            values[parameter] = best
    return replace(DEFAULT, **values) if len(values) > 1 else None
