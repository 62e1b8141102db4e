"""A fit gives the same bits however many threads there are, ours or those of BLAS."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# 6,000 words, more than one block of rows for each product.
FIT = """
import sys
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
print(dv.fit(texts, recipe=recipe, threads=threads).fingerprint)
print(dv.fit(texts, vectors, "idf-delta-pca", threads=threads).fingerprint)
"""


@pytest.mark.compiled
def test_a_fit_has_the_same_bits_on_any_number_of_threads_and_of_blas_threads():
    fingerprints = {
        subprocess.run(
            [sys.executable, "-c", FIT, str(threads)],
            env={**os.environ, "OMP_NUM_THREADS": str(blas), "OPENBLAS_NUM_THREADS": str(blas)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads, blas in ((1, 1), (1, 4), (3, 2))
    }
    assert len(fingerprints) == 1


SMALL = """
import hashlib, multiprocessing, sys, warnings
import numpy as np
import deltavec as dv
warnings.simplefilter("ignore")
TEXTS = [" ".join(f"w{number}" for number in row) for row in
         np.random.default_rng(0).zipf(1.3, (300, 12)) % 200]

def digest(model):
    return hashlib.sha256(model.embed(TEXTS).tobytes()).hexdigest()

if __name__ == "__main__":
    model = dv.fit(TEXTS)
    print(model.fingerprint, digest(model))
    for method in sys.argv[1:]:
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.apply(digest, (model,)) == digest(model), method
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
