"""How alike two columns are, row by row, as one more column."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.model import EmbeddingModel
from deltavec.spark.embed import vectors_of, with_column
from deltavec.spark.frames import require_text_column
from deltavec.spark.ship import ship_model

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def similarity(
    frame: DataFrame,
    a: str,
    b: str,
    model: EmbeddingModel | str | PathLike[str],
    output: str = "similarity",
    *,
    trust: bool = False,
) -> DataFrame:
    """The frame with one more column: the cosine of the texts of two columns, a float.

    It is the product of the vectors that `EmbeddingModel.embed` gives, whatever the partitions. 0
    where a text is null, or holds no known word. Rows keep their partitions, their order and their
    other columns.

    Parameters
    ----------
    frame
        The documents.
    a, b
        The columns with the texts.
    model
        A model, or the folder of one, as the driver sees it.
    output
        The name of the new column.
    trust
        As for `deltavec.spark.embed`.
    """
    for column in (a, b):
        require_text_column(frame, column)
    from pyspark.sql.types import FloatType

    one, other = frame.columns.index(a), frame.columns.index(b)

    def computed(batch: pa.RecordBatch, arrived: EmbeddingModel) -> pa.Array:
        return cosines(*(vectors_of(batch.column(place), arrived) for place in (one, other)))

    shipped = ship_model(frame.sparkSession, model, trust=trust)
    return with_column(frame, output, FloatType(), shipped, computed)


def cosines(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> pa.Array:
    """The product of each two rows."""
    products = np.einsum("ij,ij->i", one.astype(np.float64), other.astype(np.float64))
    return pa.array(products.astype(np.float32))
