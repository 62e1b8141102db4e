"""What a user chooses: weighting, form, and how many common components to remove.

Names are ``<weighting>-<form>`` or ``<weighting>-<form>-pca``: ``idf-delta-pca``, ``sif-sum``.
``auto`` chooses form by the length of the documents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from deltavec.core.forms import FORMS, FoldedVectors
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.vectors import WordVectors
from deltavec.core.weights import WEIGHTINGS, Weights, sif, subsampling
from deltavec.errors import RecipeError

# Mean known words per document from which delta is ahead (Schmidt, section 7 and table 3).
DELTA_FROM_WITH_REMOVAL = 300
DELTA_FROM_WITHOUT_REMOVAL = 450

RECIPES = (
    "unit-sum",
    *(
        f"{weighting}-{form}{removal}"
        for weighting in ("idf", "sif", "subsampling")
        for form in FORMS
        for removal in ("", "-pca")
    ),
)

SPECTRAL_PARAMETERS = (
    "dimensions",
    "window",
    "context_smoothing",
    "identity_share",
    "spectrum_exponent",
    "power_iterations",
)


@dataclass(frozen=True)
class Recipe:
    """How word vectors become a document vector.

    Parameters
    ----------
    weighting
        ``idf``, ``sif``, ``subsampling`` or ``unit``.
    form
        ``sum``, ``center``, ``delta``, or ``auto``: chosen by the mean length of the documents,
        as the paper concludes.
    n_components_removed
        How many common components to remove; ``-pca`` in a name is 1.
    a
        The parameter of ``sif``.
    t
        The parameter of ``subsampling``.
    min_frequency
        ``center`` counts only words whose share of the corpus is above this.
    dimensions
        The length of a document's vector, for ``spectral``.
    window
        How far ``spectral`` looks to either side of a word; by default half a
        document, a quarter where the corpus has less than a million words.
    context_smoothing
        The power of a neighbour's count, for ``spectral``.
    identity_share
        How much of a direction of its own ``spectral`` gives a word, in mean lengths of a row.
    spectrum_exponent
        How steeply the strength of ``spectral``'s directions falls.
    power_iterations
        How often ``spectral`` turns its random start towards the leading directions.

    Examples
    --------
    >>> Recipe.named("idf-delta-pca").n_components_removed
    1
    >>> Recipe(weighting="sif", form="sum", n_components_removed=0).name
    'sif-sum'
    """

    weighting: str = "idf"
    form: str = "delta"
    n_components_removed: int = 1
    a: float = 1e-4
    t: float = 1e-5
    min_frequency: float = 0.0
    dimensions: int = 300
    window: int | None = None
    context_smoothing: float = 0.75
    identity_share: float = 1.0
    spectrum_exponent: float = 0.75
    power_iterations: int = 7

    def __post_init__(self) -> None:
        require_name("weighting", self.weighting, [*WEIGHTINGS])
        require_name("form", self.form, [*FORMS, "auto", "spectral"])
        if self.form == "spectral" and (self.weighting, self.n_components_removed) != ("idf", 0):
            raise RecipeError(
                "spectral has its own weights and removes nothing: it takes the weighting 'idf' "
                f"and 0 components, got {self.weighting!r} and {self.n_components_removed!r}"
            )
        if self.form == "auto" and self.weighting != "idf":
            raise RecipeError(
                f"form 'auto' follows findings for the weighting 'idf', got {self.weighting!r}: "
                f"name a form ({', '.join(FORMS)})"
            )
        require_whole("n_components_removed", self.n_components_removed, 0)
        for name in ("a", "t"):
            require_number(name, getattr(self, name), "above 0", lambda value: 0 < value < math.inf)
        for name in ("min_frequency", "context_smoothing"):
            require_number(name, getattr(self, name), "from 0 to 1", lambda value: 0 <= value <= 1)
        for name in ("identity_share", "spectrum_exponent"):
            require_number(
                name, getattr(self, name), "from 0 on", lambda value: 0 <= value < math.inf
            )
        for name, least in (("dimensions", 1), ("window", 1), ("power_iterations", 0)):
            require_whole(name, getattr(self, name), least)

    @classmethod
    def named(cls, name: str) -> Recipe:
        """The recipe of this name, its parameters at their defaults."""
        if name == "auto":
            return cls(form="auto")
        if name == "spectral":
            return cls(form="spectral", n_components_removed=0)
        parts = name.split("-") if isinstance(name, str) else []
        removal = 1 if parts[2:] == ["pca"] else 0
        if len(parts) == 2 + removal and parts[0] in WEIGHTINGS and parts[1] in (*FORMS, "auto"):
            return cls(weighting=parts[0], form=parts[1], n_components_removed=removal)
        raise RecipeError(
            f"recipe must be 'auto', 'spectral' or one of {', '.join(RECIPES)}; got {name!r}"
        )

    @classmethod
    def of(cls, recipe: Recipe | str) -> Recipe:
        """The recipe itself, or the one of this name."""
        return recipe if isinstance(recipe, cls) else cls.named(recipe)  # type: ignore[arg-type]

    @property
    def name(self) -> str:
        """The name that says weighting, form and whether components are removed."""
        if self.form == "spectral":
            return "spectral"
        removal = "-pca" if self.n_components_removed else ""
        return f"{self.weighting}-{self.form}{removal}"

    @property
    def parameters(self) -> dict[str, float | int | None]:
        """The numbers that matter to this recipe."""
        names = SPECTRAL_PARAMETERS if self.form == "spectral" else ("a", "t", "min_frequency")
        return {name: getattr(self, name) for name in names}

    def weights(self, statistics: CorpusStatistics) -> Weights:
        """The weight of each word."""
        if self.weighting == "sif":
            return sif(statistics, a=self.a)
        if self.weighting == "subsampling":
            return subsampling(statistics, t=self.t)
        return WEIGHTINGS[self.weighting](statistics)

    def folded(self, vectors: WordVectors, statistics: CorpusStatistics) -> FoldedVectors:
        """The table of weight and form, nothing removed yet."""
        weights = self.weights(statistics)
        return FORMS[self.form](vectors, weights, statistics, self.min_frequency)


class Choice(NamedTuple):
    """A recipe whose form is settled, and why."""

    recipe: Recipe
    reason: str


def settled(recipe: Recipe, statistics: CorpusStatistics) -> Choice:
    """The recipe with its form chosen, if it was ``auto``, by the documents' mean length."""
    if recipe.form != "auto":
        return Choice(recipe, "as asked for")
    length = statistics.mean_length
    removes = recipe.n_components_removed > 0
    border = DELTA_FROM_WITH_REMOVAL if removes else DELTA_FROM_WITHOUT_REMOVAL
    shorter = "sum" if removes else "center"
    form = "delta" if length >= border else shorter
    chosen = replace(recipe, form=form)
    side = "at least" if length >= border else "below"
    reason = f"{chosen.name}: documents hold {length:.1f} known words on average, {side} {border}"
    return Choice(chosen, reason)


def require_name(parameter: str, value: object, names: list[str]) -> None:
    """Refuse a value that is not one of the names."""
    if value not in names:
        listed = ", ".join(repr(name) for name in names[:-1]) + f" or {names[-1]!r}"
        raise RecipeError(f"{parameter} must be {listed}, got {value!r}")


def require_whole(parameter: str, value: object, least: int) -> None:
    """Refuse a value that is neither a whole number from ``least`` on nor, for a window, None."""
    if value is None and parameter == "window":
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise RecipeError(f"{parameter} must be a whole number from {least} on, got {value!r}")


def require_number(parameter: str, value: object, range_: str, holds: object) -> None:
    """Refuse a value that is not a number in the range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not holds(value):  # type: ignore[operator]
        raise RecipeError(f"{parameter} must be a number {range_}, got {value!r}")
