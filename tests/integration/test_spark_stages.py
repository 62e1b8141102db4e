"""Spark as teams have it: SQL, pipelines, streams, Spark Connect, neighbors and topics."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deltavec as dv
from support.spark_cluster import IGNORED, require_java, running_session, settings, surroundings
from support.typed import reviews

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.filterwarnings(IGNORED)

LONGER = [" ".join(reviews()[n : n + 1 + n % 6]) for n in range(60)]
TEXTS = [None, "", "zzz", *LONGER]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with running_session(tmp_path_factory.mktemp("spark")) as session:
        yield session


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([*enumerate(TEXTS)], "id long, text string").repartition(3).cache()


@pytest.fixture(scope="module")
def model() -> dv.EmbeddingModel:
    return dv.fit(LONGER)


@pytest.fixture(scope="module")
def given() -> dv.EmbeddingModel:
    return dv.fit(TEXTS, dv.train_vectors(reviews(), dimensions=8), "idf-delta-pca")


def by_id(frame: DataFrame, column: str) -> Any:
    return [row[1] for row in sorted(frame.select("id", column).collect())]


def test_a_model_for_a_collection_is_that_of_one_machine(
    frame: DataFrame, model: dv.EmbeddingModel, given: dv.EmbeddingModel
) -> None:
    assert model.is_measured
    ours, local = dv.spark.for_collection(frame, "text", model), model.for_collection(TEXTS)
    assert np.array_equal(ours.table.rows, local.table.rows)
    assert np.array_equal(ours.embed(TEXTS), local.embed(TEXTS))
    assert ours.notes == local.notes
    other = dv.spark.for_collection(frame, "text", given)
    assert np.allclose(other.embed(TEXTS), given.for_collection(TEXTS).embed(TEXTS), atol=1e-6)
    plain = dv.fit(TEXTS, dv.train_vectors(reviews(), dimensions=8), "idf-sum")
    assert dv.spark.for_collection(frame, "text", plain) is plain
    with pytest.raises(dv.InputError, match="expected a fitted model"):
        dv.spark.for_collection(frame, "text", "model.dv")


def test_halves_below_a_limit_are_those_of_one_machine(
    frame: DataFrame, model: dv.EmbeddingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few documents wanted, the limit is raised until there are enough."""
    from deltavec.core.learning.split_half import HalfSample
    from deltavec.core.model import half_vectors_of
    from deltavec.core.text.batches import as_text_batch
    from deltavec.spark import reduce
    from deltavec.spark.ship import ship_model

    monkeypatch.setattr(reduce, "COLLECTION_DOCUMENTS", 3)
    shipped = ship_model(frame.sparkSession, model)
    found = reduce.half_sample(frame.select("text"), shipped, 10_000, model.dimensions)
    every = half_vectors_of(as_text_batch(TEXTS, model.tokenizer), model, 1)
    local = HalfSample.empty(model.dimensions).sampled(every)
    assert len(found.hashes) >= 3
    assert found.hashes.tolist() == local.hashes.tolist()[: len(found.hashes)]
    assert np.array_equal(found.first, local.first[: len(found.hashes)])


def test_coverage_warns_of_text_that_is_not_known(
    spark: SparkSession, frame: DataFrame, model: dv.EmbeddingModel
) -> None:
    counts = dv.spark.coverage(frame, "text", model)
    assert counts == model.embed_and_count(TEXTS).counts
    odd = spark.createDataFrame([(f"qq{n} ww{n} xx{n}",) for n in range(400)], "text string")
    with pytest.warns(dv.LowCoverageWarning, match="words are known"):
        dv.spark.coverage(odd, "text", model)


def test_a_model_is_a_function_of_sql(
    spark: SparkSession, frame: DataFrame, model: dv.EmbeddingModel
) -> None:
    dv.spark.register(spark, "dv_embed", model)
    frame.createOrReplaceTempView("reviews")
    found = spark.sql("select id, dv_embed(text) as v from reviews where id > 1")
    assert np.array_equal(np.array(by_id(found, "v"), np.float32), model.embed(TEXTS[2:]))


def test_topics_of_a_sample_are_assigned(frame: DataFrame, model: dv.EmbeddingModel) -> None:
    directions = model.embed(TEXTS[3:8]).astype(float)
    found = by_id(dv.spark.assign(frame, "text", model, directions), "topic")
    cosines = model.embed(TEXTS) @ directions.T
    expected = np.where(model.embed(TEXTS).any(axis=1), cosines.argmax(axis=1), -1)
    assert found == expected.tolist()
    assert found[:3] == [-1, -1, -1]


@pytest.mark.parametrize("parts", [1, 4])
def test_neighbors_are_those_of_one_machine(
    spark: SparkSession, frame: DataFrame, model: dv.EmbeddingModel, parts: int, tmp_path: Path
) -> None:
    queries = ["a quiet room", "zzz", "food and drinks", TEXTS[5]]
    found = dv.spark.neighbors(frame.repartition(parts), "id", "text", model, queries, k=4)
    rows = sorted((row.query, row["rank"], row.id, row.score) for row in found.collect())
    vectors = model.embed(TEXTS)
    there = np.flatnonzero(vectors.any(axis=1))
    index = dv.Index(vectors[there])
    expected = []
    for number, vector in enumerate(model.embed(queries)):
        if vector.any():
            hits = index.search(vector, 4)
            places, scores = there[hits.ids[0]].tolist(), hits.scores[0].tolist()
            expected += [
                (number, n + 1, i, s) for n, (i, s) in enumerate(zip(places, scores, strict=True))
            ]
    assert rows == expected
    assert {row[0] for row in rows} == {0, 2, 3}


