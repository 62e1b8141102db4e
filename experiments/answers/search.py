"""nDCG@10 of each query on judged collections and known-item sets, by search mode.

python search.py JUDGED OUT.json [--units auto] [SET ...]

Run it with the sources before a change and after it, then `paired.py` compares the two.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import deltavec as dv
from deltavec.evaluation.pairs import measured
from deltavec.lab.judged import read_judged

JUDGED = ("cranfield", "cacm", "medline", "npl", "drcd", "xquad_german")
KNOWN_ITEM = ("sib_deu_Latn", "sib_rus_Cyrl", "sib_fin_Latn", "sib_tur_Latn", "gnad")
MODES = ("hybrid", "keyword", "semantic")


def known_item(folder: Path, name: str) -> tuple[list[str], list[str], list[int]]:
    """Texts, queries and the text that each asks for.

    Of a sentence (SIB-200) three of its words of four letters or more are asked for; of an article
    (10kGNAD) its first sentence, which is then taken out of it.
    """
    rng = np.random.default_rng(0)
    if name == "gnad":
        texts = pq.read_table(folder / "german_10kgnad_test/documents.parquet")["text"].to_pylist()
        parts = [re.split(r"(?<=[a-zäöüß][.!?])\s", text, maxsplit=1) for text in texts]
        kept = [part for part in parts if len(part) == 2 and len(part[0].split()) > 3]
        return [rest for _, rest in kept], [first for first, _ in kept], [*range(len(kept))]
    table = pq.read_table(folder / "sib200/documents.parquet")
    rows = np.flatnonzero(np.array(table["lang"].to_pylist()) == name[4:])
    texts = table["text"].take(pa.array(rows)).to_pylist()
    queries, wanted = [], []
    for number, text in enumerate(texts):
        words = [word for word in re.findall(r"\w+", text) if len(word) > 3]
        if len(words) > 3:
            chosen = np.sort(rng.choice(len(words), 3, replace=False))
            queries.append(" ".join(words[place] for place in chosen))
            wanted.append(number)
    return texts, queries, wanted


def run(folder: Path, name: str, units: str) -> dict[str, object]:
    """The measures of one set, query by query."""
    if name in JUDGED:
        judged = read_judged(folder / name)
        texts, queries = judged.texts, list(judged.queries.values())
        place = {one: str(number) for number, one in enumerate(judged.ids)}
        grades = [{place[id]: g for id, g in one.items()} for one in judged.grades.values()]
    else:
        texts, queries, wanted = known_item(folder, name)
        grades = [{str(number): 1} for number in wanted]
    begin = time.process_time()
    model = dv.fit(texts, units=units, threads=1)
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as scratch:
        built = dv.build_collection(model, texts, Path(scratch) / "c.idx", threads=1)
        found["cpu_seconds"] = round(time.process_time() - begin, 2)
        found["units"] = model.info()["units"]
        found["postings"] = (
            int(built.words.words.postings.begins[-1]) if hasattr(built.words, "words") else None
        )
        found["examples"] = built.words.words.forms(8) if hasattr(built.words, "words") else None
        for mode in MODES:
            rankings = [built.best([built.query(q, 1000, by=mode)])[0].numbers for q in queries]
            scores = [
                measured([str(n) for n in r], g) for r, g in zip(rankings, grades, strict=True)
            ]
            found[mode] = [[round(s.ndcg_10, 5), round(s.recall_100, 5)] for s in scores]
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("judged", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--units", default="auto")
    parser.add_argument("sets", nargs="*", default=[*JUDGED, *KNOWN_ITEM])
    asked = parser.parse_args()
    results = {"version": dv.__version__, "units": asked.units}
    for name in asked.sets:
        found = run(asked.judged, name, asked.units)
        results[name] = found
        means = {mode: np.mean(found[mode], axis=0).round(4).tolist() for mode in MODES}
        print(
            name,
            found["units"],
            found["cpu_seconds"],
            found["postings"],
            means,
            found["examples"],
            flush=True,
        )
        asked.out.write_text(json.dumps(results))


main()
