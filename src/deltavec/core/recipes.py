"""Recipes: how words become document vectors.

The recipes of the paper use word vectors and are called ``<weighting>-<form>`` or
``<weighting>-<form>-pca``: ``idf-delta-pca``, ``sif-sum``. ``auto`` chooses the form by the length
of the documents. ``spectral`` learns from the corpus alone.

Each numeric parameter is declared once, as a field made by `parameter`. Python, the command line
and the scikit-learn estimator take default, range and help text from there. This module imports no
numpy, because ``deltavec --help`` reads it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from deltavec.core.arguments import did_you_mean, require_one_of
from deltavec.errors import RecipeError

if TYPE_CHECKING:
    from deltavec.core.forms import EmbeddingTable
    from deltavec.core.statistics import CorpusStatistics
    from deltavec.core.vectors import WordVectors
    from deltavec.core.weights import Weights

# Mean known words per document from which delta is ahead (Schmidt, section 7 and table 3).
DELTA_FROM_WITH_REMOVAL = 300
DELTA_FROM_WITHOUT_REMOVAL = 450

# The keys of `core.weights.WEIGHTINGS` and `core.forms.FORMS`.
WEIGHTINGS = ("unit", "idf", "sif", "subsampling")
FORMS = ("sum", "center", "delta")
SPECTRAL = "spectral"
RECIPES = (
    "unit-sum",
    *(
        f"{weighting}-{form}{removal}"
        for weighting in WEIGHTINGS[1:]
        for form in FORMS
        for removal in ("", "-pca")
    ),
)


class Range(NamedTuple):
    """The values that a parameter accepts, in words and as a test."""

    words: str
    kinds: type | tuple[type, ...]
    holds: Callable[[Any], bool]

    def require(self, parameter: str, value: object) -> None:
        """Raise an error if a value is outside the range."""
        if isinstance(value, bool) or not isinstance(value, self.kinds) or not self.holds(value):
            raise RecipeError(f"{parameter} must be a {self.words}, got {value!r}")


COUNT = Range("whole number from 0 on", int, lambda value: value >= 0)
POSITIVE = Range("whole number from 1 on", int, lambda value: value >= 1)
ABOVE_ZERO = Range("number above 0", (int, float), lambda value: 0 < value < math.inf)
FROM_ZERO = Range("number from 0 on", (int, float), lambda value: 0 <= value < math.inf)
SHARE = Range("number from 0 to 1", (int, float), lambda value: 0 <= value <= 1)


class Parameter(NamedTuple):
    """The declaration of a recipe parameter, kept in the metadata of its field."""

    values: Range
    used_by: list[str]  # parts of recipe names
    help: str
    default: str  # as shown to users


def parameter(default: Any, values: Range, used_by: str, help: str, shown: str = "") -> Any:
    """A field for a recipe parameter; it may be None if its default is None."""
    users = used_by.split()
    sentence = f"For {', '.join(users)}: {help}."
    declared = Parameter(values, users, sentence, shown or f"{default:g}")
    return field(default=default, metadata={"parameter": declared})


@dataclass(frozen=True, init=False, repr=False)
class Recipe:
    """How words become a document vector.

    With ``form="spectral"`` from the corpus alone, else from word vectors.

    Parameters
    ----------
    weighting
        ``idf``, ``sif``, ``subsampling`` or ``unit``.
    form
        ``sum``, ``center``, ``delta``, or ``auto``: chosen by the mean length of the documents,
        as the paper concludes. Or ``spectral``, which has its own weights and removes nothing.
    <parameters>

    Examples
    --------
    >>> Recipe.named("idf-delta-pca").n_components_removed
    1
    >>> Recipe(weighting="sif", form="sum", n_components_removed=0).name
    'sif-sum'
    >>> Recipe(form="spectral", dimensions=100).parameters["dimensions"]
    100
    """

    weighting: str = "idf"
    form: str = "delta"
    n_components_removed: int = parameter(
        1,
        COUNT,
        "sum center delta auto",
        "number of common components to remove",
        "1 for auto and -pca, else 0",
    )
    a: float = parameter(1e-4, ABOVE_ZERO, "sif", "corpus share of a word that gets half weight")
    t: float = parameter(1e-5, ABOVE_ZERO, "subsampling", "corpus share above which weights fall")
    min_frequency: float = parameter(0.0, SHARE, "center auto", "least corpus share in the center")
    dimensions: int = parameter(300, POSITIVE, "spectral", "length of a document vector")
    window: int | None = parameter(
        None,
        POSITIVE,
        "spectral",
        "number of context words on either side of a word",
        "half a document, or a quarter in a corpus of less than a million words",
    )
    context_smoothing: float = parameter(0.75, SHARE, "spectral", "exponent of context counts")
    identity_share: float = parameter(
        1.0, FROM_ZERO, "spectral", "weight of each word's own dimension, in mean row lengths"
    )
    spectrum_exponent: float = parameter(
        0.75, FROM_ZERO, "spectral", "exponent of the singular values"
    )
    steepness: float = parameter(
        0.0,
        FROM_ZERO,
        "spectral",
        "how much strong directions count beyond what was measured, for coarse topics",
    )
    power_iterations: int = parameter(7, COUNT, "spectral", "power iterations of the SVD")
    measured_documents: int = parameter(
        6000, COUNT, "spectral", "most documents to measure split-half weights on, 0 for none"
    )

    def __init__(self, *values: Any, **parameters: Any) -> None:
        given = {**dict(zip(DEFAULTS, values, strict=False)), **parameters}
        is_spectral = given.get("form") == SPECTRAL
        own = SPECTRAL_PARAMETERS if is_spectral else WEIGHTED_PARAMETERS
        for name, value in given.items():
            if name not in own and (name not in DEFAULTS or value != DEFAULTS[name]):
                kind = "spectral recipes" if is_spectral else "recipes of word vectors"
                raise RecipeError(f"{kind} have no parameter {name!r}; they have {', '.join(own)}")
        defaults = {**DEFAULTS, "n_components_removed": int(not is_spectral)}
        for name, value in {**defaults, **given}.items():
            object.__setattr__(self, name, value)
        require_one_of("weighting", self.weighting, WEIGHTINGS, RecipeError)
        require_one_of("form", self.form, (*FORMS, "auto", SPECTRAL), RecipeError)
        if self.form == "auto" and self.weighting != "idf":
            raise RecipeError(
                f"form 'auto' follows findings for the weighting 'idf', got {self.weighting!r}: "
                f"name a form ({', '.join(FORMS)})"
            )
        if is_spectral and (self.weighting, self.n_components_removed) != ("idf", 0):
            raise RecipeError(
                "spectral has its own weights and removes nothing: it takes the weighting 'idf' "
                f"and 0 components, got {self.weighting!r} and {self.n_components_removed!r}"
            )
        for name, declared in PARAMETERS.items():
            value = getattr(self, name)
            if value is not None or DEFAULTS[name] is not None:
                declared.values.require(name, value)

    def __repr__(self) -> str:
        own = ("weighting", "form", "n_components_removed", *self.parameters)
        return f"Recipe({', '.join(f'{name}={getattr(self, name)!r}' for name in own)})"

    @classmethod
    def named(cls, name: str) -> Recipe:
        """The recipe of this name with default parameters."""
        if name in ("auto", SPECTRAL):
            return cls(form=name)
        parts = name.split("-") if isinstance(name, str) else []
        removal = 1 if parts[2:] == ["pca"] else 0
        if len(parts) == 2 + removal and parts[0] in WEIGHTINGS and parts[1] in (*FORMS, "auto"):
            return cls(weighting=parts[0], form=parts[1], n_components_removed=removal)
        near = did_you_mean(name, ["auto", SPECTRAL, *RECIPES]) if isinstance(name, str) else ""
        raise RecipeError(
            f"recipe must be 'auto', 'spectral' or one of {', '.join(RECIPES)}; got {name!r}{near}"
        )

    @classmethod
    def of(cls, recipe: Recipe | str) -> Recipe:
        """The recipe itself, or the one of this name."""
        return recipe if isinstance(recipe, Recipe) else cls.named(recipe)

    @classmethod
    def stored(cls, entries: Mapping[str, Any]) -> Recipe:
        """The recipe of stored `entries`; missing entries get their defaults."""
        own = SPECTRAL_PARAMETERS if entries.get("form") == SPECTRAL else WEIGHTED_PARAMETERS
        return cls(**{name: entries[name] for name in own if name in entries})

    @property
    def needs_vectors(self) -> bool:
        """Whether it is one of the paper's recipes, which use word vectors."""
        return self.form != SPECTRAL

    @property
    def name(self) -> str:
        """``spectral``, or weighting, form and ``-pca`` if components are removed."""
        removal = "-pca" if self.n_components_removed else ""
        return f"{self.weighting}-{self.form}{removal}" if self.needs_vectors else SPECTRAL

    @property
    def parameters(self) -> dict[str, float | int | None]:
        """The numbers that this kind of recipe adds to its name."""
        own = WEIGHTED_PARAMETERS if self.needs_vectors else SPECTRAL_PARAMETERS
        return {name: getattr(self, name) for name in own[3:]}

    @property
    def entries(self) -> dict[str, Any]:
        """All values to store, with defaults for the parameters of the other kind."""
        return asdict(self)

    @property
    def depends_on_documents(self) -> bool:
        """Whether `EmbeddingModel.for_collection` relearns a part of the model."""
        return not self.needs_vectors or self.n_components_removed > 0

    def weights(self, statistics: CorpusStatistics) -> Weights:
        """The weight of each word."""
        from deltavec.core.weights import WEIGHTINGS, sif, subsampling

        if self.weighting == "sif":
            return sif(statistics, a=self.a)
        if self.weighting == "subsampling":
            return subsampling(statistics, t=self.t)
        return WEIGHTINGS[self.weighting](statistics)

    def table(self, vectors: WordVectors, statistics: CorpusStatistics) -> EmbeddingTable:
        """The table of weight and form, nothing removed yet."""
        from deltavec.core.forms import FORMS

        weights = self.weights(statistics)
        return FORMS[self.form](vectors, weights, statistics, self.min_frequency)


# The default of every field, in the order in which recipes are stored.
DEFAULTS = {one.name: one.default for one in fields(Recipe)}
PARAMETERS = {one.name: one.metadata["parameter"] for one in fields(Recipe) if one.metadata}
_OF_SPECTRAL = [name for name, one in PARAMETERS.items() if one.used_by == [SPECTRAL]]
WEIGHTED_PARAMETERS = [name for name in DEFAULTS if name not in _OF_SPECTRAL]
SPECTRAL_PARAMETERS = ["weighting", "form", "n_components_removed", *_OF_SPECTRAL]
HELP = [f"{name}\n        {one.help} Default: {one.default}." for name, one in PARAMETERS.items()]
Recipe.__doc__ = (Recipe.__doc__ or "").replace("<parameters>", "\n    ".join(HELP))


class Choice(NamedTuple):
    """A recipe with a definite form, and the reason for it."""

    recipe: Recipe
    reason: str


def resolve(recipe: Recipe, statistics: CorpusStatistics) -> Choice:
    """The recipe; a form ``auto`` is replaced by one chosen by the documents' mean length."""
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
