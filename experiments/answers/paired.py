"""The difference of two runs of `search.py` with its paired error over queries, in thousandths.

python paired.py BEFORE.json AFTER.json > results/search.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from deltavec.evaluation.pairs import bootstrap_error

MODES = ("hybrid", "keyword", "semantic")
before, after = (json.loads(Path(path).read_text()) for path in sys.argv[1:3])
table = {}
for name, old in before.items():
    if name not in after or not isinstance(old, dict):
        continue
    new = after[name]
    row = {"queries": len(old["hybrid"]), "units": new["units"]}
    row |= {f"postings_{what}": one["postings"] for what, one in (("before", old), ("after", new))}
    for mode in MODES:
        a, b = np.array(old[mode]), np.array(new[mode])
        for column, measure in enumerate(("nDCG@10", "recall@100")):
            gain = b[:, column] - a[:, column]
            row[f"{mode} {measure}"] = {
                "before": round(float(a[:, column].mean()), 4),
                "after": round(float(b[:, column].mean()), 4),
                "gain": round(1000 * float(gain.mean()), 1),
                "error": round(1000 * bootstrap_error(gain), 1),
            }
    table[name] = row
print(json.dumps(table, indent=1, ensure_ascii=False))
