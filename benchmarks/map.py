"""Maps: deltavec's own layout against umap-learn, openTSNE and pacmap: time, and neighbors kept.

    python benchmarks/map.py --vectors documents.npy -o benchmarks/results/map.json
    python benchmarks/map.py --vectors documents.npy --rows 20000 --methods neighbors,umap

Each method gets the same unit rows and finds neighbors in its own way; all but umap with a seed
use all cores. Each runs in a process of its own, one after the other, and tells its processor time
beside the seconds on the clock: on a busy machine the former tells more. Then it is counted how
many of a document's 15 nearest neighbors (exact, by cosine) are among its 15, and its 50, nearest
points on the map, for 2,000 documents drawn at random. Methods that are not installed are reported
as absent. ``--more`` keeps what the output holds of other methods and sizes, so that a long
measurement can be done in pieces.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from measuring import publish, surroundings

import deltavec as dv

PEERS = {"umap": "umap-learn", "openTSNE": "openTSNE", "pacmap": "pacmap"}
K = 15
WIDER = 50
JUDGED = 2000
SEED = 0


def by_neighbors(vectors: np.ndarray) -> np.ndarray:
    from deltavec.search.tsne.layout import neighbor_layout

    return neighbor_layout(vectors)


def by_pca(vectors: np.ndarray) -> np.ndarray:
    from deltavec.search.tsne.layout import initial_coordinates

    return initial_coordinates(vectors)


def by_umap(vectors: np.ndarray) -> np.ndarray:
    import umap

    return umap.UMAP(metric="cosine", random_state=SEED).fit_transform(vectors)


def by_opentsne(vectors: np.ndarray) -> np.ndarray:
    import openTSNE

    return np.asarray(openTSNE.TSNE(metric="cosine", n_jobs=-1, random_state=SEED).fit(vectors))


def by_pacmap(vectors: np.ndarray) -> np.ndarray:
    import pacmap

    return pacmap.PaCMAP(distance="angular", random_state=SEED).fit_transform(vectors)


METHODS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "neighbors": ("deltavec", by_neighbors),
    "pca": ("deltavec", by_pca),
    "umap": ("umap", by_umap),
    "opentsne": ("openTSNE", by_opentsne),
    "pacmap": ("pacmap", by_pacmap),
}


def alone(method: str, vectors: Path, places: Path) -> None:
    """Draw a map in this process, and print what it took."""
    rows = np.load(vectors)
    METHODS[method][1](rows[:400])  # what is compiled, is compiled now
    begun, used = time.perf_counter(), time.process_time()
    found = METHODS[method][1](rows)
    took = {"seconds": time.perf_counter() - begun, "processor_seconds": time.process_time() - used}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    np.save(places, np.asarray(found, np.float64))
    print(json.dumps(took | {"peak_memory": memory}))


def nearest_places(places: np.ndarray, judged: np.ndarray, k: int) -> np.ndarray:
    """The k points nearest to each of some points, those left out."""
    found = np.empty((len(judged), k), np.int64)
    for number, row in enumerate(judged):
        distances = ((places - places[row]) ** 2).sum(axis=1)
        distances[row] = np.inf
        found[number] = np.argpartition(distances, k)[:k]
    return found


def kept(near: np.ndarray, places: np.ndarray, judged: np.ndarray, k: int) -> float:
    """The share of neighbors that are among the k nearest on the map."""
    found = nearest_places(places, judged, k)
    return float(
        np.mean([len(np.intersect1d(*pair)) / K for pair in zip(near, found, strict=True)])
    )


def judged_neighbors(vectors: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """The exact neighbors of some rows."""
    hits = dv.Index(vectors).search(vectors[judged], K + 1).ids
    return np.array([row[row != own][:K] for row, own in zip(hits, judged, strict=True)])


def measured(
    method: str, vectors: Path, folder: Path, seconds: float
) -> tuple[dict[str, Any], Path]:
    places = folder / "places.npy"
    command = [sys.executable, __file__, "--alone", method, "--vectors", str(vectors)]
    try:
        done = subprocess.run(
            [*command, "-o", str(places)], capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return {"stopped_after_seconds": seconds}, places
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:200]}, places
    return json.loads(done.stdout.splitlines()[-1]), places


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--methods", default=",".join(name for name in METHODS))
    parser.add_argument("--seconds", type=float, default=7200)
    parser.add_argument("--alone")
    parser.add_argument("--more", action="store_true")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    if arguments.alone:
        alone(arguments.alone, arguments.vectors, arguments.output)
        return
    everything = np.load(arguments.vectors, mmap_mode="r")
    rng = np.random.default_rng(SEED)
    results: list[dict[str, Any]] = []
    packages = ["numpy", "numba", "scipy", *(PEERS[name] for name in PEERS if find_spec(name))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in arguments.rows:
            some = np.sort(rng.choice(len(everything), min(count, len(everything)), replace=False))
            rows = everything[some]
            rows = np.ascontiguousarray(rows[rows.any(axis=1)], np.float32)
            np.save(folder / "rows.npy", rows)
            judged = rng.choice(len(rows), min(JUDGED, len(rows)), replace=False)
            near = judged_neighbors(rows, judged)
            for method in arguments.methods.split(","):
                result: dict[str, Any] = {"rows": len(rows), "method": method}
                if find_spec(METHODS[method][0]) is None:
                    results.append(result | {"absent": True})
                    continue
                took, places = measured(method, folder / "rows.npy", folder, arguments.seconds)
                result |= took
                if "seconds" in took:
                    found = np.load(places)
                    result["kept_in_15"] = kept(near, found, judged, K)
                    result["kept_in_50"] = kept(near, found, judged, WIDER)
                results.append(result)
                print(json.dumps(result), file=sys.stderr, flush=True)
    if arguments.more and arguments.output.exists():
        done = {(one["rows"], one["method"]) for one in results}
        earlier = json.loads(arguments.output.read_text())["results"]
        results = [one for one in earlier if (one["rows"], one["method"]) not in done] + results
    publish({**surroundings(packages), "results": results}, arguments.output)


if __name__ == "__main__":
    main()
