"""Whether the default is as good as words, and as a version before, on English text of all lengths.

    python no_worse.py run default results.json --data FOLDER [--only lee,ohsumed]
    python no_worse.py run words results.json --data FOLDER
    PYTHONPATH=OLDER/src python no_worse.py run default older.json --data FOLDER
    python no_worse.py compare default.json words.json older.json > results/no_worse.json

FOLDER holds reviews, newsgroups and duplicate_questions (Parquet), and judged/reuters21578 and
judged/ohsumed; Lee's stories come with gensim. Draws of documents are the same in every run, so
that differences are paired. Of the reviews, 30,000 are drawn at random for the fit, and all those
of attractions are a corpus of their own; everything else is read whole. Only names that users call
are used, so that a version before runs the same file.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from sklearn.metrics import roc_auc_score

import deltavec as dv

DRAWS = 20
BOOTSTRAPS = 200
NEAREST = 10
SAMPLED = 30_000
ASKING = 3_000  # documents of which the nearest are looked for, where the error is over documents


def fitted(texts, units):
    """The model of these texts, of these units; a version before knows none."""
    chosen = {} if units == "default" else {"units": units}
    return dv.fit(texts, **chosen)


def groups(texts, labels, model, texts_each, documents, least):
    """The AUC over pairs of documents of so many texts of one label, for each draw."""
    scores = []
    names = [
        name
        for name, often in zip(*np.unique(labels, return_counts=True), strict=True)
        if often >= least
    ]
    for draw in range(DRAWS):
        generator = np.random.default_rng(draw)
        joined, own = [], []
        for name in names:
            places = generator.permutation(np.flatnonzero(labels == name))
            for number in range(min(documents, len(places) // texts_each)):
                some = places[number * texts_each : (number + 1) * texts_each]
                joined.append("\n".join(texts[place] for place in some))
                own.append(name)
        vectors = model.for_collection(joined).embed(joined)
        scores.append(float(dv.pairwise_auc(vectors, np.array(own))))
    return scores


def pairs(frame, model):
    """The AUC of the cosines of judged pairs, resampled."""
    both = [*frame.text_a, *frame.text_b]
    vectors = model.for_collection(both).embed(both)
    cosines = (vectors[: len(frame)] * vectors[len(frame) :]).sum(axis=1)
    labels = frame.label.to_numpy()
    scores = []
    for draw in range(BOOTSTRAPS):
        generator = np.random.default_rng(draw)
        some = np.concatenate(
            [
                generator.choice(np.flatnonzero(labels == kind), (labels == kind).sum())
                for kind in (0, 1)
            ]
        )
        scores.append(float(roc_auc_score(labels[some], cosines[some])))
    return scores


def topics(texts, labels, model):
    """The share of the ten nearest with the same label, resampled over those that ask."""
    vectors = model.for_collection(texts).embed(texts)
    asking = np.random.default_rng(0).permutation(len(texts))[:ASKING]
    cosines = vectors[asking] @ vectors.T
    cosines[np.arange(len(asking)), asking] = -2
    found = np.argpartition(-cosines, NEAREST, axis=1)[:, :NEAREST]
    each = (labels[found] == labels[asking, None]).mean(axis=1)
    return [
        float(each[np.random.default_rng(draw).integers(0, len(each), len(each))].mean())
        for draw in range(BOOTSTRAPS)
    ]


def lee(units):
    """The correlation with people over pairs of Lee's stories, resampled over stories."""
    from gensim.test.utils import datapath

    background = Path(datapath("lee_background.cor")).read_text("latin-1").splitlines()
    stories = Path(datapath("lee.cor")).read_text("latin-1").splitlines()
    judged = np.loadtxt(datapath("similarities0-1.txt"))
    judged = np.maximum(judged, judged.T)  # the file has one half
    model = fitted([*background, *stories], units)
    other = fitted(background, units)
    found = {}
    for name, own in (
        ("lee, fitted on all stories", model),
        ("the same, as a collection", model.for_collection(stories)),
        ("lee, fitted on the others", other),
        ("the same others, as a collection", other.for_collection(stories)),
    ):
        vectors = own.embed(stories)
        cosines = vectors @ vectors.T
        scores = []
        for draw in range(BOOTSTRAPS):
            some = np.random.default_rng(draw).integers(0, len(stories), len(stories))
            first, second = np.triu_indices(len(some), 1)
            a, b = some[first], some[second]
            different = a != b
            a, b = a[different], b[different]
            scores.append(float(np.corrcoef(cosines[a, b], judged[a, b])[0, 1]))
        found[name] = scores
    return model, found


