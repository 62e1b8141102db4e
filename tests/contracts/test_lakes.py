"""Corpora, models and outputs in lakes: datasets, Delta, Iceberg, and S3 by a local server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import deltavec as dv
from deltavec.io.remote import address_of

TEXTS = [
    f"a {kind} room near the {place}" for kind in ("quiet", "loud") for place in ("sea", "street")
]
TABLE = pa.table({"text": TEXTS * 10, "id": range(40), "kind": ["hotel"] * 20 + ["bar"] * 20})


FILL = """
import json, sys
import pyarrow as pa, pyarrow.fs as fs, pyarrow.parquet as pq
system, _ = fs.FileSystem.from_uri("s3://reviews?allow_bucket_creation=true")
system.create_dir("reviews")
pq.write_table(pa.table(json.load(sys.stdin)), "reviews/in/reviews.parquet", filesystem=system)
with system.open_output_stream("reviews/lines.txt") as file:
    file.write(b"a quiet room\\nthe sea")
"""


def documents(source: object, **how: str) -> list[str]:
    return [text for chunk in dv.read_corpus(source, **how) for text in chunk.to_pylist()]


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("s3://b/x", "s3://b/x"),
        (Path("s3://b/x"), "s3://b/x"),
        ("file:///tmp/x", "file:///tmp/x"),
        (Path("file:///tmp/x"), "file:///tmp/x"),
        ("C:/x", None),
        ("plain/x", None),
        (["s3://b/x"], None),
    ],
)
def test_an_address_is_told_from_a_path(given: object, address: str | None) -> None:
    assert address_of(given) == address


def test_a_dataset_is_read_again_and_again_with_its_partitions(tmp_path: Path) -> None:
    pq.write_to_dataset(TABLE, tmp_path / "hive", partition_cols=["kind"])
    dataset = ds.dataset(tmp_path / "hive", partitioning="hive")
    corpus = dv.read_corpus(dataset)
    assert not corpus.one_shot
    assert sorted(documents(dataset)) == sorted(TABLE["text"].to_pylist())
    assert documents(corpus) == documents(corpus)
    kept = list(corpus.batches(["kind", "id"]))
    assert sorted(x for batch in kept for x in batch["kind"].to_pylist())[0] == "bar"
    with pytest.raises(dv.CorpusError, match="no column 'body'"):
        dv.read_corpus(dataset, column="body")
    model = dv.fit(dataset)
    assert np.array_equal(model.embed(dv.read_corpus(dataset)), model.embed(documents(dataset)))
    built = dv.build_collection(model, dataset, tmp_path / "c.idx", id_column="id", keep=["kind"])
    assert len(built.search("quiet sea", filter="kind == 'hotel'")) == 10


def test_files_of_this_machine_have_addresses_too(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    (tmp_path / "t.txt").write_text("\n".join(TEXTS))
    assert documents((tmp_path / "t.parquet").as_uri()) == TABLE["text"].to_pylist()
    assert documents((tmp_path / "t.txt").as_uri()) == TEXTS
    model = dv.fit(TEXTS)
    model.save((tmp_path / "m.dv").as_uri())
    assert dv.load((tmp_path / "m.dv").as_uri()).fingerprint == model.fingerprint
    built = dv.build_collection(model, TEXTS, tmp_path / "c.idx")
    opened = dv.open_collection((tmp_path / "c.idx").as_uri())
    assert opened.search("quiet sea") == built.search("quiet sea")
    with pytest.raises(dv.InputError, match="a collection at an address is only read"):
        dv.build_collection(model, TEXTS, "s3://bucket/c.idx")
    with pytest.raises(dv.InputError, match="pyarrow cannot open it"):
        dv.read_corpus("nosuch://bucket/x.parquet")


def test_a_delta_table_has_the_rows_it_has_now(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    folder = tmp_path / "table"
    for texts in (["sea", "room"], ["bed"]):
        deltalake.write_deltalake(str(folder), pa.table({"text": texts}), mode="overwrite")
    assert len([*folder.glob("*.parquet")]) == 2  # the rows that were replaced are still there
    assert documents(folder) == ["bed"]
    assert documents(folder.as_uri()) == ["bed"]
    assert documents(deltalake.DeltaTable(str(folder))) == ["bed"]


def test_an_iceberg_table_has_the_rows_it_has_now(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy", reason="run by make test-peers")
    sql = pytest.importorskip("pyiceberg.catalog.sql", reason="run by make test-peers")
    catalog = sql.SqlCatalog(
        "local", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=tmp_path.as_uri()
    )
    catalog.create_namespace("news")
    table = catalog.create_table("news.texts", pa.schema([("text", pa.string())]))
    table.append(pa.table({"text": ["sea", "room"]}))
    table.overwrite(pa.table({"text": ["bed"]}))
    assert documents(table) == ["bed"]
    folder = Path(table.location().removeprefix("file://"))
    assert documents(folder) == ["bed"]
    catalog.close()


@pytest.fixture(scope="module")
def bucket() -> Iterator[dict[str, str]]:
    """The environment in which s3://reviews is a bucket on this machine."""
    moto = pytest.importorskip("moto.server", reason="run by make test-peers")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    environment = {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }
    made = subprocess.run(
        [sys.executable, "-c", FILL], input=json.dumps(TABLE.to_pydict()), text=True,
        capture_output=True, env={**os.environ, **environment}, timeout=120,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    yield environment
    server.stop()


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "deltavec", *words],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_the_command_line_reads_and_writes_s3(bucket: dict[str, str], tmp_path: Path) -> None:
    fitted = run(bucket, "fit", "s3://reviews/in/", "-o", "s3://reviews/m.dv")
    assert fitted.returncode == 0, fitted.stderr
    assert "s3://reviews/m.dv" in fitted.stdout
    assert "s3:/reviews" not in fitted.stdout
    embedded = run(
        bucket, "embed", "s3://reviews/m.dv", "s3://reviews/in/reviews.parquet",
        "--keep", "id", "-o", "s3://reviews/out/vectors.parquet",
    )  # fmt: skip
    assert embedded.returncode == 0, embedded.stderr
    lines = run(
        bucket,
        "embed",
        "s3://reviews/m.dv",
        "s3://reviews/lines.txt",
        "-o",
        str(tmp_path / "l.npy"),
    )
    assert lines.returncode == 0, lines.stderr
    missing = run(bucket, "embed", "s3://reviews/m.dv", "s3://reviews/no.txt", "-o", "x.npy")
    assert missing.returncode == 1
    assert "there is no such file or folder" in missing.stderr
    read = (
        "import pyarrow.parquet as pq, pyarrow.fs as f, deltavec as dv, numpy as np\n"
        "s, _ = f.FileSystem.from_uri('s3://reviews')\n"
        "t = pq.read_table('reviews/out/vectors.parquet', filesystem=s)\n"
        "m = dv.load('s3://reviews/m.dv')\n"
        "texts = pq.read_table('reviews/in/reviews.parquet', filesystem=s)['text'].to_pylist()\n"
        "assert t.column_names == ['id', 'embedding']\n"
        "assert np.array_equal(np.array(t['embedding'].to_pylist(), np.float32), m.embed(texts))\n"
        "print('same')"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", read], env={**os.environ, **bucket},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.stdout == "same\n", done.stderr
    assert np.load(tmp_path / "l.npy").shape[0] == 2


def test_a_collection_on_s3_is_searched_and_not_changed(
    bucket: dict[str, str], tmp_path: Path
) -> None:
    built = dv.build_collection(dv.fit(TEXTS * 5), TEXTS, tmp_path / "c.idx").add(TEXTS[:1])
    upload = (
        "import pyarrow.fs as f, sys\n"
        "s, _ = f.FileSystem.from_uri('s3://reviews')\n"
        "s.create_dir('reviews/c.idx')\n"
        "f.copy_files(sys.argv[1], 'reviews/c.idx', destination_filesystem=s)"
    )
    done = subprocess.run(
        [sys.executable, "-c", upload, str(built.path)], env={**os.environ, **bucket},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = run(bucket, "search", "s3://reviews/c.idx", "quiet sea", "--json")
    assert found.returncode == 0, found.stderr
    shown = [(one["id"], one["score"]) for one in json.loads(found.stdout)["found"]]
    assert shown == [(hit.id, hit.score) for hit in built.search("quiet sea")]
    refused = run(bucket, "index", "remove", "s3://reviews/c.idx", "0")
    assert refused.returncode == 1
    assert "a collection at an address is only read" in " ".join(refused.stderr.split())
