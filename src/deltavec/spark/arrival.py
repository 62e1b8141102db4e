"""On an executor: what the driver sent, opened once for each process and mapped, not copied."""

from __future__ import annotations

import functools
import hashlib
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from deltavec.core.model import EmbeddingModel
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import ModelError
from deltavec.io.storage import FILES, load

VOCABULARY_FILES = ("words.npy", "offsets.npy")
KEPT_OPEN = 4


def shipped_name(key: str, name: str) -> str:
    """What a file is called on its way: Spark knows files by their names alone."""
    return f"deltavec-{key}-{name}"


def fingerprint_of(vocabulary: Vocabulary) -> str:
    """A short name of the content: equal for the same words in the same order."""
    digest = hashlib.sha256(np.ascontiguousarray(vocabulary.offsets).data)
    digest.update(np.ascontiguousarray(vocabulary.data).data)
    return digest.hexdigest()[:16]


@functools.lru_cache(maxsize=KEPT_OPEN)
def arrived_model(key: str) -> EmbeddingModel:
    """The model that the driver sent under this key.

    Its folder is made out of links to what arrived, by the first process that needs it, which also
    reads the table once to see that it is the one that was sent. Later ones find the folder, and
    share the table's memory.
    """
    folder = arrivals() / shipped_name(key, "model.dv")
    if folder.is_dir():
        return load(folder, verify=False)
    fresh = Path(tempfile.mkdtemp(prefix=".deltavec-", dir=arrivals()))
    try:
        for name in FILES:
            (fresh / name).symlink_to(arrivals() / shipped_name(key, name))
        model = load(fresh, verify=False)
        if model.fingerprint != key:
            raise ModelError(
                f"the model {key} arrived as {model.fingerprint}: was its folder replaced "
                "meanwhile? load it again"
            )
        with suppress(OSError):  # another process was first
            fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return model


@functools.lru_cache(maxsize=KEPT_OPEN)
def arrived_vocabulary(key: str) -> Vocabulary:
    """The vocabulary that the driver sent under this key."""
    words, offsets = (
        np.load(arrivals() / shipped_name(key, name), mmap_mode="r").view(np.ndarray)
        for name in VOCABULARY_FILES
    )
    return Vocabulary(words, offsets)


def arrivals() -> Path:
    """The folder into which Spark puts what the driver sends."""
    from pyspark import SparkFiles

    return Path(SparkFiles.getRootDirectory()).absolute()
