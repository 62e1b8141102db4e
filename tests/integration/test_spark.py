"""Spark in this process: the same results as on one machine, and errors in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.io.artifacts.model import FILES
from deltavec.spark import reduce as tables
from deltavec.spark.ship import shipped_name, staging
from support.spark_cluster import IGNORED, running_session
from support.typed import reviews

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.filterwarnings(IGNORED)

DOCUMENTS = [None, "", "Ça alors: 東京 zzz", *reviews(), "the SEA " * 500]
# Components come from a sum over all documents, whose rounding depends on its order.
COMPONENT_TOLERANCE = 1e-6


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with running_session(tmp_path_factory.mktemp("spark")) as session:
        yield session


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    rows = [
        (number, {"n": [number, None]}, datetime(2019, 1, 31, 23, 59, number % 60), text)
        for number, text in enumerate(DOCUMENTS)
    ]
    names = "id long, more map<string, array<long>>, at timestamp, text string"
    return spark.createDataFrame(rows, names).repartition(3).cache()


@pytest.fixture(scope="module")
def vectors() -> dv.WordVectors:
    return dv.train_vectors(reviews(), dimensions=8)


@pytest.fixture(scope="module")
def model(vectors: dv.WordVectors) -> dv.EmbeddingModel:
    return dv.fit(DOCUMENTS, vectors, "idf-delta-pca")


def embeddings(frame: DataFrame, column: str = "embedding") -> np.ndarray:
    """The vectors of a frame, by id."""
    rows = sorted(frame.select("id", column).collect())
    return np.array([row[1] for row in rows], np.float32)


def failing_at_first(frame: DataFrame) -> DataFrame:
    """The same frame, whose first task fails when it is tried for the first time."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        yield from batches
        task = TaskContext.get()
        if task.partitionId() == 0 and task.attemptNumber() == 0:
            raise RuntimeError("the first attempt is lost")

    return frame.mapInArrow(work, frame.schema)


def test_two_columns_have_the_cosine_of_their_vectors(
    spark: SparkSession, model: dv.EmbeddingModel
) -> None:
    others = [*DOCUMENTS[1:], None]
    rows = [(n, *pair) for n, pair in enumerate(zip(DOCUMENTS, others, strict=True))]
    frame = spark.createDataFrame(rows, "id long, a string, `b.b` string").repartition(2)
    found = dv.spark.similarity(frame, "a", "b.b", model)
    assert found.columns == ["id", "a", "b.b", "similarity"]
    expected = (model.embed(DOCUMENTS) * model.embed(others)).sum(axis=1)
    scores = embeddings(found, "similarity")
    np.testing.assert_allclose(scores, expected, atol=1e-6)  # float32 sums, in another order
    assert scores[0] == scores[-1] == 0
    with pytest.raises(dv.InputError, match="has a column 'a' already"):
        dv.spark.similarity(frame, "a", "b.b", model, output="a")
    with pytest.raises(dv.InputError, match="id"):
        dv.spark.similarity(frame, "a", "id", model)


def test_counts_and_table_are_those_of_one_machine(
    frame: DataFrame, vectors: dv.WordVectors
) -> None:
    here = dv.fit(DOCUMENTS, vectors, "idf-delta")
    there = dv.spark.fit(frame, "text", vectors, "idf-delta")
    assert there.info() == here.info()  # the fingerprint among it
    for name in ("token_counts", "document_counts"):
        expected, got = getattr(here.statistics, name), getattr(there.statistics, name)
        np.testing.assert_array_equal(got, expected)


def test_tasks_that_fail_and_are_tried_again_change_nothing(
    frame: DataFrame, model: dv.EmbeddingModel, vectors: dv.WordVectors
) -> None:
    shaky = failing_at_first(frame.repartition(2))
    there = dv.spark.fit(shaky, "text", vectors, "idf-delta-pca")
    np.testing.assert_array_equal(there.statistics.token_counts, model.statistics.token_counts)
    np.testing.assert_allclose(there.table.rows, model.table.rows, rtol=0, atol=COMPONENT_TOLERANCE)
    np.testing.assert_array_equal(
        embeddings(dv.spark.embed(shaky, "text", there)), there.embed(DOCUMENTS)
    )