def reviews(data, units):
    """Hotels and restaurants in a sample of all reviews."""
    frame = pq.read_table(data / "reviews.parquet").to_pandas()
    frame = frame.sample(SAMPLED, random_state=0).reset_index(drop=True)
    model = fitted(frame.text.tolist(), units)
    found = {}
    for kind, least in (("hotel", 200), ("restaurant", 60)):
        own = frame[frame.kind == kind]
        texts, labels = own.text.tolist(), own.location.to_numpy()
        for k in (1, 4):
            found[f"{kind}s, {k} each"] = groups(texts, labels, model, k, 12, least)
    return model, found


def attractions(data, units):
    """Attractions, whole."""
    frame = pq.read_table(data / "reviews.parquet").to_pandas()
    frame = frame[frame.kind == "attraction"]
    texts, labels = frame.text.tolist(), frame.location.to_numpy()
    model = fitted(texts, units)
    return model, {
        f"attractions, {k} each": groups(texts, labels, model, k, 25, 100) for k in (1, 4)
    }


def newsgroups(data, units):
    """Newsgroups, whole."""
    frame = pq.read_table(data / "newsgroups.parquet").to_pandas()
    texts, labels = frame.text.tolist(), frame.group.to_numpy()
    model = fitted(texts, units)
    return model, {f"newsgroups, {k} each": groups(texts, labels, model, k, 40, 0) for k in (1, 4)}


def questions(forum):
    """One forum of duplicate questions, whole."""

    def measured(data, units):
        frame = pq.read_table(data / "duplicate_questions.parquet").to_pandas()
        frame = frame[frame.forum == forum]
        model = fitted([*frame.text_a, *frame.text_b], units)
        return model, {f"questions, {forum}": pairs(frame, model)}

    return measured


def labelled(name):
    """A judged set of documents with one label each, fitted whole."""

    def measured(data, units):
        frame = pq.read_table(data / "judged" / name / "documents.parquet").to_pandas()
        model = fitted(frame.text.tolist(), units)
        own = frame[frame.label.notna()]
        return model, {name: topics(own.text.tolist(), own.label.to_numpy(), model)}

    return measured


CORPORA = {
    "lee": lambda data, units: lee(units),
    "askubuntu": questions("askubuntu"),
    "meta": questions("meta_stackexchange"),
    "english": questions("english_stackexchange"),
    "attractions": attractions,
    "ohsumed": labelled("ohsumed"),
    "reuters": labelled("reuters21578"),
    "newsgroups": newsgroups,
    "reviews": reviews,
}


def run(asked) -> None:
    """Measure every corpus that is not there yet."""
    done = json.loads(asked.output.read_text()) if asked.output.exists() else {}
    for name in asked.only.split(",") if asked.only else CORPORA:
        if name in done:
            continue
        begin = time.process_time()
        model, scores = CORPORA[name](asked.data, asked.units)
        done[name] = {
            "units": model.info().get("units", "words: no others are known"),
            "scores": scores,
            "seconds": round(time.process_time() - begin, 1),
        }
        asked.output.write_text(json.dumps(done))
        shown = {task: round(float(np.mean(each)), 4) for task, each in scores.items()}
        print(name, done[name]["units"], shown, done[name]["seconds"], flush=True)


def compare(paths) -> None:
    """Print, for each task, the mean of each run, and the first one's gain with its error."""
    runs = {path.stem: json.loads(path.read_text()) for path in paths}
    first, *others = runs
    result = {}
    for name, own in runs[first].items():
        for task, scores in own["scores"].items():
            entry = {"units": own["units"], "means": {first: round(float(np.mean(scores)), 4)}}
            for other in others:
                there = runs[other][name]["scores"][task]
                gains = np.array(scores) - np.array(there)
                # Draws of documents are repeats; resamplings are the error itself.
                error = gains.std(ddof=1) / (np.sqrt(DRAWS) if len(gains) == DRAWS else 1)
                entry["means"][other] = round(float(np.mean(there)), 4)
                entry[f"gain over {other}"] = round(float(gains.mean()), 4)
                entry[f"its error, {other}"] = round(float(error), 4)
            result[task] = entry
    print(json.dumps(result, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("units", choices=["default", "words"])
    running.add_argument("output", type=Path)
    running.add_argument("--data", type=Path, required=True)
    running.add_argument("--only")
    comparing = commands.add_parser("compare")
    comparing.add_argument("runs", type=Path, nargs="+")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    run(asked) if asked.command == "run" else compare(asked.runs)


if __name__ == "__main__":
    main()
