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
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from deltavec.core.arguments import did_you_mean
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

    weighting: str
    form: str
    n_components_removed: int
    needs_vectors: ClassVar[bool]
    called: ClassVar[str]

    def __new__(
        cls, weighting: str = "idf", form: str = "delta", *others: Any, **parameters: Any
    ) -> Recipe:
        """A recipe of the class that has this form."""
        return object.__new__(kind_of(form) if cls is Recipe else cls)

    def __init__(self, *values: Any, **parameters: Any) -> None:
        given = {**dict(zip(DEFAULTS, values, strict=False)), **parameters}
        self._require_own(given)
        for one in fields(self):
            object.__setattr__(self, one.name, given.get(one.name, one.default))
        self.__post_init__()

    def __post_init__(self) -> None:
        if kind_of(self.form) is not type(self):
            raise RecipeError(f"to change to form {self.form!r}, make a new Recipe")
        for name, declared in declarations(type(self)).items():
            value = getattr(self, name)
            if value is not None or DEFAULTS[name] is not None:
                declared.values.require(name, value)

    def __repr__(self) -> str:
        values = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self))
        return f"Recipe({values})"

    @classmethod
    def named(cls, name: str) -> Recipe:
        """The recipe of this name with default parameters."""
        return SpectralRecipe() if name == "spectral" else WeightedRecipe.named(name)

    @classmethod
    def of(cls, recipe: Recipe | str) -> Recipe:
        """The recipe itself, or the one of this name."""
        return recipe if isinstance(recipe, Recipe) else cls.named(recipe)

    @classmethod
    def stored(cls, entries: Mapping[str, Any]) -> Recipe:
        """The recipe of stored `entries`; missing entries get their defaults."""
        kind = kind_of(entries.get("form"))
        return kind(**kind.own(entries))

    @classmethod
    def own(cls, entries: Mapping[str, Any]) -> dict[str, Any]:
        """The entries that are parameters of this class."""
        return {one.name: entries[one.name] for one in fields(cls) if one.name in entries}

    def _require_own(self, given: Mapping[str, Any]) -> None:
        """Raise an error for another class's parameter, unless it has its default value."""
        own = [one.name for one in fields(self)]
        for name, value in given.items():
            if name not in own and (name not in DEFAULTS or value != DEFAULTS[name]):
                have = f"{self.called} have no parameter {name!r}"
                raise RecipeError(f"{have}; they have {', '.join(own)}")

    @property
    def name(self) -> str:
        """The name of the recipe, such as ``idf-delta-pca``."""
        return self.form

    @property
    def parameters(self) -> dict[str, float | int | None]:
        """The numbers that this class of recipe adds to its name."""
        names = [name for name in declarations(type(self)) if name != "n_components_removed"]
        return {name: getattr(self, name) for name in names}

    @property
    def entries(self) -> dict[str, Any]:
        """All values to store, with defaults for the other class's parameters."""
        return {**DEFAULTS, **asdict(self)}

    @property
    def depends_on_documents(self) -> bool:
        """Whether `EmbeddingModel.for_collection` relearns a part of the model."""
        return True


@dataclass(frozen=True, init=False, repr=False)
class WeightedRecipe(Recipe):
    """A recipe of the paper: weighted word vectors in a form, common components removed."""

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

    needs_vectors = True
    called = "recipes of word vectors"

    def __post_init__(self) -> None:
        require_name("weighting", self.weighting, [*WEIGHTINGS])
        require_name("form", self.form, [*FORMS, "auto", "spectral"])
        if self.form == "auto" and self.weighting != "idf":
            raise RecipeError(
                f"form 'auto' follows findings for the weighting 'idf', got {self.weighting!r}: "
                f"name a form ({', '.join(FORMS)})"
            )
        super().__post_init__()

    @classmethod
    def named(cls, name: str) -> WeightedRecipe:
        """The recipe of this name with default parameters."""
        if name == "auto":
            return cls(form="auto")
        parts = name.split("-") if isinstance(name, str) else []
        removal = 1 if parts[2:] == ["pca"] else 0
        if len(parts) == 2 + removal and parts[0] in WEIGHTINGS and parts[1] in (*FORMS, "auto"):
            return cls(weighting=parts[0], form=parts[1], n_components_removed=removal)
        near = did_you_mean(name, ["auto", "spectral", *RECIPES]) if isinstance(name, str) else ""
        raise RecipeError(
            f"recipe must be 'auto', 'spectral' or one of {', '.join(RECIPES)}; got {name!r}{near}"
        )

    @property
    def name(self) -> str:
        """Weighting, form and ``-pca`` if components are removed."""
        removal = "-pca" if self.n_components_removed else ""
        return f"{self.weighting}-{self.form}{removal}"

    @property
    def depends_on_documents(self) -> bool:
        """Whether `EmbeddingModel.for_collection` relearns a part of the model."""
        return self.n_components_removed > 0

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


@dataclass(frozen=True, init=False, repr=False)
class SpectralRecipe(Recipe):
    """The recipe that learns from a corpus alone (`deltavec.core.learning.spectral`)."""

    weighting: str = "idf"
    form: str = "spectral"
    n_components_removed: int = 0
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

    needs_vectors = False
    called = "spectral recipes"

    def __post_init__(self) -> None:
        if (self.weighting, self.n_components_removed) != ("idf", 0):
            raise RecipeError(
                "spectral has its own weights and removes nothing: it takes the weighting 'idf' "
                f"and 0 components, got {self.weighting!r} and {self.n_components_removed!r}"
            )
        super().__post_init__()


KINDS = (WeightedRecipe, SpectralRecipe)
# The default of every field, in the order in which recipes are stored.
DEFAULTS = {one.name: one.default for kind in KINDS for one in fields(kind)}


def kind_of(form: object) -> type[Recipe]:
    """The class of recipe that has this form."""
    return SpectralRecipe if form == SpectralRecipe.form else WeightedRecipe


def declarations(*kinds: type[Recipe]) -> dict[str, Parameter]:
    """The declared parameters of classes of recipes by name."""
    declared = [one for kind in kinds for one in fields(kind) if one.metadata]
    return {one.name: one.metadata["parameter"] for one in declared}


PARAMETERS = declarations(*KINDS)
HELP = [f"{name}\n        {one.help} Default: {one.default}." for name, one in PARAMETERS.items()]
Recipe.__doc__ = (Recipe.__doc__ or "").replace("<parameters>", "\n    ".join(HELP))


Kind = TypeVar("Kind", bound=Recipe, covariant=True)


class Choice(NamedTuple, Generic[Kind]):
    """A recipe with a definite form, and the reason for it."""

    recipe: Kind
    reason: str


def resolve(recipe: WeightedRecipe, statistics: CorpusStatistics) -> Choice[WeightedRecipe]:
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


def require_name(parameter: str, value: object, names: list[str]) -> None:
    """Raise an error if a value is not one of the names."""
    if value not in names:
        listed = ", ".join(repr(name) for name in names[:-1]) + f" or {names[-1]!r}"
        raise RecipeError(f"{parameter} must be {listed}, got {value!r}")
