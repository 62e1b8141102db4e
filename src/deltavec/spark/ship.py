"""From the driver to the executors, once: files that Spark copies to each of them.

A model or some arrays become plain files whose names hold their fingerprint. Spark fetches them
once for each executor, as artifacts of the session, classic or Spark Connect, however many tasks
run there. There they are opened once for each process and mapped, not copied.

Also here: checks of DataFrames, and errors of executors as one line.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec import errors
from deltavec.core.model import EmbeddingModel
from deltavec.core.text.external import NamedTokenizer
from deltavec.core.vocabulary import Vocabulary
from deltavec.io.artifacts.model import FILES, load
from deltavec.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NO_MODULE = re.compile(r"No module named '((?:pyarrow|pandas|numpy|numba|deltavec|scipy)\b[^']*)'")
ID_TYPES = ("string", "tinyint", "smallint", "int", "bigint")
OUR_ERROR = re.compile(r"^deltavec\.errors\.(\w+): (.*)", re.MULTILINE | re.DOTALL)


def require_pyspark() -> None:
    """Refuse to go on without Spark's Python package, and pandas, without which it has no Arrow."""
    for name in ("pyspark", "pandas"):
        if find_spec(name) is None:
            raise errors.MissingDependencyError(
                f"Spark needs {name}: pip install 'deltavec[spark]'"
            )


def require_frame(frame: Any) -> None:
    """Refuse what is not a DataFrame, classic or of Spark Connect."""
    require_pyspark()
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        raise errors.InputError(
            f"expected a Spark DataFrame, got {type(frame).__name__}: "
            "spark.read or spark.createDataFrame makes one"
        )


def require_text_column(frame: Any, column: Any) -> None:
    """Refuse a frame without this column, or one that does not hold strings."""
    require_frame(frame)
    from pyspark.sql.types import StringType

    found = [field for field in frame.schema.fields if field.name == column]
    if not found:
        raise errors.CorpusError(f"expected a column {column!r}, found {', '.join(frame.columns)}")
    if len(found) > 1:
        raise errors.CorpusError(
            f"expected one column {column!r}, found {len(found)}: rename the others"
        )
    if not isinstance(found[0].dataType, StringType):
        raise errors.CorpusError(
            f"expected the column {column!r} to hold strings, got "
            f"{found[0].dataType.simpleString()}: choose another one, or cast it to string"
        )


def rereadable_text(frame: Any, column: Any) -> DataFrame:
    """The text of a frame and nothing else, to be read more than once."""
    require_text_column(frame, column)
    if frame.isStreaming:  # it cannot be read twice, nor to its end
        raise errors.CorpusError(
            "expected documents to read more than once, got a stream: write it first"
        )
    texts: DataFrame = frame.select(named(column).alias("text"))
    return texts


def named(column: str) -> Any:
    """A column by its name, whatever is in it."""
    from pyspark.sql import functions

    return functions.col(f"`{column.replace('`', '``')}`")


def named_texts(frame: Any, id_column: str, text_column: str) -> tuple[DataFrame, str]:
    """The ids and texts of a frame, as ``id`` and ``text``, and the type of the ids."""
    require_text_column(frame, text_column)
    kind = dict(frame.dtypes).get(id_column, "none")
    if kind not in ID_TYPES:
        raise errors.CorpusError(
            f"expected ids, strings or whole numbers, in {id_column!r}, got {kind}"
        )
    return frame.select(named(id_column).alias("id"), named(text_column).alias("text")), kind


def bytes_type(frame: DataFrame) -> pa.DataType:
    """The Arrow type in which the frame's session wants bytes from Python."""
    large = frame.sparkSession.conf.get("spark.sql.execution.arrow.useLargeVarTypes", "false")
    return pa.large_binary() if large == "true" else pa.binary()


@contextmanager
def failing_clearly() -> Iterator[None]:
    """Raise deltavec's own errors from executors as they are, not as errors of Java."""
    from pyspark.errors import PythonException

    try:
        yield
    except PythonException as error:
        found = OUR_ERROR.search(str(error))
        if found is None:
            if missing := NO_MODULE.search(str(error)):
                raise errors.MissingDependencyError(
                    f"the executors' Python has no module {missing[1]!r}: let PYSPARK_PYTHON name "
                    f"a Python with deltavec[spark] on every machine (here it is {sys.executable})"
                ) from None
            raise  # an error of the caller's own function
        kind = getattr(errors, found[1], errors.DeltavecError)
        raise kind(found[2].strip()) from None


def as_lists(matrix: npt.NDArray[np.float32]) -> pa.Array:
    """The rows of a matrix as an Arrow column of lists, not copied."""
    rows, width = matrix.shape
    begins = np.arange(rows + 1, dtype=np.int32) * np.int32(width)
    return pa.ListArray.from_arrays(pa.array(begins), pa.array(matrix.reshape(-1)))


KEPT_OPEN = 4
SENT: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()
"""The keys of what each session was sent."""

Given = ParamSpec("Given")
Opened = TypeVar("Opened")


def opened_model(
    model: EmbeddingModel | str | PathLike[str], trust: bool = False
) -> EmbeddingModel:
    """A model, or the one in a folder."""
    if isinstance(model, EmbeddingModel):
        return model
    if isinstance(model, str | PathLike):
        return load(model, trust=trust)
    raise errors.InputError(f"expected a model or the folder of one, got {type(model).__name__}")