def test_vectors_are_those_of_one_machine(frame: DataFrame) -> None:
    stages: list[str] = []
    here = dv.train_vectors(DOCUMENTS, dimensions=6, window=3, min_count=2)
    there = dv.spark.train_vectors(
        frame, "text", dimensions=6, window=3, min_count=2, max_memory=1, on_stage=stages.append
    )
    assert there.words == here.words
    np.testing.assert_array_equal(there.matrix, here.matrix)
    assert stages[0] == "learning the vocabulary"


def test_without_vectors_the_spectral_model_is_that_of_one_machine(
    frame: DataFrame,
) -> None:
    small = dv.Recipe(form="spectral", n_components_removed=0, dimensions=5)
    here = dv.fit(DOCUMENTS, recipe=small, units="words")
    there = dv.spark.fit(frame, "text", recipe=small, units="words")
    assert there.info() == here.info()


def test_halves_of_documents_say_the_same_as_on_one_machine(spark: SparkSession) -> None:
    rng = np.random.default_rng(0)
    topics = np.array([[f"{topic}{n}" for n in range(8)] for topic in "abc"])
    texts = [" ".join(rng.choice(topics[n % 3], 25)) for n in range(40)]
    small = dv.Recipe(form="spectral", n_components_removed=0, dimensions=5)
    here = dv.fit(texts, recipe=small)
    frame = spark.createDataFrame([(text,) for text in texts], "text string").repartition(3)
    there = dv.spark.fit(frame, "text", recipe=small)
    assert there.notes == here.notes
    assert there.notes["spectrum"].startswith("measured")
    # Covariances are sums in another order of the documents.
    cosines = (there.embed(texts) * here.embed(texts)).sum(axis=1)
    assert cosines.min() > 1 - 1e-6

    prior = dv.WordVectors(topics.ravel().tolist(), np.repeat(np.eye(3), 8, axis=0))
    known = dv.spark.fit(frame, "text", recipe=small, prior=prior)
    assert known.notes == dv.fit(texts, recipe=small, prior=prior).notes
    assert "24 of 24 words have one" in known.notes["prior"]


@pytest.mark.parametrize(
    ("letters", "units"),
    [("abdeiklmnorstuv", "grams"), ("\u4e00\u4e8c\u4e09\u56db\u4e94\u516d", "words")],
)
def test_units_are_chosen_as_on_one_machine(spark: SparkSession, letters: str, units: str) -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join("".join(rng.choice(list(letters), 7)) for _ in range(10)) for _ in range(150)]
    small = dv.Recipe(form="spectral", n_components_removed=0, dimensions=5)
    frame = spark.createDataFrame([(text,) for text in texts], "text string")
    here = dv.fit(texts, recipe=small)
    there = dv.spark.fit(frame, "text", recipe=small)
    assert there.notes == here.notes
    assert there.notes["units"].startswith(units)
    assert there.vocabulary.words == here.vocabulary.words
    asked = dv.spark.fit(frame, "text", recipe=small, units="words")
    assert asked.notes["units"] == "words: as asked for"


@pytest.mark.parametrize("partitions", [1, 7])
def test_any_partitions_give_the_bits_of_one_machine(
    frame: DataFrame, model: dv.EmbeddingModel, partitions: int
) -> None:
    parted = frame.repartition(partitions)
    np.testing.assert_array_equal(
        embeddings(dv.spark.embed(parted, "text", model)), model.embed(DOCUMENTS)
    )


def test_other_columns_and_the_order_of_rows_are_kept(
    frame: DataFrame, model: dv.EmbeddingModel
) -> None:
    embedded = dv.spark.embed(frame, "text", model, output="vector")
    assert embedded.columns == ["id", "more", "at", "text", "vector"]
    assert dict(embedded.dtypes)["vector"] == "array<float>"
    # Rows of a partition come in their order, partition after partition.
    assert embedded.drop("vector").collect() == frame.collect()


