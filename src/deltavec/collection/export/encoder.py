r"""`Collection.export`, and queries as vectors from statistics alone, without documents.

.. math:: w_i = \frac{q_i\, \mathrm{idf}_i}{\sigma_b}, \qquad y = \frac{.7}{\sigma_c} u_q

With the exported documents of `deltavec.collection.export.stores` two inner products give the
score of `Collection.search`. The folder of an encoder::

    NEWS.query/
      encoder.json              the manifest
      statistics.safetensors    words, terms, their statistics, sums over the vectors
      model.dv/                 the model
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deltavec.collection.answers import Match, SearchExplanation
from deltavec.collection.export import stores
from deltavec.collection.export.stores import all_statistics, exported_batches
from deltavec.collection.query import Query, parse_query, whole_terms
from deltavec.core.arguments import require_one_of
from deltavec.core.arrays import Float32s, Float64s, Int32s, Int64s
from deltavec.core.kernels.count import COUNTS, pack_count
from deltavec.core.learning.vocabulary_builder import WordCounts
from deltavec.core.model import EmbeddingModel
from deltavec.core.text.batches import as_text_batch
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import on_disk
from deltavec.io.artifacts.manifest import (
    Artifact,
    names,
    problems_of,
    require_ranges,
    require_types,
    require_unchanged,
)
from deltavec.io.artifacts.model import MODEL_FOLDER, load, save
from deltavec.io.artifacts.tensors import foreign_tensors, require_words
from deltavec.search.hybrid.score_scale import ScoreScale
from deltavec.search.lexical.bm25 import norms_of, saturate
from deltavec.search.lexical.index import TermStatistics

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

MANIFEST, MODEL, STATISTICS = "encoder.json", "model.dv", "statistics.safetensors"
ENCODER_FOLDER = Artifact(
    "query encoder", 1, MANIFEST, names([MANIFEST, STATISTICS]), folders={MODEL: MODEL_FOLDER}
)
NUMBERS = ("documents", "length", "length_squares")
TYPES: dict[str, type[Any]] = {
    **dict.fromkeys(("model", "sha256", "store", "name"), str),
    **dict.fromkeys(NUMBERS, int),
}


@dataclass(frozen=True, eq=False)
class StoredStatistics(TermStatistics):
    """The statistics of all terms of a collection, at one moment.

    Attributes
    ----------
    vocabulary : Vocabulary
        All words.
    groups : ndarray of int32
        The term of each word, by its exported id.
    table : ndarray of float64
        A row for each exported id.
    documents, length_sums
        As in `TermStatistics`.
    """

    vocabulary: Vocabulary
    groups: Int32s
    table: Float64s
    documents: int = 0
    length_sums: tuple[int, int] = (0, 0)

    def terms_of(self, words: Sequence[str]) -> Int64s:
        """The term of each word; -1 for a word that is not here."""
        ids = np.asarray(self.vocabulary.ids(list(words)), np.int64)
        return np.where(ids >= 0, np.append(self.groups, -1)[ids], -1).astype(np.int64)

    def statistics(self, terms: Int64s) -> Float64s:
        """A row for each term."""
        return self.table[terms].reshape(-1, 7)


class EncoderStatistics(NamedTuple):
    """Statistics of terms, and of vectors: see `deltavec.collection.query.QueryStatistics`."""

    words: StoredStatistics
    spread: ScoreScale


class EncodedDocument(NamedTuple):
    """A document as it is exported: its terms, their impacts, and its embedding."""

    terms: Int64s
    impacts: Float32s
    dense: Float32s


@dataclass(frozen=True, eq=False, repr=False)
class QueryEncoder:
    """Encodes queries for documents that were exported to another store.

    Loaded by `deltavec.load_query_encoder`, made by `Collection.export`.

    Attributes
    ----------
    model : EmbeddingModel
        The model of the collection.
    statistics : EncoderStatistics
        Statistics of its terms and of its vectors, when it was exported.
    store, name : str
        Where the documents are: the kind of store, and the name of the table.

    Examples
    --------
    >>> encoder = news.export("documents")
    >>> query = encoder.query("cricket test")
    >>> len(query.terms), len(query.weights), len(query.vector)
    (2, 2, 63)
    """

    model: EmbeddingModel
    statistics: EncoderStatistics
    store: str = "parquet"
    name: str = "documents"

    def __repr__(self) -> str:
        return f"QueryEncoder({self.store} {self.name!r}, {self.documents:,} documents)"

    @property
    def documents(self) -> int:
        """How many documents were exported."""
        return self.statistics.words.documents

    @property
    def terms(self) -> int:
        """The length of the sparse vectors."""
        return max(len(self.statistics.words.table), 1)

    def __call__(self, text: str | Sequence[str], *, by: str | None = None) -> EncodedQuery:
        """The same as `query`."""
        return self.query(text, by=by)

    def query(self, text: str | Sequence[str], *, by: str | None = None) -> EncodedQuery:
        """A query as a sparse vector of terms and a dense vector.

        Parameters
        ----------
        text
            What `Collection.search` takes. A quoted word must occur, in any form.
        by
            ``hybrid``, ``keyword`` or ``semantic``, as for `Collection.search`.
        """
        return EncodedQuery(self, parse_query(text, by, self.model, self.statistics, 1, None))

    def document(self, text: str) -> EncodedDocument:
        """A text as `Collection.export` writes it, to be added to the store by itself.

        Terms that the exported collection does not have are left out.
        """
        texts = as_text_batch([text], self.model.tokenizer)
        counter, words = WordCounts(), self.statistics.words
        listed = counter.listed(texts._replace(rule=texts.rule._replace(whole=True)))
        terms = words.terms_of(counter.vocabulary.words)[listed.ids]
        packed: dict[int, int] = {}
        for term, count in zip(terms.tolist(), listed.counts.tolist(), strict=True):
            packed[term] = merge_counts(packed[term], count) if term in packed else count
        packed.pop(-1, None)
        held = np.array(sorted(packed), np.int64)
        counts = np.array([packed[term] for term in held.tolist()], np.int64)
        norm = norms_of(listed.lengths, words.mean_length, np.zeros(0, np.int64))[0]
        impacts = np.asarray(saturate(counts, norm), np.float32)
        return EncodedDocument(held, impacts, self.model.embed([text])[0])

    def drift(self, collection: Collection) -> dict[str, Any]:
        """How far a collection has moved since it was exported.

        Queries keep the statistics of the export. Export again when many documents are new, or when
        ``impact_change``, the most that an impact has changed by, is above a few percent.
        """
        mean = self.statistics.words.mean_length
        return {
            "exported_documents": self.documents,
            "documents": len(collection),
            "same_model": collection.model.fingerprint == self.model.fingerprint,
            "impact_change": abs(collection.words.words.mean_length - mean) / mean,
        }

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the encoder to a folder, atomically."""
        from safetensors.numpy import save_file

        words, spread = self.statistics
        arrays = {
            "words": words.vocabulary.data,
            "word_offsets": words.vocabulary.offsets,
            "groups": words.groups,
            "table": words.table,
            "moment": spread.moment,
            "total": spread.total,
        }
        with ENCODER_FOLDER.replacing(Path(folder)) as fresh:
            save(self.model, fresh / MODEL)
            save_file({k: np.ascontiguousarray(v) for k, v in arrays.items()}, fresh / STATISTICS)
            length, squares = words.length_sums
            entries = {
                "model": self.model.fingerprint,
                "sha256": on_disk(fresh / STATISTICS).sha256,
                "store": self.store,
                "name": self.name,
                "documents": words.documents,
                "length": length,
                "length_squares": squares,
            }
            ENCODER_FOLDER.write_manifest(fresh, entries)


