"""What commands read and write: models, collections, corpora, and checks of outputs.

Standard input can be read only once, but learning needs two passes. Its documents are kept in a
temporary file while the command runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from deltavec.cli.options import CorpusOptions
from deltavec.cli.printing import notice, require_usage
from deltavec.cli.progress import Stages
from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection
    from deltavec.core.model import EmbeddingModel
    from deltavec.io.artifacts.manifest import Artifact
    from deltavec.io.corpus.corpus import Corpus


def open_collection(path: Path, trust: bool = False) -> Collection:
    """The collection in a folder; `deltavec info` verifies its checksums, other commands do not."""
    from deltavec.collection import open

    return open.open_collection(path, verify=False, trust=trust)


def open_corpus(source: str, files: CorpusOptions, *, expected: str | None = None) -> Corpus:
    """The corpus that the options name; raise an error if a file or the column is missing.

    Without a column name, the column is the expected one, or a guess, which is printed.
    """
    from deltavec.io.corpus import corpus as corpora
    from deltavec.io.corpus.files import Reading

    given = vars(files) | {"format": files.format and files.format.value}
    corpus = corpora.open_corpus(source, Reading(expected=expected, **given))
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


OUTPUT = "'--output' / '-o'"


def require_file(path: Path, suffixes: Iterable[str], option: str = OUTPUT) -> None:
    """Raise an error if no file with one of these suffixes can be written at a path."""
    require_suffix(path, suffixes, option)
    if path.is_dir():
        raise InputError(f"{path} is a folder; expected the name of a file to write")
    require_folder_of(path)


def require_suffix(path: Path, suffixes: Iterable[str], option: str = OUTPUT) -> None:
    """Raise an error if a path has none of these suffixes."""
    expected = " or ".join(", ".join(suffixes).rsplit(", ", 1))
    message = f"expected a name that ends in {expected}, got {str(path)!r}"
    require_usage(path.suffix.lower() in tuple(suffixes), option, message)


def require_folder_of(path: Path) -> None:
    """Raise an error if the folder of a path is missing or read-only."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}: make it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: the folder {folder} may not be written to")


def require_other_file(output: Path, source: str) -> None:
    """Raise an error if the output is the corpus itself."""
    if output.exists() and source != "-" and Path(source).exists() and output.samefile(source):
        raise InputError(f"{output} is the corpus itself; name another file to write")


def require_new_folder(path: Path) -> None:
    """Raise an error if something other than an empty folder is at a path."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(f"{path} exists already; name a new folder")
    require_folder_of(path)


def lock_file(path: Path, suffixes: Iterable[str]) -> AbstractContextManager[None]:
    """Lock a file to write; raise an error if it cannot be written."""
    from deltavec.io.artifacts.atomic import only_writer

    require_file(path, suffixes)
    return only_writer(path)


def lock_folder(path: Path, kind: Artifact) -> AbstractContextManager[None]:
    """Lock a folder to write; raise an error if another kind of folder is there."""
    from deltavec.io.artifacts.atomic import only_writer
    from deltavec.io.remote import address_of

    if address_of(path):
        return nullcontext()
    kind.require_replaceable(path)
    require_folder_of(path)
    return only_writer(path)
