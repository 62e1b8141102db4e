"""Which units find texts of the same label, in each language of SIB-200 and in other judged sets.

For each corpus and each kind of units: fit on the texts, embed them, and count how many of the ten
nearest of each have its label (precision at 10). Beside them sparse tf-idf on character n-grams.
Errors are over resamplings: documents are drawn anew, with repeats, both queries and candidates;
the models stay. Those of gains are of the same draws.

    python measure.py sib200 documents.parquet results/sib200.json [--part 0/2]
    python measure.py corpus documents.parquet results/german.json --label label [--most 1000]

Results that exist are kept, so that an interrupted run can be continued.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from sklearn.feature_extraction.text import TfidfVectorizer

import deltavec as dv

NEAREST = 10
LISTED = 64  # enough for ten that were drawn
RESAMPLINGS = 200
ROWS_AT_ONCE = 1000
SPARSE = {"sparse": (3, 5), "sparse-2-4": (2, 4)}
KINDS = ("words", "words+grams", "grams", *SPARSE)


def nearest(similarity, documents):
    """For each document the nearest others, the nearest first."""
    found = np.empty((documents, min(LISTED, documents - 1)), np.int32)
    for begin in range(0, documents, ROWS_AT_ONCE):
        rows = np.arange(begin, min(begin + ROWS_AT_ONCE, documents))
        cosines = similarity(rows)
        cosines[np.arange(len(rows)), rows] = -2.0
        few = np.argpartition(-cosines, found.shape[1] - 1, axis=1)[:, : found.shape[1]]
        order = np.argsort(-np.take_along_axis(cosines, few, axis=1), axis=1, kind="stable")
        found[rows] = np.take_along_axis(few, order, axis=1)
    return found


def resampled(neighbors, labels):
    """The precision at 10, and that of each resampling of the documents."""
    same = labels[neighbors] == labels[:, None]
    generator = np.random.default_rng(0)  # the same draws for every kind
    every = np.empty(RESAMPLINGS)
    for place in range(RESAMPLINGS):
        drawn = generator.multinomial(len(labels), np.full(len(labels), 1 / len(labels)))
        room = np.minimum(np.cumsum(drawn[neighbors], axis=1), NEAREST)
        counted = np.diff(room, axis=1, prepend=0)
        precision = (counted * same).sum(axis=1) / np.maximum(room[:, -1], 1)
        every[place] = (drawn * precision).sum() / drawn.sum()
    return same[:, :NEAREST].mean(), every


def of_vectors(vectors):
    """The nearest documents by the cosine of unit rows."""
    return nearest(lambda rows: vectors[rows] @ vectors.T, len(vectors))


def of_model(texts, units):
    """The nearest documents of a model with these units."""
    return of_vectors(dv.fit(texts, units=units, threads=1).embed(texts, threads=1))


def of_sparse(texts, sizes):
    """The nearest documents by sparse tf-idf on character n-grams within words."""
    table = TfidfVectorizer(analyzer="char_wb", ngram_range=sizes).fit_transform(texts)
    return nearest(lambda rows: (table[rows] @ table.T).toarray(), len(texts))


def of_corpus(texts, labels, kinds):
    """All that is measured for one corpus."""
    result = {
        "documents": len(texts),
        "default": dv.fit(texts, threads=1).notes["units"].split(":")[0],
        "precision": {},
        "error": {},
    }
    drawn = {}
    for kind in kinds:
        neighbors = of_sparse(texts, SPARSE[kind]) if kind in SPARSE else of_model(texts, kind)
        precision, drawn[kind] = resampled(neighbors, labels)
        result["precision"][kind] = round(float(precision), 4)
        result["error"][kind] = spread(drawn[kind])
    for other in ("words", *SPARSE):
        if other in drawn and result["default"] in drawn:
            gain = drawn[result["default"]] - drawn[other]
            result.setdefault("error_of_gain", {})[other] = spread(gain)
    return result


def spread(values):
    """The standard deviation over resamplings, to four digits."""
    return round(float(values.std(ddof=1)), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["sib200", "corpus"])
    parser.add_argument("documents")
    parser.add_argument("output", type=Path)
    parser.add_argument("--part", default="0/1", help="which part of the languages: 0/2, 1/2")
    parser.add_argument("--label", default="label")
    parser.add_argument("--text", default="text")
    parser.add_argument("--most", type=int, default=0, help="documents to draw; all by default")
    parser.add_argument("--kinds", default=",".join(KINDS))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    frame = pq.read_table(asked.documents).to_pandas()
    frame = frame[frame[asked.label].notna()]
    if asked.kind == "sib200":
        part, parts = map(int, asked.part.split("/"))
        places = dict(enumerate(sorted(frame.lang.unique())))
        corpora = {
            name: (frame[frame.lang == name], "odd" if place % 2 else "even")
            for place, name in [*places.items()][part::parts]
        }
    else:
        if asked.most:
            frame = frame.sample(min(asked.most, len(frame)), random_state=0)
        corpora = {f"{asked.output.stem} {len(frame)}": (frame, None)}
    done = json.loads(asked.output.read_text()) if asked.output.exists() else {}
    for name, (own, place) in corpora.items():
        if name in done:
            continue
        texts, labels = own[asked.text].tolist(), own[asked.label].to_numpy()
        done[name] = of_corpus(texts, labels, asked.kinds.split(","))
        if place:
            done[name]["place"] = place
        asked.output.parent.mkdir(parents=True, exist_ok=True)
        asked.output.write_text(json.dumps(done, indent=1, sort_keys=True) + "\n")
        print(name, done[name]["precision"], flush=True)


if __name__ == "__main__":
    main()
