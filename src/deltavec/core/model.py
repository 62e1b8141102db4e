"""A fitted model: one table that turns documents into vectors, and its version for a collection."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float64s, allocate_rows, as_fixed_size_lists, require_mapped
from deltavec.core.batching import EmbeddedBatch, ShareSum, count_batch, embed_batch
from deltavec.core.explain import Contributions, Explanation, compare, decompose, unknown_words
from deltavec.core.forms import EmbeddingTable
from deltavec.core.learning.cooccurrence import ids_of
from deltavec.core.learning.split_half import (
    COLLECTION_DOCUMENTS,
    HalfSample,
    collection_axes,
    half_vectors,
)
from deltavec.core.recipes import Recipe
from deltavec.core.statistics import (
    CorpusStatistics,
    SecondMoment,
    TextCounts,
    leading_components,
    require_known_words,
)
from deltavec.core.text.batches import Chunked, InMemory, Tokenizer, as_corpus, as_text_batch
from deltavec.core.text.external import NamedTokenizer
from deltavec.core.text.rules import (
    TOKEN_SEPARATOR,
    TextBatch,
    Units,
    is_folded,
    plain_name,
    rule_of_lists,
    units_of,
    with_units,
)
from deltavec.core.text.tokenize import Tokenized, tokenize, tokenize_list
from deltavec.core.threads import one_blas_thread, thread_count
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.io.export.export import Exported

# As many documents as the corpus' center counts for in that of a collection: the mean of a few is
# a poor center. What it gains and costs: docs/decisions/0009 and experiments/beyond.
CENTER_DOCUMENTS = 100


@dataclass(frozen=True, eq=False, repr=False)
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
    table : EmbeddingTable
        The table.
    tokenizer : str or callable
        What parts a document into words.
    notes : Mapping[str, str]
        Where the word vectors came from, and what was noticed on the way.

    Examples
    --------
    >>> model = dv.fit(texts)
    >>> model.embed(["storm and rain", "cricket test"]).shape
    (2, 63)
    >>> model.explain("bush fires", "fires in the mountains").pairs[0].word_a
    'fires'
    >>> model.save("mine.dv")
    >>> dv.load("mine.dv").embed(["storm"]).tobytes() == model.embed(["storm"]).tobytes()
    True
    """

    recipe: Recipe
    reason: str
    vocabulary: Vocabulary
    statistics: CorpusStatistics
    table: EmbeddingTable
    tokenizer: Tokenizer
    notes: Mapping[str, str]

    def __repr__(self) -> str:
        return (
            f"EmbeddingModel({self.recipe.name}, {len(self.vocabulary):,} words, "
            f"{self.dimensions} dimensions, fitted on {self.statistics.documents:,} documents)"
        )

    @property
    def dimensions(self) -> int:
        """The length of a document's vector."""
        return int(self.table.rows.shape[1])

    @property
    def tokenizer_name(self) -> str:
        """What a user calls the tokenizer."""
        if isinstance(self.tokenizer, NamedTokenizer):
            return str(self.tokenizer)
        return plain_name(self.tokenizer) if isinstance(self.tokenizer, str) else "a callable"

    @property
    def normalization(self) -> str:
        """How texts are normalized before they are tokenized: ``none`` or ``folded``."""
        named = isinstance(self.tokenizer, str) and is_folded(self.tokenizer)
        return "folded" if named else "none"

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
        return self.embed_and_count(documents, threads=threads).vectors

    def encode(
        self,
        sentences: Any,
        *,
        batch_size: int | None = None,
        show_progress_bar: bool | None = None,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        normalize_embeddings: bool = True,
        device: str | None = None,
    ) -> npt.NDArray[np.float32]:
        """The documents' vectors, for programs that expect a model of sentence-transformers.

        The same as `embed`, under the name and with the arguments that such programs use. Those
        that change nothing here are taken and not looked at; any other is an error.

        Parameters
        ----------
        sentences
            As for `embed`; or one string.
        batch_size, show_progress_bar, device
            Not looked at: there are no batches, no bar, and no device but the CPU.
        normalize_embeddings
            Not looked at: vectors have unit length always.
        convert_to_numpy, convert_to_tensor
            An array of numpy is all there is: True and False.

        Returns
        -------
        ndarray of float32, shape (documents, dimensions)
            As `embed` gives them; of one string its vector, of shape (dimensions,).
        """
        if convert_to_tensor or not convert_to_numpy:
            raise InputError(
                "vectors are arrays of numpy: leave convert_to_numpy and convert_to_tensor out, "
                "and use torch.from_numpy(vectors) for a tensor"
            )
        if isinstance(sentences, str):
            vector: npt.NDArray[np.float32] = self.embed([sentences])[0]
            return vector
        return self.embed(sentences)

    def embed_and_count(self, documents: Any, *, threads: int | None = None) -> EmbeddedBatch:
        """The documents' vectors, as `embed` gives them, and their words counted in the same pass.

        Returns
        -------
        Embedded
            ``vectors``; and ``counts``: documents, words, known words, documents without any.
        """
        chunked = as_corpus(documents)
        if isinstance(chunked, InMemory):
            vectors = allocate_rows(len(chunked), self.dimensions)
            parts, begin = [], 0
            for chunk in chunked.large_batches():
                parts.append(self._embedded(chunk, threads, vectors[begin : begin + len(chunk)]))
                begin += len(chunk)
        else:
            parts = [self._embedded(chunk, threads) for chunk in chunked]
            none = np.zeros((0, self.dimensions), np.float32)
            vectors = np.concatenate([none, *(part.vectors for part in parts)])
        return EmbeddedBatch(vectors, sum((part.counts for part in parts), TextCounts()))

    def embed_batches(
        self, documents: Any, *, threads: int | None = None
    ) -> Iterator[npt.NDArray[np.float32]]:
        """The documents' vectors, a matrix for each chunk that the documents come in."""
        for chunk in as_corpus(documents):
            yield self._embedded(chunk, threads).vectors

    def _embedded(
        self, chunk: Any, threads: int | None, vectors: npt.NDArray[np.float32] | None = None
    ) -> EmbeddedBatch:
        require_mapped(self.table.rows)
        texts = as_text_batch(chunk, self.tokenizer)
        return embed_batch(texts, self.vocabulary, self.table, threads, vectors=vectors)

    @one_blas_thread()
    def for_collection(self, documents: Any, *, threads: int | None = None) -> EmbeddingModel:
        """The model for comparing these documents with each other.

        What depends on the documents to be compared is learned from them: the removed
        components of a ``-pca`` recipe; for ``spectral``, the mean length and the center, to
        which the corpus' center adds as much as a hundred documents.
        Everything else stays that of the fitting corpus, and other recipes stay the same model.
        Queries against the collection use its model too.

        Parameters
        ----------
        documents
            The collection, as for `embed`; read once.
        threads
            How many cores to use; all of them by default.
        """
        if not self.recipe.depends_on_documents:
            return self
        relearn = remove_components if self.recipe.needs_vectors else recenter
        return relearn(self, as_corpus(documents), threads)

    def explain(self, a: Any, b: Any, *, pairs: int = 10) -> Explanation:
        """Which words make two documents similar, as shares that add up to their cosine.

        Parameters
        ----------
        a, b
            Two documents: strings, or lists of words.
        pairs
            How many pairs of words to list.
        """
        return compare(self.decompose(a), self.decompose(b), pairs)

    def decompose(self, document: Any) -> Contributions:
        """One document in the terms of its sum: what each of its words adds."""
        require_mapped(self.table.rows)
        return decompose(self.tokenize(document), self.vocabulary, self.table)

    def words(self, document: Any) -> list[str]:
        """The words of one document, known or not, in their order."""
        return self.tokenize(document).words

    def unknown_words(self, document: Any) -> list[str]:
        """The words of one document of which nothing is known, each once."""
        own = self.tokenize(document)
        return list(unknown_words(own, self.vocabulary.ids(own.units)))

    def tokenize(self, document: Any) -> Tokenized:
        """The words of one document, the units counted, and which words these came from."""
        return self._tokenize_by(self.tokenizer, document)

    def terms(self, document: Any) -> Tokenized:
        """The words of one document, and the terms that an inverted index counts.

        These are the words, and their n-grams if the embedding counts n-grams.
        """
        rule = self.tokenizer
        if isinstance(rule, str) and self.gram:
            rule = with_units(rule, Units(True, self.gram))
        return self._tokenize_by(rule, document)

    @property
    def gram(self) -> int:
        """The length of the n-grams that are counted; 0 if only words are."""
        return units_of(self.tokenizer).gram if isinstance(self.tokenizer, str) else 0

    def _tokenize_by(self, tokenizer: Tokenizer, document: Any) -> Tokenized:
        texts = as_text_batch([document], tokenizer)
        data = texts.data[texts.ends[0] : texts.ends[1]].tobytes()
        name = tokenizer if isinstance(tokenizer, str) else "tokens"
        if texts.rule is rule_of_lists(name):
            apart = data.replace(b"\0", TOKEN_SEPARATOR).split(TOKEN_SEPARATOR)
            return tokenize_list([word.decode() for word in apart if word], name)
        if data.isascii() and not texts.rule.gram:
            # What most queries are: the table of bytes does it at once.
            apart = data.translate(texts.rule.bytes.tobytes()).split(b"\0")
            return tokenize_list([word.decode() for word in apart if word], name)
        return tokenize(data.decode("utf-8", "replace"), name)

    @property
    def is_measured(self) -> bool:
        """Whether a collection can turn its axes: see `for_collection`."""
        return len(self.table.signal) > 0

    def embed_batch(
        self, batch: Any, column: str, *, output: str = "embedding", threads: int | None = None
    ) -> Any:
        """A batch of Arrow with one more column: the vectors of a column of text.

        Parameters
        ----------
        batch : pyarrow.RecordBatch or pyarrow.Table
            Some documents.
        column
            The column with the text; null is an empty text.
        output
            The name of the new column, of type ``fixed_size_list<float>``.
        threads
            How many cores to use; all of them by default.

        Examples
        --------
        >>> import pyarrow as pa, deltavec as dv
        >>> vectors = dv.WordVectors(["sea", "room"], [[1, 0], [0, 1]])
        >>> model = dv.fit(["sea view", "room"], vectors, recipe="idf-sum")
        >>> model.embed_batch(pa.record_batch({"text": ["the sea"]}), "text").schema.names
        ['text', 'embedding']
        """
        if column not in batch.schema.names:
            raise InputError(f"no column {column!r}; the columns are {batch.schema.names}")
        if output in batch.schema.names:
            raise InputError(f"the batch has a column {output!r} already: name another output")
        vectors = self.embed(batch.column(column), threads=threads)
        return batch.append_column(output, as_fixed_size_lists(vectors))

    def info(self) -> dict[str, Any]:
        """What the model is, in a few figures: recipe and why, sizes, coverage."""
        seen = int((self.statistics.token_counts > 0).sum())
        return {
            "recipe": self.recipe.name,
            "reason": self.reason,
            "parameters": self.recipe.parameters,
            "components_removed": len(self.table.components),
            "length_ratio": self.table.length_ratio,
            "dimensions": self.dimensions,
            "words": len(self.vocabulary),
            "words_seen": seen,
            "documents": self.statistics.documents,
            "documents_without_known_words": self.statistics.unknown_documents,
            "tokens": self.statistics.tokens,
            "coverage": self.statistics.coverage,
            "mean_length": self.statistics.mean_length,
            "tokenizer": self.tokenizer_name,
            "normalization": self.normalization,
            "units": "words: as usual",
            "table_bytes": self.table.rows.nbytes,
            "fingerprint": self.fingerprint,
            **self.notes,
        }

    @functools.cached_property
    def fingerprint(self) -> str:
        """A short name of the content: models with the same one give the same vectors."""
        digest = hashlib.sha256(repr((self.tokenizer, self.table.offset_norm)).encode())
        words = self.vocabulary
        table = self.table
        for array in (
            words.offsets, words.data, table.rows, table.penalties, table.offset, table.norms,
        ):  # fmt: skip
            digest.update(array.data)
        return digest.hexdigest()[:16]

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the model to a folder; `deltavec.load` reads it back, bit for bit."""
        from deltavec.io.artifacts.model import save

        save(self, folder)

    def export(
        self, folder: str | PathLike[str], format: str = "model2vec", *, dtype: str = "float32"
    ) -> Exported:
        """Write the model in a format that other libraries load, without deltavec.

        A model of any form but delta is a table of rows: the vector of a document is the mean of
        the rows of its known words, scaled to unit length. The offset goes into the rows.

        Parameters
        ----------
        folder
            Where to, in one atomic step; an earlier export there is replaced.
        format
            ``model2vec``: the table, a tokenizer that finds the same words, and what
            sentence-transformers needs to load it too. ``word2vec`` or ``safetensors``:
            the words and their rows only.
        dtype
            ``float32`` or ``float16``, half as large.

        Returns
        -------
        Exported
            What was written, what float16 cost, and the share of words that the exported
            tokenizer does not find.

        Raises
        ------
        ModelError
            If the form is delta; for ``model2vec`` also if the tokenizer is third-party code, or
            units overlap: runs of characters, or more than a few pairs of neighbors in a script
            without spaces.
        """
        from deltavec.io.export.export import export

        return export(self, folder, format, dtype=dtype)


def recenter(model: EmbeddingModel, corpus: Chunked, threads: int | None = None) -> EmbeddingModel:
    """The spectral model for documents of the collection's length, seen from its center."""
    shares = ShareSum(len(model.vocabulary))
    statistics = CorpusStatistics.empty(len(model.vocabulary))
    sample = HalfSample.empty(model.dimensions)
    for chunk in corpus:
        texts = as_text_batch(chunk, model.tokenizer)
        statistics += count_batch(texts, model.vocabulary, threads)
        shares.add(texts, model.vocabulary, threads)
        if model.is_measured:
            sample = sample.sampled(half_vectors_of(texts, model, threads))
    return recentered(model, statistics, shares.total, sample)