def load_query_encoder(
    folder: str | os.PathLike[str], *, verify: bool = True, trust: bool = False
) -> QueryEncoder:
    """The query encoder in a folder, which `Collection.export` wrote.

    Parameters
    ----------
    folder
        Its folder.
    verify
        Whether to compare the files with their checksums.
    trust
        Whether to import a third-party tokenizer that the model names: see `deltavec.load`.

    Examples
    --------
    >>> news.export("documents")
    QueryEncoder(parquet 'documents', 12 documents)
    >>> dv.load_query_encoder("documents/encoder")
    QueryEncoder(parquet 'documents', 12 documents)
    """
    path = Path(folder)

    def read(path: Path) -> QueryEncoder:
        entries = ENCODER_FOLDER.read_manifest(path)
        with problems_of(path / MANIFEST):
            require_types(entries, TYPES)
            require_ranges(entries, dict.fromkeys(NUMBERS, (0, 2**63)))
        model = load(path / MODEL, verify=verify, trust=trust)
        with ENCODER_FOLDER.opened(path / STATISTICS) as file:
            if verify:
                require_unchanged(file, entries["sha256"])
            arrays, _ = foreign_tensors(path / STATISTICS)
            require_statistics(arrays, model.dimensions)
        words = StoredStatistics(
            Vocabulary(arrays["words"], arrays["word_offsets"]), arrays["groups"], arrays["table"],
            entries["documents"], (entries["length"], entries["length_squares"]),
        )  # fmt: skip
        spread = ScoreScale(arrays["moment"], arrays["total"], entries["documents"])
        statistics = EncoderStatistics(words, spread)
        return QueryEncoder(model, statistics, entries["store"], entries["name"])

    return ENCODER_FOLDER.read_whole(path, read)


