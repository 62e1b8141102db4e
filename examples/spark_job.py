"""A job for spark-submit: fit a model to a column of Parquet files, or embed one.

    spark-submit examples/spark_job.py fit hdfs:///reviews reviews.dv --column text
    spark-submit examples/spark_job.py embed hdfs:///reviews reviews.dv hdfs:///vectors --keep id

Input and output are whatever Spark reads and writes: hdfs://, s3a://, gs://, abfss://, local files.
The model is a folder on the driver's disk, or an address that pyarrow knows (s3://, gs://, hdfs://),
from which it is copied. It is the same folder that deltavec reads and writes on one machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import pyarrow.fs
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import deltavec as dv


def main() -> None:
    """Do what the arguments say."""
    arguments = parser().parse_args()
    spark = SparkSession.builder.appName(f"deltavec {arguments.command}").getOrCreate()
    try:
        (fit if arguments.command == "fit" else embed)(spark, arguments)
    except dv.DeltavecError as error:
        sys.exit(f"spark_job.py: {error}")
    except PySparkException as error:  # its message without what Java adds
        sys.exit(f"spark_job.py: {(error.getMessage() or str(error)).splitlines()[0]}")
    finally:
        spark.stop()


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    whole = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = whole.add_subparsers(dest="command", required=True)
    fitting = commands.add_parser("fit", help="learn a model")
    embedding = commands.add_parser("embed", help="write vectors")
    for command in (fitting, embedding):
        command.add_argument("input", help="Parquet files")
        command.add_argument("model", help="the model's folder")
        command.add_argument("--column", default="text", help="the column with the text")
    fitting.add_argument("--vectors", help="word vectors, a file on the driver's disk")
    fitting.add_argument("--recipe", help="the name of a recipe; deltavec chooses by default")
    fitting.add_argument("--sample", type=float, help="the share of the documents to learn from")
    embedding.add_argument("output", help="where the Parquet files go")
    embedding.add_argument("--keep", nargs="*", default=[], help="columns beside the vectors")
    return whole


def fit(spark: SparkSession, arguments: argparse.Namespace) -> None:
    """Learn a model and save it."""
    frame = spark.read.parquet(arguments.input)
    if arguments.sample is not None:
        frame = frame.sample(arguments.sample, seed=0)
    vectors = dv.load_vectors(arguments.vectors) if arguments.vectors else None
    model = dv.spark.fit(frame, arguments.column, vectors, arguments.recipe)
    if "://" not in arguments.model:
        model.save(arguments.model)
        return
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.dv")
        system, path = pyarrow.fs.FileSystem.from_uri(arguments.model)
        system.create_dir(path)
        pyarrow.fs.copy_files(f"{folder}/model.dv", path, destination_filesystem=system)


def require_columns(frame: DataFrame, names: list[str]) -> None:
    """Refuse names that are no columns, before hours of work; capitals matter here."""
    missing = [name for name in names if name not in frame.columns]
    if missing:
        found = ", ".join(frame.columns)
        raise dv.InputError(f"--keep: expected columns, got {missing[0]!r}; there are {found}")


def embed(spark: SparkSession, arguments: argparse.Namespace) -> None:
    """Write the vectors of the input, beside the columns to keep."""
    column, keep = arguments.column, arguments.keep
    frame = spark.read.parquet(arguments.input)
    require_columns(frame, keep)
    if column in frame.columns:  # else deltavec says what there is
        frame = frame.select([f"`{name}`" for name in dict.fromkeys([*keep, column])])
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model
        if "://" in model:
            pyarrow.fs.copy_files(model, folder)
            model = folder
        vectors = dv.spark.embed(frame, column, model)
        if column not in keep:
            vectors = vectors.drop(column)
        vectors.write.parquet(arguments.output)


if __name__ == "__main__":
    main()
