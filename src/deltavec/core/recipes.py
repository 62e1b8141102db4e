"""What a user chooses: one of the paper's recipes for word vectors, or ``spectral``, without any.

The paper's are called ``<weighting>-<form>`` or ``<weighting>-<form>-pca``: ``idf-delta-pca``,
``sif-sum``. ``auto`` chooses form by the length of the documents.

A parameter is a field made by `parameter`: what may be said, stored and printed follows from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from deltavec.core.arguments import did_you_mean
from deltavec.core.forms import FORMS, EmbeddingTable
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


class Range(NamedTuple):
    """The values that a parameter may have, in words and as a test."""

    words: str
    kinds: type | tuple[type, ...]
    holds: Callable[[Any], bool]

    def require(self, parameter: str, value: object) -> None:
        """Refuse a value outside the range."""
        if isinstance(value, bool) or not isinstance(value, self.kinds) or not self.holds(value):
            raise RecipeError(f"{parameter} must be a {self.words}, got {value!r}")


def whole_number(least: int) -> Range:
    """Whole numbers from ``least`` on."""
    return Range(f"whole number from {least} on", int, lambda value: value >= least)


ABOVE_ZERO = Range("number above 0", (int, float), lambda value: 0 < value < math.inf)
FROM_ZERO = Range("number from 0 on", (int, float), lambda value: 0 <= value < math.inf)
SHARE = Range("number from 0 to 1", (int, float), lambda value: 0 <= value <= 1)


def parameter(default: Any, values: Range) -> Any:
    """A parameter of a recipe; one whose default is None may be left open."""
    return field(default=default, metadata={"range": values})


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
    n_components_removed
        How many common components to remove; ``-pca`` in a name is 1, which is the default.
    a
        The parameter of ``sif``; 1e-4.
    t
        The parameter of ``subsampling``; 1e-5.
    min_frequency
        ``center`` counts only words whose share of the corpus is above this; 0.
    dimensions
        The length of a document's vector, for ``spectral``, as are all that follow; 300.
    window
        How far to look to either side of a word; by default half a document, a quarter where the
        corpus has less than a million words.
    context_smoothing
        The power of a neighbour's count; 0.75.
    identity_share
        How much of a direction of its own a word is given, in mean lengths of a row; 1.
    spectrum_exponent
        How steeply the strength of the directions falls; 0.75.
    power_iterations
        The leading directions are as exact as so many power iterations make them; 7.
    measured_documents
        How many documents may speak, by what their halves share, against the strength that the
        spectrum gives each direction; 6,000. With 0 nothing is measured.

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
        """A recipe of the kind that the form says."""
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
        for one in fields(self):
            value = getattr(self, one.name)
            if "range" in one.metadata and (value is not None or one.default is not None):
                one.metadata["range"].require(one.name, value)

    def __repr__(self) -> str:
        values = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self))
        return f"Recipe({values})"

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Take on the fields of a pickle, which has those of both kinds if it is an old one."""
        kind = kind_of(state["form"])
        object.__setattr__(self, "__class__", kind)
        self.__dict__.update(kind.own(state))

    @classmethod
    def named(cls, name: str) -> Recipe:
        """The recipe of this name, its parameters at their defaults."""
        return SpectralRecipe() if name == "spectral" else WeightedRecipe.named(name)

    @classmethod
    def of(cls, recipe: Recipe | str) -> Recipe:
        """The recipe itself, or the one of this name."""
        return recipe if isinstance(recipe, Recipe) else cls.named(recipe)

    @classmethod
    def stored(cls, entries: Mapping[str, Any]) -> Recipe:
        """The recipe of these `entries`; one that is not there has its default."""
        kind = kind_of(entries.get("form"))
        return kind(**kind.own(entries))

    @classmethod
    def own(cls, entries: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the entries that this kind of recipe has."""
        return {one.name: entries[one.name] for one in fields(cls) if one.name in entries}

    def _require_own(self, given: Mapping[str, Any]) -> None:
        """Refuse a parameter that this kind of recipe does not have, unless it changes nothing."""
        own = [one.name for one in fields(self)]
        for name, value in given.items():
            if name not in own and (name not in DEFAULTS or value != DEFAULTS[name]):
                have = f"{self.called} have no parameter {name!r}"
                raise RecipeError(f"{have}; they have {', '.join(own)}")

    @property
    def name(self) -> str:
        """The name that says weighting, form and whether components are removed."""
        return self.form

    @property
    def parameters(self) -> dict[str, float | int | None]:
        """The numbers that matter to this recipe."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.metadata}

    @property
    def entries(self) -> dict[str, Any]:
        """All that is stored: parameters of the other kind stand there with their defaults."""
        return {**DEFAULTS, **asdict(self)}

    @property
    def depends_on_documents(self) -> bool:
        """Whether a model is learned anew, in part, from each collection it is used for."""
        return True


@dataclass(frozen=True, init=False, repr=False)
class WeightedRecipe(Recipe):
    """One of the paper's: word vectors, weighted, in a form, common components removed."""

    weighting: str = "idf"
    form: str = "delta"
    n_components_removed: int = 1
    a: float = parameter(1e-4, ABOVE_ZERO)
    t: float = parameter(1e-5, ABOVE_ZERO)
    min_frequency: float = parameter(0.0, SHARE)

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
        whole_number(0).require("n_components_removed", self.n_components_removed)
        super().__post_init__()

    @classmethod
    def named(cls, name: str) -> WeightedRecipe:
        """The recipe of this name, its parameters at their defaults."""
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
        """The name that says weighting, form and whether components are removed."""
        removal = "-pca" if self.n_components_removed else ""
        return f"{self.weighting}-{self.form}{removal}"

    @property
    def depends_on_documents(self) -> bool:
        """Whether a model is learned anew, in part, from each collection it is used for."""
        return self.n_components_removed > 0

    def weights(self, statistics: CorpusStatistics) -> Weights:
        """The weight of each word."""
        if self.weighting == "sif":
            return sif(statistics, a=self.a)
        if self.weighting == "subsampling":
            return subsampling(statistics, t=self.t)
        return WEIGHTINGS[self.weighting](statistics)

    def folded(self, vectors: WordVectors, statistics: CorpusStatistics) -> EmbeddingTable:
        """The table of weight and form, nothing removed yet."""
        weights = self.weights(statistics)
        return FORMS[self.form](vectors, weights, statistics, self.min_frequency)


@dataclass(frozen=True, init=False, repr=False)
class SpectralRecipe(Recipe):
    """The recipe that learns from a corpus alone (`deltavec.core.learning.spectral`)."""

    weighting: str = "idf"
    form: str = "spectral"
    n_components_removed: int = 0
    dimensions: int = parameter(300, whole_number(1))
    window: int | None = parameter(None, whole_number(1))
    context_smoothing: float = parameter(0.75, SHARE)
    identity_share: float = parameter(1.0, FROM_ZERO)
    spectrum_exponent: float = parameter(0.75, FROM_ZERO)
    power_iterations: int = parameter(7, whole_number(0))
    measured_documents: int = parameter(6000, whole_number(0))

    needs_vectors = False
    called = "spectral recipes"

    def __post_init__(self) -> None:
        if (self.weighting, self.n_components_removed) != ("idf", 0):
            raise RecipeError(
                "spectral has its own weights and removes nothing: it takes the weighting 'idf' "
                f"and 0 components, got {self.weighting!r} and {self.n_components_removed!r}"
            )
        super().__post_init__()


# Of every parameter, in the order they are stored in.
DEFAULTS = {
    one.name: one.default for kind in (WeightedRecipe, SpectralRecipe) for one in fields(kind)
}


def kind_of(form: object) -> type[Recipe]:
    """The kind of recipe that has this form."""
    return SpectralRecipe if form == SpectralRecipe.form else WeightedRecipe


Kind = TypeVar("Kind", bound=Recipe, covariant=True)


class Choice(NamedTuple, Generic[Kind]):
    """A recipe whose form is settled, and why."""

    recipe: Kind
    reason: str


def resolve(recipe: WeightedRecipe, statistics: CorpusStatistics) -> Choice[WeightedRecipe]:
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
