r"""The documents of a collection as vectors, so that inner products give its score.

.. math:: s(q, d) = \sum_i w_i x_{di} + y \cdot u_d, \qquad x_{di} = \frac{n'}{n' + K_d}

:math:`x_d` is a sparse vector of BM25 impacts and :math:`u_d` the embedding. A query is a sparse
vector :math:`w` and a dense one :math:`y`: see `deltavec.collection.export.encoder`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from deltavec.core.arrays import Float64s, Int32s, Int64s, as_fixed_size_lists
from deltavec.core.kernels.count import COUNTS
from deltavec.errors import InputError
from deltavec.search.lexical.bm25 import saturate
from deltavec.search.lexical.index import InvertedIndex, SegmentPart

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

ROWS_AT_ONCE = 8192
OWN_COLUMNS = ("row", "terms", "impacts", "dense")


def exported_batches(collection: Collection, terms: Int32s) -> Iterator[pa.RecordBatch]:
    """All documents: ``row``, ``id``, ``text``, columns, ``terms``, ``impacts`` and ``dense``.

    Parameters
    ----------
    collection
        The collection; deleted documents are left out.
    terms
        The exported id of each of its terms.
    """
    taken = sorted(set(OWN_COLUMNS) & set(collection.columns))
    if taken:
        raise InputError(f"the column {taken[0]!r} has the name of an exported one: rename it")
    begin = 0
    for impacts in segment_impacts(collection, terms):
        for first in range(0, impacts.shape[0], ROWS_AT_ONCE):
            part = impacts[first : first + ROWS_AT_ONCE]
            rows = np.arange(begin + first, begin + first + part.shape[0])
            vectors = collection.index.take(rows)
            table = collection.documents(rows).combine_chunks()
            dense = as_fixed_size_lists(vectors)
            listed = (
                pa.ListArray.from_arrays(part.indptr.astype(np.int32), numbers)
                for numbers in (part.indices.astype(np.int32), part.data)
            )
            added = dict(zip(("terms", "impacts", "dense"), (*listed, dense), strict=True))
            columns = dict(zip(table.column_names, table.columns, strict=True))
            yield from pa.table({"row": rows, **columns, **added}).combine_chunks().to_batches()
        begin += impacts.shape[0]


def segment_impacts(collection: Collection, terms: Int32s) -> Iterator[Any]:
    """The impacts of each segment's documents, a sparse row for each."""
    for part in collection.words.words.parts:
        postings, names = part.segment.postings, terms[part.segment.terms]
        values = saturate(postings.counts, part.norms[postings.documents]).astype(np.float32)
        shape = len(part.norms), len(names) + 1
        # 16 bytes a posting; from lists of documents to lists of terms by counting, not sorting.
        impacts = sparse.csc_array((values, postings.documents, postings.begins), shape).tocsr()
        impacts = impacts[np.flatnonzero(part.norms < np.inf)]
        impacts.indices = names[impacts.indices]
        impacts = sparse.csr_array(
            (impacts.data, impacts.indices, impacts.indptr),
            (impacts.shape[0], int(terms.max(initial=0)) + 1),
        )
        impacts.sort_indices()
        yield impacts


def all_statistics(index: InvertedIndex) -> Float64s:
    """The statistics of all terms, one row each: see `InvertedIndex.statistics`."""
    sums = np.zeros((index.terms, 7))
    for part in index.parts:
        add_part(part, sums)
    return sums


def add_part(part: SegmentPart, sums: Float64s) -> None:
    """Add the postings of a segment, one after the other, as `measure_postings` does."""
    segment, norms = part
    begins, documents, counts = segment.postings
    held = np.repeat(segment.terms.astype(np.int64), np.diff(begins)[:-1])
    live: Int64s = np.flatnonzero(norms[documents] < np.inf)
    held, documents, counts = held[live], documents[live], counts[live]
    n, values = COUNTS[counts], saturate(counts, norms[documents])
    columns = (np.ones(len(n)), n, n * n, n * segment.lengths[documents], values, values * values)
    for place, column in enumerate(columns):
        np.add.at(sums[:, place], held, column)
    np.maximum.at(sums[:, 6], held, values)
