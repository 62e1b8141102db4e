"""From the driver to the executors, once: files that Spark copies to each of them.

A model or a vocabulary becomes plain files whose names hold its fingerprint. Spark fetches them
once for each executor, however many tasks run there, and deletes them when the application ends.
There they are opened once for each process and mapped, not copied.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deltavec.core.model import EmbeddingModel
from deltavec.core.text.external import NamedTokenizer
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import DeltavecError, InputError, ModelError
from deltavec.io.artifacts.model import FILES, load
from deltavec.search.shingle_kernels import Weights
from deltavec.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ARRIVED = "arrived"
VOCABULARY_FILES = ("words.npy", "offsets.npy")
WEIGHTS_FILES = ("weights.npy",)
KEPT_OPEN = 4


class ShippedModel(NamedTuple):
    """How executors find a model, and whether they may import the tokenizer that it names."""

    key: str
    trust: bool


def ship_model(
    session: SparkSession, model: EmbeddingModel | str | PathLike[str], *, trust: bool = False
) -> ShippedModel:
    """How executors find a model: by its fingerprint.

    The files of a folder are sent as they are; a model in memory is written to files first.
    """
    if isinstance(model, EmbeddingModel):
        key, trust = model.fingerprint, is_trusted(model)
        with tempfile.TemporaryDirectory(prefix=".deltavec-", dir=root_folder()) as staged:
            if not is_shipped(session, key, FILES):
                folder = Path(staged) / "model.dv"
                model.save(folder)
                for name in FILES:
                    (folder / name).rename(root_folder() / shipped_name(key, name))
    elif isinstance(model, str | PathLike):
        folder = Path(model).resolve()
        opened = load(folder, trust=trust)
        key, trust = opened.fingerprint, is_trusted(opened)
        for name in FILES:
            with suppress(FileExistsError):
                (root_folder() / shipped_name(key, name)).symlink_to(folder / name)
    else:
        raise InputError(
            f"expected a model or the folder of one, got {type(model).__name__}: "
            "deltavec.fit makes a model"
        )
    ship(session, key, FILES, "arrived_model", trust)
    return ShippedModel(key, trust)


def is_trusted(model: EmbeddingModel) -> bool:
    """Whether executors may import the tokenizer that the model names.

    Raises
    ------
    ModelError
        If it names a third-party tokenizer that was not imported here.
    """
    if not isinstance(model.tokenizer, NamedTokenizer):
        return False
    model.tokenizer.imported()
    return True


def ship_vocabulary(session: SparkSession, vocabulary: Vocabulary) -> str:
    """The key by which executors find a vocabulary: its fingerprint."""
    key = fingerprint_of(vocabulary)
    if not is_shipped(session, key, VOCABULARY_FILES):
        words, offsets = (root_folder() / shipped_name(key, name) for name in VOCABULARY_FILES)
        np.save(words, vocabulary.data)
        np.save(offsets, vocabulary.offsets)
    ship(session, key, VOCABULARY_FILES, "arrived_vocabulary")
    return key


def ship_weights(session: SparkSession, weights: Weights) -> str:
    """The key by which executors find the weights of shingles: a digest of them."""
    key = hashlib.sha256(weights.table.data).hexdigest()[:16]
    if not is_shipped(session, key, WEIGHTS_FILES):
        np.save(root_folder() / shipped_name(key, *WEIGHTS_FILES), weights.table)
    ship(session, key, WEIGHTS_FILES, "arrived_weights")
    return key


def root_folder() -> Path:
    """Where the driver keeps what it has sent, and an executor what has arrived.

    Spark deletes it when it stops.
    """
    from pyspark import SparkFiles

    return Path(SparkFiles.getRootDirectory()).absolute()


def is_shipped(session: SparkSession, key: str, names: tuple[str, ...]) -> bool:
    """Whether the application has sent these files already."""
    sent = {address.rpartition("/")[2] for address in session.sparkContext.listFiles}
    return sent.issuperset(shipped_name(key, name) for name in names)


def ship(
    session: SparkSession, key: str, names: tuple[str, ...], opener: str, *asked: bool
) -> None:
    """Send files that stand in the root folder, and see that an executor can open them."""
    if not is_shipped(session, key, names):
        for name in names:
            # As an address: a path would be followed to the file that a link names.
            session.sparkContext.addFile((root_folder() / shipped_name(key, name)).as_uri())
    seen = root_folder() / shipped_name(key, ARRIVED)
    if not seen.exists():
        require_arrival(session, opener, key, *asked)
        seen.touch()


def require_arrival(session: SparkSession, opener: str, *asked: str | bool) -> None:
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
            # A kernel is compiled when it is called: here, where its complaint can be told.
            importlib.import_module("deltavec.core.kernels.hashing").mix(
                importlib.import_module("numpy").uint64(1)
            )
            getattr(importlib.import_module("deltavec.spark.ship"), opener)(*asked)
        except Exception as error:
            problem = str(error) or type(error).__name__
        yield pyarrow.RecordBatch.from_pydict({"version": [version], "problem": [problem]})

    one = session.range(0, 1, 1, 1)
    answer = one.mapInArrow(tried, "version string, problem string").collect()[0]
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


def shipped_name(key: str, name: str) -> str:
    """What a file is called on its way: Spark knows files by their names alone."""
    return f"deltavec-{key}-{name}"


def fingerprint_of(vocabulary: Vocabulary) -> str:
    """A short name of the content: equal for the same words in the same order."""
    digest = hashlib.sha256(np.ascontiguousarray(vocabulary.offsets).data)
    digest.update(np.ascontiguousarray(vocabulary.data).data)
    return digest.hexdigest()[:16]


@functools.lru_cache(maxsize=KEPT_OPEN)
def arrived_model(key: str, trust: bool = False) -> EmbeddingModel:
    """The model that the driver sent under this key.

    Its folder is made out of links to what arrived, by the first process that needs it, which also
    reads the table once to see that it is the one that was sent. Later ones find the folder, and
    share the table's memory.
    """
    folder = root_folder() / shipped_name(key, "model.dv")
    if folder.is_dir():
        return load(folder, verify=False, trust=trust)
    fresh = Path(tempfile.mkdtemp(prefix=".deltavec-", dir=root_folder()))
    try:
        for name in FILES:
            (fresh / name).symlink_to(root_folder() / shipped_name(key, name))
        model = load(fresh, verify=False, trust=trust)
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
        np.load(root_folder() / shipped_name(key, name), mmap_mode="r").view(np.ndarray)
        for name in VOCABULARY_FILES
    )
    return Vocabulary(words, offsets)


@functools.lru_cache(maxsize=KEPT_OPEN)
def arrived_weights(key: str) -> Weights:
    """The weights of shingles that the driver sent under this key."""
    path = root_folder() / shipped_name(key, *WEIGHTS_FILES)
    table = np.load(path, mmap_mode="r").view(np.ndarray)
    return Weights(np.uint32(33 - len(table).bit_length()), table)
