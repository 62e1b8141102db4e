r"""What a set of documents is about: outliers, keywords, labels, and how two sets differ.

`compare` counts documents. With :math:`x_a` of :math:`N_a` documents of one set that contain a word
and :math:`x_b` of :math:`N_b` of the other,

.. math:: \ln \frac{(x_a + \frac12)(N_b - x_b + \frac12)}{(x_b + \frac12)(N_a - x_a + \frac12)}

is its log odds ratio, with the variance
:math:`\sum \frac{1}{\mathrm{count} + 1/2}` over the four counts. Its p-value is corrected for the
number of words (Benjamini and Hochberg, 1995), so that two random parts of a set differ in nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from deltavec.collection.build import build_collection
from deltavec.collection.collection import Collection
from deltavec.collection.segment import TEXT
from deltavec.collection.topics.names import group_names
from deltavec.core.arguments import require_whole
from deltavec.core.arrays import Float64s, blocks
from deltavec.core.learning.corpora import corpus_statistics
from deltavec.core.learning.vocabulary_builder import word_counts
from deltavec.core.model import EmbeddingModel
from deltavec.core.text.batches import Tokenizer
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.notebook import table
from deltavec.search import Index, neighbors

COMPARED_WITH = 20_000  # documents at most, a sample
FEWEST = 5  # documents with a word, to compare it
SHOWN = 8  # words in a repr


@contextmanager
def as_collection(
    documents: Any,
    model: EmbeddingModel | None = None,
    id_column: str | None = None,
    keep: Sequence[str] = (),
) -> Iterator[Collection]:
    """The collection itself, or a temporary one of other documents."""
    if isinstance(documents, Collection):
        yield documents
        return
    with TemporaryDirectory() as folder:
        path, corpus = Path(folder) / "documents.idx", read_corpus(documents)
        yield build_collection(model, corpus, path, id_column=id_column, keep=keep)


def outliers(
    documents: Any,
    n: int = 10,
    *,
    model: EmbeddingModel | None = None,
    id_column: str | None = None,
) -> pa.Table:
    """Find the documents that are least like the others.

    Parameters
    ----------
    documents
        A `Collection`, or whatever `deltavec.read_corpus` reads.
    n
        How many to return.
    model
        For documents that are no collection: a fitted model; by default one is fitted on them.
    id_column
        For documents that are no collection: the column of ids.

    Returns
    -------
    pyarrow.Table
        ``id``, ``text`` and ``similarity``, the mean cosine with the ten nearest documents, lowest
        first. Of more than 20,000 documents a random sample is compared with. Documents without a
        vector are left out.

    Examples
    --------
    >>> texts = ["the sea and the beach", "a beach by the sea"] * 20 + ["bread, milk"] * 2
    >>> outliers(texts, 1)["text"].to_pylist()
    ['bread, milk']
    """
    require_whole("n", n)
    with as_collection(documents, model, id_column) as opened:
        vectors = np.asarray(opened.vectors())
        rows = np.flatnonzero(vectors.any(axis=1))
        similarity = mean_similarity(vectors[rows])
        lowest = np.argsort(similarity, kind="stable")[:n]
        found = opened.documents(rows[lowest]).select(["id", TEXT])
        return found.append_column("similarity", pa.array(similarity[lowest]))


def mean_similarity(vectors: Any, nearest: int = 10) -> Float64s:
    """The mean cosine of each row with its nearest other rows."""
    if len(vectors) <= COMPARED_WITH:
        scores = neighbors(vectors, nearest).scores
    else:
        chosen = np.random.default_rng(0).choice(len(vectors), COMPARED_WITH, replace=False)
        scores = Index(vectors[chosen]).search(vectors, nearest + 1).scores
        itself = np.zeros(len(vectors), bool)
        itself[chosen] = True
        scores = np.where(itself[:, None], scores[:, 1:], scores[:, :-1])
    return np.asarray(scores.mean(axis=1) if scores.size else np.zeros(len(vectors)), np.float64)


def keywords(
    documents: Any,
    n: int = 5,
    *,
    by: str | None = None,
    model: EmbeddingModel | None = None,
    id_column: str | None = None,
) -> pa.Table:
    """Extract the keywords of each document, or of each group of documents.

    Parameters
    ----------
    documents
        A `Collection`, or whatever `deltavec.read_corpus` reads.
    n
        How many keywords.
    by
        A column: the keywords of its values tell their documents from the others. By default the
        keywords of each document are those that make its vector.
    model
        For documents that are no collection: a fitted model; by default one is fitted on them.
    id_column
        For documents that are no collection: the column of ids.

    Returns
    -------
    pyarrow.Table
        ``id`` and ``keywords``; with `by`, that column, ``documents`` and ``keywords``.

    Examples
    --------
    >>> texts = ["a bay by the sea", "the sea, a beach"] * 9 + ["a bed and a lamp", "lamp, bed"] * 9
    >>> keywords(texts, 1)["keywords"].to_pylist()[1]
    ['beach']
    """
    require_whole("n", n)
    with as_collection(documents, model, id_column, [by] if by else []) as opened:
        if by is None:
            ids = opened.ids.to_pylist()
            words = [[one.word for one in opened.keywords(each, n)] for each in ids]
            return pa.table({"id": opened.ids, "keywords": pa.array(words, pa.list_(pa.string()))})
        column = opened.column(by).combine_chunks().dictionary_encode()
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        labels = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        values, sizes = column.dictionary, np.bincount(labels[labels >= 0])
        names = pa.array(group_names(opened, labels, words=n), pa.list_(pa.string()))
        return pa.table({by: values, "documents": pa.array(sizes), "keywords": names})


def label(
    documents: Any,
    labels: Mapping[str, str] | Sequence[str],
    *,
    model: EmbeddingModel | None = None,
    id_column: str | None = None,
) -> pa.Table:
    """Label documents by words alone (zero-shot classification).

    Parameters
    ----------
    documents
        A `Collection`, or whatever `deltavec.read_corpus` reads.
    labels
        The labels, each with some words that describe it: ``{"sports": "match team player"}``. A
        list of labels describes each by itself.
    model
        For documents that are no collection: a fitted model; by default one is fitted on them.
    id_column
        For documents that are no collection: the column of ids.

    Returns
    -------
    pyarrow.Table
        ``id``, ``label`` and ``cosine`` with the vector of its words; null for a document without
        a vector.

    Examples
    --------
    >>> texts = ["a bay by the sea", "the sea, a beach"] * 9 + ["a bed and a lamp", "lamp, bed"] * 9
    >>> label(texts, {"coast": "sea beach", "room": "bed lamp"})["label"].to_pylist()[::18]
    ['coast', 'room']
    """
    described = dict(labels) if isinstance(labels, Mapping) else {one: one for one in labels}
    if isinstance(labels, str) or not described:
        raise InputError(f"expected several labels, got {labels!r:.60}")
    with as_collection(documents, model, id_column) as opened:
        directions = opened.model.embed(list(described.values()))
        for name, row in zip(described, directions, strict=True):
            if not row.any():
                raise InputError(f"the label {name!r:.60} is described by no word of the documents")
        vectors, parts = opened.index.vectors, [np.zeros((2, 0))]
        for rows in blocks(len(vectors)):
            cosines = np.asarray(vectors[rows] @ directions.T, np.float64)
            parts.append(np.array([cosines.argmax(axis=1), cosines.max(axis=1)]))
        numbers, best = np.concatenate(parts, axis=1)
        missing = ~np.asarray(opened.vectors()).any(axis=1)
        chosen = pa.array(numbers.astype(np.int64), mask=missing)
        return pa.table(
            {
                "id": opened.ids,
                "label": pa.array(described, pa.string()).take(chosen),
                "cosine": pa.array(best, mask=missing),
            }
        )


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Words that differ between two sets of documents.

    Attributes
    ----------
    table : pyarrow.Table
        ``word``; ``share_a`` and ``share_b``, the shares of documents that contain it;
        ``log_odds_ratio``, above 0 if it is more frequent in the first set; and ``p_value``,
        corrected for the number of words. The most significant ones first.
    words : int
        How many words were compared.

    Examples
    --------
    >>> found = dv.compare(["a quiet room"] * 20, ["a loud room"] * 20)
    >>> found.table.select(["word", "share_a", "share_b"]).to_pylist()[0]
    {'word': 'quiet', 'share_a': 1.0, 'share_b': 0.0}
    """

    table: pa.Table
    words: int

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        if not len(self):
            return f"Comparison(nothing: none of {self.words:,} words differs)"
        return (
            f"Comparison({len(self):,} of {self.words:,} words differ\n"
            f"  more in A: {', '.join(self.more(1)[:SHOWN])}\n"
            f"  more in B: {', '.join(self.more(-1)[:SHOWN])})"
        )

    def _repr_html_(self) -> str:
        rows = [
            (row["word"], f"{row['share_a']:.1%}", f"{row['share_b']:.1%}", f"{row['p_value']:.1e}")
            for row in self.table.slice(0, 40).to_pylist()
        ]
        title = f"{len(self):,} of {self.words:,} words differ"
        return table(title, ("word", "share in A", "share in B", "p"), rows)

    def more(self, sign: int) -> list[str]:
        """The words that are more frequent in the first set (1) or in the second (-1)."""
        ratios = self.table["log_odds_ratio"].to_numpy() * sign
        return [str(word) for word in self.table["word"].filter(pa.array(ratios > 0)).to_pylist()]


