"""How near an exported model is to its origin, in model2vec and sentence-transformers.

    python benchmarks/export.py news=news.dv:newsgroups.parquet -o benchmarks/results/export.json

Each argument is a name, a model and a corpus with a column ``text``. Ten thousand texts are drawn;
those that the exported tokenizer parts otherwise are counted, and left out of what follows: the
largest difference of any number of a vector, in float32 and float16, and how many texts differ by
more than 1e-5, with the fewest known words among these, as both libraries add up rows in float32,
one after the other. So that it is seen whose rounding that is, ours and model2vec's are also held
against the mean of the exported rows in float64. Needs model2vec and sentence-transformers.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from measuring import publish, surroundings

import deltavec as dv
from deltavec.core.learning.cooccurrence import ids_of
from deltavec.core.text.batches import as_text_batch

TEXTS = 10_000
NEAR = 1e-5


def drawn(path: str) -> list[str]:
    texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
    order = np.random.default_rng(1).permutation(len(texts))[:TEXTS]
    return [texts[place] for place in order]


def our_ids(model: dv.EmbeddingModel, text: str) -> list[int]:
    """The ids of the known words of a text, in their order."""
    found = np.concatenate(
        [
            np.zeros(0, np.int32),
            *ids_of(as_text_batch([text], model.tokenizer), model.vocabulary, 1),
        ]
    )
    return found[found >= 0].tolist()


def compared(ours: Any, theirs: Any, lengths: Any, alike: Any) -> dict[str, Any]:
    otherwise = (ours * theirs).sum(axis=1)[~alike]
    ours, theirs, lengths = ours[alike], theirs[alike], lengths[alike]
    gaps = np.abs(ours - theirs.astype(np.float32)).max(axis=1)
    far = gaps > NEAR
    return {
        "largest_difference": float(gaps.max()),
        "median_difference": float(np.median(gaps)),
        "texts_beyond_1e-5": int(far.sum()),
        "fewest_words_among_these": int(lengths[far].min()) if far.any() else None,
        "largest_difference_below_5000_words": float(gaps[lengths < 5000].max()),
        "smallest_cosine": float((ours * theirs).sum(axis=1)[lengths > 0].min()),
        "smallest_cosine_of_texts_parted_otherwise": float(otherwise.min(initial=1.0)),
        "rows_of_zeros": [int((~ours.any(axis=1)).sum()), int((~theirs.any(axis=1)).sum())],
    }


def from_the_mean(table: Any, ids: list[list[int]], found: Any) -> dict[str, Any]:
    """How far vectors are from the mean of their rows, in float64 and at unit length."""
    rows = table.astype(np.float64)
    gaps = np.zeros(len(ids))
    for number, own in enumerate(ids):
        if own:
            mean = rows[np.array(own) + 1].mean(axis=0)
            exact = mean / max(np.linalg.norm(mean), np.finfo(np.float64).tiny)
            gaps[number] = np.abs(found[number] - exact).max()
    return {"largest_difference": float(gaps.max()), "texts_beyond_1e-5": int((gaps > NEAR).sum())}


def measured(model: dv.EmbeddingModel, texts: list[str]) -> dict[str, Any]:
    from model2vec import StaticModel
    from sentence_transformers import SentenceTransformer

    ours = model.embed(texts)
    found: dict[str, Any] = {
        "words": len(model.vocabulary),
        "dimensions": model.dimensions,
        "recipe": model.recipe.name,
        "texts": len(texts),
    }
    with tempfile.TemporaryDirectory() as folder:
        for dtype in ("float32", "float16"):
            written = model.export(Path(folder) / dtype, dtype=dtype)
            static = StaticModel.from_pretrained(written.folder)
            theirs = [[one - 1 for one in ids] for ids in static.tokenize(texts)]
            lengths = np.array([len(ids) for ids in theirs])
            if dtype == "float32":
                alike = np.array(
                    [our_ids(model, text) == ids for text, ids in zip(texts, theirs, strict=True)]
                )
                found["parted_otherwise"] = int((~alike).sum())
                found["most_known_words"] = int(lengths.max())
                some = np.flatnonzero(alike)
                parted = [theirs[place] for place in some]
                found["from_the_mean_in_float64"] = {
                    name: from_the_mean(static.embedding, parted, vectors[some])
                    for name, vectors in (("deltavec", ours), ("model2vec", static.encode(texts)))
                }
            # As float32: torch divides a row of zeros by zero as float16.
            others = SentenceTransformer(str(written.folder), device="cpu").float()
            found[dtype] = {
                "largest_error_of_a_row": written.largest_error,
                "share_of_words_not_found": written.not_found,
                "model2vec": compared(ours, static.encode(texts), lengths, alike),
                "sentence-transformers": compared(ours, others.encode(texts), lengths, alike),
            }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="+", metavar="NAME=MODEL:CORPUS")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    report: dict[str, Any] = {
        **surroundings(["model2vec", "sentence-transformers", "tokenizers", "torch"]),
    }
    for problem in arguments.problems:
        name, _, paths = problem.partition("=")
        model, _, corpus = paths.partition(":")
        report[name] = measured(dv.load(model), drawn(corpus))
    publish(report, arguments.output)


if __name__ == "__main__":
    main()
