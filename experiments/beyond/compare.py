"""Quality of every method on the same resamplings of every problem.

    python compare.py DATA CORPUS METHOD ... --cache CACHE [--small] [--prior POTION_FOLDER]

The scores of all resamplings stay in CACHE; their means, standard errors and paired differences
go to ``results/comparison.json``. ``tables.py`` then fills the pages.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from corpora import CORPORA, FORUMS, corpus_named
from methods import REMOVED, Comparison, potion_words, without_common
from problems import SMALL_DRAWS, Draw, Problem, Vectors, difference, estimate, problems

DRAWS = 5
# doc2vec infers slowly: fewer draws where documents are many and long.
DOC2VEC_DRAWS = {"hotel k=12": 2}
RESULTS = Path(__file__).parent / "results" / "comparison.json"
OURS = "spectral"

Scored = Iterator[tuple[str, list[float]]]


def one(name: str, embed: Callable[[Draw], Vectors], *, removed: bool = False) -> Callable:
    """Scores a method; with ``removed`` also without the common component."""

    def scored(problem: Problem) -> Scored:
        yield name, problem.scores(embed)
        if removed:
            yield name + REMOVED, problem.scores(lambda draw: without_common(embed(draw)))

    return scored


def recipes(comparison: Comparison, method: str) -> Callable[[Problem], Scored]:
    """Scores the paper's recipes with word vectors of one method."""
    vectors = comparison.word_vectors(method)

    def scored(problem: Problem) -> Scored:
        scores: dict[str, list[float]] = {}
        for draw in problem.draws:
            for variant in comparison.recipes(draw, vectors):
                found = scores.setdefault(f"{variant.name}, {method}", [])
                found += draw.scores(variant.vectors)
        yield from scores.items()
        yield (
            f"best of the paper's 18, {method}",
            max(scores.values(), key=lambda found: estimate(found, problem.bootstrap).mean),
        )

    return scored


def doc2vec(comparison: Comparison, posed: list[Problem]) -> Callable[[Problem], Scored]:
    """Scores doc2vec, trained once for all problems of a corpus."""
    draws = {
        (problem.name, number): draw
        for problem in posed
        for number, draw in enumerate(problem.draws[: DOC2VEC_DRAWS.get(problem.name, DRAWS)])
    }
    vectors = dict(zip(draws, comparison.doc2vec(list(draws.values())), strict=True))

    def scored(problem: Problem) -> Scored:
        own = [key for key in draws if key[0] == problem.name]
        yield "doc2vec", [score for key in own for score in draws[key].scores(vectors[key])]
        yield (
            "doc2vec" + REMOVED,
            [score for key in own for score in draws[key].scores(without_common(vectors[key]))],
        )

    return scored


def methods(
    comparison: Comparison, posed: list[Problem], prior: Path | None
) -> dict[str, Callable[[], Callable[[Problem], Scored]]]:
    """How each group of methods is scored, made when it is wanted."""
    return {
        "spectral": lambda: one(OURS, comparison.spectral),
        "as-fitted": lambda: one("spectral, as fitted", comparison.spectral_as_fitted),
        "prior": lambda: one("spectral, prior", comparison.with_prior(potion_words(prior))),
        "tf-idf": lambda: one("sparse tf-idf", lambda draw: comparison.tfidf(draw, 1.0)),
        "tf-idf2": lambda: one(
            "sparse tf-idf, idf squared", lambda draw: comparison.tfidf(draw, 2.0)
        ),
        "lsa": lambda: one("LSA 300", comparison.lsa),
        "ppmi": lambda: recipes(comparison, "ppmi"),
        "word2vec": lambda: recipes(comparison, "word2vec"),
        "potion": lambda: one("potion-base-8M", comparison.potion, removed=True),
        "minilm": lambda: one("MiniLM", comparison.minilm, removed=True),
        "doc2vec": lambda: doc2vec(comparison, posed),
    }


def read(path: Path) -> Any:
    """A JSON file; an empty object if there is none."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def summarize(raw: dict[str, dict[str, list[float]]], posed: list[Problem], table: str) -> None:
    """Write means, errors and paired differences of all scores into the results."""
    results = read(RESULTS)
    scores = results.setdefault("scores", {}).setdefault(table, {})
    leads = results.setdefault("spectral ahead of", {}).setdefault(table, {})
    for problem in posed:
        ours = raw.get(OURS, {}).get(problem.name)
        for method, by_problem in raw.items():
            if problem.name in by_problem:
                found = by_problem[problem.name]
                score = estimate(found, problem.bootstrap)
                scores.setdefault(method, {})[problem.name] = [round(x, 5) for x in score]
                if ours and method != OURS:
                    lead = difference(ours, found, problem.bootstrap)
                    leads.setdefault(method, {})[problem.name] = [round(x, 5) for x in lead]
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder with the data files")
    parser.add_argument("corpus", choices=CORPORA)
    parser.add_argument("methods", nargs="+", help="spectral tf-idf lsa ... (see the code)")
    parser.add_argument("--small", action="store_true", help="the problems MiniLM can do")
    parser.add_argument("--prior", type=Path, help="the folder of potion-base-8M")
    parser.add_argument("--cache", type=Path, required=True, help="a folder outside the repository")
    arguments = parser.parse_args()
    corpus = corpus_named(arguments.corpus, arguments.data)
    draws = SMALL_DRAWS if arguments.small else DRAWS
    posed = list(problems(corpus, small=arguments.small, draws=draws))
    wider = corpus_named("questions", arguments.data) if corpus.name in FORUMS else None
    known = methods(Comparison(corpus, arguments.cache, wider), posed, arguments.prior)
    table = "small" if arguments.small else "mixed file" if corpus.name == "reviews" else "own fit"
    kept = arguments.cache / "scores" / f"{table}-{corpus.name}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    raw = read(kept)
    begun = time.perf_counter()
    for wanted in arguments.methods:
        scored = known[wanted]()
        for problem in posed:
            for method, scores in scored(problem):
                raw.setdefault(method, {})[problem.name] = scores
        kept.write_text(json.dumps(raw), "utf-8")
        print(f"{time.perf_counter() - begun:.0f} s: {wanted}", flush=True)
    summarize(raw, posed, table)


if __name__ == "__main__":
    main()
