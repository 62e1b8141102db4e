"""Document vectors as a step of scikit-learn: `DocumentEmbedder`.

What it learns are values that add: counts, and the second moment of document vectors. So `fit` is
`partial_fit` on nothing seen yet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from deltavec.core.components import SecondMoment, leading_components
from deltavec.core.fitting import fit as fit_model
from deltavec.core.fitting import model_of_table, require_use, resolve_recipe, vectors_note
from deltavec.core.learning.corpora import corpus_statistics
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import DEFAULTS, Recipe, WeightedRecipe
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.batches import Chunked, Tokenizer, as_corpus, require_reiterable
from deltavec.core.text.feature_choice import AskedUnits
from deltavec.core.vectors import WordVectors
from deltavec.errors import CorpusError, InputError, VectorsError


class DocumentEmbedder(TransformerMixin, BaseEstimator):
    """Documents to dense vectors of unit length, weighted by the corpus it is fitted on.

    Parameters
    ----------
    word_vectors : WordVectors, default=None
        What `deltavec.load_vectors` gives; shared by clones, never copied. A recipe that needs
        them and has none trains some in `fit` (`deltavec.train_vectors`), which takes a while.
    recipe : str or Recipe, default=None
        A name such as ``idf-delta-pca``, ``auto`` or ``spectral``, or a `Recipe`. By default what
        `deltavec.fit` uses: ``auto`` with word vectors, ``spectral`` without. If only a parameter
        of the paper's recipes is said, those not said are the ones of ``idf-delta-pca``.
    weighting : {"idf", "sif", "subsampling", "unit"}, default=None
        How much each word counts. This and all that follow: by default as the recipe has it.
    form : {"delta", "center", "sum", "auto"}, default=None
        What is taken off before summing; ``auto`` chooses by the length of the documents.
    n_components_removed, a, t, min_frequency : float, default=None
        More parameters of the paper's recipes: see `Recipe`.
    dimensions, window, context_smoothing, identity_share, spectrum_exponent : default=None
        Parameters of ``spectral``: see `Recipe`.
    power_iterations, measured_documents : int, default=None
        More parameters of ``spectral``: see `Recipe`.
    prior : WordVectors, default=None
        Word vectors that ``spectral`` may learn from besides the documents, as in `deltavec.fit`;
        shared by clones. ``model_.info()["prior"]`` says whether they helped.
    units : {"auto", "words", "words+grams", "grams"}, default="auto"
        What is counted of each word, as in `deltavec.fit`. Word vectors are of words.
    normalization : {"none", "folded"}, default="none"
        Whether texts are written in one way first, as in `deltavec.fit`; not with word vectors.
    tokenizer : {"words", "whitespace"} or callable, default="words"
        What parts a document into words.
    threads : int, default=None
        How many cores to use; all of them by default. The vectors are the same. Say 1 inside a
        search that uses all cores itself (``n_jobs=-1``).

    Attributes
    ----------
    model_ : EmbeddingModel
        What was learned: ``model_.explain``, ``model_.info``, ``model_.save``.

    See Also
    --------
    deltavec.fit : The same without scikit-learn.

    Notes
    -----
    Documents come as one column: a list of strings (or of lists of words), a pandas or polars
    series, an array. None and NaN in a column are empty documents. A document without known words
    is a row of zeros.

    Examples
    --------
    >>> import deltavec
    >>> vectors = deltavec.WordVectors(["sea", "room", "quiet"], [[1, 0], [0, 1], [0.5, 1]])
    >>> embedder = DocumentEmbedder(vectors, form="sum", n_components_removed=0)
    >>> embedder.fit_transform(["Sea view", "quiet room", "room"]).round(2)
    array([[1.  , 0.  ],
           [0.33, 0.94],
           [0.  , 1.  ]], dtype=float32)
    """

    model_: EmbeddingModel

    def __init__(
        self,
        word_vectors: WordVectors | None = None,
        *,
        recipe: Recipe | str | None = None,
        weighting: str | None = None,
        form: str | None = None,
        n_components_removed: int | None = None,
        a: float | None = None,
        t: float | None = None,
        min_frequency: float | None = None,
        dimensions: int | None = None,
        window: int | None = None,
        context_smoothing: float | None = None,
        identity_share: float | None = None,
        spectrum_exponent: float | None = None,
        power_iterations: int | None = None,
        measured_documents: int | None = None,
        prior: WordVectors | None = None,
        units: str = "auto",
        normalization: str = "none",
        tokenizer: Tokenizer = "words",
        threads: int | None = None,
    ) -> None:
        self.word_vectors = word_vectors
        self.recipe = recipe
        self.weighting = weighting
        self.form = form
        self.n_components_removed = n_components_removed
        self.a = a
        self.t = t
        self.min_frequency = min_frequency
        self.dimensions = dimensions
        self.window = window
        self.context_smoothing = context_smoothing
        self.identity_share = identity_share
        self.spectrum_exponent = spectrum_exponent
        self.power_iterations = power_iterations
        self.measured_documents = measured_documents
        self.prior = prior
        self.units = units
        self.normalization = normalization
        self.tokenizer = tokenizer
        self.threads = threads

    def fit(self, X: Any, y: object = None) -> Self:
        """The embedder, fitted on these documents and no others.

        Parameters
        ----------
        X
            The documents. A generator is refused: documents are read more than once.
        y
            Ignored.
        """
        recipe, documents = recipe_of(self), require_reiterable(one_column(X))
        if self.word_vectors is None or not isinstance(recipe, WeightedRecipe):
            names = ("prior", "tokenizer", "units", "normalization", "threads")
            how: Any = {name: getattr(self, name) for name in names}
            self.model_ = fit_model(documents, self.word_vectors, recipe, **how)
            self._seen = None
            return self
        nothing = Seen.nothing(self.word_vectors, recipe, self)
        self._seen, self.model_ = learned(nothing, documents, self.threads)
        return self

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """The embedder, fitted on these documents and on all that it was given before.

        Counts add up, and weights and form are folded anew from all of them: that part is what
        `fit` on all documents at once gives, bit for bit. The removed components are those of
        the batches as they were embedded when each was seen, under the counts known by then. They
        equal those of `fit` with one batch, and (to rounding) where vectors do not depend on
        counts: weighting ``unit`` with form ``sum``. Otherwise they come close as batches add
        up; with ``n_components_removed=0`` there is nothing to differ.

        Each call folds the whole table, so few large batches are quicker than many small ones.

        Parameters
        ----------
        X
            More documents.
        y
            Ignored.

        Raises
        ------
        InputError
            If there are no word vectors to count for, or parameters have changed between calls.
        CorpusError
            If no document so far has a known word; nothing of the batch is then remembered.
        """
        recipe = recipe_of(self)
        if self.word_vectors is None or not isinstance(recipe, WeightedRecipe):
            raise InputError(
                "partial_fit needs word_vectors, as training them takes the whole corpus: pass "
                "deltavec.load_vectors(file) or deltavec.train_vectors(corpus), or call fit"
            )
        documents = require_reiterable(one_column(X))
        nothing = Seen.nothing(self.word_vectors, recipe, self)
        seen = getattr(self, "_seen", None) or nothing
        require_unchanged(seen, nothing)
        self._seen, self.model_ = learned(seen, documents, self.threads)
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """The documents' vectors, one a row, in their order.

        Parameters
        ----------
        X
            The documents.

        Returns
        -------
        ndarray of float32, shape (documents, dimensions)
            Rows of unit length, or of zeros; a frame after ``set_output``.
        """
        check_is_fitted(self, "model_")
        return self.model_.embed(one_column(X), threads=self.threads)

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """The names of the dimensions: ``deltavec0``, ``deltavec1`` and so on."""
        check_is_fitted(self, "model_")
        return np.array([f"deltavec{i}" for i in range(self.model_.dimensions)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []  # text in, float32 out
        return tags


@dataclass(frozen=True, eq=False)
class Seen:
    """What the documents so far have added up to, and under which parameters."""

    vectors: WordVectors
    recipe: WeightedRecipe
    tokenizer: Tokenizer
    statistics: CorpusStatistics
    moment: SecondMoment

    @classmethod
    def nothing(
        cls, vectors: WordVectors, recipe: WeightedRecipe, embedder: DocumentEmbedder
    ) -> Seen:
        """Before the first document."""
        asked = AskedUnits.of(embedder.tokenizer, embedder.units, vectors, embedder.normalization)
        return cls(
            vectors,
            recipe,
            asked.tokenizer,
            CorpusStatistics.empty(len(vectors)),
            SecondMoment.empty(vectors.dimensions),
        )


class Learned(NamedTuple):
    """All that was seen, and the model that it makes."""

    seen: Seen
    model: EmbeddingModel


def learned(before: Seen, documents: Chunked, threads: int | None) -> Learned:
    """What more documents make of what was seen before."""
    vectors, recipe, tokenizer = before.vectors, before.recipe, before.tokenizer
    counts = corpus_statistics(documents, vectors.vocabulary, tokenizer, threads)
    notes = {"vectors": vectors_note(vectors)}
    seen = replace(before, statistics=before.statistics + counts)
    model = model_of_table(vectors, seen.statistics, recipe, tokenizer, notes)
    if not recipe.n_components_removed:
        return Learned(seen, model)
    matrices = model.embed_batches(documents, threads=threads)
    seen = replace(seen, moment=sum(map(SecondMoment.of, matrices), before.moment))
    components = leading_components(seen.moment, recipe.n_components_removed)
    return Learned(seen, replace(model, folded=model.folded.without(components)))


def recipe_of(embedder: DocumentEmbedder) -> Recipe:
    """The recipe that the parameters make, of the kind that they belong to."""
    vectors = embedder.word_vectors
    if vectors is not None and not isinstance(vectors, WordVectors):
        raise VectorsError(
            f"word_vectors must be WordVectors or None, got {type(vectors).__name__}: "
            "load them first, with deltavec.load_vectors"
        )
    values = {name: getattr(embedder, name) for name in DEFAULTS}
    # A search over numpy.arange or linspace gives numpy's numbers.
    given = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in values.items()
        if value is not None
    }
    if embedder.recipe is None and WeightedRecipe.own(given):
        recipe = Recipe(**given)
    else:
        recipe = replace(resolve_recipe(embedder.recipe, vectors).recipe, **given)
    require_use(embedder.prior, recipe)
    return recipe


def require_unchanged(seen: Seen, now: Seen) -> None:
    """Refuse to add up what was learned under other parameters."""
    for name, what in (
        ("vectors", "word_vectors"),
        ("recipe", "weighting, form or another parameter of the recipe"),
        ("tokenizer", "tokenizer"),
    ):
        earlier, current = getattr(seen, name), getattr(now, name)
        if earlier is not current and earlier != current:
            raise InputError(f"{what} has changed since the last call: call fit to start anew")


def one_column(X: Any) -> Chunked:
    """The documents, if they come as one column of text.

    A frame of one column is refused as well: which of the two was meant is then said once, where
    the column is chosen, and a second column never goes unnoticed.
    """
    shape = getattr(X, "shape", (0,))
    if isinstance(shape, tuple) and len(shape) != 1:
        raise CorpusError(
            f"expected one column of documents, got {type(X).__name__} of shape {shape}: pass "
            "frame['text']; in a ColumnTransformer name the column as 'text', not ['text']"
        )
    return as_corpus(X)
