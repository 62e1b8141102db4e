"""Stages of ``pyspark.ml``: an estimator that fits a model, and a transformer that embeds.

A saved stage holds the files of the model in Parquet, wherever Spark writes, so that a Pipeline is
saved and loaded with it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pyspark.ml import Estimator, Model, util
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCol, HasOutputCol

from deltavec.core.model import EmbeddingModel
from deltavec.io.artifacts.model import FILES, load
from deltavec.spark.embed import embed
from deltavec.spark.fit import fit

PART = 1 << 26  # bytes of a file in one row


class Columns(HasInputCol, HasOutputCol):
    """The columns of a stage, and whether it makes vectors of Spark's own type."""

    asVector: Param[bool] = Param(
        Params._dummy(),
        "asVector",
        "whether the output is a vector of pyspark.ml, for other stages, or an array of float",
        typeConverter=TypeConverters.toBoolean,
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(inputCol="text", outputCol="embedding", asVector=True)


class EmbedderModel(Model, Columns, util.DefaultParamsReadable, util.DefaultParamsWritable):
    """Adds a column of vectors, by a fitted model.

    Parameters
    ----------
    model
        The model; None only while a saved stage is read.
    """

    def __init__(self, model: EmbeddingModel | None = None) -> None:
        super().__init__()
        self.model = model

    def _transform(self, dataset: Any) -> Any:
        output = self.getOutputCol()
        frame = embed(dataset, self.getInputCol(), self.model, output)  # type: ignore[arg-type]
        if not self.getOrDefault(self.asVector):
            return frame
        return frame.withColumn(output, array_to_vector(frame[output]))

    def write(self) -> EmbedderWriter:
        """What saves the stage with its model."""
        return EmbedderWriter(self)

    @classmethod
    def read(cls) -> EmbedderReader:
        """What loads a stage with its model."""
        return EmbedderReader(cls)


class Embedder(Estimator, Columns, util.DefaultParamsReadable, util.DefaultParamsWritable):
    """Fits a model to a column of text with `deltavec.spark.fit`.

    Parameters
    ----------
    inputCol, outputCol
        The column with the text, and the column of vectors to add.
    asVector
        Whether vectors have the type of ``pyspark.ml``, or are arrays of float.
    """

    def __init__(
        self, *, inputCol: str = "text", outputCol: str = "embedding", asVector: bool = True
    ) -> None:
        super().__init__()
        self._set(inputCol=inputCol, outputCol=outputCol, asVector=asVector)

    def _fit(self, dataset: Any) -> EmbedderModel:
        return self._copyValues(EmbedderModel(fit(dataset, self.getInputCol())))


class EmbedderWriter(util.DefaultParamsWriter):
    """Saves the parameters, and the files of the model as rows of bytes."""

    def saveImpl(self, path: str) -> None:
        """Write everything below a path of Spark's."""
        super().saveImpl(path)
        with tempfile.TemporaryDirectory() as folder:
            stage: Any = self.instance
            stage.model.save(Path(folder) / "model.dv")
            rows = [
                (name, place, data[place : place + PART])
                for name in FILES
                for data in [(Path(folder) / "model.dv" / name).read_bytes()]
                for place in range(0, len(data), PART)
            ]
        frame = self.sparkSession.createDataFrame(rows, "name string, place long, data binary")
        frame.write.parquet(f"{path}/model")


class EmbedderReader(util.DefaultParamsReader):
    """Loads what `EmbedderWriter` saved."""

    def load(self, path: str) -> EmbedderModel:
        """The stage below a path of Spark's."""
        found: EmbedderModel = super().load(path)
        frame = self.sparkSession.read.parquet(f"{path}/model").orderBy("name", "place")
        with tempfile.TemporaryDirectory() as folder:
            for row in frame.toLocalIterator():
                if row.name in FILES:  # never a path
                    with (Path(folder) / row.name).open("ab") as file:
                        file.write(row.data)
            found.model = load(folder)
        return found
