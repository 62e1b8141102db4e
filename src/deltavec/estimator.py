"""`DocumentEmbedder`: document vectors as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from deltavec.core.fitting import fit as fit_model
from deltavec.core.fitting import require_use, resolve_recipe
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import DEFAULTS, WEIGHTED_PARAMETERS, Recipe
from deltavec.core.text.batches import Chunked, Tokenizer, as_corpus, require_reiterable
from deltavec.core.vectors import WordVectors
from deltavec.errors import CorpusError, VectorsError


class DocumentEmbedder(TransformerMixin, BaseEstimator):
    """Documents to dense vectors of unit length, weighted by the corpus it is fitted on.

    Parameters
    ----------
    word_vectors : WordVectors, default=None
        The result of `deltavec.load_vectors`; shared by clones, never copied. If a recipe needs
        word vectors and gets none, `fit` trains them (`deltavec.train_vectors`), which is slow.
    recipe : str or Recipe, default=None
        A name such as ``idf-delta-pca``, ``auto`` or ``spectral``, or a `Recipe`. The default is
        that of `deltavec.fit`: ``auto`` with word vectors, ``spectral`` without. If only parameters
        of the paper's recipes are given, the recipe is ``idf-delta-pca`` with these parameters.
    weighting : {"idf", "sif", "subsampling", "unit"}, default=None
        The weight of a word. None, here and below, leaves the value of the recipe.
    form : {"delta", "center", "sum", "auto"}, default=None
        What is subtracted before summing; ``auto`` chooses by the length of the documents.
    n_components_removed, a, t, min_frequency : float, default=None
        More parameters of the paper's recipes: see `Recipe`.
    dimensions, window, context_smoothing, identity_share, spectrum_exponent : default=None
        Parameters of ``spectral``: see `Recipe`.
    steepness, power_iterations, measured_documents : default=None
        More parameters of ``spectral``: see `Recipe`.
    prior : WordVectors, default=None
        Word vectors that ``spectral`` may learn from too, as in `deltavec.fit`; shared by clones.
        ``model_.info()["prior"]`` says whether they helped.
    units : {"auto", "words", "words+grams", "grams"}, default="auto"
        Words, character n-grams or both, as in `deltavec.fit`. Word vectors require words.
    normalization : {"none", "folded"}, default="none"
        Unicode normalization and case folding, as in `deltavec.fit`; not with word vectors.
    tokenizer : {"words", "whitespace"} or callable, default="words"
        The tokenizer.
    threads : int, default=None
        Number of cores; all by default. The vectors do not depend on it. Use 1 inside a search
        that uses all cores itself (``n_jobs=-1``).

    Attributes
    ----------
    model_ : EmbeddingModel
        The fitted model: ``model_.explain``, ``model_.info``, ``model_.save``.

    See Also
    --------
    deltavec.fit : The same without scikit-learn.

    Notes
    -----
    Documents come as one column: a list of strings (or of lists of words), a pandas or polars
    series, an array. None and NaN in a column are empty documents. A document without known words
    gets a zero vector.

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
        steepness: float | None = None,
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
        self.steepness = steepness
        self.prior = prior
        self.units = units
        self.normalization = normalization
        self.tokenizer = tokenizer
        self.threads = threads

    def fit(self, X: Any, y: object = None) -> Self:
        """The embedder, fitted on these documents.

        Parameters
        ----------
        X
            The documents. Not a generator: documents are read more than once.
        y
            Ignored.
        """
        recipe, documents = recipe_of(self), require_reiterable(one_column(X))
        names = ("prior", "tokenizer", "units", "normalization", "threads")
        how: Any = {name: getattr(self, name) for name in names}
        self.model_ = fit_model(documents, self.word_vectors, recipe, **how)
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """The vectors of the documents, one per row, in their order.

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


def recipe_of(embedder: DocumentEmbedder) -> Recipe:
    """The recipe that the parameters describe."""
    vectors = embedder.word_vectors
    if vectors is not None and not isinstance(vectors, WordVectors):
        raise VectorsError(
            f"word_vectors must be WordVectors or None, got {type(vectors).__name__}: "
            "load them first, with deltavec.load_vectors"
        )
    values = {name: getattr(embedder, name) for name in DEFAULTS}
    # A grid search over numpy.arange or linspace passes numpy scalars.
    given = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in values.items()
        if value is not None
    }
    if embedder.recipe is None and {*given} & {*WEIGHTED_PARAMETERS}:
        recipe = Recipe(**given)
    else:
        recipe = replace(resolve_recipe(embedder.recipe, vectors).recipe, **given)
    require_use(embedder.prior, recipe)
    return recipe


def one_column(X: Any) -> Chunked:
    """The documents; raise an error unless they are one column of text.

    A frame of one column is an error too. Otherwise a second column could go unnoticed later.
    """
    shape = getattr(X, "shape", (0,))
    if isinstance(shape, tuple) and len(shape) != 1:
        raise CorpusError(
            f"expected one column of documents, got {type(X).__name__} of shape {shape}: pass "
            "frame['text']; in a ColumnTransformer name the column as 'text', not ['text']"
        )
    return as_corpus(X)
