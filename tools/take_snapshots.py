"""Write tests/snapshots: what this version of deltavec says, finds and stores, on a little text.

    python tools/take_snapshots.py [FOLDER]

Run it on the version whose behaviour is to be kept, with one thread, and commit what it wrote; the
texts in the folder are its input. Later versions are held against it by
tests/integration/test_snapshots.py, so run it again only to record a change that is meant.
"""

from __future__ import annotations

import json
import pickle
import shutil
import sys
from dataclasses import asdict
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from typer.testing import CliRunner

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import deltavec as dv  # noqa: E402
from deltavec.cli.application import app  # noqa: E402
from deltavec.server.app import create_app  # noqa: E402
from support.recorded import (  # noqa: E402
    collection_answers,
    command_line,
    copied,
    explanation,
    http_api,
    index_answers,
    table,
)
from support.served import ask  # noqa: E402

DIMENSIONS = 8
SPECTRAL = dv.Recipe(form="spectral", n_components_removed=0, dimensions=DIMENSIONS)
# Each form, weighting and tokenizer at least once; two components; a threshold.
MODELS: dict[str, tuple[dv.Recipe, str]] = {
    "spectral": (SPECTRAL, "words"),
    "idf-sum": (dv.Recipe.named("idf-sum"), "words"),
    "idf-sum-whitespace": (dv.Recipe.named("idf-sum"), "whitespace"),
    "idf-delta-pca": (dv.Recipe.named("idf-delta-pca"), "words"),
    "sif-center": (dv.Recipe.named("sif-center"), "words"),
    "sif-center-frequent": (dv.Recipe("sif", "center", 0, a=1e-2, min_frequency=5e-3), "words"),
    "subsampling-delta": (dv.Recipe("subsampling", "delta", 0, t=1e-3), "words"),
    "subsampling-sum-two-removed": (dv.Recipe("subsampling", "sum", 2, t=1e-3), "whitespace"),
    "unit-sum": (dv.Recipe.named("unit-sum"), "words"),
    "auto": (dv.Recipe.named("auto"), "words"),
}
UNKNOWN = ("clear", "fenêtre", "рыба", "चाय", "sand")  # in the text, and without a vector
WRITTEN = (
    "models", "indexes", "collections", "embedder-pca.pickle", "embedder-sum.pickle",
    "word-vectors.safetensors", "recipe.json", "recipe-vectors.json",
)  # fmt: skip


def main(folder: Path) -> None:
    for name in WRITTEN:
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).unlink(missing_ok=True)
    texts = json.loads((folder / "texts.json").read_text("utf-8"))
    documents = table(folder / "documents.csv")
    take_word_vectors(folder, documents, texts["embedded"])
    take_models(folder, documents["text"], texts)
    take_indexes(folder, documents, texts["queries"])
    take_collections(folder, texts["queries"])
    take_embedders(folder, documents["text"], texts["embedded"])
    take_recipes(folder)
    take_surface(folder)


def take_word_vectors(folder: Path, documents: dict[str, list[str]], texts: list[str]) -> None:
    """Vectors for the words of both tokenizers, stored with their exact rows.

    Each is random, and leans to the kinds of documents that its word stands in: so kinds show, and
    ``deltavec tune`` finds a recipe that is not the default.
    """
    kinds = sorted(set(documents["kind"]))
    leaning: dict[str, Any] = {}
    labelled = zip(documents["text"], documents["kind"], strict=True)
    for text, kind in [*labelled, *((text, None) for text in texts)]:
        for word in words_of(text):
            sums = leaning.setdefault(word, np.zeros(DIMENSIONS))
            sums[kinds.index(kind) if kind else slice(0)] += 1.0
    words = [word for word in leaning if word not in UNKNOWN and "xyzzy" not in word]
    noise = np.random.default_rng(0).normal(scale=0.5, size=(len(words), DIMENSIONS))
    rows = (noise + [leaning[word] for word in words]).astype(np.float32)
    dv.save_vectors(dv.WordVectors(words, rows), folder / "word-vectors.safetensors")
    loaded = dv.load_vectors(folder / "word-vectors.safetensors")
    write(folder / "word-vectors.json", {"words": loaded.words})
    np.save(folder / "word-vectors.npy", loaded.matrix)


def words_of(text: str) -> list[str]:
    """The words of a text under both tokenizers, each once."""
    any_vectors = dv.WordVectors(["the"], [[1.0]])
    found: list[str] = []
    for tokenizer in ("words", "whitespace"):
        found += dv.fit(["the"], any_vectors, "unit-sum", tokenizer=tokenizer).words(text)
    return list(dict.fromkeys(found))


