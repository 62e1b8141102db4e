r"""Write the documents of a collection to a store, and search them there with an encoded query.

Documents are exported as vectors, so that inner products give the score:

.. math:: s(q, d) = \sum_i w_i x_{di} + y \cdot u_d, \qquad x_{di} = \frac{n'}{n' + K_d}

:math:`x_d` is a sparse vector of BM25 impacts and :math:`u_d` the embedding. A query is a sparse
vector :math:`w` and a dense one :math:`y`: see `deltavec.collection.export.encoder`.

Where a store cannot add two products itself, the best candidates by words come back and are scored
here. Results say whether they are exact: a document that is no candidate has at most the lexical
score of the last candidate, and at most the length of the query's dense vector.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from deltavec.core.arguments import require_one_of, require_whole
from deltavec.core.arrays import Float64s, Int32s, Int64s, as_fixed_size_lists
from deltavec.core.kernels.count import COUNTS
from deltavec.errors import InputError, needing
from deltavec.io.output.tables import json_value
from deltavec.search.lexical.bm25 import saturate
from deltavec.search.lexical.index import InvertedIndex, SegmentPart

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection
    from deltavec.collection.export.encoder import EncodedQuery, QueryEncoder

CANDIDATES = 200
ROUNDING = 1e-5  # of sums of float32 products
POSTING = ("term", "row", "impact")
VECTORS = ("terms", "impacts", "dense")
WAYS = ("candidates", "postings", "scan")
SQL_TYPES = {"int64": "bigint", "double": "double precision", "bool": "boolean"}
Batches = Iterator[pa.RecordBatch]


class StoreHit(NamedTuple):
    """A document that a store found: its id and its score."""

    id: str
    score: float


class StoreHits(list[StoreHit]):
    """Hits of a store, best first, and whether they are the best of all documents."""

    exact = True

    @classmethod
    def of(cls, ids: Any, scores: Any, exact: bool = True) -> StoreHits:
        """Hits with these ids and scores."""
        found = cls(StoreHit(id, float(score)) for id, score in zip(ids, scores, strict=True))
        found.exact = exact
        return found


@contextmanager
def opened(format: str, target: Any) -> Iterator[Any]:
    """A client of a store: the one given, or a new one for an address or a folder."""
    if format not in SEARCHES or not isinstance(target, str | PathLike):
        yield target
        return
    with needing(format, f"{format} needs its client"):
        if format == "lancedb":
            import lancedb

            yield lancedb.connect(str(target))
            return
        if format == "qdrant":
            import qdrant_client

            address = {"url" if "://" in str(target) else "path": str(target)}
            store: Any = qdrant_client.QdrantClient(**address)
        else:
            import psycopg

            store = psycopg.connect(str(target), autocommit=True)
    try:
        yield store
    finally:
        store.close()


def rank(
    query: EncodedQuery, ids: Any, lexical: Float64s, dense: Any, rows: Any, k: int, complete: bool
) -> StoreHits:
    """The best k of some candidates, and whether no other document can be among them."""
    scores = lexical + np.asarray(dense, np.float32).reshape(len(rows), -1) @ query.vector
    order = np.lexsort((rows, -scores))[:k]
    bound = float(np.min(lexical, initial=np.inf)) + most_semantic(query)
    exact = complete or (len(order) == k and bool(scores[order[-1]] > bound))
    return StoreHits.of([ids[place] for place in order.tolist()], scores[order], exact)


def most_semantic(query: EncodedQuery) -> float:
    """The most that the dense product of a document can be."""
    return float(np.linalg.norm(query.vector.astype(np.float64))) * (1 + ROUNDING) + ROUNDING


# PostgreSQL with pgvector: two tables, the second of postings.


def write_pgvector(encoder: QueryEncoder, batches: Batches, store: Any, dtype: str) -> None:
    """Write the tables in one transaction; only tables of ours are replaced."""
    first = next(batches)
    own = [name for name in first.column_names if name not in VECTORS]
    kinds = [f"{quoted(n)} {SQL_TYPES.get(str(first[n].type), 'text')}, " for n in own[3:]]
    names = {"table": quoted(encoder.name), "postings": quoted(f"{encoder.name}_postings")}
    dense = f"{'halfvec' if dtype == 'float16' else 'vector'}({encoder.model.dimensions})"
    with store.transaction(), store.cursor() as cursor:
        cursor.execute("select obj_description(to_regclass(%s))", [names["table"]])
        if cursor.fetchone()[0] == "deltavec":
            cursor.execute(f"drop table {', '.join(names.values())}")
        sizes = {"terms": encoder.terms, "dense": dense, "columns": "".join(kinds)}
        cursor.execute(statement("create", **names, **sizes))
        for batch in (first, *batches):
            values = [[sql_value(value) for value in batch[name].to_pylist()] for name in own]
            lists = zip(batch["terms"].to_pylist(), batch["impacts"].to_pylist(), strict=True)
            values.append([sparse_text(*pair, encoder.terms) for pair in lists])
            values.append([dense_text(vector) for vector in dense_of(batch)])
            postings = [column.to_pylist() for column in postings_of(batch).columns]
            for name, columns in zip(names.values(), (values, postings), strict=True):
                with cursor.copy(f"copy {name} from stdin") as copy:
                    for row in zip(*columns, strict=True):
                        copy.write_row(row)
        cursor.execute(statement("index", **names))


def sql_value(value: Any) -> Any:
    """A value as PostgreSQL takes it: it has no character 0, and nested values are JSON."""
    value = json_value(value)
    if isinstance(value, dict | list):
        return json.dumps(value)
    return value.replace("\0", " ") if isinstance(value, str) else value


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def statement(part: str, **values: object) -> str:
    """A statement of ``pgvector.sql``, with these values."""
    sections = dict(one.split("\n", 1) for one in resource("pgvector.sql").split("-- ")[1:])
    return Template(sections[part].strip()).substitute(values)


def sparse_text(terms: Any, values: Any, size: int) -> str:
    """A sparse vector as pgvector reads it; it counts from 1."""
    pairs = zip(terms, values, strict=True)
    return "{" + ",".join(f"{term + 1}:{value:.9g}" for term, value in pairs) + f"}}/{size}"


def dense_text(vector: Any) -> str:
    """A dense vector as pgvector reads it."""
    return "[" + ",".join(f"{number:.9g}" for number in vector.tolist()) + "]"


def pgvector_sql(
    query: EncodedQuery, k: int, way: str, candidates: int, where: str | None = None
) -> str:
    """A complete statement that finds the best documents: id, score, and whether they are exact."""
    require_one_of("way", way, WAYS)
    require_whole("k", k)
    names = [quoted(query.encoder.name), quoted(f"{query.encoder.name}_postings")]
    conditions = [f"({where})"] if where else []
    for verb, words in (("in", query.required), ("not in", query.negated)):
        conditions += [
            f"d.row {verb} (select row from {names[1]} where term in ({numbers(terms)}) "
            f"group by row having count(*) = {len(set(terms))})"
            for terms in words
        ]
    terms, weights = query.terms.tolist(), query.weights.tolist()
    sparse = sparse_text(terms, weights, query.encoder.terms)
    if query.by == "keyword" and way == "scan":
        conditions.append(f"d.words <#> '{sparse}' < 0")
    pairs = [f"({term}, {weight!r}::float8)" for term, weight in zip(terms, weights, strict=True)]
    return statement(
        way,
        table=names[0],
        postings=names[1],
        sparse=sparse,
        vector=dense_text(query.vector),
        weights=", ".join(pairs) or "(-1, 0::float8)",
        join="join" if query.by == "keyword" else "left join",
        where=" and ".join(conditions) or "true",
        most=repr(most_semantic(query)),
        k=k,
        candidates=candidates,
    )


def search_pgvector(query: EncodedQuery, store: Any, k: int, candidates: int | None) -> StoreHits:
    """The best documents in PostgreSQL; if candidates are not enough, all documents are scored."""
    for way in ("candidates", "postings") if candidates and len(query.terms) else ("postings",):
        rows = store.execute(pgvector_sql(query, k, way, candidates or CANDIDATES)).fetchall()
        if rows and rows[0][2]:
            break
    return StoreHits.of([row[0] for row in rows], [row[1] for row in rows])


# Qdrant: a collection with the vectors ``words`` and ``dense``.


def write_qdrant(encoder: QueryEncoder, batches: Batches, store: Any, dtype: str) -> None:
    """Write the collection; one of this name is replaced."""
    models = import_module("qdrant_client.models")
    if store.collection_exists(encoder.name):
        store.delete_collection(encoder.name)
    size, dot = encoder.model.dimensions, models.Distance.DOT
    dense = models.VectorParams(size=size, distance=dot, datatype=models.Datatype(dtype))
    sparse = {"words": models.SparseVectorParams()}
    store.create_collection(
        encoder.name, vectors_config={"dense": dense}, sparse_vectors_config=sparse
    )
    for batch in batches:
        points = []
        vectors = zip(*(batch[name].to_pylist() for name in VECTORS), strict=True)
        payloads = batch.drop_columns(VECTORS).to_pylist()
        for payload, (terms, impacts, vector) in zip(payloads, vectors, strict=True):
            named: dict[str, Any] = {"dense": vector}
            if terms:
                named["words"] = models.SparseVector(indices=terms, values=impacts)
            payload = {name: json_value(value) for name, value in payload.items()}
            points.append(models.PointStruct(id=payload["row"], vector=named, payload=payload))
        store.upload_points(encoder.name, points, wait=True)


def qdrant_request(query: EncodedQuery, k: int, limit: int) -> dict[str, Any]:
    """The body of ``POST /collections/{name}/points/query``: exact if the limit is no limit."""
    sparse = {"indices": query.terms.tolist(), "values": query.weights.tolist()}
    searches: list[dict[str, Any]] = []
    if len(query.terms):
        searches.append({"query": sparse, "using": "words", "limit": limit})
    if query.by != "keyword":
        dense = {"query": query.vector.tolist(), "using": "dense", "limit": limit}
        searches.append(dense | {"params": {"exact": True}})
    scores = [f"$score[{place}]" for place in range(len(searches))]
    formula = {"formula": {"sum": scores}, "defaults": dict.fromkeys(scores, 0)}
    return {"prefetch": searches, "query": formula, "limit": k, "with_payload": ["id"]}


def search_qdrant(query: EncodedQuery, store: Any, k: int, candidates: int | None) -> StoreHits:
    """The best documents in Qdrant; candidates come back with their vectors."""
    models, name = import_module("qdrant_client.models"), query.encoder.name

    def ask(request: dict[str, Any], **options: Any) -> list[Any]:
        asked = models.QueryRequest.model_validate(request)
        fields = {field: getattr(asked, field) for field in request}
        return list(store.query_points(name, **fields, **options).points)

    if candidates and len(query.terms):
        [by_words] = qdrant_request(query, k, candidates)["prefetch"][:1]
        points = ask(by_words, with_vectors=["dense"], with_payload=["id"])
        ids, rows = [one.payload["id"] for one in points], [one.id for one in points]
        lexical = np.array([one.score for one in points], np.float64)
        dense = [one.vector["dense"] for one in points]
        found = rank(query, ids, lexical, dense, rows, k, query.by == "keyword")
        if found.exact:
            return found
    points = ask(qdrant_request(query, k, query.encoder.documents))
    return StoreHits.of([one.payload["id"] for one in points], [one.score for one in points])


# LanceDB: two tables, the second of postings; sums and products are taken here.


def write_lancedb(encoder: QueryEncoder, batches: Batches, store: Any, dtype: str) -> None:
    """Write both tables; those of these names are replaced."""
    lists, table = [], None
    for batch in batches:
        lists.append(postings_of(batch))
        part = pa.Table.from_batches([with_dense(batch, dtype).drop_columns(VECTORS[:2])])
        if table is None:
            table = store.create_table(encoder.name, part, mode="overwrite")
        else:
            table.add(part)
    postings = pa.Table.from_batches(lists).sort_by("term")
    table = store.create_table(f"{encoder.name}_postings", postings, mode="overwrite")
    if len(postings):
        table.create_index("term", config=import_module("lancedb.index").BTree())


def search_lancedb(query: EncodedQuery, store: Any, k: int, candidates: int | None) -> StoreHits:
    """The best documents in LanceDB."""
    name, size, is_keyword = query.encoder.name, query.encoder.documents, query.by == "keyword"
    documents, postings = store.open_table(name), store.open_table(f"{name}_postings")
    held = f"term in ({numbers(query.terms.tolist())})"
    lists = postings.search().where(held).limit(size * (len(query.terms) + 1))
    term, row, impact = (one.to_numpy() for one in lists.select([*POSTING]).to_arrow().columns)
    lexical = np.zeros(size)
    np.add.at(lexical, row, query.weights[np.searchsorted(query.terms, term)] * impact)

    def best(rows: Any, complete: bool) -> StoreHits:
        found = documents.search().limit(size).select(["row", "id", "dense"])
        if rows is not None:
            found = found.where(f"row in ({numbers(rows.tolist())})")
        table = found.to_arrow().combine_chunks()
        places, ids = table["row"].to_numpy(), table["id"].to_pylist()
        vectors = dense_of(table) if ids else np.zeros((0, len(query.vector)))
        return rank(query, ids, lexical[places], vectors, places, k, complete)

    if is_keyword or (candidates and len(query.terms)):
        order = np.argsort(-lexical, kind="stable")[: None if is_keyword else candidates]
        found = best(order[lexical[order] > 0], is_keyword)
        if found.exact:
            return found
    return best(None, True)


# Files in a folder.


def write_parquet(encoder: QueryEncoder, batches: Batches, folder: Path, dtype: str) -> None:
    """Write ``documents.parquet``; int8 numbers are 127 times as large."""
    first = with_dense(next(batches), dtype)
    with pq.ParquetWriter(folder / "documents.parquet", first.schema) as writer:
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(with_dense(batch, dtype))


def write_opensearch(encoder: QueryEncoder, batches: Batches, folder: Path, dtype: str) -> None:
    """Write ``index.json`` and ``documents.ndjson``, the body of ``POST /_bulk``."""
    index = json.loads(resource("opensearch.json"))["index"]
    index["mappings"]["properties"]["dense"]["dimension"] = encoder.model.dimensions
    (folder / "index.json").write_text(json.dumps(index, indent=2), "utf-8")
    with (folder / "documents.ndjson").open("w", encoding="utf-8") as file:
        for batch in batches:
            for entry in batch.to_pylist():
                pairs = zip(map(str, entry.pop("terms")), entry.pop("impacts"), strict=True)
                body = {name: json_value(value) for name, value in entry.items()}
                action = {"index": {"_index": encoder.name, "_id": entry["id"]}}
                file.write(f"{json.dumps(action)}\n{json.dumps(body | {'words': dict(pairs)})}\n")


def opensearch_request(query: EncodedQuery, k: int) -> dict[str, Any]:
    """The body of ``POST /{index}/_search``; all scores are higher by the same number."""
    should: list[dict[str, Any]] = [
        {"rank_feature": {"field": f"words.{term}", "boost": weight, "linear": {}}}
        for term, weight in zip(query.terms.tolist(), query.weights.tolist(), strict=True)
    ]
    if query.by != "keyword":
        should.append({"constant_score": {"filter": {"match_all": {}}, "boost": 0}})
    vector, scale = query.parsed.vector.tolist(), query.parsed.scale
    params = {"vector": vector, "scale": scale, "most": most_semantic(query)}
    script = {"source": json.loads(resource("opensearch.json"))["script"], "params": params}
    lexical = {"bool": {"should": should, "minimum_should_match": 1}}
    return {"size": k, "query": {"script_score": {"query": lexical, "script": script}}}


def numbers(some: list[int]) -> str:
    """Numbers as a list in SQL, which may not be empty."""
    return ", ".join(map(str, some)) or "-1"


def resource(name: str) -> str:
    """A file of this package."""
    return (files("deltavec.collection.export") / name).read_text("utf-8")


def dense_of(batch: pa.RecordBatch | pa.Table) -> Any:
    """The vectors of a batch."""
    column = batch["dense"]
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return flat.flatten().to_numpy(zero_copy_only=False).reshape(len(batch), -1)


def with_dense(batch: pa.RecordBatch, dtype: str) -> pa.RecordBatch:
    """A batch with its vectors in another type."""
    vectors = dense_of(batch)
    stored = np.rint(vectors * 127).astype(dtype) if dtype == "int8" else vectors.astype(dtype)
    return batch.drop_columns(["dense"]).append_column("dense", as_fixed_size_lists(stored))


def postings_of(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The postings of some documents: term, row and impact."""
    rows = np.repeat(batch["row"].to_numpy(), np.diff(batch["terms"].offsets))
    columns = [batch["terms"].flatten(), pa.array(rows), batch["impacts"].flatten()]
    return pa.record_batch(columns, list(POSTING))


