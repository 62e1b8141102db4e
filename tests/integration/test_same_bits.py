"""The same bits, whatever changes: the table of docs/guides/reproducibility.md, cell by cell."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import deltavec as dv

# 6,000 words, more than one block of rows for each product.
FIT = """
import sys
import threading
import warnings
from dataclasses import replace
import numpy as np
import deltavec as dv
warnings.simplefilter("ignore")
drawn = np.random.default_rng(0).zipf(1.1, (4000, 30)) % 6000
texts = [" ".join(f"w{number}" for number in row) for row in drawn]
recipe = replace(dv.Recipe.named("spectral"), dimensions=150, window=5)
vectors = dv.WordVectors(
    [f"w{number}" for number in range(6000)],
    np.random.default_rng(1).standard_normal((6000, 20)),
)
threads = int(sys.argv[1])
if sys.argv[2:]:  # a search beside the fit, which sets and lifts the limit of BLAS' threads
    index = dv.Index(dv.fit(texts[:300], vectors, "idf-sum").embed(texts))
    def search():
        while True:
            index.search(index.vectors[:40])
    threading.Thread(target=search, daemon=True).start()
print(dv.fit(texts, recipe=recipe, threads=threads).fingerprint)
print(dv.fit(texts, vectors, "idf-delta-pca", threads=threads).fingerprint)
"""


@pytest.mark.compiled
def test_a_fit_has_the_same_bits_on_any_threads_ours_or_of_blas_and_beside_a_search():
    fingerprints = {
        subprocess.run(
            [sys.executable, "-c", FIT, *arguments],
            env={**os.environ, "OMP_NUM_THREADS": str(blas), "OPENBLAS_NUM_THREADS": str(blas)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for arguments, blas in ((["1"], 1), (["1"], 4), (["3", "beside a search"], 2))
    }
    assert len(fingerprints) == 1


SMALL = """
import hashlib, multiprocessing, sys, warnings
import numpy as np
import deltavec as dv
warnings.simplefilter("ignore")
TEXTS = [" ".join(f"w{number}" for number in row) for row in
         np.random.default_rng(0).zipf(1.3, (300, 12)) % 200]

def digest(array):
    return hashlib.sha256(array.tobytes()).hexdigest()

def bits():
    model = dv.fit(TEXTS)
    vectors = model.embed(TEXTS)
    found = dv.Index(vectors).search(vectors, k=5)
    return model.fingerprint, digest(vectors), digest(found.ids), digest(found.scores)

if __name__ == "__main__":
    print(bits())
    for method in sys.argv[1:]:
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.apply(bits) == bits(), method
"""


def said(program, *arguments, **environment):
    """What a program says in a process of its own."""
    return subprocess.run(
        [sys.executable, str(program), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.compiled
@pytest.mark.skipif(sys.platform != "linux", reason="fork")
def test_the_same_bits_in_every_process_with_any_hash_seed_and_a_fresh_cache(tmp_path):
    program = tmp_path / "small.py"
    program.write_text(SMALL)
    first = said(program, "fork", "spawn", PYTHONHASHSEED="0")
    assert said(program, PYTHONHASHSEED="1") == first
    assert said(program, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == first
    assert any((tmp_path / "cache").rglob("*.nbc"))


@pytest.mark.compiled
def test_every_kind_of_input_gives_the_same_model_and_vectors(tmp_path):
    texts = [f"the {mood} {place} by the sea, {n} {mood}" for n in range(40)
             for mood in ("quiet", "loud") for place in ("room", "bär", "海辺")]  # fmt: skip
    lines = "\n".join(texts)
    (tmp_path / "plain.txt").write_text(lines, "utf-8")
    (tmp_path / "utf-16.txt").write_text(lines, "utf-16")
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(lines.encode()))
    rows = [json.dumps({"text": text}) for text in texts]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows), "utf-8")
    (tmp_path / "rows.csv").write_text("text\n" + "\n".join(f'"{t}"' for t in texts), "utf-8")
    parquet.write_table(pa.table({"text": texts}), tmp_path / "rows.parquet", row_group_size=7)
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(6):
        part = texts[40 * number : 40 * (number + 1)]
        (parts / f"{number}.txt").write_text("\n".join(part), "utf-8")
    kinds = [
        texts,
        pa.array(texts),
        pa.chunked_array([texts[:5], [], texts[5:]]),
        *(dv.read_corpus(path) for path in sorted(tmp_path.iterdir())),
    ]
    models = [dv.fit(kind, recipe="spectral") for kind in kinds]
    assert len({model.fingerprint for model in models}) == 1
    assert len({models[0].embed(kind).tobytes() for kind in kinds}) == 1
    assert len(kinds) == 10


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(20))
def test_the_model_of_a_collection_has_the_same_bits_on_any_threads_and_from_any_input(
    tmp_path, seed
):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 400, 700)
    texts = [" ".join(f"w{n}" for n in rng.zipf(1.3, length) % 500) for length in lengths]
    parquet.write_table(pa.table({"text": texts}), tmp_path / "a.parquet", row_group_size=37)
    (tmp_path / "a.txt").write_text("\n".join(texts))
    model = dv.fit(texts[:400], recipe=dv.Recipe(form="spectral", dimensions=20))
    inputs = [texts, tmp_path / "a.parquet", tmp_path / "a.txt"]
    found = {
        model.for_collection(
            given if isinstance(given, list) else dv.read_corpus(given), threads=threads
        ).fingerprint
        for given in inputs
        for threads in (1, 2, 3, 8)
    }
    assert len(found) == 1


def test_the_table_names_tests_that_there_are():
    tests = Path(__file__).parents[1]
    guide = (tests.parent / "docs" / "guides" / "reproducibility.md").read_text("utf-8")
    named = set(re.findall(r"`((?:integration|laws|unit)/[^`]+)`", guide))
    assert len(named) > 8
    assert [name for name in named if not (tests / name).exists()] == []