def require_statistics(arrays: Any, dimensions: int) -> None:
    """Refuse arrays of other shapes or types, and numbers that lead out of them."""
    terms, words = len(arrays.get("table", ())), len(arrays.get("word_offsets", ())) - 1
    expected = {
        "groups": ("i4", (words,)),
        "moment": ("f8", (dimensions, dimensions)),
        "table": ("f8", (terms, 7)),
        "total": ("f8", (dimensions,)),
        "word_offsets": ("i8", (words + 1,)),
        "words": ("u1", (len(arrays.get("words", ())),)),
    }
    found = {name: (array.dtype.str[1:], array.shape) for name, array in arrays.items()}
    if found != expected or not all(np.isfinite(array).all() for array in arrays.values()):
        raise InputError("other arrays than a query encoder has: the file is damaged")
    require_words(arrays)
    groups = arrays["groups"]
    if len(groups) and not 0 <= groups.min() <= groups.max() < terms:
        raise InputError("a term that is not there: the file is damaged")


def encoder_of(
    collection: Collection, store: str, name: str, before: QueryEncoder | None = None
) -> tuple[QueryEncoder, Int32s]:
    """The encoder of a collection as it is now, and the exported id of each of its terms.

    A term keeps the id that it has in the encoder of an earlier export, by its first word there;
    others have new ones behind. So documents of both exports may stand beside each other.
    """
    index, spread = collection.words
    ids = np.full(index.terms, -1, np.int64)
    first = 0
    if before is not None:
        known = before.statistics.words.terms_of(index.words.words)
        there = np.flatnonzero(known >= 0)[::-1]  # the first of several words stays
        ids[index.groups[there]] = known[there]
        _, kept = np.unique(ids, return_index=True)  # two terms that were one: the first keeps it
        again = np.setdiff1d(np.flatnonzero(ids >= 0), kept)
        ids[again] = -1
        first = len(before.statistics.words.table)
    new = np.flatnonzero(ids < 0)
    ids[new] = first + np.arange(len(new))
    table = np.zeros((first + len(new), 7))
    table[ids] = all_statistics(index)
    words = StoredStatistics(
        index.words, ids[index.groups].astype(np.int32), table, index.documents, index.length_sums
    )
    statistics = EncoderStatistics(words, spread)
    return QueryEncoder(collection.model, statistics, store, name), ids.astype(np.int32)


def merge_counts(a: int, b: int) -> int:
    """The packed count of two forms of a term."""
    return int(pack_count(int(COUNTS[a] + COUNTS[b]), a % 4 + b % 4))


