"""The table a user wants, quality: every method on the same resamplings of every problem."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from corpora import CORPORA, FORUMS, PARTS, corpus_named
from methods import REMOVED, Comparison, without_common
from outcomes import RESULTS, keep, kept
from problems import SMALL_DRAWS, Draw, Problem, Vectors, problems

DRAWS = 5
# doc2vec infers slowly: fewer draws where documents are many and long.
DOC2VEC_DRAWS = {"hotel k=12": 2}

Scored = Iterator[tuple[str, list[float]]]


def one(name: str, embed: Callable[[Draw], Vectors], *, removed: bool = False) -> Callable:
    """Scores a method; with ``removed`` also without what its documents have in common."""

    def scored(problem: Problem) -> Scored:
        plain: list[float] = []
        without: list[float] = []
        for draw in problem.draws:
            vectors = embed(draw)
            plain += draw.scores(vectors)
            if removed:
                without += draw.scores(without_common(vectors))
        yield name, plain
        if removed:
            yield name + REMOVED, without

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

    return scored


def doc2vec(comparison: Comparison, posed: list[Problem]) -> Callable[[Problem], Scored]:
    """Scores doc2vec, trained once for all problems of a corpus."""
    draws = {
        (problem.name, place): draw
        for problem in posed
        for place, draw in enumerate(problem.draws[: DOC2VEC_DRAWS.get(problem.name, DRAWS)])
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
    comparison: Comparison, posed: list[Problem]
) -> dict[str, Callable[[], Callable[[Problem], Scored]]]:
    """How each group of methods is scored, made when it is wanted."""
    return {
        "spectral": lambda: one("spectral", comparison.spectral),
        "alone": lambda: one("spectral, alone", comparison.spectral_alone),
        "guessed": lambda: one("spectral, guessed", comparison.spectral_guessed),
        "own-centre": lambda: one("spectral, own centre", comparison.spectral_own_centre),
        "corpus-centre": lambda: one(
            "spectral, centre of the corpus", comparison.spectral_corpus_centre
        ),
        "as-fitted": lambda: one("spectral, as fitted", comparison.spectral_as_fitted),
        "tf-idf": lambda: one("tf-idf", lambda draw: comparison.tfidf(draw, 1.0)),
        "tf-idf2": lambda: one("tf-idf2", lambda draw: comparison.tfidf(draw, 2.0)),
        "lsa": lambda: one("lsa", comparison.lsa),
        "ppmi": lambda: recipes(comparison, "ppmi"),
        "word2vec": lambda: recipes(comparison, "word2vec"),
        "potion": lambda: one("potion-base-8M", comparison.potion, removed=True),
        "minilm": lambda: one("MiniLM", comparison.minilm, removed=True),
        "doc2vec": lambda: doc2vec(comparison, posed),
    }


def table_of(corpus: str, small: bool) -> str:
    """The table that a corpus' scores go into; mixed reviews and parts have one of their own."""
    if small:
        return "small"
    if corpus in PARTS:
        return "part"
    return "mixed" if corpus == "reviews" else "table"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the data files")
    parser.add_argument("corpus", choices=CORPORA)
    parser.add_argument("methods", nargs="*", help="spectral tf-idf lsa ... (see the code)")
    parser.add_argument("--small", action="store_true", help="the problems MiniLM can do")
    parser.add_argument("--cache", type=Path, required=True, help="a folder outside the repository")
    arguments = parser.parse_args()
    corpus = corpus_named(arguments.corpus, arguments.data)
    draws = SMALL_DRAWS if arguments.small else DRAWS
    posed = list(problems(corpus, small=arguments.small, draws=draws))
    wider = corpus_named("questions", arguments.data) if corpus.name in FORUMS else None
    known = methods(Comparison(corpus, arguments.cache, wider), posed)
    name = f"{table_of(corpus.name, arguments.small)}-{corpus.name}"
    begun = time.perf_counter()
    for wanted in arguments.methods:
        scored = known[wanted]()
        found = [
            (method, problem.name, scores)
            for problem in posed
            for method, scores in scored(problem)
        ]
        # Read only now: another run may have added its methods meanwhile.
        outcome = kept(name) if (RESULTS / f"{name}.json").exists() else {}
        for method, problem_name, scores in found:
            outcome.setdefault(method, {})[problem_name] = scores
        keep(name, outcome)
        print(f"{time.perf_counter() - begun:.0f} s: {wanted}", flush=True)


if __name__ == "__main__":
    main()
