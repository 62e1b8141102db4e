"""Spark on two workers against one machine, and against scikit-learn in the same cluster.

    python benchmarks/spark.py reviews.parquet -o benchmarks/results/spark.json

Three questions, in one run:

- Is what Spark fits and embeds what one machine fits and embeds? (the file as it is)
- How fast does Spark embed, for each core, beside ``embed_to_file`` on the same cores? (the file
  repeated until it has so many gigabytes of text; Parquet in, Parquet out)
- How fast is what people write without deltavec: a pandas UDF around a TfidfVectorizer, whose rows
  are stored as indices and values, or around model2vec with potion-base-8M? (some of the same
  text, as their rates do not grow with it; model2vec only where ``make bench`` put it)

The plot goes beside the JSON. The cluster is Spark's own ``local-cluster``: a master, and workers
of one core in processes of their own.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from measuring import publish, surroundings, timed
from pyspark.sql import DataFrame, SparkSession, functions
from spark_plot import drawn

import deltavec as dv
from deltavec.io.output.embed_to_file import embed_to_file

PACKAGES = ["numba", "numpy", "pandas", "pyarrow", "pyspark", "scikit-learn"]
POTION = Path(sys.prefix) / "models" / "potion-base-8M"
ROWS_IN_A_GROUP = 10_000
CLOSE = 1 - 1e-6


class Load(NamedTuple):
    """What is to be embedded, and on how many cores."""

    folder: Path
    documents: int
    tokens: int
    cores: int


def session(workers: int, memory: int, folder: Path) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.executor.memory": f"{memory}m",
        "spark.local.dir": str(folder),
        "spark.sql.files.maxPartitionBytes": "32m",
        "spark.sql.parquet.writeLegacyFormat": "true",
        "spark.sql.warehouse.dir": str(folder),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(f"local-cluster[{workers},1,{memory}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def repeated(texts: pa.Array, folder: Path, size: float) -> list[Path]:
    """Files of the same texts, until they hold so many bytes of text together; ids go on."""
    folder.mkdir()
    files: list[Path] = []
    for number in range(max(1, round(size / text_bytes(texts)))):
        files.append(folder / f"{number:04}.parquet")
        ids = pa.array(np.arange(len(texts)) + number * len(texts))
        table = pa.table({"id": ids, "text": texts})
        pq.write_table(table, files[-1], row_group_size=ROWS_IN_A_GROUP)
    return files


def text_bytes(texts: pa.Array) -> int:
    return int(pc.sum(pc.binary_length(texts)).as_py())


def agreement(
    frame: DataFrame, texts: pa.Array, vectors: dv.WordVectors, with_spectral: bool
) -> dict[str, Any]:
    """Fit and embed in Spark and here, by the paper's best recipe and by the default."""
    found = {"idf-delta-pca": compared(frame, texts, vectors, "idf-delta-pca")}
    if with_spectral:
        found["spectral"] = compared(frame, texts, None, None)
    return found


def compared(
    frame: DataFrame, texts: pa.Array, vectors: dv.WordVectors | None, recipe: str | None
) -> dict[str, Any]:
    here = timed(lambda: dv.fit(texts, vectors, recipe), 1)
    there = timed(lambda: dv.spark.fit(frame, "text", vectors, recipe), 1)
    rows = dv.spark.embed(frame, "text", there.result).select("id", "embedding").toArrow()
    rows = rows.sort_by("id")
    expected = here.result.embed(texts)
    lists = rows["embedding"].combine_chunks()
    vectors_there = lists.flatten().to_numpy().reshape(len(lists), -1)
    known = expected.any(axis=1)
    cosines = np.abs(np.einsum("ij,ij->i", expected, vectors_there, dtype=np.float64))[known]
    counts = [model.statistics for model in (here.result, there.result)]
    return {
        "counts_equal": all(
            np.array_equal(getattr(counts[0], name), getattr(counts[1], name))
            for name in ("token_counts", "document_counts")
        ),
        "rows_and_ids_equal": rows["id"].to_pylist() == list(range(len(texts))),
        "least_cosine": float(cosines.min()),
        "close_enough": bool(cosines.min() > CLOSE),
        "same_zero_rows": bool((vectors_there.any(axis=1) == known).all()),
        "largest_difference": float(np.abs(vectors_there - expected).max()),
        "same_model_here_gives_the_same_bits": bool(
            np.array_equal(there.result.embed(texts), vectors_there)
        ),
        "fit_seconds": {"one_machine": here.seconds[0], "spark": there.seconds[0]},
    }


