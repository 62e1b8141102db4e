"""Does knowledge from elsewhere help? `deltavec.fit` with potion-base-8M's vectors as prior.

    python prior.py DATA POTION_FOLDER CORPUS ...

Compared on the same resamplings with what compare.py found without them.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from compare import DRAWS
from corpora import CORPORA, corpus_named
from outcomes import keep
from problems import problems
from safetensors.numpy import load_file

import deltavec as dv


def potion(folder: Path) -> dv.WordVectors:
    """The whole words among potion's tokens."""
    tokens = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    rows = load_file(folder / "model.safetensors")["embeddings"]
    words = [word for word in tokens if word.isalnum() and rows[tokens[word]].any()]
    return dv.WordVectors(words, rows[[tokens[word] for word in words]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder with the data files")
    parser.add_argument("potion", type=Path, help="the folder of potion-base-8M")
    parser.add_argument("corpora", nargs="+", choices=CORPORA)
    arguments = parser.parse_args()
    vectors = potion(arguments.potion)
    for name in arguments.corpora:
        corpus = corpus_named(name, arguments.data)
        model = dv.fit(corpus.texts, prior=vectors)
        print(name, model.notes["prior"], flush=True)
        found = {}
        for problem in problems(corpus, draws=DRAWS):
            scores = found.setdefault(problem.name, [])
            for draw in problem.draws:
                documents = [
                    " ".join(corpus.texts[place] for place in places)
                    for places in draw.places.tolist()
                ]
                scores += draw.scores(model.for_collection(documents).embed(documents))
        keep(f"prior-{name}", {"note": model.notes["prior"], "spectral, prior": found})


if __name__ == "__main__":
    main()
