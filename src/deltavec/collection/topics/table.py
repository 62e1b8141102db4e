"""Topics as a table: each document with its topic, or several, and what these are called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from deltavec.core.arguments import require_whole
from deltavec.core.arrays import Float64s, Int64s, blocks
from deltavec.core.threads import one_blas_thread

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection
    from deltavec.collection.topics.clusters import Clusters
    from deltavec.core.model import EmbeddingModel

NAME_WORDS = 3


def topics(
    documents: Any,
    n: int | None = None,
    *,
    model: EmbeddingModel | None = None,
    id_column: str | None = None,
    levels: int = 1,
    per_document: int = 1,
    seed: int = 0,
) -> pa.Table:
    """A table of documents with their topics: groups of like ones, named by their words.

    Parameters
    ----------
    documents
        A `Collection`, or whatever `deltavec.read_corpus` reads: a file, a list of strings, a
        frame.
    n
        How many topics; by default as many as are stable.
    model
        For documents that are no collection: a fitted model; by default one is fitted on them.
    id_column
        For documents that are no collection: the column with their ids; else their numbers.
    levels
        2 or 3 to join like topics to wider ones.
    per_document
        How many topics to give for each document, nearest first.
    seed
        For the random part: the same seed gives the same topics.

    Returns
    -------
    pyarrow.Table
        ``id``; ``rank`` from 1 on, if several topics are asked for; ``cluster``, the number of the
        topic; ``name``; ``cosine`` with its direction; and ``cluster_2``, ``name_2``,
        ``cluster_3``, ``name_3`` of wider topics. Null for a document without a vector.

    Examples
    --------
    >>> texts = ["a bay by the sea", "the sea, a beach"] * 9 + ["a bed and a lamp", "lamp, bed"] * 9
    >>> topics(texts, 2).column_names
    ['id', 'cluster', 'name', 'cosine']
    """
    from deltavec.collection.analysis import as_collection

    require_whole("per_document", per_document)
    with as_collection(documents, model, id_column) as opened:
        found = opened.cluster(n, levels=levels, seed=seed, words=NAME_WORDS)
        return topic_table(opened, found, per_document)


def topic_name(words: Sequence[str]) -> str:
    """What a topic is called: its first words."""
    return ", ".join(words[:NAME_WORDS])


def topic_table(collection: Collection, found: Clusters, per_document: int = 1) -> pa.Table:
    """Each document with its topics, as `topics` gives them."""
    parts = zip(*nearest_topics(collection, found, per_document), strict=True)
    rows, ranks, numbers, cosines = (np.concatenate(part) for part in parts)
    missing = numbers < 0
    table = {"id": collection.ids.take(pa.array(rows))}
    if per_document > 1:
        table["rank"] = pa.array(ranks.astype(np.int32))
    level, suffix = found, ""
    while True:
        topic = pa.array(numbers.astype(np.int32), mask=missing)
        names = pa.array([topic_name(words) for words in level.names], pa.string())
        table |= {f"cluster{suffix}": topic, f"name{suffix}": names.take(topic)}
        if level is found:
            table["cosine"] = pa.array(cosines.astype(np.float32), mask=missing)
        if level.wider is None:
            return pa.table(table)
        numbers = np.array([*level.parents, -1])[numbers]  # -1 stays what it is
        level, suffix = level.wider, f"_{int(suffix[1:] or 1) + 1}"


def nearest_topics(
    collection: Collection, found: Clusters, count: int
) -> Iterator[tuple[Int64s, Int64s, Int64s, Float64s]]:
    """The topics of all documents, a block at a time: rows, ranks, topics and cosines.

    The first is the document's own; then come the nearest others, as long as the cosine is above 0.
    """
    vectors = collection.index.vectors
    count = min(count, len(found))
    for part in blocks(len(vectors)):
        own, cosines = found.labels[part].astype(np.int64), found.cosines[part]
        with one_blas_thread():
            products = vectors[part] @ found.directions.T
        there = np.arange(len(own))
        products[there, np.maximum(own, 0)] = np.inf  # its own comes first, whatever rounding says
        order = np.argsort(-products, axis=1, kind="stable")[:, :count]
        near = np.take_along_axis(products, order, axis=1)
        order[:, 0], near[:, 0] = own, cosines
        kept = (near > 0) & (own >= 0)[:, None]
        kept[:, 0] = True
        rows = np.broadcast_to((part.start + there)[:, None], order.shape)
        ranks = np.broadcast_to(np.arange(1, count + 1), order.shape)
        yield rows[kept], ranks[kept], order[kept], near[kept]