def ship_model(
    session: SparkSession, model: EmbeddingModel | str | PathLike[str], *, trust: bool = False
) -> Callable[[], EmbeddingModel]:
    """What opens a model on executors, which find its files by its fingerprint.

    Executors import a third-party tokenizer that the model names if it was imported here.
    """
    opened = opened_model(model, trust)
    if is_named := isinstance(opened.tokenizer, NamedTokenizer):
        opened.tokenizer.imported()  # raises if it was not

    def write(paths: Sequence[Path]) -> None:
        with tempfile.TemporaryDirectory(dir=staging().name) as scratch:
            folder = Path(scratch) / "model.dv"
            opened.save(folder)
            for path, name in zip(paths, FILES, strict=True):
                (folder / name).rename(path)

    return ship(session, FILES, write, arrived_model, opened.fingerprint, is_named)


def ship_arrays(
    session: SparkSession, *arrays: npt.NDArray[Any]
) -> functools.partial[list[npt.NDArray[Any]]]:
    """What opens arrays on executors, which find them by a digest."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    key = digest.hexdigest()[:16]

    def write(paths: Sequence[Path]) -> None:
        for path, array in zip(paths, arrays, strict=True):
            np.save(path, array)

    names = [f"{number}.npy" for number in range(len(arrays))]
    return ship(session, names, write, arrived_arrays, key, len(arrays))


def ship_vocabulary(session: SparkSession, vocabulary: Vocabulary) -> Callable[[], Vocabulary]:
    """What opens a vocabulary on executors."""
    arrays = ship_arrays(session, vocabulary.data, vocabulary.offsets)
    return functools.partial(arrived_vocabulary, *arrays.args)


@functools.cache
def staging() -> tempfile.TemporaryDirectory[str]:
    """Where the driver keeps what executors fetch, until the process ends."""
    return tempfile.TemporaryDirectory(prefix="deltavec-spark-")


def ship(
    session: SparkSession,
    names: Sequence[str],
    write: Callable[[Sequence[Path]], None],
    opener: Callable[..., Opened],
    key: str,
    *asked: bool | int,
) -> functools.partial[Opened]:
    """Send files, unless the session has them, and see that an executor can open them."""
    sent = SENT.setdefault(session, set())
    if key not in sent:
        paths = [Path(staging().name) / shipped_name(key, name) for name in names]
        if not all(path.exists() for path in paths):
            write(paths)
        session.addArtifacts(*map(str, paths), file=True)
        require_arrival(session, opener.__name__, key, *asked)
        sent.add(key)
    return functools.partial(opener, key, *asked)


def require_arrival(session: SparkSession, opener: str, *asked: str | bool | int) -> None:
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
        raise errors.DeltavecError(
            f"an executor cannot import deltavec ({answer.problem}): install it in the Python that "
            "executors run (PYSPARK_PYTHON), or ship an environment with spark.archives"
        )
    if answer.version != __version__:
        raise errors.DeltavecError(
            f"the driver has deltavec {__version__}, an executor {answer.version}: "
            "install the same version on both"
        )
    if answer.problem:
        raise errors.DeltavecError(
            f"an executor cannot open what the driver sent: {answer.problem}"
        )


def shipped_name(key: str, name: str) -> str:
    """What a file is called on its way: Spark knows files by their names alone."""
    return f"deltavec-{key}-{name}"


def opened_once(function: Callable[Given, Opened]) -> Callable[Given, Opened]:
    """What opens something once a process, and keeps it out of the garbage collector's way.

    Spark collects garbage after every task, which walks through all that was ever imported: 80 ms
    for a task of 2. So at the beginning of each task what is there is frozen: it stays anyway.
    """
    cached = functools.lru_cache(maxsize=KEPT_OPEN)(function)

    @functools.wraps(function)
    def opened(*given: Given.args, **named: Given.kwargs) -> Opened:
        found: Any = cached(*given, **named)  # type: ignore[arg-type]
        gc.freeze()
        return found  # type: ignore[no-any-return]

    opened.cache_info = cached.cache_info  # type: ignore[attr-defined]
    return opened


def arrival_folder() -> Path:
    """Where an executor keeps what has arrived; Spark deletes it when it stops."""
    from pyspark import SparkFiles

    return Path(SparkFiles.getRootDirectory()).absolute()


@opened_once
def arrived_model(key: str, trust: bool = False) -> EmbeddingModel:
    """The model that the driver sent under this key.

    Its folder is made out of links to what arrived, by the first process that needs it, which also
    reads the table once to see that it is the one that was sent. Later ones find the folder, and
    share the table's memory.
    """
    root = arrival_folder()
    folder = root / shipped_name(key, "model.dv")
    if folder.is_dir():
        return load(folder, verify=False, trust=trust)
    fresh = Path(tempfile.mkdtemp(prefix=".deltavec-", dir=root))
    try:
        for name in FILES:
            (fresh / name).symlink_to(root / shipped_name(key, name))
        model = load(fresh, verify=False, trust=trust)
        if model.fingerprint != key:
            raise errors.ModelError(
                f"the model {key} arrived as {model.fingerprint}: was its folder replaced "
                "meanwhile? load it again"
            )
        with suppress(OSError):  # another process was first
            fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return model


@opened_once
def arrived_arrays(key: str, count: int) -> list[npt.NDArray[Any]]:
    """The arrays that the driver sent under this key."""
    paths = [arrival_folder() / shipped_name(key, f"{number}.npy") for number in range(count)]
    return [np.load(path, mmap_mode="r").view(np.ndarray) for path in paths]


@opened_once
def arrived_vocabulary(key: str, count: int) -> Vocabulary:
    """The vocabulary whose arrays the driver sent under this key."""
    return Vocabulary(*arrived_arrays(key, count))