def embedding_rates(
    frame: DataFrame, model: dv.EmbeddingModel, load: Load, repeats: int, out: Path
) -> dict[str, Any]:
    """How fast one model embeds all files, here and in Spark."""
    embedded = dv.spark.embed(frame, "text", model).drop("text")
    runs = {
        "one_machine_to_parquet": lambda: embed_to_file(
            model, load.folder, out / "here.parquet", keep=["id"], threads=load.cores
        ),
        **spark_runs(embedded, out / "there"),
    }
    found = rates(runs, load, repeats)
    each = found["million_tokens_per_second_per_core"]
    written = sum(path.stat().st_size for path in (out / "there").glob("*.parquet"))
    return {
        "dimensions": model.dimensions,
        **found,
        "spark_share_of_one_machine": round(
            each["spark_to_parquet"] / each["one_machine_to_parquet"], 3
        ),
        "parquet_bytes_per_document": round(written / load.documents, 1),
    }


def tfidf_rates(
    frame: DataFrame, texts: pa.Array, load: Load, repeats: int, out: Path
) -> dict[str, Any]:
    """How fast a pandas UDF around a vectorizer is that was fitted on the driver and broadcast."""
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(min_df=2, dtype=np.float32).fit(texts.to_pylist())
    shared = frame.sparkSession.sparkContext.broadcast(vectorizer)

    def transform(column: pd.Series) -> pd.DataFrame:
        rows = shared.value.transform(column)
        cuts = rows.indptr[1:-1]
        parts = {"indices": rows.indices, "values": rows.data}
        return pd.DataFrame({name: np.split(part, cuts) for name, part in parts.items()})

    transform.__annotations__ = {"column": pd.Series, "return": pd.DataFrame}  # no strings
    udf = functions.pandas_udf(transform, "indices array<int>, values array<float>")
    weighted = frame.select("id", udf("text").alias("tfidf"))
    return {"documents": load.documents, **rates(spark_runs(weighted, out), load, repeats)}


