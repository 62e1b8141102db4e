"""Vectors stored as float16 beside float32: search quality, scores and size on disk.

    python benchmarks/float16.py cranfield cacm medline npl -o benchmarks/results/float16.json

Folders are judged collections in BEIR's layout. The model is fitted once for both.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from measuring import publish, surroundings

import deltavec as dv
from deltavec.evaluation.pairs import measured
from deltavec.io.artifacts.atomic import scratch_folder
from deltavec.lab.judged import read_judged

DEPTH = 100


def compare(folder: Path) -> dict[str, Any]:
    """nDCG@10, the largest difference of a score, bytes and seconds to open, by type."""
    judged, types = read_judged(folder, "test"), ("float32", "float16")
    model = dv.fit(judged.texts)
    queries, grades = list(judged.queries.values()), list(judged.grades.values())
    found: dict[str, Any] = {"documents": len(judged.ids), "queries": len(queries)}
    scores = {}
    with scratch_folder() as scratch:
        for dtype in types:
            dv.build_collection(model, judged.texts, scratch / f"{dtype}.idx", dtype=dtype)
            begin = time.perf_counter()
            built = dv.open_collection(scratch / f"{dtype}.idx", verify=False)
            seconds, info = time.perf_counter() - begin, built.info()
            kinds = ("vector", "document", "code", "word")
            found[dtype] = {
                "vector_bytes": info["vector_bytes"],
                "all_bytes": sum(info[f"{kind}_bytes"] for kind in kinds),
                "seconds_to_open": round(seconds, 4),
            }
            for by in ("hybrid", "semantic"):
                best = built.best([built.query(query, DEPTH, by=by) for query in queries])
                ranked = [[judged.ids[row] for row in one.numbers] for one in best]
                values = [measured(*pair).ndcg_10 for pair in zip(ranked, grades, strict=True)]
                found[dtype][f"ndcg_{by}"] = round(float(np.mean(values)), 5)
                both = zip(ranked, best, strict=True)
                scores[dtype, by] = [dict(zip(ids, b.scores, strict=True)) for ids, b in both]
    for by in ("hybrid", "semantic"):
        pairs = zip(*(scores[dtype, by] for dtype in types), strict=True)
        apart = [abs(a[id] - b[id]) for a, b in pairs for id in a.keys() & b.keys()]
        found[f"largest_difference_{by}"] = float(f"{max(apart):.2g}")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    report = {"collections": {one.name: compare(one) for one in given.folders}}
    publish({**surroundings(["numpy"]), **report}, given.output)
