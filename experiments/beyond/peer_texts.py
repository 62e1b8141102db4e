"""Write the texts that other embedders are given, for `peer_vectors.py` to read.

Other embedders live in an environment of their own; texts go there and vectors come back as files.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from corpora import LabelledCorpus, corpus_named
from problems import SMALL_DRAWS, problems


def needed_rows(corpus: LabelledCorpus) -> np.ndarray:
    """The texts of all small problems."""
    drawn = [
        draw.places.reshape(-1)
        for problem in problems(corpus, small=True, draws=SMALL_DRAWS)
        for draw in problem.draws
    ]
    return np.unique(np.concatenate(drawn))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    arguments = parser.parse_args()
    folder = arguments.cache / "texts"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("reviews", "newsgroups", "questions", "lee"):
        corpus = corpus_named(name, arguments.data)
        rows = needed_rows(corpus).tolist()
        some = {"rows": rows, "texts": [corpus.texts[row] for row in rows]}
        everything = {"rows": list(range(len(corpus.texts))), "texts": corpus.texts}
        for which, texts in (("some", some), ("all", everything)):
            (folder / f"{name}-{which}.json").write_text(json.dumps(texts), encoding="utf-8")
        print(f"{name}: {len(corpus.texts)} texts, {len(rows)} in small problems")


if __name__ == "__main__":
    main()
