"""The recipes that tuning compares: the default, its parameters that matter, the paper's best.

The spectral recipe is tried at three exponents of the spectrum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import NamedTuple

from deltavec.core.learning.spectral import (
    LARGE_CORPUS,
    NARROWEST_WINDOW,
    WIDEST_WINDOW,
    usual_window,
)
from deltavec.core.recipes import Recipe, resolve
from deltavec.core.statistics import CorpusStatistics

DEFAULT = Recipe.named("spectral")
EXPONENTS = (0.75, 0.5, 1.0)  # the default's first
SHARES = (0.5, 1.5, 0.0)
DIMENSIONS = (150, 75, 600)
PAPERS_BEST = ("idf-delta-pca", "idf-sum-pca", "idf-center-pca")
VARIED = ("identity_share", "window", "dimensions")
LEAST_RATIO = 1.25  # of two windows that are worth a count each


class Candidate(NamedTuple):
    """A recipe and its name in a table."""

    name: str
    recipe: Recipe


def other_candidates(statistics: CorpusStatistics, *, vectors_given: bool) -> list[Candidate]:
    """All candidates but the default, the faster ones first."""
    words = len(statistics.token_counts)
    sizes = [size for size in DIMENSIONS if min(size, words) != min(DEFAULT.dimensions, words)]
    changed = [
        *(replace(DEFAULT, identity_share=share) for share in SHARES),
        *(replace(DEFAULT, dimensions=size) for size in sizes),
    ]
    windows = [
        replace(DEFAULT, window=w)
        for w in other_windows(
            usual_window(statistics.mean_length, statistics.tokens >= LARGE_CORPUS)
        )
    ]
    automatic = resolve(Recipe.named("auto"), statistics).recipe
    papers = []
    for name in PAPERS_BEST:
        recipe = Recipe.named(name)
        papers.append(Candidate(name + (" (auto)" if recipe == automatic else ""), recipe))
    spectral = at_exponents(*changed)
    middle = [*papers, *spectral] if vectors_given else [*spectral, *papers]
    return [*at_exponents(DEFAULT)[1:], *middle, *at_exponents(*windows)]


def at_exponents(*recipes: Recipe) -> list[Candidate]:
    """Spectral recipes at every exponent, named by their differences from the default."""
    found = []
    for recipe in recipes:
        for exponent in EXPONENTS:
            changed = replace(recipe, spectrum_exponent=exponent)
            differences = [
                f"{field.name} {getattr(changed, field.name):g}"
                for field in fields(changed)
                if getattr(changed, field.name) != getattr(DEFAULT, field.name)
            ]
            found.append(Candidate(", ".join(["spectral", *differences]), changed))
    return found


def other_windows(usual: int) -> list[int]:
    """Half and twice the usual window, within its bounds."""
    bounded = (max(NARROWEST_WINDOW, usual // 2), min(WIDEST_WINDOW, 2 * usual))
    return [w for w in bounded if max(w, usual) / min(w, usual) >= LEAST_RATIO]


def combine(scores: Mapping[Recipe, float]) -> Recipe | None:
    """The recipe with the best value of each parameter; None if at most one is not the default.

    Parameters
    ----------
    scores
        The score of each recipe on the choosing half.
    """
    values = {}
    for parameter in VARIED:
        others = [name for name in VARIED if name != parameter]
        alone = [
            recipe
            for recipe in scores
            if not recipe.needs_vectors
            and all(getattr(recipe, name) == getattr(DEFAULT, name) for name in others)
        ]
        best = getattr(max(alone, key=scores.__getitem__), parameter)
        if best != getattr(DEFAULT, parameter):
            values[parameter] = best
    return replace(DEFAULT, **values) if len(values) > 1 else None