def recentered(
    model: EmbeddingModel, statistics: CorpusStatistics, shares: Float64s, sample: HalfSample
) -> EmbeddingModel:
    """The spectral model for documents with these counts, sums of shares, and sample.

    The mean of a few documents is a poor center: the fitting corpus' own counts as a hundred more.
    """
    require_known_words(statistics)
    known = statistics.documents - statistics.unknown_documents
    length, usual = statistics.known_tokens / known, model.statistics.mean_length
    shares = shares + CENTER_DOCUMENTS * model.statistics.term_frequencies
    shares /= known + CENTER_DOCUMENTS
    table = model.table
    if model.is_measured:
        table = table.turned(*collection_axes(table, sample))
    table = table.reweight_for_length(length / usual).with_offset(shares)
    reason = (
        f"{length / usual:.4g}: the {statistics.documents:,} documents of the collection hold "
        f"{length:.1f} known words on average, those of the corpus {usual:.1f}"
    )
    return replace(model, table=table, notes={**model.notes, "lambda": reason})


def half_vectors_of(texts: TextBatch, model: EmbeddingModel, threads: int | None) -> HalfSample:
    """The split-half sample of some documents, in unweighted directions."""
    ids = np.concatenate([np.zeros(0, np.int32), *ids_of(texts, model.vocabulary, threads)])
    length = model.statistics.mean_length
    count = thread_count(threads)
    sample = half_vectors(ids, model.table.rows, length, count, COLLECTION_DOCUMENTS)
    weights = model.table.direction_weights.astype(np.float32)
    return sample._replace(first=sample.first / weights, second=sample.second / weights)


def remove_components(
    model: EmbeddingModel, corpus: Chunked, threads: int | None = None
) -> EmbeddingModel:
    """The model with the components removed that the documents of the corpus have in common."""
    whole = replace(model, table=model.table.restored())
    count = thread_count(threads)
    moments = (
        SecondMoment.of(vectors, count) for vectors in whole.embed_batches(corpus, threads=threads)
    )
    moment = sum(moments, SecondMoment.empty(model.dimensions))
    components = leading_components(moment, model.recipe.n_components_removed)
    return replace(model, table=whole.table.without(components))