def test_two_frames_are_matched(
    spark: SparkSession, frame: DataFrame, model: dv.EmbeddingModel, tmp_path: Path
) -> None:
    model.save(tmp_path / "m.dv")
    others = spark.createDataFrame(
        [(f"q{n}", text) for n, text in enumerate(TEXTS[3:9])], "id string, text string"
    )
    found = dv.spark.neighbors(frame, "id", "text", tmp_path / "m.dv", others, k=1).collect()
    best = {row.query: row.id for row in found}
    vectors = model.embed(TEXTS)
    for number, text in enumerate(TEXTS[3:9]):
        assert vectors[best[f"q{number}"]].tolist() == model.embed([text])[0].tolist()
    nothing = dv.spark.neighbors(frame, "id", "text", model, ["zzz"])
    assert nothing.collect() == []
    with pytest.raises(dv.InputError, match="k must be a whole number"):
        dv.spark.neighbors(frame, "id", "text", model, ["room"], k=0)


def test_a_pipeline_is_saved_and_loaded_with_its_model(
    spark: SparkSession, frame: DataFrame, tmp_path: Path
) -> None:
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import Normalizer

    stages = [
        dv.spark.Embedder(outputCol="v"),
        Normalizer(inputCol="v", outputCol="unit"),
    ]
    Pipeline(stages=stages).write().save(str(tmp_path / "unfitted"))
    fitted = Pipeline.load(str(tmp_path / "unfitted")).fit(frame)
    fitted.write().save(str(tmp_path / "fitted"))
    loaded = PipelineModel.load(str(tmp_path / "fitted"))
    local = fitted.stages[0].model
    assert np.allclose(local.embed(TEXTS), dv.fit(TEXTS).embed(TEXTS), atol=1e-6)
    found = by_id(loaded.transform(frame), "v")
    assert np.array_equal(np.array([v.toArray() for v in found], np.float32), local.embed(TEXTS))
    stage = loaded.stages[0].copy({loaded.stages[0].asVector: False})
    arrays = by_id(stage.transform(frame), "v")
    assert np.array_equal(np.array(arrays, np.float32), local.embed(TEXTS))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = dv.spark.Nothing


def test_a_stream_is_embedded(
    spark: SparkSession, frame: DataFrame, model: dv.EmbeddingModel, tmp_path: Path
) -> None:
    frame.write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema(frame.schema).parquet(str(tmp_path / "in"))
    query = (
        dv.spark.embed(stream, "text", model)
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "state"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    query.awaitTermination()
    found = by_id(spark.read.parquet(str(tmp_path / "out")), "embedding")
    assert np.array_equal(np.array(found, np.float32), model.embed(TEXTS))


CONNECT = """
import sys
import numpy as np
from pyspark.sql import SparkSession
import deltavec as dv

folder, *_ = sys.argv[1:]
builder = SparkSession.builder.remote("local[1]")
for pair in sys.argv[2:]:
    builder = builder.config(*pair.split("=", 1))
spark = builder.getOrCreate()
texts = [None, "", *(f"a {kind} room near the {place}" for kind in ("quiet", "loud", "small")
                     for place in ("sea", "street", "garden", "harbor"))] * 5
frame = spark.createDataFrame([*enumerate(texts)], "id long, text string").repartition(3)
model = dv.spark.fit(frame, "text")
local = dv.fit(texts)
assert np.array_equal(model.embed(texts), local.embed(texts))
rows = sorted(dv.spark.embed(frame, "text", model).select("id", "embedding").collect())
assert np.array_equal(np.array([row[1] for row in rows], np.float32), local.embed(texts))
dv.spark.register(spark, "dv_embed", model)
assert len(spark.sql("select dv_embed('a quiet room') as v").collect()[0].v) == model.dimensions
adapted = dv.spark.for_collection(frame, "text", model)
assert np.array_equal(adapted.embed(texts), local.for_collection(texts).embed(texts))
found = dv.spark.neighbors(frame, "id", "text", model, ["quiet sea"], k=1).collect()
assert texts[found[0].id] == "a quiet room near the sea"
pairs = dv.spark.duplicates(frame, "id", "text").table
assert pairs == dv.duplicates(texts).table
spark.stop()
print("same")
"""


def test_spark_connect_gives_the_bits_of_one_machine(tmp_path: Path) -> None:
    require_java()
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio")
    options = [f"{name}={value}" for name, value in settings(tmp_path).items()]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CONNECT, str(tmp_path), *options],
        env={**surroundings(), "SPARK_LOCAL_DIRS": str(tmp_path / "local")},
        cwd=tmp_path, capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert done.stdout.endswith("same\n"), done.stderr[-3000:]
