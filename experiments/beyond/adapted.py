"""Transfer again: what a model of other text and the documents compared give together.

    python adapted.py DATA TARGET ... --cache CACHE [--quick]

What is in the results already is not done again.

Nothing is known of the target but the documents that are compared, a few hundred mostly.

transferred   the model of other text, `for_collection` of the documents
tf-idf        sparse, with the idf of the documents (2: squared; whole: with the idf of the whole
              corpus that they come from)
own           `deltavec.fit` of the documents, and `for_collection`
own, words    the same, counted in words
adapted       the same with the other model's rows as prior vectors, if halves say that they help
always        the same, whatever halves say

Prior vectors were tried where documents are single texts. Models of hotels and of all reviews are
fitted on 20,000 documents drawn at random.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
from basis import texts_of
from corpora import LabelledCorpus, corpus_named
from outcomes import RESULTS, keep, kept
from problems import Draw, Vectors, counts_of, problems
from transfer import DRAWS, TRANSFERS

import deltavec as dv
from deltavec.core.learning import spectral
from deltavec.core.weights import idf
from deltavec.lab.baselines import tfidf

SOURCE_DOCUMENTS = 20_000
# Not among the 28: other fields, and short texts.
CONFIRMED = (
    ("newsgroups", "ohsumed"),
    ("reviews", "ohsumed"),
    ("newsgroups", "reuters"),
    ("reviews", "reuters"),
    ("newsgroups", "eng_Latn"),
    ("reviews", "eng_Latn"),
)


def source_model(name: str, data: Path, cache: Path) -> dv.EmbeddingModel:
    """The model of other text."""
    path = cache / "sources" / f"{name}.dv"
    if not path.exists():
        texts = corpus_named(name, data).texts
        rows = np.random.default_rng(0).permutation(len(texts))[:SOURCE_DOCUMENTS]
        path.parent.mkdir(parents=True, exist_ok=True)
        dv.fit([texts[row] for row in np.sort(rows).tolist()]).save(path)
    return dv.load(path)


def words_of(model: dv.EmbeddingModel) -> dv.WordVectors:
    """The rows of a model as word vectors."""
    return dv.WordVectors(model.vocabulary.words, model.folded.rows)


def alone(
    target: LabelledCorpus, draw: Draw, documents: list[str]
) -> Iterator[tuple[str, Vectors]]:
    """What needs no other text."""
    counts = counts_of(target, draw)
    often = np.asarray((counts > 0).sum(axis=0)).reshape(-1)
    own = np.log(len(documents) / np.maximum(often, 1))
    whole = idf(target.words.statistics)
    yield "tf-idf", tfidf(counts, own, power=1.0)
    yield "tf-idf2", tfidf(counts, own, power=2.0)
    yield "tf-idf, whole", tfidf(counts, whole, power=1.0)
    yield "tf-idf2, whole", tfidf(counts, whole, power=2.0)
    model = dv.fit(documents)
    yield "own", model.for_collection(documents).embed(documents)
    if not model.notes["units"].startswith("words:"):  # what prior vectors are added to
        model = dv.fit(documents, units="words")
    yield "own, words", model.for_collection(documents).embed(documents)


def taken_always(documents: list[str], prior: dv.WordVectors) -> dv.EmbeddingModel:
    """The fit with prior vectors, whatever halves say of them."""
    with mock.patch.object(spectral, "asked", return_value=(True, "used: always")):
        return dv.fit(documents, prior=prior, units="words")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder with the data files")
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--cache", type=Path, required=True, help="a folder outside the repository")
    parser.add_argument("--quick", action="store_true", help="without prior vectors")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.targets:
        target = corpus_named(name, arguments.data)
        sources = [source for source, to in (*TRANSFERS, *CONFIRMED) if to == name]
        models = {
            source: source_model(source, arguments.data, arguments.cache) for source in sources
        }
        prior = {source: words_of(model) for source, model in models.items()}
        for problem in problems(target, draws=DRAWS):
            if (RESULTS / "adapted.json").exists() and problem.name in kept("adapted"):
                continue
            begun = time.process_time()
            found: dict[str, dict[str, list[float]]] = {}
            notes: dict[str, list[str]] = {}

            def scored(source: str, way: str, draw: Draw, vectors: Vectors) -> None:
                scores = found.setdefault(source, {}).setdefault(way, [])  # noqa: B023
                scores += draw.scores(vectors)

            for draw in problem.draws:
                documents = texts_of(target, draw)
                for way, vectors in alone(target, draw, documents):
                    scored("alone", way, draw, vectors)
                for source, model in models.items():
                    scored(
                        source,
                        "transferred",
                        draw,
                        model.for_collection(documents).embed(documents),
                    )
                    if arguments.quick or draw.places.shape[1] > 1:
                        continue
                    adapted = dv.fit(documents, prior=prior[source], units="words")
                    always = adapted
                    if adapted.notes["prior"].startswith("not"):
                        always = taken_always(documents, prior[source])
                    for way, made in (("adapted", adapted), ("always", always)):
                        vectors = made.for_collection(documents).embed(documents)
                        scored(source, way, draw, vectors)
                    notes.setdefault(source, []).append(adapted.notes["prior"].split(":")[0])
            outcome = kept("adapted") if (RESULTS / "adapted.json").exists() else {}
            outcome[problem.name] = found | {"prior": notes}
            keep("adapted", outcome)
            print(problem.name, round(time.process_time() - begun), flush=True)


if __name__ == "__main__":
    main()
