"""Labelled pairs of documents, from a file or from memory, each document by its id or its text."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
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


class Listed(NamedTuple):
    """Pairs as they are listed, each once.

    Attributes
    ----------
    names : tuple of str
        What the documents are called: their ids, or their texts.
    are_texts : bool
        Whether the names are the texts themselves.
    pairs : ndarray of int64, shape (pairs, 2)
        The two documents of each pair, as places among the names.
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


def listed_pairs(source: Any, *, by_id: bool, seed: int, encoding: str | None = None) -> Listed:
    """The pairs of a table, or of an iterable of (one, other, label).

    Parameters
    ----------
    source
        A file (csv, tsv, jsonl, parquet), a frame, or an iterable of triples. A table has the
        column ``label`` and ``id_a`` and ``id_b``, or ``text_a`` and ``text_b``.
    by_id
        Whether ids are meant where a table has both.
    seed
        Where random numbers begin, for the draw where there are too many.
    encoding
        How a text file is encoded, as for `deltavec.read_corpus`.
    """
    where = str(source) if isinstance(source, str | os.PathLike) else "pairs"
    table = as_table(source, where, encoding)
    columns = naming_columns(table, where, by_id)
    found: dict[tuple[str, str], bool] = {}
    selves = repeats = 0
    rows = zip(
        *(strings(table[name], name).to_pylist() for name in columns),
        table[LABEL].to_pylist(),
        strict=True,
    )
    for row, (one, other, label) in enumerate(rows, 1):
        if not (one.strip() and other.strip()):
            raise CorpusError(f"{where}, row {row}: a document is missing; expected two")
        together = as_label(label, Path(where), row)
        if one == other:
            selves += 1
            continue
        key = (one, other) if one < other else (other, one)
        repeats += key in found
        if found.setdefault(key, together) != together:
            raise CorpusError(
                f"{where}, row {row}: {one!r:.60} and {other!r:.60} have another label in an "
                "earlier row; expected one"
            )
    positive = np.array([*found.values()], bool)
    with problems_of(Path(where), CorpusError):
        require_both_classes(int(positive.sum()), int((~positive).sum()))
    left_out = {"of a document with itself": selves, "listed before": repeats}
    notes = [f"pairs {why}, left out: {count:,}" for why, count in left_out.items() if count]
    kept = capped(positive, np.random.default_rng(seed))
    if len(kept) < len(positive):
        notes.append(f"{len(kept):,} of {len(positive):,} pairs are compared, drawn at random")
    listed = [*found]
    places: dict[str, int] = {}
    numbered = [
        [places.setdefault(name, len(places)) for name in listed[place]] for place in kept.tolist()
    ]
    return Listed(tuple(places), columns == TEXTS, np.array(numbered), positive[kept], tuple(notes))


def as_table(source: Any, where: str, encoding: str | None = None) -> Any:
    """The rows of a file, a frame or an iterable of triples, as an Arrow table."""
    if isinstance(source, str | os.PathLike):
        return read_table(Path(source), encoding)
    if hasattr(source, "columns"):  # pandas, polars, Arrow
        return pa.table(source)
    triples = list(source) if isinstance(source, Iterable) else []
    if not triples or not all(isinstance(t, Sequence) and len(t) == 3 for t in triples):
        raise InputError(
            "pairs must be a file, a frame, or a list of (id, id, label), "
            f"got {type(source).__name__} ({repr(source)[:40]})"
        )
    one, other, label = zip(*triples, strict=True)
    names = {name: list(map(str, ids)) for name, ids in zip(IDS, (one, other), strict=True)}
    return pa.table(names | {LABEL: list(map(str, label))})


def read_table(path: Path, encoding: str | None) -> Any:
    """All columns of a file; those of text formats are text."""
    if path.suffix.lower() == ".parquet" and path.is_file():
        from pyarrow import parquet

        try:
            return parquet.read_table(path)
        except pa.ArrowException as error:
            raise CorpusError(f"{path}: not a whole parquet file ({error})") from None
    corpus = read_corpus(path, column=LABEL, encoding=encoding)
    return pa.Table.from_batches(corpus.batches(corpus.columns), corpus.schema(corpus.columns))


def naming_columns(table: Any, where: str, by_id: bool) -> tuple[str, str]:
    """The two columns that name the documents."""
    ways = (IDS, TEXTS) if by_id else (TEXTS, IDS)
    for columns in ways:
        if {LABEL, *columns} <= set(table.column_names):
            return columns
    raise CorpusError(
        f"{where}: expected the columns label, id_a and id_b (ids of documents) or label, text_a "
        f"and text_b (texts), got {', '.join(map(repr, table.column_names)) or 'none'}"
    )


def capped(positive: npt.NDArray[np.bool_], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """The places of the pairs to compare: all, or as many as there is time for, both labels."""
    if len(positive) <= MOST_PAIRS:
        return np.arange(len(positive))
    ours, others = (rng.permutation(np.flatnonzero(positive == label)) for label in (True, False))
    room = max(MOST_PAIRS // 2, MOST_PAIRS - len(others))
    ours = ours[:room]
    return np.sort(np.concatenate([ours, others[: MOST_PAIRS - len(ours)]]))


def texts_of(listed: Listed, corpus: Corpus, id_column: str | None) -> Any:
    """The text of each named document, as an Arrow array."""
    if listed.are_texts:
        return string_array(listed.names, pa.string())
    wanted = set(listed.names)
    texts: dict[str, str] = {}
    columns = [] if id_column is None else [id_column]
    corpus.schema(columns)  # an unknown column is an error before any reading
    row = 0
    for batch in corpus.batches(columns):
        for place, name in enumerate(ids_of(batch, id_column, row)):
            if name not in wanted:
                continue
            if name in texts:
                raise CorpusError(
                    f"expected one document of each id, got several with {name!r:.60} in the "
                    f"column {id_column!r}"
                )
            texts[name] = batch.column(0)[place].as_py() or ""
        row += batch.num_rows
    require_known(listed, texts, row, id_column)
    return string_array([texts[name] for name in listed.names], pa.string())


def ids_of(batch: Any, id_column: str | None, first: int) -> list[str]:
    """The ids of a batch of documents: a column, or their rows from 0 on."""
    if id_column is None:
        return [str(row) for row in range(first, first + batch.num_rows)]
    ids: list[str] = strings(batch.column(id_column), id_column).to_pylist()
    return ids


def require_known(
    listed: Listed, seen: Container[str], documents: int, id_column: str | None
) -> None:
    """Refuse pairs that name documents which the corpus does not hold."""
    unknown = [name for name in listed.names if name not in seen]
    if not unknown:
        return
    shown = ", ".join(f"{name!r:.40}" for name in unknown[:MOST_NAMED])
    more = ", ..." if len(unknown) > MOST_NAMED else ""
    ids = (
        f"rows from 0 to {documents - 1:,}; name another column with id_column (--id-column)"
        if id_column is None
        else f"those in the column {id_column!r}"
    )
    raise CorpusError(
        f"the pairs name documents that the corpus does not hold ({len(unknown):,}): "
        f"{shown}{more}; ids are {ids}"
    )