def compare(
    a: Any, b: Any, *, significance: float = 0.05, tokenizer: Tokenizer = "words"
) -> Comparison:
    """Find the words that differ between two sets of documents.

    Parameters
    ----------
    a, b
        The two sets: a `Collection`, or whatever `deltavec.read_corpus` reads.
    significance
        The share of wrong words to accept among those found; the false discovery rate.
    tokenizer
        As for `deltavec.fit`.

    Returns
    -------
    Comparison
        Empty if nothing differs more than chance explains. Words are counted once a document, so
        documents should be about equally long in both sets.

    Examples
    --------
    >>> compare(["a quiet room"] * 20, ["a loud room"] * 20)
    Comparison(2 of 4 words differ
      more in A: quiet
      more in B: loud)
    """
    from scipy.special import erfc
    from scipy.stats import false_discovery_control

    if not 0 < significance < 1:
        raise InputError(f"significance must be between 0 and 1, got {significance}")
    sets = [one.column(TEXT) if isinstance(one, Collection) else one for one in (a, b)]
    corpora = [read_corpus(one) for one in sets]
    found = [word_counts(one, tokenizer).frequent(1)[0].words for one in corpora]
    vocabulary = Vocabulary.of(list(dict.fromkeys([*found[0], *found[1]])))
    counted = [corpus_statistics(one, vocabulary, tokenizer, None) for one in corpora]
    tested = np.flatnonzero(sum(one.document_counts for one in counted) >= FEWEST)
    with_word = np.array([one.document_counts[tested] for one in counted], np.float64)
    documents = np.array([[one.documents] for one in counted], np.float64)
    cells = np.concatenate([with_word, documents - with_word]) + 0.5
    ratio = np.log(cells[0] * cells[3] / (cells[1] * cells[2]))
    p_values = erfc(np.abs(ratio) / np.sqrt(2 * (1 / cells).sum(axis=0)))  # of a two-sided test
    p_values = false_discovery_control(p_values) if len(p_values) else p_values
    order = np.lexsort((-np.abs(ratio), p_values))
    order = order[p_values[order] <= significance]
    shares = with_word / np.maximum(documents, 1)
    columns = {
        "word": [vocabulary.word(int(place)) for place in tested[order]],
        "share_a": shares[0][order],
        "share_b": shares[1][order],
        "log_odds_ratio": ratio[order],
        "p_value": p_values[order],
    }
    return Comparison(pa.table(columns), len(tested))
