"""From the driver to the executors, once: files that Spark copies to each of them.

A model or a vocabulary becomes plain files whose names hold its fingerprint. Spark fetches them
once for each executor, however many tasks run there, and deletes them when the application ends.
Executors open them by `deltavec.spark.arrival`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deltavec.core.model import EmbeddingModel
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import DeltavecError, InputError
from deltavec.io.storage import FILES, load
from deltavec.spark.arrival import VOCABULARY_FILES, fingerprint_of, shipped_name
from deltavec.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ARRIVED = "arrived"
CACHE_ADVICE = (
    "numba finds no folder to keep compiled code in: set spark.executorEnv.NUMBA_CACHE_DIR to one "
    "that executors can write to, on a disk of their own"
)


def ship_model(session: SparkSession, model: EmbeddingModel | str | PathLike[str]) -> str:
    """The key by which executors find a model: its fingerprint.

    The files of a folder are sent as they are; a model in memory is written to files first.
    """
    if isinstance(model, EmbeddingModel):
        key = model.fingerprint
        with tempfile.TemporaryDirectory(prefix=".deltavec-", dir=root_folder()) as staged:
            if not is_shipped(session, key, FILES):
                folder = Path(staged) / "model.dv"
                model.save(folder)
                for name in FILES:
                    (folder / name).rename(root_folder() / shipped_name(key, name))
    elif isinstance(model, str | PathLike):
        folder = Path(model).resolve()
        key = load(folder).fingerprint
        for name in FILES:
            with suppress(FileExistsError):
                (root_folder() / shipped_name(key, name)).symlink_to(folder / name)
    else:
        raise InputError(
            f"expected a model or the folder of one, got {type(model).__name__}: "
            "deltavec.fit makes a model"
        )
    ship(session, key, FILES, "arrived_model")
    return key


def ship_vocabulary(session: SparkSession, vocabulary: Vocabulary) -> str:
    """The key by which executors find a vocabulary: its fingerprint."""
    key = fingerprint_of(vocabulary)
    if not is_shipped(session, key, VOCABULARY_FILES):
        words, offsets = (root_folder() / shipped_name(key, name) for name in VOCABULARY_FILES)
        np.save(words, vocabulary.data)
        np.save(offsets, vocabulary.offsets)
    ship(session, key, VOCABULARY_FILES, "arrived_vocabulary")
    return key


def root_folder() -> Path:
    """Where the driver keeps the files that it has sent; Spark deletes it when it stops."""
    from pyspark import SparkFiles

    return Path(SparkFiles.getRootDirectory())


def is_shipped(session: SparkSession, key: str, names: tuple[str, ...]) -> bool:
    """Whether the application has sent these files already."""
    sent = {address.rpartition("/")[2] for address in session.sparkContext.listFiles}
    return sent.issuperset(shipped_name(key, name) for name in names)


def ship(session: SparkSession, key: str, names: tuple[str, ...], opener: str) -> None:
    """Send files that stand in the root folder, and see that an executor can open them."""
    if not is_shipped(session, key, names):
        for name in names:
            # As an address: a path would be followed to the file that a link names.
            session.sparkContext.addFile((root_folder() / shipped_name(key, name)).as_uri())
    seen = root_folder() / shipped_name(key, ARRIVED)
    if not seen.exists():
        require_arrival(session, opener, key)
        seen.touch()


def require_arrival(session: SparkSession, opener: str, key: str) -> None:
    """Refuse to begin if an executor cannot open what was sent.

    What is wrong comes back as a value: an exception in a task would be retried, and logged each
    time with all that Java has to say.
    """

    # Inside this function, so that it is sent as code: executors may not have deltavec at all.
    def tried(batches: Iterator[Any]) -> Iterator[Any]:
        import importlib

        import pyarrow

        for _ in batches:
            pass
        version, problem = "", ""
        try:
            version = importlib.import_module("deltavec.version").__version__
            getattr(importlib.import_module("deltavec.spark.arrival"), opener)(key)
        except Exception as error:
            problem = str(error) or type(error).__name__
        yield pyarrow.RecordBatch.from_pydict({"version": [version], "problem": [problem]})

    one = session.range(0, 1, 1, 1)
    answer = one.mapInArrow(tried, "version string, problem string").collect()[0]
    if "cannot cache function" in answer.problem:
        raise DeltavecError(CACHE_ADVICE)
    if answer.version == "":
        raise DeltavecError(
            f"an executor cannot import deltavec ({answer.problem}): install it in the Python that "
            "executors run (PYSPARK_PYTHON), or ship an environment with spark.archives"
        )
    if answer.version != __version__:
        raise DeltavecError(
            f"the driver has deltavec {__version__}, an executor {answer.version}: "
            "install the same version on both"
        )
    if answer.problem:
        raise DeltavecError(f"an executor cannot open what the driver sent: {answer.problem}")
