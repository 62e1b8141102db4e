"""What is read under mutated files: sound files, their mutations, and the reading of them."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numba  # noqa: F401, where it is loaded, pages of parquet files are unpacked by ourselves
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import deltavec as dv
from campaigns.mutations import (
    ODD_VALUES,
    changed_bytes,
    changed_tensors,
    changed_value,
)
from campaigns.seals import Files, entries_of, seal_collection, seal_model, sealed
from deltavec.collection.segment_writer import SegmentWriter
from deltavec.io.artifacts.model import model_layout
from deltavec.io.output.tables import rows_of

WORDS = [
    "sea",
    "room",
    "wind",
    "quiet",
    "view",
    "calm",
    "bed",
    "breakfast",
    "été",
    "größe",
    "море",
    "日本",
    "a_b",
    "naïve",
]
TEXTS = [" ".join(Random(number).choices(WORDS[number % 7 :], k=8)) for number in range(30)]


@dataclass(frozen=True)
class Reader:
    """A reader: what makes its sound files, what mutates them, and what reads them."""

    make: Callable[[Path], None]
    mutated: Callable[[Files, Random], Files]
    read: Callable[[Path, Random], None]


def word_vectors() -> dv.WordVectors:
    """Vectors of all words."""
    matrix = np.random.default_rng(0).standard_normal((len(WORDS), 6)).astype(np.float32)
    return dv.WordVectors(WORDS, matrix)


# models


def make_model(folder: Path) -> None:
    dv.fit(TEXTS, word_vectors(), "idf-delta-pca").save(folder / "pca")
    dv.fit(TEXTS, recipe="spectral").save(folder / "spectral")


def mutated_model(files: Files, rng: Random) -> Files:
    folder = rng.choice(["pca/", "spectral/"])
    change_model(files, rng, folder)
    return {name: data for name, data in files.items() if name.startswith(folder)}


def change_model(files: Files, rng: Random, folder: str) -> None:
    """Change a model in a folder among others."""
    description, tensors = f"{folder}model.json", f"{folder}model.safetensors"
    kind = rng.randrange(10)
    if kind < 3:
        files[description] = sealed(changed_value(entries_of(files[description]), rng))
    elif kind < 7:
        files[tensors] = changed_tensors(files[tensors], rng)
    elif kind == 7:
        other_sizes(files, description, tensors, rng)
    else:
        name = rng.choice([description, tensors])
        files[name] = changed_bytes(files[name], rng)
    if rng.random() < 0.9:
        seal_model(files, folder)


def other_sizes(files: Files, description: str, tensors: str, rng: Random) -> None:
    """Let a description say other sizes, and the file have the header and the length for them."""
    entries = entries_of(files[description])
    sizes = ("words", "word_bytes", "dimensions", "components_removed", "measured_dimensions")
    entries[rng.choice(sizes)] = rng.choice([0, 1, 2, 3, 5, 14, 100, 1000])
    with suppress(ValueError, KeyError, TypeError):
        layout = model_layout(entries)
        length = 8 + int.from_bytes(files[tensors][:8], "little")
        data = layout.header + files[tensors][length:]
        files[tensors] = data[: layout.size].ljust(layout.size, b"\1")
        entries["tensor_bytes"] = layout.size
    files[description] = sealed(entries)


def read_model(folder: Path, rng: Random) -> None:
    for path in sorted(folder.iterdir()):
        use_model(dv.load(path, verify=rng.random() < 0.7), rng)


def use_model(model: dv.EmbeddingModel, rng: Random) -> None:
    model.embed([*TEXTS[:3], "", "unheard"], threads=1)
    if rng.random() < 0.3:
        model.explain(TEXTS[0], TEXTS[1])
    if rng.random() < 0.3:
        model.info()
    assert model.fingerprint


def changed_table(data: bytes, rng: Random) -> bytes:
    """An Arrow file with other values or types in a column."""
    table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    place = rng.randrange(table.num_columns)
    column = odd_column(table.column(place).combine_chunks(), rng)
    table = table.set_column(place, rng.choice([table.schema.names[place], "other"]), column)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def odd_column(column: pa.Array, rng: Random) -> pa.Array:
    """A column of as many values that are not those expected."""
    count = len(column)
    whole = pa.array(np.arange(count))
    makers: list[Callable[[], pa.Array]] = [
        lambda: pa.nulls(count, column.type),
        lambda: pa.nulls(count),
        lambda: whole,
        lambda: pa.array(np.full(count, rng.choice([-1, 2**63 - 1, -(2**63)]))),
        lambda: pa.array(np.linspace(0, 1, count)),
        lambda: pa.array(["x"] * count),
        lambda: pa.array([b"\xff\xfe"] * count, pa.binary()),
        lambda: pa.array([{"a": 1}] * count),
        lambda: pa.array([[1, 2]] * count),
        lambda: pa.array([rng.choice([True, False]) for _ in range(count)]),
        lambda: pa.array([10**17] * count, pa.timestamp("s")),
        lambda: pa.array([-(2**31)] * count, pa.date32()),
        lambda: pa.array([2**62] * count, pa.duration("s")),
        lambda: pa.array(["y"] * count).dictionary_encode(),
        lambda: column.dictionary_encode(),
        lambda: pa.array(["v"] * count, pa.string_view()),
        lambda: broken_strings(count),
        lambda: column.take(pa.array(np.roll(np.arange(count), 1))),
    ]
    return rng.choice(makers)()


def broken_strings(count: int) -> pa.Array:
    """Strings that are not UTF-8."""
    ends = np.arange(0, 2 * count + 1, 2, dtype=np.int32)
    buffers = [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(b"\xc3\x28" * count)]
    return pa.Array.from_buffers(pa.string(), count, buffers)


# collections


def make_collection(folder: Path) -> None:
    count = len(TEXTS)
    table = pa.table(
        {
            "id": [f"d{number}" for number in range(count)],
            "text": TEXTS,
            "stars": pa.array([number % 5 for number in range(count)]),
            "when": pa.array([number * 86_400 for number in range(count)], pa.timestamp("s")),
            "city": ["Kyoto", "Oslo", None] * (count // 3),
        }
    )
    model = dv.fit(TEXTS, word_vectors(), "idf-delta")
    dv.build_collection(
        model, table, folder / "c.idx", id_column="id", keep=["stars", "when", "city"]
    )
    for path in (folder / "c.idx").rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(folder / "c.idx")
            target.parent.mkdir(exist_ok=True)
            path.rename(target)


def mutated_collection(files: Files, rng: Random) -> Files:
    vectors, documents, words = (
        next(name for name in files if name.startswith(kind))
        for kind in ("vectors-", "documents-", "words-")
    )
    kind = rng.randrange(12)
    if kind < 3:
        files["collection.json"] = sealed(changed_value(entries_of(files["collection.json"]), rng))
    elif kind < 5:
        files[words] = changed_tensors(files[words], rng)
    elif kind < 6:
        files[vectors] = changed_tensors(files[vectors], rng)
    elif kind < 8:
        files[documents] = changed_documents(files[documents], rng)
    elif kind < 9:
        change_model(files, rng, "model.dv/")
    else:
        name = rng.choice([vectors, documents, words, "collection.json"])
        files[name] = changed_bytes(files[name], rng)
    if rng.random() < 0.9:
        seal_collection(files)
    return files


def changed_documents(data: bytes, rng: Random) -> bytes:
    """A file of documents with other values in a column, and the checksums they must have."""
    table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    place = rng.randrange(table.num_columns)
    column = odd_column(table.column(place).combine_chunks(), rng)
    table = table.set_column(place, table.schema.names[place], column)
    path = Path("/dev/shm" if Path("/dev/shm").is_dir() else "/tmp") / f"documents-{id(table)}"
    try:
        with SegmentWriter(path, table.schema) as writer:
            writer.write(table.to_batches())
            writer.finish()
        return path.read_bytes()
    except (pa.ArrowException, ValueError):
        return changed_bytes(data, rng)
    finally:
        path.unlink(missing_ok=True)


def read_collection(folder: Path, rng: Random) -> None:
    collection = dv.open_collection(folder, verify=rng.random() < 0.5)
    first = collection.ids[0].as_py()
    uses: list[Callable[[], object]] = [
        lambda: collection.search("quiet room sea", k=5, by="keyword"),
        lambda: collection.search("quiet room sea", k=5, by="semantic"),
        lambda: [hit.id for hit in collection.search("quiet room sea", k=50, by="hybrid")],
        lambda: collection.search("sea -room", k=3, filter="stars >= 2 and city == 'Oslo'"),
        lambda: collection.search("sea", k=3, filter="when > '1970-01-05'"),
        lambda: collection.why("quiet room", first),
        lambda: collection.text(first),
        lambda: collection.similar(first, k=3),
        lambda: collection.keywords(first),
        lambda: rows_of(collection.documents([0, len(collection) - 1])),
        collection.info,
        lambda: collection.explain(first, collection.ids[1].as_py()),
        lambda: collection.duplicates(),
    ]
    for use in rng.sample(uses, 3):
        use()
    if rng.random() < 0.05:
        collection.cluster(2)


# word vectors


def make_vectors(folder: Path) -> None:
    for name in ("own.safetensors", "text.txt", "binary.bin"):
        dv.save_vectors(word_vectors(), folder / name)
    (folder / "packed.gz").write_bytes(gzip.compress((folder / "text.txt").read_bytes(), mtime=0))


def mutated_vectors(files: Files, rng: Random) -> Files:
    name = rng.choice(["own.safetensors"] * 5 + sorted(files))
    if name.endswith(".safetensors") and rng.random() < 0.8:
        files[name] = changed_tensors(files[name], rng)
    else:
        files[name] = changed_bytes(files[name], rng)
    return {other: files[other] for other in files if other.split(".")[0] == name.split(".")[0]}


def read_vectors(folder: Path, rng: Random) -> None:
    for path in sorted(folder.iterdir()):
        vectors = dv.load_vectors(path, limit=rng.choice([None, 3]))
        assert len(vectors.words) == len(vectors.matrix)
        assert vectors.fingerprint


# Parquet


def make_parquet(folder: Path) -> None:
    table = pa.table(
        {
            "text": TEXTS,
            "coded": pa.array(TEXTS).dictionary_encode(),
            "number": np.arange(len(TEXTS)),
            "list": [[1, 2], None, []] * 10,
            "struct": [{"a": 1, "b": "x"}] * len(TEXTS),
            "when": pa.array(range(len(TEXTS)), pa.timestamp("ms")),
        }
    )
    for compression in ("none", "snappy", "zstd"):
        pq.write_table(
            table, folder / f"{compression}.parquet", compression=compression, row_group_size=11,
            write_page_index=True, data_page_size=200, write_page_checksum=compression == "zstd",
        )  # fmt: skip
    for compression in ("none", "snappy"):  # without dictionaries
        pq.write_table(
            table.select(["text"]), folder / f"plain-{compression}.parquet",
            compression=compression, row_group_size=11, data_page_size=200, use_dictionary=False,
        )  # fmt: skip


def mutated_one(files: Files, rng: Random) -> Files:
    name = rng.choice(sorted(files))
    data = files[name]
    if name.endswith(".parquet") and rng.random() < 0.6:  # the footer says what is where
        length = int.from_bytes(data[-8:-4], "little")
        footer = changed_bytes(data[-8 - length : -8], rng)
        data = data[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    else:
        data = changed_bytes(data, rng)
    files[name] = data
    return {name: data}


def read_corpus(folder: Path, rng: Random) -> None:
    for path in sorted(folder.iterdir()):
        column = (
            rng.choice(["text", "text", "coded", "list", "number"])
            if rng.random() < 0.3
            else "text"
        )
        corpus = dv.read_corpus(path, column=column)
        keep = [name for name in corpus.columns if name != column][: rng.randrange(4)]
        if "text" in corpus.columns and rng.random() < 0.3:
            column = "text"
        for batch in corpus.batches(keep):
            batch.validate(full=True)


# JSON lines


def make_jsonl(folder: Path) -> None:
    lines = [
        json.dumps(
            {"text": text, "id": number, "tags": ["a", {"b": None}], "ö": 1.5},
            ensure_ascii=number % 2 == 0,
        )
        for number, text in enumerate(TEXTS)
    ]
    (folder / "plain.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


def mutated_jsonl(files: Files, rng: Random) -> Files:
    if rng.random() < 0.5:
        return mutated_one(files, rng)
    lines = files["plain.jsonl"].split(b"\n")
    for _ in range(rng.choice([1, 1, 3])):
        place = rng.randrange(len(lines))
        value = changed_value(
            json.loads(lines[place]) if lines[place].startswith(b"{") else {}, rng
        )
        if isinstance(value, dict) and rng.random() < 0.3:
            value["text"] = rng.choice(
                ["\ud800", "\udfff a", "\ud83d\ude00", "[" * 5000, *ODD_VALUES]
            )
        line = json.dumps(value)
        if rng.random() < 0.1:
            line = "[" * rng.choice([10, 10_000]) + line
        lines[place] = line.encode()
    return {"plain.jsonl": b"\n".join(lines)}


def read_jsonl(folder: Path, rng: Random) -> None:
    for path in sorted(folder.iterdir()):
        corpus = dv.read_corpus(path, column="text")
        keep = [name for name in corpus.columns if name != "text"][: rng.randrange(4)]
        for batch in corpus.batches(keep):
            batch.validate(full=True)
            batch.column(0).to_pylist()


# archives of questions


def make_archives(folder: Path) -> None:
    questions: dict[str, Any] = {
        str(number): {
            "title": text,
            "body": f"<p>{text} &amp; <b>more</b></p><blockquote>Possible Duplicate</blockquote>",
            "dups": [str((number + 1) % len(TEXTS))] if number % 3 == 0 else [],
        }
        for number, text in enumerate(TEXTS)
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(zipfile.ZipInfo("forum/forum_questions.json"), json.dumps(questions))
    (folder / "forum.zip").write_bytes(archive.getvalue())


def mutated_archives(files: Files, rng: Random) -> Files:
    data = files["forum.zip"]
    if rng.random() < 0.5:
        return {"forum.zip": changed_bytes(data, rng)}
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        content = file.read("forum/forum_questions.json")
    if rng.random() < 0.6:
        value = changed_value(json.loads(content), rng)
        if isinstance(value, dict) and rng.random() < 0.5:
            value["0"] = {"title": "x", "body": odd_html(rng), "dups": ["1"]}
        content = json.dumps(value).encode()
    else:
        content = changed_bytes(content, rng)
    archive = io.BytesIO()
    with zipfile.ZipFile(
        archive, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    ) as file:
        name = rng.choice(["forum/forum_questions.json"] * 9 + ["../x_questions.json"])
        file.writestr(zipfile.ZipInfo(name), content)
    return {"forum.zip": archive.getvalue()}


def odd_html(rng: Random) -> str:
    """Markup that is never closed, over and over."""
    part = rng.choice(
        [
            "<",
            "<!",
            "<![",
            "<!--",
            "<?",
            "</",
            "<a ",
            "&",
            "&#",
            "<blockquote>",
            "<script>",
            "<a b='",
        ]
    )
    return part * rng.choice([1, 100, 20_000]) + rng.choice(["", ">", "x", "-->"])


def read_archives(folder: Path, rng: Random) -> None:
    from deltavec.lab.questions.files import read_forums

    del rng
    read_forums(folder / "forum.zip")


READERS = {
    "model": Reader(make_model, mutated_model, read_model),
    "collection": Reader(make_collection, mutated_collection, read_collection),
    "vectors": Reader(make_vectors, mutated_vectors, read_vectors),
    "parquet": Reader(make_parquet, mutated_one, read_corpus),
    "jsonl": Reader(make_jsonl, mutated_jsonl, read_jsonl),
    "archives": Reader(make_archives, mutated_archives, read_archives),
}
