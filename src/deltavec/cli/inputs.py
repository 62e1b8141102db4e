"""What commands read: models, collections, and corpora with progress and repeated passes.

Standard input can be read only once, but learning needs two passes. Its documents are kept in a
temporary file while the command runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from deltavec.cli.failures import notice
from deltavec.cli.options import CorpusOptions
from deltavec.cli.progress import Stages

if TYPE_CHECKING:
    from deltavec.collection import Collection
    from deltavec.core.model import EmbeddingModel
    from deltavec.io.corpus.corpus import Corpus


def open_collection(path: Path, trust: bool = False) -> Collection:
    """The collection in a folder; `deltavec info` verifies its checksums, other commands do not."""
    from deltavec import collection

    return collection.open_collection(path, verify=False, trust=trust)


def open_corpus(source: str, files: CorpusOptions, *, expected: str | None = None) -> Corpus:
    """The corpus that the options name; raise an error if a file or the column is missing.

    Without a column name, the column is the expected one, or a guess, which is printed.
    """
    from deltavec.io.corpus import corpus as corpora
    from deltavec.io.corpus.files import Reading

    form = files.format and files.format.value
    reading = Reading(
        files.column, expected, form, files.encoding, files.delimiter, files.whole_files
    )
    corpus = corpora.open_corpus(source, reading)
    if corpus.note:
        notice(corpus.note)
    return corpus


def open_for_model(
    model: Path, trust: bool, source: str, files: CorpusOptions, work: Stages
) -> tuple[EmbeddingModel, Corpus]:
    """A model, and a corpus to embed with it; its column is that of the fit unless named.

    Imports numba in the background if the corpus is large enough to need it.
    """
    from deltavec.core.jit import BUDGET, COST_PER_BYTE
    from deltavec.io.artifacts.model import load
    from deltavec.io.corpus.files import COLUMN

    work.begin("loading the model")
    path = Path(source)
    if path.is_file():
        BUDGET.preload(path.stat().st_size * COST_PER_BYTE)
    loaded = load(model, trust=trust)
    return loaded, open_corpus(source, files, expected=loaded.notes.get(COLUMN))


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