def model2vec_rates(frame: DataFrame, load: Load, repeats: int, out: Path) -> dict[str, Any]:
    """How fast a pandas UDF around model2vec is; each task opens the model once."""
    if find_spec("model2vec") is None or not POTION.is_dir():
        return {"absent": "model2vec or its model potion-base-8M is not there"}
    import pandas as pd

    folder = str(POTION)

    def encode(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        from model2vec import StaticModel

        model = StaticModel.from_pretrained(folder)
        for texts in batches:
            yield pd.Series(list(model.encode(texts.tolist())))

    encode.__annotations__ = {  # no strings
        "batches": Iterator[pd.Series],
        "return": Iterator[pd.Series],
    }
    udf = functions.pandas_udf(encode, "array<float>")
    encoded = frame.select("id", udf("text").alias("vector"))
    return {"documents": load.documents, **rates(spark_runs(encoded, out), load, repeats)}


def spark_runs(frame: DataFrame, out: Path) -> dict[str, Callable[[], Any]]:
    """The ways to let Spark compute a frame, each begun once on a little of it."""
    frame.limit(1000).write.format("noop").mode("overwrite").save()
    return {
        "spark_to_parquet": lambda: frame.write.mode("overwrite").parquet(str(out)),
        "spark_to_nowhere": lambda: frame.write.format("noop").mode("overwrite").save(),
    }


def rates(runs: dict[str, Callable[[], Any]], load: Load, repeats: int) -> dict[str, Any]:
    """Seconds of each run, and what that is for each core."""
    measured = {name: timed(run, repeats) for name, run in runs.items()}
    return {
        "seconds": {name: run.seconds for name, run in measured.items()},
        "million_tokens_per_second_per_core": {
            name: round(load.tokens / run.median / load.cores / 1e6, 3)
            for name, run in measured.items()
        },
    }


def measured(spark: SparkSession, arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    corpus = dv.read_corpus(arguments.corpus, column=arguments.column)
    texts = pa.concat_arrays([chunk.cast(pa.string()) for chunk in corpus])[: arguments.documents]
    files = repeated(texts, folder / "text", arguments.gigabytes * 1e9)
    models = {}
    for dimensions in arguments.dimensions:
        vectors = dv.train_vectors(texts, dimensions=dimensions)
        models[dimensions] = dv.fit(texts, vectors, "idf-delta-pca")
    tokens = models[arguments.dimensions[0]].statistics.tokens
    few = texts[: arguments.model2vec_documents]
    (few_file,) = repeated(few, folder / "few", 0)
    few_tokens = dv.fit(few, vectors, "unit-sum").statistics.tokens
    some = files[: max(1, round(len(files) * arguments.tfidf_share))]
    cores = arguments.workers

    def load_of(part: list[Path]) -> Load:
        return Load(folder / "text", len(part) * len(texts), len(part) * tokens, cores)

    everything = spark.read.parquet(str(folder / "text"))
    once = spark.read.parquet(str(files[0]))
    weighted = spark.read.parquet(*map(str, some))
    embedding = [
        embedding_rates(everything, model, load_of(files), arguments.repeats, folder)
        for model in models.values()
    ]
    plain = tfidf_rates(weighted, texts, load_of(some), arguments.repeats, folder / "tfidf")
    potion = model2vec_rates(
        spark.read.parquet(str(few_file)).repartition(4 * cores).cache(),
        Load(folder / "few", len(few), few_tokens, cores),
        arguments.repeats,
        folder / "potion",
    )
    for run in embedding:
        run["times_tfidf"] = times(run, plain)
        if "absent" not in potion:
            run["times_model2vec"] = times(run, potion)
    java = "select java_method('java.lang.System', 'getProperty', 'java.version')"
    return {
        **surroundings(PACKAGES),
        "java": spark.sql(java).first()[0],
        "workers": cores,
        "megabytes_per_worker": arguments.memory,
        "text": {
            "documents": len(files) * len(texts),
            "tokens": len(files) * tokens,
            "bytes": len(files) * text_bytes(texts),
            "copies_of_the_file": len(files),
        },
        "agreement": agreement(once, texts, vectors, not arguments.without_spectral),
        "embed": embedding,
        "tfidf_pandas_udf": plain,
        "model2vec_pandas_udf": potion,
    }


def times(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, float]:
    """How many times as fast ours is, by where the results go."""
    name = "million_tokens_per_second_per_core"
    return {way: round(ours[name][way] / rate, 1) for way, rate in theirs[name].items()}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", help="a file that deltavec reads")
    parser.add_argument("--column", default="text")
    parser.add_argument("--documents", type=int, help="only so many of the file's documents")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="text to embed")
    parser.add_argument("--dimensions", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", type=int, default=3072, help="megabytes for each worker")
    parser.add_argument("--tfidf-share", type=float, default=0.1, help="of the files, for tf-idf")
    parser.add_argument("--model2vec-documents", type=int, default=20_000)
    parser.add_argument("--without-spectral", action="store_true", help="a shorter comparison")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="for temporary files: 10 times the text")
    parser.add_argument("-o", "--output", type=Path)
    return parser.parse_args()


def main() -> None:
    arguments = parsed()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        spark = session(arguments.workers, arguments.memory, Path(name) / "spark")
        try:
            report = measured(spark, arguments, Path(name))
        finally:
            spark.stop()
    publish(report, arguments.output)
    if arguments.output is not None:
        arguments.output.with_suffix(".svg").write_text(drawn(report))


if __name__ == "__main__":
    main()
