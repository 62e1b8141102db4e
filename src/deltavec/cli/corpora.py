"""Corpora of commands, with progress and repeated passes.

Standard input can be read only once, but learning needs two passes. Its documents are kept in a
temporary file while the command runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from deltavec.cli.failures import notice
from deltavec.cli.options import CorpusFormat
from deltavec.cli.progress import Stages

if TYPE_CHECKING:
    from deltavec.core.model import EmbeddingModel
    from deltavec.io.corpus.corpus import Corpus


def remembering(model: EmbeddingModel, corpus: Corpus) -> EmbeddingModel:
    """The model with a note of the text column, unless it is called ``text``."""
    from deltavec.io.corpus.files import COLUMN
    from deltavec.io.corpus.formats import TEXT

    if corpus.column == TEXT:
        return model
    return replace(model, notes={**model.notes, COLUMN: corpus.column})


def open_corpus(
    source: str,
    column: str | None,
    format: CorpusFormat | None,
    encoding: str | None,
    delimiter: str | None,
    *,
    expected: str | None = None,
) -> Corpus:
    """The corpus that the arguments name; raise an error if a file or the column is missing.

    Without a column name, the column is the expected one, or a guess, which is printed.
    """
    from deltavec.io.corpus.corpus import opened_corpus
    from deltavec.io.corpus.files import Reading

    form = format and format.value
    corpus = opened_corpus(source, Reading(column, expected, form, encoding, delimiter))
    if corpus.note:
        notice(corpus.note)
    return corpus


def expect(source: str) -> None:
    """Import numba in the background if the corpus is large enough to need it."""
    from deltavec.core.jit import BUDGET, COST_PER_BYTE

    path = Path(source)
    if path.is_file():
        BUDGET.preload(path.stat().st_size * COST_PER_BYTE)


def require_rereadable(source: str) -> None:
    """Raise an error for standard input where documents are read more than once."""
    from deltavec.core.text.batches import read_only_once

    if source == "-":
        raise read_only_once("standard input")


def followed(corpus: Corpus, work: Stages) -> Corpus:
    """The corpus, reporting progress as it is read."""
    return corpus.watched(work.reach, work.add_documents)


@contextmanager
def rereadable(corpus: Corpus, work: Stages) -> Iterator[Corpus]:
    """The same documents, readable any number of times within the context."""
    if not corpus.one_shot:
        yield corpus
        return
    import pyarrow as pa
    from pyarrow import parquet

    from deltavec.io.artifacts.atomic import scratch_folder
    from deltavec.io.corpus.corpus import read_corpus

    with scratch_folder() as folder:
        kept = folder / "documents.parquet"
        work.begin(f"reading {corpus.name}")
        schema = pa.schema([(corpus.column, pa.string())])
        with parquet.ParquetWriter(kept, schema, compression="zstd") as writer:
            for chunk in followed(corpus, work):
                writer.write_batch(pa.record_batch([chunk], schema=schema))
        yield read_corpus(kept, column=corpus.column)