WRITERS: dict[str, Callable[[QueryEncoder, Batches, Any, str], None]] = {
    "parquet": write_parquet,
    "pgvector": write_pgvector,
    "qdrant": write_qdrant,
    "lancedb": write_lancedb,
    "opensearch": write_opensearch,
}
SEARCHES: dict[str, Callable[[EncodedQuery, Any, int, int | None], StoreHits]] = {
    "pgvector": search_pgvector,
    "qdrant": search_qdrant,
    "lancedb": search_lancedb,
}


ROWS_AT_ONCE = 8192
OWN_COLUMNS = ("row", "terms", "impacts", "dense")


def exported_batches(collection: Collection, terms: Int32s) -> Iterator[pa.RecordBatch]:
    """All documents: ``row``, ``id``, ``text``, columns, ``terms``, ``impacts`` and ``dense``.

    Parameters
    ----------
    collection
        The collection; deleted documents are left out.
    terms
        The exported id of each of its terms.
    """
    taken = sorted(set(OWN_COLUMNS) & set(collection.columns))
    if taken:
        raise InputError(f"the column {taken[0]!r} has the name of an exported one: rename it")
    begin = 0
    for impacts in segment_impacts(collection, terms):
        for first in range(0, impacts.shape[0], ROWS_AT_ONCE):
            part = impacts[first : first + ROWS_AT_ONCE]
            rows = np.arange(begin + first, begin + first + part.shape[0])
            vectors = collection.index.take(rows)
            table = collection.documents(rows).combine_chunks()
            dense = as_fixed_size_lists(vectors)
            listed = (
                pa.ListArray.from_arrays(part.indptr.astype(np.int32), numbers)
                for numbers in (part.indices.astype(np.int32), part.data)
            )
            added = dict(zip(("terms", "impacts", "dense"), (*listed, dense), strict=True))
            columns = dict(zip(table.column_names, table.columns, strict=True))
            yield from pa.table({"row": rows, **columns, **added}).combine_chunks().to_batches()
        begin += impacts.shape[0]


