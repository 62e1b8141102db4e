"""Models on disk: a folder of two files, ``model.safetensors`` and ``model.json``; never a pickle.

Nothing that is read is trusted: sizes are compared with the file before anything is mapped, and
values with what a fitted model can hold before anything is computed from them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deltavec.core.forms import FoldedVectors, blocks
from deltavec.core.model import EmbeddingModel
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.tokens import rule
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import ModelError
from deltavec.io.folder_kinds import FolderKind, problems_of
from deltavec.io.folders import replacing_folder
from deltavec.io.model_description import (
    LARGEST_NUMBER,
    LONGEST,
    MARK,
    description,
    require_sound,
    sealed,
    stored_recipe,
    stored_sizes,
    unsealed,
)
from deltavec.io.model_tensors import Arrays, mapped_tensors, sha256, write_tensors

DESCRIPTION = "model.json"
TENSORS = "model.safetensors"
FILES = (DESCRIPTION, TENSORS)
MODEL_FOLDER = FolderKind("model", FILES, DESCRIPTION, MARK, ModelError)


def save(model: EmbeddingModel, folder: str | PathLike[str]) -> None:
    """Write a model to a folder, which appears whole or not at all.

    The files are written to a folder beside it (``.deltavec-*.part``), flushed to disk, and put in
    place by renaming. A model that stands there already is replaced; it stays in place until the
    new one is complete, and whoever has it loaded keeps it.

    Parameters
    ----------
    model
        What `deltavec.fit` gave. Its tokenizer must be a name.
    folder
        Where to; by custom it ends in ``.dv``. Folders above it are made.

    Raises
    ------
    ModelError
        If the tokenizer is a callable, something that is not a deltavec model stands there, or it
        cannot be written.
    """
    if not isinstance(model.tokenizer, str):
        raise ModelError(
            "a model with a tokenizer of your own cannot be saved, as files hold no code: fit with "
            "tokenizer='words' or 'whitespace', and pass documents as lists of the words that "
            "yours finds"
        )
    target = Path(folder)
    with problems_of(target, ModelError):
        MODEL_FOLDER.require_replaceable(target)
        arrays, entries = arrays_of(model), description(model)
        require_sound(entries)
        require_sound_arrays(arrays, entries, rows=True)
        with replacing_folder(target, FILES) as fresh:
            with (fresh / TENSORS).open("w+b") as file:
                write_tensors(file, stored_sizes(entries), arrays)
                entries["tensor_sha256"] = sha256(file)
                os.fsync(file.fileno())
            with (fresh / DESCRIPTION).open("wb") as file:
                file.write(sealed(entries))
                file.flush()
                os.fsync(file.fileno())


def load(folder: str | PathLike[str], *, verify: bool = True) -> EmbeddingModel:
    """The model in a folder, as it was saved, bit for bit.

    The table is mapped into memory, not copied: processes that load the same folder share it, and
    pages are read as they are needed.

    Parameters
    ----------
    folder
        What `EmbeddingModel.save` wrote.
    verify
        Whether to read the whole table once, to see that no bit of it has changed and that every
        number is finite. Without it a large model opens at once, and only sizes, the small arrays
        and the description are looked at.

    Raises
    ------
    ModelError
        If the folder is missing, damaged, not a deltavec model, or written by a newer version.
    """
    source = Path(folder)
    while True:
        before = MODEL_FOLDER.identity(source)
        try:
            model = read(source, verify)
        except ModelError:
            if MODEL_FOLDER.identity(source) == before:
                raise
        else:
            if MODEL_FOLDER.identity(source) == before:
                return model
        # Somebody saved another model between the reading of the two files: once more.


def read(folder: Path, verify: bool) -> EmbeddingModel:
    """The model in a folder that nobody replaces meanwhile."""
    with MODEL_FOLDER.opened(folder / DESCRIPTION) as file:
        entries = unsealed(file.read(LONGEST + 1))
        recipe = stored_recipe(entries)
        rule(entries["tokenizer"])
    with MODEL_FOLDER.opened(folder / TENSORS) as file:
        arrays = mapped_tensors(file, stored_sizes(entries))
        if verify and sha256(file) != entries["tensor_sha256"]:
            raise ModelError("the content does not have its checksum: the file is damaged")
        require_sound_arrays(arrays, entries, rows=verify)
        vocabulary = Vocabulary(arrays["words"], arrays["word_offsets"])
    return EmbeddingModel(
        recipe=recipe,
        reason=entries["reason"],
        vocabulary=vocabulary,
        statistics=CorpusStatistics(
            arrays["token_counts"],
            arrays["document_counts"],
            **{name: entries[name] for name in ("documents", "tokens", "unknown_documents")},
        ),
        folded=FoldedVectors(
            **{name: arrays[name] for name in FoldedVectors.arrays()},
            offset_norm=entries["offset_norm"],
            length_ratio=entries["length_ratio"],
        ),
        tokenizer=entries["tokenizer"],
        notes=entries["notes"],
    )


def arrays_of(model: EmbeddingModel) -> Arrays:
    """All arrays of a model, under the names they have in the file."""
    return {
        **{name: getattr(model.folded, name) for name in FoldedVectors.arrays()},
        "token_counts": model.statistics.token_counts,
        "document_counts": model.statistics.document_counts,
        "words": model.vocabulary.data,
        "word_offsets": model.vocabulary.offsets,
    }


def require_sound_arrays(arrays: Arrays, entries: Mapping[str, Any], *, rows: bool) -> None:
    """Refuse arrays that no fitted model has; the table itself is read only if ``rows``."""
    require_words(arrays)
    token_counts, document_counts = arrays["token_counts"], arrays["document_counts"]
    # float64: exact, as tokens are below 2 ** 53, where a sum of int64 could wrap around
    if token_counts.min() < 0 or token_counts.sum(dtype=np.float64) > entries["tokens"]:
        raise ModelError("token_counts must be from 0 on, and no more than tokens in sum")
    most = np.minimum(token_counts, entries["documents"])
    if ((document_counts < 0) | (document_counts > most)).any():
        raise ModelError("document_counts must be from 0 to documents, and to token_counts")
    bounds = {
        "penalties": (0.0, 1.0),
        "norms": (0.0, LARGEST_NUMBER),
        "strengths": (0.0, 1.0),
        "components": (-2.0, 2.0),  # of length 1, but for rounding
        **dict.fromkeys(
            ("offset", "offset_coordinates", "coordinates"), (-LARGEST_NUMBER, LARGEST_NUMBER)
        ),
        **({"rows": (-LARGEST_NUMBER, LARGEST_NUMBER)} if rows else {}),
    }
    for name, (smallest, largest) in bounds.items():
        require_within(name, arrays[name], smallest, largest)


def require_words(arrays: Arrays) -> None:
    """Refuse words that overlap, run out of their bytes, or are not UTF-8."""
    words, offsets = arrays["words"], arrays["word_offsets"]
    if offsets[0] != 0 or offsets[-1] != len(words) or (np.diff(offsets) < 0).any():
        raise ModelError("word_offsets must rise from 0 to the end of words")
    column = pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(words)
    )
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raise ModelError("words must be UTF-8") from None


def require_within(name: str, array: Any, smallest: float, largest: float) -> None:
    """Refuse an array with NaN in it, or a number outside this range."""
    for block in blocks(len(array)):
        # NaN is neither above nor below, and a minimum or maximum with one is NaN.
        low, high = array[block].min(initial=0.0), array[block].max(initial=0.0)
        if not (low >= smallest and high <= largest):
            raise ModelError(f"{name} must be finite and from {smallest:g} to {largest:g}")
