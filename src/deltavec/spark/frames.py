"""Checks of DataFrames, and errors of executors as one line."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec import errors
from deltavec.errors import CorpusError, DeltavecError, InputError, MissingDependencyError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NO_MODULE = re.compile(r"No module named '((?:pyarrow|pandas|numpy|numba|deltavec|scipy)\b[^']*)'")
ID_TYPES = ("string", "tinyint", "smallint", "int", "bigint")
OUR_ERROR = re.compile(r"^deltavec\.errors\.(\w+): (.*)", re.MULTILINE | re.DOTALL)


def require_pyspark() -> None:
    """Refuse to go on without Spark's Python package, and pandas, without which it has no Arrow."""
    for name in ("pyspark", "pandas"):
        if find_spec(name) is None:
            raise MissingDependencyError(
                f"deltavec.spark needs {name}: pip install 'deltavec[spark]'"
            )


def require_frame(frame: Any) -> None:
    """Refuse what is not a DataFrame, classic or of Spark Connect."""
    require_pyspark()
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        raise InputError(
            f"expected a Spark DataFrame, got {type(frame).__name__}: "
            "spark.read or spark.createDataFrame makes one"
        )


def require_text_column(frame: Any, column: Any) -> None:
    """Refuse a frame without this column, or one that does not hold strings."""
    require_frame(frame)
    from pyspark.sql.types import StringType

    found = [field for field in frame.schema.fields if field.name == column]
    if not found:
        raise CorpusError(
            f"expected a column {column!r}, found {', '.join(frame.columns) or 'none'}"
        )
    if len(found) > 1:
        raise CorpusError(f"expected one column {column!r}, found {len(found)}: rename the others")
    if not isinstance(found[0].dataType, StringType):
        raise CorpusError(
            f"expected the column {column!r} to hold strings, got "
            f"{found[0].dataType.simpleString()}: choose another one, or cast it to string"
        )


def rereadable_text(frame: Any, column: Any) -> DataFrame:
    """The text of a frame and nothing else, to be read more than once."""
    require_text_column(frame, column)
    if frame.isStreaming:  # it cannot be read twice, nor to its end
        raise CorpusError(
            "expected documents that can be read more than once, got a stream: "
            "write it to files first"
        )
    from pyspark.sql import functions

    quoted = column.replace("`", "``")
    texts: DataFrame = frame.select(functions.col(f"`{quoted}`").alias("text"))
    return texts


def named_texts(frame: Any, id_column: str, text_column: str) -> tuple[DataFrame, str]:
    """The ids and texts of a frame, as ``id`` and ``text``, and the type of the ids."""
    require_text_column(frame, text_column)
    from pyspark.sql import functions

    kind = dict(frame.dtypes).get(id_column)
    if kind not in ID_TYPES:
        found = "none" if kind is None else kind
        raise CorpusError(f"expected ids, strings or whole numbers, in {id_column!r}, got {found}")
    columns = [functions.col(f"`{name.replace('`', '``')}`") for name in (id_column, text_column)]
    return frame.select(columns[0].alias("id"), columns[1].alias("text")), kind


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
                raise MissingDependencyError(
                    f"the executors' Python has no module {missing[1]!r}: let PYSPARK_PYTHON name "
                    f"a Python with deltavec[spark] on every machine (here it is {sys.executable})"
                ) from None
            raise  # an error of the caller's own function
        kind = getattr(errors, found[1], DeltavecError)
        raise kind(found[2].strip()) from None


def as_lists(matrix: npt.NDArray[np.float32]) -> pa.Array:
    """The rows of a matrix as an Arrow column of lists, not copied."""
    rows, width = matrix.shape
    begins = np.arange(rows + 1, dtype=np.int32) * np.int32(width)
    return pa.ListArray.from_arrays(pa.array(begins), pa.array(matrix.reshape(-1)))
