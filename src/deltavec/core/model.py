"""Fit, in order: count the corpus, fold weight and form into a table, remove what is common."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.components import SecondMoment, leading_components
from deltavec.core.cooccurrence import DEFAULT_MEMORY
from deltavec.core.explain import Explanation, compared, dissected
from deltavec.core.forms import FoldedVectors
from deltavec.core.passes import counted, embedded, shared_out
from deltavec.core.ppmi import ppmi_vectors
from deltavec.core.recipes import Choice, Recipe, settled
from deltavec.core.scratch import spilling
from deltavec.core.spectral import Spectral, spectral
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.texts import (
    Chunked,
    InMemory,
    Tokenizer,
    as_chunked,
    as_texts,
    require_tokenizer,
    rereadable,
)
from deltavec.core.tokens import TOKEN_SEPARATOR, rule, words
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import CorpusError, InputError, RecipeError

# As many documents as the corpus' centre counts for in that of a collection: the mean of a few is
# a poor centre. What it gains and costs: docs/decisions/0009 and experiments/beyond.
CENTRE_DOCUMENTS = 100


@dataclass(frozen=True, eq=False)
class EmbeddingModel:
    """What was learned from a corpus: one table that turns documents into vectors.

    Made by `deltavec.fit` or `deltavec.load`.

    Attributes
    ----------
    recipe : Recipe
        The recipe, its form settled.
    reason : str
        Why this recipe.
    vocabulary : Vocabulary
        The known words, the most frequent first.
    statistics : CorpusStatistics
        Their counts in the fitting corpus.
    folded : FoldedVectors
        The table.
    tokenizer : str or callable
        What parts a document into words.
    notes : Mapping[str, str]
        Where the word vectors came from, and what was noticed on the way.
    """

    recipe: Recipe
    reason: str
    vocabulary: Vocabulary
    statistics: CorpusStatistics
    folded: FoldedVectors
    tokenizer: Tokenizer
    notes: Mapping[str, str]

    @property
    def dimensions(self) -> int:
        """The length of a document's vector."""
        return int(self.folded.rows.shape[1])

    def embed(self, documents: Any, *, threads: int | None = None) -> npt.NDArray[np.float32]:
        """The documents' vectors, one a row, in their order.

        Parameters
        ----------
        documents
            A list of strings (or of lists of words), a column, an iterable, or what
            `deltavec.read_corpus` gives; None is an empty document.
        threads
            How many cores to use; all of them by default. The result is the same.

        Returns
        -------
        ndarray of float32, shape (documents, dimensions)
            Rows of unit length. A document without known words, or of which nothing is left, is
            a row of zeros.
        """
        chunked = as_chunked(documents)
        if not isinstance(chunked, InMemory):
            matrices = self.embed_batches(chunked, threads=threads)
            return np.concatenate([np.zeros((0, self.dimensions), np.float32), *matrices])
        vectors = np.empty((len(chunked), self.dimensions), np.float32)
        begin = 0
        for chunk in chunked.large_chunks():
            texts = as_texts(chunk, self.tokenizer)
            own = vectors[begin : begin + texts.documents]
            embedded(texts, self.vocabulary, self.folded, threads, vectors=own)
            begin += texts.documents
        return vectors

    def embed_batches(
        self, documents: Any, *, threads: int | None = None
    ) -> Iterator[npt.NDArray[np.float32]]:
        """The documents' vectors, a matrix for each chunk that the documents come in."""
        for chunk in as_chunked(documents):
            texts = as_texts(chunk, self.tokenizer)
            yield embedded(texts, self.vocabulary, self.folded, threads)

    def for_collection(self, documents: Any, *, threads: int | None = None) -> EmbeddingModel:
        """The model for comparing these documents with each other.

        What depends on the documents to be compared is learned from them: the removed
        components of a ``-pca`` recipe; for ``spectral``, the mean length and the centre, to
        which the corpus' centre adds as much as a hundred documents.
        Everything else stays that of the fitting corpus, and other recipes stay the same model.
        Queries against the collection use its model too.

        Parameters
        ----------
        documents
            The collection, as for `embed`; read once.
        threads
            How many cores to use; all of them by default.
        """
        if self.recipe.form == "spectral":
            return recentred(self, as_chunked(documents), threads)
        if self.recipe.n_components_removed:
            return without_common(self, as_chunked(documents), threads)
        return self

    def explain(self, a: Any, b: Any, *, pairs: int = 10) -> Explanation:
        """Which words make two documents alike, as shares that add up to their cosine.

        Parameters
        ----------
        a, b
            Two documents: strings, or lists of words.
        pairs
            How many pairs of words to list.
        """
        apart_a, apart_b = (
            dissected(self.words(text), self.vocabulary, self.folded) for text in (a, b)
        )
        return compared(apart_a, apart_b, pairs)

    def words(self, document: Any) -> list[str]:
        """The words of one document, known or not, in their order."""
        texts = as_texts([document], self.tokenizer)
        data = texts.data[texts.ends[0] : texts.ends[1]].tobytes()
        if texts.rule is rule("tokens"):
            apart = data.replace(b"\0", TOKEN_SEPARATOR).split(TOKEN_SEPARATOR)
            return [word.decode() for word in apart if word]
        return words(data.decode("utf-8", "replace"), str(self.tokenizer))

    def info(self) -> dict[str, Any]:
        """What the model is, in a few figures: recipe and why, sizes, coverage."""
        seen = int((self.statistics.token_counts > 0).sum())
        return {
            "recipe": self.recipe.name,
            "reason": self.reason,
            "parameters": self.recipe.parameters,
            "components_removed": len(self.folded.components),
            "length_ratio": self.folded.length_ratio,
            "dimensions": self.dimensions,
            "words": len(self.vocabulary),
            "words_seen": seen,
            "documents": self.statistics.documents,
            "documents_without_known_words": self.statistics.unknown_documents,
            "tokens": self.statistics.tokens,
            "coverage": self.statistics.coverage,
            "mean_length": self.statistics.mean_length,
            "tokenizer": self.tokenizer if isinstance(self.tokenizer, str) else "a callable",
            "table_bytes": self.folded.rows.nbytes,
            "fingerprint": self.fingerprint,
            **self.notes,
        }

    @functools.cached_property
    def fingerprint(self) -> str:
        """A short name of the content: models with the same one give the same vectors."""
        digest = hashlib.sha256(repr((self.tokenizer, self.folded.offset_norm)).encode())
        words = self.vocabulary
        table = self.folded
        for array in (
            words.offsets, words.data, table.rows, table.penalties, table.offset, table.norms,
        ):  # fmt: skip
            digest.update(array.data)
        return digest.hexdigest()[:16]

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the model to a folder; `deltavec.load` reads it back, bit for bit."""
        from deltavec.io.storage import save

        save(self, folder)


def fit(
    corpus: Any,
    vectors: WordVectors | None = None,
    recipe: Recipe | str | None = None,
    *,
    tokenizer: Tokenizer = "words",
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    on_stage: Callable[[str], None] | None = None,
) -> EmbeddingModel:
    """The model that a corpus makes, with word vectors or alone.

    Parameters
    ----------
    corpus
        The documents to learn from: a list of strings, a column, or what `deltavec.read_corpus`
        gives. Read once, and once more if there are no vectors or components are removed.
    vectors
        Word vectors, for the recipes of the paper. Where these are asked for without vectors,
        they are trained on the corpus (`deltavec.train_vectors`).
    recipe
        A name such as ``idf-delta-pca``, ``auto`` or ``spectral``, or a `Recipe`. By default
        ``auto`` with vectors, and ``spectral``, which needs none, without.
    tokenizer
        ``words``, ``whitespace``, or a callable that turns a string into a list of words. A model
        with a callable cannot be saved.
    threads
        How many cores to use; all of them by default. The counts are the same.
    max_memory
        Bytes that counts of pairs of words may take, where the corpus is learned from alone;
        beyond, they are kept in temporary files.
    on_stage
        Called with a word or two when each stage begins.

    Warns
    -----
    SmallModelWarning
        If the corpus has too few words for the dimensions asked for: the model has fewer.

    Examples
    --------
    >>> vectors = WordVectors(["sea", "room", "quiet"], [[1, 0], [0, 1], [0.5, 1]])
    >>> model = fit(["Sea view", "quiet room", "room"], vectors, "idf-sum")
    >>> model.embed(["A quiet sea", "?"]).round(2)
    array([[0.85, 0.53],
           [0.  , 0.  ]], dtype=float32)
    """
    chosen, reason = chosen_recipe(recipe, vectors)
    require_tokenizer(tokenizer)
    require_memory(max_memory)
    chunked = as_chunked(corpus)
    if vectors is None or chosen.n_components_removed:
        rereadable(chunked)
    if chosen.form == "spectral":
        with spilling(max_memory) as allocate:
            learned = spectral(
                chunked,
                chosen,
                tokenizer=tokenizer,
                threads=threads,
                max_memory=max_memory,
                allocate=allocate,
                on_stage=on_stage,
            )
        return spectral_model(learned, chosen, reason, tokenizer)
    begin = on_stage or (lambda stage: None)
    notes = {}
    if vectors is None:
        with spilling(max_memory) as allocate:
            vectors = ppmi_vectors(
                chunked,
                tokenizer=tokenizer,
                threads=threads,
                max_memory=max_memory,
                allocate=allocate,
                on_stage=on_stage,
            )
        notes["vectors"] = f"trained on the corpus: ppmi, {vectors.dimensions} dimensions"
    else:
        notes["vectors"] = f"{len(vectors):,} words, {vectors.dimensions} dimensions"
    begin("counting words")
    statistics = corpus_statistics(chunked, vectors.vocabulary, tokenizer, threads)
    model = compiled(vectors, statistics, chosen, tokenizer, notes)
    if not chosen.n_components_removed:
        return model
    begin("finding common components")
    return without_common(model, chunked, threads)


def chosen_recipe(recipe: Recipe | str | None, vectors: WordVectors | None) -> Choice:
    """The recipe asked for, or the one for what is given."""
    if recipe is None:
        if vectors is None:
            return Choice(Recipe.named("spectral"), "spectral: no word vectors were given")
        return Choice(Recipe.named("auto"), "word vectors were given")
    chosen = Recipe.of(recipe)
    if chosen.form == "spectral" and vectors is not None:
        raise RecipeError("spectral learns its own word vectors: leave the vectors out")
    return Choice(chosen, "as asked for")


def require_memory(max_memory: object) -> None:
    """Refuse a bound on memory that is none."""
    if isinstance(max_memory, bool) or not isinstance(max_memory, int) or max_memory < 1:
        raise InputError(
            f"max_memory must be a whole number of bytes from 1 on, got {max_memory!r}"
        )


def spectral_model(
    learned: Spectral, recipe: Recipe, reason: str, tokenizer: Tokenizer
) -> EmbeddingModel:
    """The model of the recipe that needs no word vectors."""
    return EmbeddingModel(
        recipe,
        reason,
        learned.vocabulary,
        learned.statistics,
        learned.folded,
        tokenizer,
        {
            "vectors": "learned with the model",
            **learned.derived,
            "lambda": "1: for documents as long as those of the corpus",
        },
    )


def recentred(model: EmbeddingModel, corpus: Chunked, threads: int | None = None) -> EmbeddingModel:
    """The spectral model for documents of the collection's length, seen from its centre.

    The mean of a few documents is a poor centre: the fitting corpus' own counts as a hundred more.
    """
    shares = np.zeros(len(model.vocabulary))
    statistics = CorpusStatistics.empty(len(model.vocabulary))
    for chunk in corpus:
        texts = as_texts(chunk, model.tokenizer)
        statistics += counted(texts, model.vocabulary, threads)
        shares += shared_out(texts, model.vocabulary, threads)
    require_known_words(statistics)
    known = statistics.documents - statistics.unknown_documents
    length, usual = statistics.known_tokens / known, model.statistics.mean_length
    shares += CENTRE_DOCUMENTS * model.statistics.term_frequencies
    shares /= known + CENTRE_DOCUMENTS
    folded = model.folded.for_length(length / usual).with_offset(shares)
    reason = (
        f"{length / usual:.4g}: the {statistics.documents:,} documents of the collection hold "
        f"{length:.1f} known words on average, those of the corpus {usual:.1f}"
    )
    return replace(model, folded=folded, notes={**model.notes, "lambda": reason})


def corpus_statistics(
    corpus: Chunked, vocabulary: Vocabulary, tokenizer: Tokenizer, threads: int | None
) -> CorpusStatistics:
    """The counts of a whole corpus, chunk by chunk."""
    return reduce(
        add,
        (counted(as_texts(chunk, tokenizer), vocabulary, threads) for chunk in corpus),
        CorpusStatistics.empty(len(vocabulary)),
    )


def compiled(
    vectors: WordVectors,
    statistics: CorpusStatistics,
    recipe: Recipe,
    tokenizer: Tokenizer,
    notes: Mapping[str, str],
) -> EmbeddingModel:
    """The model of these counts, with nothing removed yet; the most frequent words first."""
    require_known_words(statistics)
    choice = settled(recipe, statistics)
    # Hot rows side by side stay in the cache.
    order = np.argsort(-statistics.token_counts, kind="stable")
    vocabulary = vectors.vocabulary.taken(order)
    statistics = statistics.taken(order)
    ordered = WordVectors.from_unit_rows(vocabulary, vectors.matrix[order])
    folded = choice.recipe.folded(ordered, statistics)
    return EmbeddingModel(
        choice.recipe, choice.reason, vocabulary, statistics, folded, tokenizer, dict(notes)
    )


def require_known_words(statistics: CorpusStatistics) -> None:
    """Refuse a corpus from which nothing can be learned."""
    if statistics.documents == 0:
        raise CorpusError("the corpus holds no documents")
    if statistics.tokens == 0:
        raise CorpusError(f"none of the {statistics.documents:,} documents holds a word")
    if statistics.known_tokens == 0:
        raise CorpusError(
            f"none of the {statistics.tokens:,} words of the corpus has a vector: "
            "are the vectors of the same language, and lower-case?"
        )


def without_common(
    model: EmbeddingModel, corpus: Chunked, threads: int | None = None
) -> EmbeddingModel:
    """The model with the components removed that the documents of the corpus have in common."""
    whole = replace(model, folded=model.folded.restored())
    moment = reduce(
        add,
        map(SecondMoment.of, whole.embed_batches(corpus, threads=threads)),
        SecondMoment.empty(model.dimensions),
    )
    components = leading_components(moment, model.recipe.n_components_removed)
    return replace(model, folded=whole.folded.without(components))