def segment_impacts(collection: Collection, terms: Int32s) -> Iterator[Any]:
    """The impacts of each segment's documents, a sparse row for each."""
    for part in collection.words.words.parts:
        postings, names = part.segment.postings, terms[part.segment.terms]
        values = saturate(postings.counts, part.norms[postings.documents]).astype(np.float32)
        shape = len(part.norms), len(names) + 1
        # 16 bytes a posting; from lists of documents to lists of terms by counting, not sorting.
        impacts = sparse.csc_array((values, postings.documents, postings.begins), shape).tocsr()
        impacts = impacts[np.flatnonzero(part.norms < np.inf)]
        impacts.indices = names[impacts.indices]
        impacts = sparse.csr_array(
            (impacts.data, impacts.indices, impacts.indptr),
            (impacts.shape[0], int(terms.max(initial=0)) + 1),
        )
        impacts.sort_indices()
        yield impacts


def all_statistics(index: InvertedIndex) -> Float64s:
    """The statistics of all terms, one row each: see `InvertedIndex.statistics`."""
    sums = np.zeros((index.terms, 7))
    for part in index.parts:
        add_part(part, sums)
    return sums


def add_part(part: SegmentPart, sums: Float64s) -> None:
    """Add the postings of a segment, one after the other, as `measure_postings` does."""
    segment, norms = part
    begins, documents, counts = segment.postings
    held = np.repeat(segment.terms.astype(np.int64), np.diff(begins)[:-1])
    live: Int64s = np.flatnonzero(norms[documents] < np.inf)
    held, documents, counts = held[live], documents[live], counts[live]
    n, values = COUNTS[counts], saturate(counts, norms[documents])
    columns = (np.ones(len(n)), n, n * n, n * segment.lengths[documents], values, values * values)
    for place, column in enumerate(columns):
        np.add.at(sums[:, place], held, column)
    np.maximum.at(sums[:, 6], held, values)