def test_batches_of_any_size_give_the_same_vectors(
    spark: SparkSession, frame: DataFrame, model: dv.EmbeddingModel
) -> None:
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(setting, "2")
    try:
        few = embeddings(dv.spark.embed(frame, "text", model))
    finally:
        spark.conf.unset(setting)
    np.testing.assert_array_equal(few, model.embed(DOCUMENTS))


def test_a_folder_is_as_good_as_a_model_and_goes_back_to_one_machine(
    frame: DataFrame, model: dv.EmbeddingModel, vectors: dv.WordVectors, tmp_path: Path
) -> None:
    there = dv.spark.fit(frame, "text", vectors, "sif-sum")
    there.save(tmp_path / "reviews.dv")
    embedded = dv.spark.embed(frame, "text", tmp_path / "reviews.dv")
    back = dv.load(tmp_path / "reviews.dv")
    np.testing.assert_array_equal(embeddings(embedded), back.embed(DOCUMENTS))


def test_duplicates_are_those_of_one_machine(spark: SparkSession) -> None:
    texts = [
        " ".join(f"{word}{n}" for word in text.split() * 2) for n, text in enumerate(reviews())
    ]
    changed = [texts[3].upper(), f"{texts[5]} again", " ".join(texts[7].split()[:-2]), texts[3]]
    quoting = f"> {texts[9]}\nNo, it was not so at all, and nobody has ever said that"
    documents = [*texts, *changed, quoting, None, "", "short one", "Short one!"]
    rows = [*enumerate(documents)]
    local = dv.duplicates(documents)
    for parts in (1, 5):
        frame = spark.createDataFrame(rows, "`my.id` int, `a text` string").repartition(parts)
        found = dv.spark.duplicates(frame, "my.id", "a text")
        assert found.pairs.a.tolist() == local.pairs.a.tolist()
        assert found.pairs.b.tolist() == local.pairs.b.tolist()
        assert found.pairs.shared.tobytes() == local.pairs.shared.tobytes()
        assert found.table == local.table
    assert {row["id"] for row in found.table.to_pylist() if not row["keep"]} == {72, 73, 74, 75, 80}
    named = spark.createDataFrame([("b", "one"), ("a", "One")], "id string, text string")
    assert dv.spark.duplicates(named, "id", "text").table["id"].to_pylist() == ["a", "b"]
    nothing = dv.spark.duplicates(named.limit(0), "id", "text", 0.9)
    assert (len(nothing), nothing.groups) == (0, ())


@pytest.mark.parametrize(
    ("id", "threshold", "message"),
    [
        ("id", 1.5, "threshold must be a share above 0"),
        ("nope", 0.5, "expected ids, strings or whole numbers, in 'nope', got none"),
        ("half", 0.5, "in 'half', got double"),
        ("empty", 0.5, "expected an id in every row, 'empty' holds null"),
    ],
)
def test_duplicates_without_ids_are_refused(
    spark: SparkSession, id: str, threshold: float, message: str
) -> None:
    schema = "id int, half double, empty string, text string"
    frame = spark.createDataFrame([(1, 0.5, None, "one")], schema)
    with pytest.raises(dv.InputError, match=message):
        dv.spark.duplicates(frame, id, "text", threshold)


def test_an_empty_frame_stays_empty(frame: DataFrame, model: dv.EmbeddingModel) -> None:
    assert dv.spark.embed(frame.where("id < 0"), "text", model).collect() == []