def take_models(folder: Path, documents: list[str], texts: dict[str, Any]) -> None:
    """A folder for each model, its embeddings, and why two texts are alike."""
    vectors = dv.load_vectors(folder / "word-vectors.safetensors")
    (folder / "models").mkdir()
    about: dict[str, Any] = {}
    for name, (recipe, tokenizer) in MODELS.items():
        own = None if recipe.form == "spectral" else vectors
        dv.fit(documents, own, recipe, tokenizer=tokenizer).save(folder / "models" / name)
        model = dv.load(folder / "models" / name)
        np.save(folder / "models" / f"{name}.npy", model.embed(texts["embedded"]))
        about[name] = {
            "asked": asdict(recipe),
            "settled": asdict(model.recipe),
            "tokenizer": tokenizer,
            "info": model.info(),
            "explanation": explanation(model, *texts["pair"]),
        }
    write(folder / "models.json", about)


def take_indexes(folder: Path, documents: dict[str, list[str]], queries: list[str]) -> None:
    """Indexes with ids of each kind, exact and approximate, and what they find."""
    model = dv.load(folder / "models" / "idf-delta-pca")
    rows = model.embed(documents["text"])
    numbers = [1000 - 7 * place for place in range(len(rows))]
    indexes = {
        "rows": dv.Index(rows),
        "numbers": dv.Index(rows, numbers),
        "strings": dv.Index(rows, documents["id"]),
        "approximate": dv.Index(rows, documents["id"], approximate=True, threads=1),
    }
    np.save(folder / "index-queries.npy", model.embed(queries))
    asked = np.load(folder / "index-queries.npy")
    (folder / "indexes").mkdir()
    found = {}
    for name, index in indexes.items():
        index.save(folder / "indexes" / name)
        found[name] = index_answers(dv.load_index(folder / "indexes" / name, threads=1), asked)
    write(folder / "indexes.json", found)


def take_collections(folder: Path, queries: list[str]) -> None:
    """A collection of a CSV file, the same with documents added, and one with typed columns."""
    whole = folder / "collections"
    whole.mkdir()
    corpus = folder / "documents.csv"
    model = folder / "models" / "idf-delta-pca"
    named = ["--id-column", "id", "--keep", "stars,kind"]
    typed("index", "build", model, corpus, *named, "-o", whole / "named")
    copied(whole / "named", whole / "added")
    typed("index", "add", whole / "added", folder / "more.csv")
    dv.build_collection(
        dv.load(folder / "models" / "spectral"),
        dv.read_corpus(typed_table(table(corpus))),
        whole / "typed",
        keep=["stars", "kind", "day"],
    )
    answers = {
        one.name: collection_answers(dv.open_collection(one), queries)
        for one in sorted(whole.iterdir())
    }
    write(folder / "collections.json", answers)


def typed_table(columns: dict[str, list[str]]) -> pa.Table:
    """The documents with stars as whole numbers, some missing, and a day each; without ids."""
    first = date(2024, 2, 1)
    return pa.table(
        {
            "text": columns["text"],
            "stars": [int(stars) if stars else None for stars in columns["stars"]],
            "kind": columns["kind"],
            "day": [first + timedelta(days=place) for place in range(len(columns["text"]))],
        }
    )


def take_embedders(folder: Path, documents: list[str], texts: list[str]) -> None:
    """Estimators of scikit-learn as its users keep them, and what they make of texts."""
    vectors = dv.load_vectors(folder / "word-vectors.safetensors")
    embedders = {
        "embedder-pca": dv.DocumentEmbedder(vectors),
        "embedder-sum": dv.DocumentEmbedder(vectors, form="sum", n_components_removed=0),
    }
    for name, embedder in embedders.items():
        embedder.fit(documents)
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(embedder))
        np.save(folder / f"{name}.npy", embedder.transform(texts))
    more = table(folder / "more.csv")["text"]
    embedders["embedder-sum"].partial_fit(more)
    np.save(folder / "embedder-sum-more.npy", embedders["embedder-sum"].transform(texts))


def take_recipes(folder: Path) -> None:
    """What ``deltavec tune`` recommends, with and without word vectors."""
    labelled = ("tune", folder / "documents.csv", "--group-column", "kind", "--budget", "60s")
    typed(*labelled, "-o", folder / "recipe.json")
    vectors = folder / "word-vectors.safetensors"
    typed(*labelled, "--vectors", vectors, "-o", folder / "recipe-vectors.json")


def take_surface(folder: Path) -> None:
    """The names, the command line and the HTTP API."""
    write(folder / "public_names.json", dv.__all__)
    write(folder / "command_line.json", command_line(app))
    served = create_app(dv.open_collection(folder / "collections" / "named"))
    write(folder / "http_api.json", http_api(ask(served, "GET", "/openapi.json").json))


def typed(*arguments: object) -> None:
    """Run a command, which must succeed."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exit_code:
        sys.exit(done.output)


def write(path: Path, value: Any) -> None:
    """Write a value as JSON for people to compare."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "tests" / "snapshots")
