"""Labeled pairs of documents, from a file or from memory, by id or by text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.text.batches import string_array
from deltavec.errors import CorpusError, InputError
from deltavec.evaluation.auc import require_both_classes
from deltavec.evaluation.groups import strings
from deltavec.evaluation.pairs import as_label
from deltavec.io.artifacts.manifest import problems_of
from deltavec.io.corpus.corpus import Corpus, read_corpus

LABEL = "label"
IDS = ("id_a", "id_b")
TEXTS = ("text_a", "text_b")
MOST_PAIRS = 100_000
MOST_NAMED = 3  # unknown ids, in an error

Pairs = npt.NDArray[np.int64]


class ListedPairs(NamedTuple):
    """Labeled pairs, each once.

    Attributes
    ----------
    names : tuple of str
        The ids or the texts of the documents.
    are_texts : bool
        Whether the names are texts.
    pairs : ndarray of int64, shape (pairs, 2)
        The two documents of each pair, as positions in the names.
    positive : ndarray of bool
        Whether they belong together.
    notes : tuple of str
        What was left out.
    """

    names: tuple[str, ...]
    are_texts: bool
    pairs: Pairs
    positive: npt.NDArray[np.bool_]
    notes: tuple[str, ...]


def read_pairs(source: Any, *, by_id: bool, seed: int, encoding: str | None = None) -> ListedPairs:
    """The pairs of a table, or of an iterable of (id, id, label).

    Parameters
    ----------
    source
        A file (csv, tsv, jsonl, parquet), a frame, or an iterable of triples. A table has the
        column ``label`` and ``id_a`` and ``id_b``, or ``text_a`` and ``text_b``.
    by_id
        Whether to use ids if a table has both.
    seed
        The seed of the draw if there are too many.
    encoding
        The encoding of a text file, as for `deltavec.read_corpus`.
    """
    where = str(source) if isinstance(source, str | os.PathLike) else "pairs"
    table = as_table(source, encoding)
    for columns in (IDS, TEXTS) if by_id else (TEXTS, IDS):
        if {LABEL, *columns} <= set(table.column_names):
            break
    else:
        raise CorpusError(
            f"{where}: expected the columns label, id_a and id_b (ids of documents) or label, "
            f"text_a and text_b (texts), got {', '.join(map(repr, table.column_names)) or 'none'}"
        )
    labels: dict[tuple[str, str], bool] = {}
    selves = repeats = 0
    names = [strings(table[name], name).to_pylist() for name in columns]
    for row, (one, other, label) in enumerate(
        zip(*names, table[LABEL].to_pylist(), strict=True), 1
    ):
        if not (one.strip() and other.strip()):
            raise CorpusError(f"{where}, row {row}: a document is missing; expected two")
        together = as_label(label, Path(where), row)
        if one == other:
            selves += 1
            continue
        key = (one, other) if one < other else (other, one)
        repeats += key in labels
        if labels.setdefault(key, together) != together:
            raise CorpusError(
                f"{where}, row {row}: {one!r:.60} and {other!r:.60} have another label in an "
                "earlier row; expected one"
            )
    positive = np.array([*labels.values()], bool)
    with problems_of(Path(where), CorpusError):
        require_both_classes(int(positive.sum()), int((~positive).sum()))
    left_out = {"of a document with itself": selves, "listed before": repeats}
    notes = [f"pairs {why}, left out: {count:,}" for why, count in left_out.items() if count]
    kept = draw_pairs(positive, np.random.default_rng(seed))
    if len(kept) < len(positive):
        notes.append(f"{len(kept):,} of {len(positive):,} pairs are compared, drawn at random")
    listed = [*labels]
    ids: dict[str, int] = {}
    pairs = [[ids.setdefault(name, len(ids)) for name in listed[row]] for row in kept.tolist()]
    return ListedPairs(tuple(ids), columns == TEXTS, np.array(pairs), positive[kept], tuple(notes))


def as_table(source: Any, encoding: str | None = None) -> Any:
    """The rows of a file, a frame or an iterable of triples, as an Arrow table."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.suffix.lower() == ".parquet" and path.is_file():
            from pyarrow import parquet

            try:
                return parquet.read_table(path)
            except pa.ArrowException as error:
                raise CorpusError(f"{path}: not a whole parquet file ({error})") from None
        corpus = read_corpus(path, column=LABEL, encoding=encoding)
        return pa.Table.from_batches(corpus.batches(corpus.columns), corpus.schema(corpus.columns))
    if hasattr(source, "columns"):  # pandas, polars, Arrow
        return pa.table(source)
    triples = list(source) if isinstance(source, Iterable) else []
    if not triples or not all(isinstance(t, Sequence) and len(t) == 3 for t in triples):
        raise InputError(
            "pairs must be a file, a frame, or a list of (id, id, label), "
            f"got {type(source).__name__} ({repr(source)[:40]})"
        )
    columns = zip(*(map(str, triple) for triple in triples), strict=True)
    return pa.table(dict(zip((*IDS, LABEL), map(list, columns), strict=True)))


def draw_pairs(positive: npt.NDArray[np.bool_], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """The rows of the pairs to compare: all, or a draw with both labels if there are too many."""
    if len(positive) <= MOST_PAIRS:
        return np.arange(len(positive))
    ours, others = (rng.permutation(np.flatnonzero(positive == label)) for label in (True, False))
    ours = ours[: max(MOST_PAIRS // 2, MOST_PAIRS - len(others))]
    return np.sort(np.concatenate([ours, others[: MOST_PAIRS - len(ours)]]))


def document_texts(listed: ListedPairs, corpus: Corpus, id_column: str | None) -> Any:
    """The text of each document that the pairs name, as an Arrow array."""
    if listed.are_texts:
        return string_array(listed.names, pa.string())
    wanted = set(listed.names)
    texts: dict[str, str] = {}
    columns = [] if id_column is None else [id_column]
    corpus.schema(columns)  # an unknown column is an error before any reading
    documents = 0
    for batch in corpus.batches(columns):
        if id_column is None:
            ids = [*map(str, range(documents, documents + batch.num_rows))]
        else:
            ids = strings(batch.column(id_column), id_column).to_pylist()
        for row, id in enumerate(ids):
            if id not in wanted:
                continue
            if id in texts:
                raise CorpusError(
                    f"expected one document of each id, got several with {id!r:.60} in the "
                    f"column {id_column!r}"
                )
            texts[id] = batch.column(0)[row].as_py() or ""
        documents += batch.num_rows
    unknown = [name for name in listed.names if name not in texts]
    if unknown:
        shown = ", ".join(f"{name!r:.40}" for name in unknown[:MOST_NAMED])
        meant = f"those in the column {id_column!r}"
        if id_column is None:
            meant = (
                f"rows from 0 to {documents - 1:,}; name another column with id_column "
                "(--id-column)"
            )
        raise CorpusError(
            f"the pairs name documents that the corpus does not hold ({len(unknown):,}): "
            f"{shown}{', ...' if len(unknown) > MOST_NAMED else ''}; ids are {meant}"
        )
    return string_array([texts[name] for name in listed.names], pa.string())