def test_a_process_opens_a_model_once(
    spark: SparkSession, frame: DataFrame, model: dv.EmbeddingModel
) -> None:
    dv.spark.embed(frame.repartition(16), "text", model).count()

    def opened(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from deltavec.spark.ship import arrived_model

        for _ in batches:
            pass
        before = arrived_model.cache_info().misses
        for _ in range(3):
            arrived_model(model_key, False)
        again = arrived_model.cache_info().misses - before
        yield pa.RecordBatch.from_pydict({"process": [os.getpid()], "again": [again]})

    model_key = model.fingerprint
    answers = spark.range(0, 8, 1, 8).mapInArrow(opened, "process long, again long").collect()
    # The processes that embedded are there still, and have the model open.
    assert sum(answer.again for answer in answers) <= len({a.process for a in answers}) - 1
    sent = [name for name in spark.sparkContext.listFiles if model_key in name]
    assert len(sent) == 2


def test_what_arrives_damaged_is_one_clear_error(
    spark: SparkSession, frame: DataFrame, vectors: dv.WordVectors, tmp_path: Path
) -> None:
    other = dv.fit(reviews()[:50], vectors, "sif-center")
    other.save(tmp_path / "other.dv")
    for name in FILES:
        Path(staging().name, shipped_name(other.fingerprint, name)).write_text("{}")
    with pytest.raises(dv.DeltavecError, match="an executor cannot open what the driver sent"):
        dv.spark.embed(frame, "text", tmp_path / "other.dv")


def test_our_error_in_a_task_is_our_error_on_the_driver(frame: DataFrame) -> None:
    def table_of(texts: pa.Array, arrived: None) -> np.ndarray:
        raise dv.CorpusError("these documents cannot be used:\nthey are late")

    with pytest.raises(dv.CorpusError, match=r"^these documents cannot be used:\nthey are late$"):
        tables.summed(frame.select("text"), lambda: None, table_of, np.zeros(1))


def test_somebody_else_s_error_in_a_task_stays_theirs(
    frame: DataFrame, vectors: dv.WordVectors
) -> None:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PythonException

    def broken(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raise KeyError("not ours")
        yield from batches

    with pytest.raises((PythonException, Py4JJavaError), match="not ours"):
        dv.spark.fit(frame.coalesce(1).mapInArrow(broken, frame.schema), "text", vectors)


def test_a_corpus_to_learn_nothing_from_is_refused(
    frame: DataFrame, vectors: dv.WordVectors
) -> None:
    nulls = frame.selectExpr("cast(null as string) as text")
    with pytest.raises(dv.CorpusError, match="the corpus holds no documents"):
        dv.spark.fit(frame.where("id < 0"), "text", vectors)
    with pytest.raises(dv.CorpusError, match="the corpus holds no words"):
        dv.spark.fit(nulls, "text")


def test_wrong_input_is_refused_before_any_work(
    spark: SparkSession, frame: DataFrame, model: dv.EmbeddingModel, vectors: dv.WordVectors
) -> None:
    fit, embed, train = dv.spark.fit, dv.spark.embed, dv.spark.train_vectors
    twice = frame.selectExpr("text", "text")
    strange = frame.selectExpr("text", "make_interval(1, 2) as span")
    stream = spark.readStream.format("rate").load().selectExpr("string(value) as text")
    for refused, message in (
        (lambda: embed(DOCUMENTS, "text", model), "expected a Spark DataFrame, got list"),
        (lambda: fit(frame, "body", vectors), "expected a column 'body', found id, more, at, text"),
        (lambda: embed(frame, "id", model), "'id' to hold strings, got bigint: .* cast it"),
        (lambda: train(frame, 3), "expected a column 3"),
        (lambda: train(stream, "text"), "got a stream: write it first"),
        (lambda: train(frame, "text", window=0), "window must be a whole number from 1 on"),
        (lambda: embed(twice, "text", model), "expected one column 'text', found 2"),
        (lambda: embed(strange, "text", model), "'span' is of type interval.*: drop it"),
        (lambda: embed(frame, "text", model, output="ID"), "has a column 'ID' already"),
        (lambda: embed(frame, "text", model, output=""), "expected a name for the new column"),
        (lambda: embed(frame, "text", None), "expected a model or the folder of one, got NoneType"),
        (lambda: embed(frame, "text", "nowhere.dv"), "nowhere.dv: expected the folder"),
        (lambda: fit(frame, "text", vectors, "idf-mean"), "recipe must be"),
        (lambda: fit(frame, "text", vectors, "spectral"), "leave the vectors out"),
        (lambda: fit(frame, "text", vectors, prior=vectors), "prior vectors are for spectral"),
        (lambda: fit(frame, "text", vectors, tokenizer=str.split), "got a callable"),
        (lambda: fit(frame, "text", max_memory=0), "max_memory must be"),
    ):
        with pytest.raises(dv.InputError, match=message):
            refused()


def test_a_name_with_a_dot_or_a_quote_is_a_name(
    frame: DataFrame, model: dv.EmbeddingModel, vectors: dv.WordVectors
) -> None:
    odd = frame.withColumnRenamed("text", "the `text`.en")
    there = dv.spark.fit(odd, "the `text`.en", vectors, "idf-delta")
    assert there.statistics.tokens == model.statistics.tokens
    assert dv.spark.embed(odd, "the `text`.en", model).count() == len(DOCUMENTS)


def test_more_partitions_than_are_added_at_once_give_the_same_counts(
    frame: DataFrame,
) -> None:
    def table_of(texts: pa.Array, arrived: None) -> np.ndarray:
        return np.array([len(texts)])

    # 2 ** 3 partitions are one table after the rounds: of 20, the driver adds what is left.
    parted = frame.select("text").repartition(20)
    found = tables.summed(parted, lambda: None, table_of, np.zeros(1, np.int64), fan_in=2)
    assert found == [len(DOCUMENTS)]


def test_importing_deltavec_does_not_import_pyspark() -> None:
    program = "import sys, deltavec as dv; dv.spark.fit; sys.exit('pyspark' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_pyspark_the_error_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['pyspark'] = None\n"
        "import deltavec as dv\n"
        "try: dv.spark.fit(None, 'text')\n"
        "except dv.MissingDependencyError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "Spark needs pyspark: pip install 'deltavec[spark]'\n"


def test_a_tokenizer_of_others_is_named_and_imported_by_executors(
    frame: DataFrame, tmp_path: Path
) -> None:
    name = "deltavec.core.text.tokenize:words"  # any that executors have
    here = dv.fit(DOCUMENTS, recipe="idf-delta-pca", tokenizer=name)
    there = dv.spark.fit(frame, "text", recipe="idf-delta-pca", tokenizer=name)
    np.testing.assert_array_equal(there.statistics.token_counts, here.statistics.token_counts)
    expected = here.embed(DOCUMENTS)
    np.testing.assert_array_equal(embeddings(dv.spark.embed(frame, "text", here)), expected)
    here.save(tmp_path / "m.dv")
    by_folder = dv.spark.embed(frame, "text", tmp_path / "m.dv", trust=True)
    np.testing.assert_array_equal(embeddings(by_folder), expected)
    for untrusted in (tmp_path / "m.dv", dv.load(tmp_path / "m.dv")):
        with pytest.raises(dv.ModelError, match=r"model is deltavec.core.text.tokenize:words"):
            dv.spark.embed(frame, "text", untrusted)


def test_folders_that_spark_writes_are_read_with_their_partitions(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = [("sea", 2023), ("room", 2024), ("bed", 2024)]
    frame = spark.createDataFrame(rows, ["text", "year"])
    frame.write.partitionBy("year").parquet(str(tmp_path / "table"))
    # What a job that was killed leaves beside finished files.
    unfinished = tmp_path / "table" / "_temporary" / "0"
    unfinished.mkdir(parents=True)
    first = next((tmp_path / "table").rglob("part-*.parquet"))
    (unfinished / first.name).write_bytes(first.read_bytes())
    table = pa.Table.from_batches(dv.read_corpus(tmp_path / "table").batches(["year"]))
    assert sorted(zip(*table.to_pydict().values(), strict=True)) == [
        ("bed", "2024"), ("room", "2024"), ("sea", "2023"),
    ]  # fmt: skip
    frame.write.csv(str(tmp_path / "csv"), header=True)
    assert sum(map(len, dv.read_corpus(tmp_path / "csv"))) == 3
