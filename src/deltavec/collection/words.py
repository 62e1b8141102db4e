"""The words of a collection on disk: written beside its vectors, and opened."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deltavec.collection.folder import COLLECTION_FOLDER, words_name
from deltavec.collection.manifest import StoredFile, WordsFile
from deltavec.collection.vectors import map_vectors
from deltavec.core.learning.stemming import Stems, WordRows, learn_stems
from deltavec.core.model import EmbeddingModel
from deltavec.core.vocabulary import Vocabulary
from deltavec.io.artifacts.atomic import on_disk
from deltavec.io.artifacts.manifest import require_size, require_unchanged
from deltavec.search.hybrid.score_scale import ScoreScale, measure_scale
from deltavec.search.lexical.index import InvertedIndex
from deltavec.search.lexical.storage import Sizes, StoredPostings, map_postings
from deltavec.search.lexical.writer import PostingsWriter


def postings_writer(
    folder: Path, wanted: bool, before: InvertedIndex | None = None
) -> AbstractContextManager[PostingsWriter | None]:
    """What takes in the words of documents, None if they are left out."""
    return PostingsWriter(folder, before) if wanted else nullcontext()


def write_postings(
    writer: PostingsWriter,
    folder: Path,
    number: int,
    model: EmbeddingModel,
    vectors: Callable[[], StoredFile],
    *,
    before: StoredPostings | None = None,
    keep: npt.NDArray[np.bool_] | None = None,
    stems: bool = True,
    threads: int | None = None,
) -> WordsFile:
    """Write the words that were taken in to a new file.

    Parameters
    ----------
    writer
        What took them in.
    folder, number
        Where the file goes, and the number in its name.
    model
        Whose rows tell which words are forms of one.
    vectors
        What waits for the vectors of all documents; asked when everything else is done.
    before
        The words of the documents before, if there were any: their stems stay.
    keep
        Which of those documents stay; all of them by default.
    stems
        Whether to look for forms of words at all, where there are none before.
    threads
        How many cores to use; all of them by default.
    """

    def stems_of(vocabulary: Vocabulary) -> Stems:
        if before is None and not stems:
            return Stems.none(len(vocabulary))
        rows = WordRows.of(vocabulary, model.vocabulary, model.folded)
        if before is not None:
            return before.words.stems.extended(vocabulary, rows)
        return learn_stems(vocabulary, rows)

    def spread() -> ScoreScale:
        mapped = map_vectors(folder, vectors(), model.dimensions)
        known = before.spread if before is not None and keep is None else None
        return measure_scale(mapped, known, threads)

    path = folder / words_name(number)
    sizes = writer.finish(path, stems_of, spread, model.dimensions, keep=keep)
    written = on_disk(path)
    own = {name: value for name, value in sizes._asdict().items() if name != "dimensions"}
    return WordsFile(name=path.name, bytes=written.bytes, sha256=written.sha256, **own)


def open_postings(
    folder: Path, stored: WordsFile, dimensions: int, *, verify: bool
) -> StoredPostings:
    """The words of a collection, mapped, once the file is known to be the one described."""
    entries = asdict(stored)
    sizes = Sizes(dimensions=dimensions, **{n: entries[n] for n in Sizes._fields if n in entries})
    with COLLECTION_FOLDER.opened(folder / stored.name) as file:
        require_size(file, stored.bytes)
        if verify:
            require_unchanged(file, stored.sha256)
        file.seek(0)
        return map_postings(file, sizes, verify=verify)
