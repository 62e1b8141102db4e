# ruff: noqa
"""Update of one document in a warm process: tantivy, SQLite FTS5, LanceDB.

    python benchmarks/updates_peers.py DOCUMENTS.parquet MORE.parquet COUNT UPDATES > PEERS.json

In an environment with tantivy and lancedb. DOCUMENTS has the columns name (doc0, ...) and text.
"""

import json, sys, time, tempfile, sqlite3, os
import pyarrow.parquet as pq, pyarrow as pa, numpy as np

source, other, n, updates = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
t = pq.read_table(source).slice(0, n)
texts = t["text"].to_pylist()
ids = t["name"].to_pylist()
more = pq.read_table(other)["text"].to_pylist()
rng = np.random.default_rng(1)


def wchar():
    return int([l for l in open("/proc/self/io") if l.startswith("wchar")][0].split()[1])


def measure(update):
    cpu = []
    wr = []
    wall = []
    for i in range(updates):
        id = f"doc{rng.integers(n)}"
        w = wchar()
        a = time.process_time()
        b = time.perf_counter()
        update(id, more[i])
        cpu.append(time.process_time() - a)
        wall.append(time.perf_counter() - b)
        wr.append(wchar() - w)
    return {
        "cpu_ms": round(1e3 * float(np.median(cpu[1:])), 2),
        "wall_ms": round(1e3 * float(np.median(wall[1:])), 2),
        "written_kb": round(float(np.median(wr[1:])) / 1e3, 1),
    }


out = {}
d = tempfile.mkdtemp()
c = sqlite3.connect(d + "/f.db")
c.execute("create virtual table f using fts5(id unindexed, text, tokenize='porter')")
c.execute("create table m(id text primary key, r integer)")
c.executemany(
    "insert into f(rowid,id,text) values(?,?,?)",
    [(i + 1, a, b) for i, (a, b) in enumerate(zip(ids, texts))],
)
c.executemany("insert into m values(?,?)", [(a, i + 1) for i, a in enumerate(ids)])
c.commit()


def up(id, text):
    r = c.execute("select r from m where id=?", (id,)).fetchone()[0]
    c.execute("update f set text=? where rowid=?", (text, r))
    c.commit()


out["sqlite_fts5"] = measure(up)
c.close()
import tantivy

b = tantivy.SchemaBuilder()
b.add_text_field("id", stored=True, tokenizer_name="raw")
b.add_text_field("text", stored=True, tokenizer_name="en_stem")
s = b.build()
os.mkdir(d + "/t")
ix = tantivy.Index(s, path=d + "/t")
w = ix.writer(100_000_000, 1)
for a, x in zip(ids, texts):
    w.add_document(tantivy.Document(id=[a], text=[x]))
w.commit()


def up(id, text):
    w.delete_documents("id", id)
    w.add_document(tantivy.Document(id=[id], text=[text]))
    w.commit()


out["tantivy"] = measure(up)
import lancedb

db = lancedb.connect(d + "/l")
tb = db.create_table("x", pa.table({"id": ids, "text": texts}))
tb.create_fts_index("text", replace=True)


def up(id, text):
    tb.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(
        pa.table({"id": [id], "text": [text]})
    )
    tb.optimize()


try:
    out["lancedb"] = measure(up)
except Exception as e:
    out["lancedb"] = repr(e)[:200]
import shutil

shutil.rmtree(d)
out["versions"] = {
    "tantivy": "0.27.0",
    "lancedb": lancedb.__version__,
    "sqlite": sqlite3.sqlite_version,
}
print(json.dumps({"documents": n, **out}))
