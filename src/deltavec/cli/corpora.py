"""A corpus as the commands take it: followed by the progress display, and read as often as needed.

What comes through a pipe can be read only once, and learning needs two passes: such documents are
kept in a temporary file for as long as the command runs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltavec.cli.options import CorpusFormat
from deltavec.cli.progress import Stages

if TYPE_CHECKING:
    from deltavec.io.corpora import Corpus


def opened(source: str, column: str, format: CorpusFormat | None) -> Corpus:
    """The corpus that the arguments name; its files exist and have the column."""
    from deltavec.io.corpora import read_corpus

    return read_corpus(source, column=column, format=format and format.value)


@dataclass(frozen=True)
class CountedCorpus:
    """A corpus that tells how many documents it has handed on."""

    corpus: Corpus
    on_documents: Callable[[int], None]

    @property
    def one_shot(self) -> bool:
        """Whether the corpus can be read only once."""
        return self.corpus.one_shot

    def __iter__(self) -> Iterator[Any]:
        for chunk in self.corpus:
            yield chunk
            self.on_documents(len(chunk))


def followed(corpus: Corpus, work: Stages) -> CountedCorpus:
    """The corpus, telling how far it has been read."""
    return CountedCorpus(corpus.watched(work.reach), work.add_documents)


@contextmanager
def rereadable(corpus: Corpus, work: Stages) -> Iterator[Corpus]:
    """The same documents, to be read any number of times while this lasts."""
    if not corpus.one_shot:
        yield corpus
        return
    from deltavec.io.corpora import read_corpus

    with tempfile.TemporaryDirectory(prefix="deltavec-") as folder:
        kept = Path(folder, "documents.parquet")
        work.begin(f"reading {corpus.name}")
        keep_documents(followed(corpus, work), corpus.column, kept)
        yield read_corpus(kept, column=corpus.column)


def keep_documents(chunks: CountedCorpus, column: str, path: Path) -> None:
    """Write the documents to a parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([(column, pa.string())])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for chunk in chunks:
            writer.write_batch(pa.record_batch([chunk], schema=schema))