@dataclass(frozen=True, eq=False, repr=False)
class EncodedQuery:
    """A query as two vectors. Their products with those of a document add up to its score.

    Attributes
    ----------
    encoder : QueryEncoder
        What encoded it.
    parsed : Query
        The query, parsed.

    Examples
    --------
    >>> query = news.export("documents").query("cricket test")
    >>> query.weights.round(2).tolist()
    [1.76, 4.16]
    """

    encoder: QueryEncoder
    parsed: Query

    def __repr__(self) -> str:
        return f"EncodedQuery({self.by}, {len(self.terms)} terms)"

    @property
    def by(self) -> str:
        """The search mode."""
        return self.parsed.by

    @property
    def unknown(self) -> list[str]:
        """The words that are out of vocabulary."""
        return self.parsed.unknown

    @property
    def terms(self) -> Int64s:
        """The ids of its terms, ascending."""
        return self.parsed.lexical.terms

    @property
    def weights(self) -> Float64s:
        """The weight of each term."""
        return self.parsed.lexical.weights

    @cached_property
    def vector(self) -> Float32s:
        """The embedding times its scale; zeros in a keyword query."""
        scaled: Float32s = (self.parsed.vector * self.parsed.scale).astype(np.float32)
        return scaled

    @cached_property
    def required(self) -> list[list[int]]:
        """The terms of each quoted word: documents must have all of them."""
        words = (whole_terms(word, self.parsed.model) for word in self.parsed.quoted)
        return self._known([[term for term in some if len(term.encode()) > 1] for some in words])

    @cached_property
    def negated(self) -> list[list[int]]:
        """The terms of each negated word: documents must not have all of them."""
        return [terms for terms in self._known(self.parsed.negated) if -1 not in terms]

    def _known(self, words: list[list[str]]) -> list[list[int]]:
        return [self.encoder.statistics.words.terms_of(some).tolist() for some in words if some]

    def sql(
        self, k: int = 10, *, way: str = "candidates", where: str | None = None,
        candidates: int = stores.CANDIDATES,
    ) -> str:  # fmt: skip
        """A complete statement for PostgreSQL: ``id``, ``score`` and whether it is ``exact``.

        Parameters
        ----------
        k
            How many documents to find.
        way
            ``candidates`` scores the best documents by words, and says whether no other can be
            among the best k. ``postings`` and ``scan`` score all documents.
        where
            A condition on columns of the documents, ``d.rating > 3``: SQL of your own.
        candidates
            How many documents to score.
        """
        return stores.pgvector_sql(self, k, way, candidates, where)

    def request(self, k: int = 10, *, limit: int | None = None) -> dict[str, Any]:
        """The body of a search request to Qdrant or OpenSearch.

        Qdrant's is exact if ``limit``, how many documents each of the two searches looks at, is not
        below the number of documents, which is the default.
        """
        if self.encoder.store == "opensearch":
            return stores.opensearch_request(self, k)
        return stores.qdrant_request(self, k, limit or self.encoder.documents)

    def search(
        self, target: Any, k: int = 10, *, candidates: int | None = stores.CANDIDATES
    ) -> stores.StoreHits:
        """The best documents in the store that the collection was exported to.

        The best candidates by words are scored first. If another document could be better, all are.

        Parameters
        ----------
        target
            What `Collection.export` was given.
        k
            How many documents to find.
        candidates
            How many candidates; None to score all documents at once.
        """
        require_one_of("store", self.encoder.store, stores.SEARCHES)
        if self.encoder.store != "pgvector" and (self.required or self.negated):
            raise InputError("negated and quoted words need PostgreSQL: leave them out")
        if self.parsed.is_empty:
            return stores.StoreHits()
        with stores.opened(self.encoder.store, target) as store:
            most = None if candidates is None else max(candidates, k)
            return stores.SEARCHES[self.encoder.store](self, store, k, most)

    def why(self, text: str, *, pairs: int = 10) -> SearchExplanation:
        """Why a document with this text has its score, as `Collection.why` says it."""
        document = self.encoder.document(text)
        there = np.isin(self.terms, document.terms)
        values = np.zeros(len(self.terms))
        values[there] = document.impacts[np.searchsorted(document.terms, self.terms[there])]
        lexical = self.parsed.lexical
        shares = lexical.shares(values).tolist()
        added = dict(zip(lexical.words, shares, strict=True))
        words: Any = self.encoder.statistics
        match = TextMatch(self.encoder.model, text, self.parsed, words, 0, document.dense, added)
        return match.explain(pairs)


@dataclass(frozen=True, eq=False)
class TextMatch(Match):
    """A match of which the lexical shares are known."""

    added: dict[str, float]

    @property
    def lexical(self) -> dict[str, float]:
        """What each term of the query adds to the score by BM25."""
        return self.added


ENCODER = "encoder"
FILES = ("parquet", "opensearch")
EXPORTED_FOLDER = Artifact(
    "export", 1, "export.json", re.compile(r"export\.json|documents\.(parquet|ndjson)|index\.json"),
    folders={ENCODER: ENCODER_FOLDER},
)  # fmt: skip


def export(
    collection: Collection,
    target: Any,
    format: str,
    name: str,
    dtype: str,
    encoder: str | os.PathLike[str] | None,
) -> QueryEncoder:
    """Write the documents of a collection to a store: see `Collection.export`."""
    require_one_of("format", format, stores.WRITERS)
    kinds = ("float32", "float16", "int8") if format == "parquet" else ("float32", "float16")
    require_one_of("dtype", dtype, kinds)
    in_files = format in FILES
    folder = Path(target) / ENCODER if in_files else encoder
    before = load_query_encoder(folder) if folder and Path(folder).exists() else None
    made, terms = encoder_of(collection, format, name, before)
    batches = exported_batches(collection, terms)
    if not in_files:
        with stores.opened(format, target) as store:
            stores.WRITERS[format](made, batches, store, dtype)
        if encoder is not None:
            made.save(encoder)
        return made
    if encoder is not None:
        raise InputError(f"the encoder of {format} files is in their folder: leave encoder= out")
    with EXPORTED_FOLDER.replacing(Path(target)) as fresh:
        stores.WRITERS[format](made, batches, fresh, dtype)
        made.save(fresh / ENCODER)
        about = {"documents": made.documents, "model": made.model.fingerprint, "dtype": dtype}
        EXPORTED_FOLDER.write_manifest(fresh, about)
    return made
