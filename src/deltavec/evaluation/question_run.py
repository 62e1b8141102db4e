"""A run of the duplicate-questions benchmark: finished parts from the cache, the rest computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deltavec.core.vectors import WordVectors
from deltavec.evaluation.forums import Forum
from deltavec.evaluation.problems_cache import OWN_PACKAGES, Part, ProblemsCache
from deltavec.evaluation.question_methods import (
    BASELINES,
    Background,
    ForumWords,
    Method,
    methods,
)
from deltavec.evaluation.results import Problem, Results
from deltavec.evaluation.review_settings import require_number, require_one_of
from deltavec.evaluation.review_words import weight_curve
from deltavec.training import METHODS


@dataclass(frozen=True)
class QuestionSettings:
    """The options of the benchmark; see `duplicate_questions.py`."""

    most_pairs: int
    seed: int
    vectors_method: str
    skip: tuple[str, ...]
    tokenizer: str

    def __post_init__(self) -> None:
        require_number("most_pairs", self.most_pairs, 2)
        require_number("seed", self.seed, 0)
        require_one_of("vectors_method", self.vectors_method, METHODS)
        for name in self.skip:
            require_one_of("skip", name, BASELINES)


def sizes(forums: Sequence[Forum]) -> list[int]:
    """How many questions each forum has."""
    return [len(forum.questions) for forum in forums]


@dataclass(frozen=True, eq=False)
class Run:
    """All that a run of the benchmark works with.

    Attributes
    ----------
    settings : QuestionSettings
        What is asked for.
    forums : list of Forum
        The problems.
    data : Mapping
        What they were read from, and a hash of them.
    background : Background
        What comes from the text of all of them.
    vectors : WordVectors
        The word vectors.
    vectors_name : str
        Where they came from.
    cache : ProblemsCache
        What is finished.
    """

    settings: QuestionSettings
    forums: Sequence[Forum]
    data: Mapping[str, Any]
    background: Background
    vectors: WordVectors
    vectors_name: str
    cache: ProblemsCache

    def part(self, forum: Forum, method: Method) -> Part:
        """A method on a forum, as the cache knows it."""
        settings = self.settings
        origin = {
            "data": self.data["sha256"],
            "forum": forum.name,
            "most_pairs": settings.most_pairs,
            "seed": settings.seed,
            "tokenizer": settings.tokenizer,
        }
        # A forum's name may hold what no file's name can.
        name = f"forum{list(self.forums).index(forum) + 1:02}-{method.name}"
        return Part(name, origin | dict(method.origin), (*OWN_PACKAGES, *method.packages))


def evaluated(
    run: Run,
    *,
    begin: Callable[[str], None],
    reach: Callable[[float], None],
    notice: Callable[[str], None],
    report: Callable[[Results], None],
) -> Results:
    """The results of a run, forum by forum; ``report`` is given what is there after each."""
    begins = np.cumsum([0, *sizes(run.forums)]).tolist()
    chosen = methods(run.vectors, run.settings.skip, run.background.embedder)
    problems: list[Problem] = []
    for forum, first in zip(run.forums, begins, strict=False):
        for what, times in forum.notes.items():
            notice(f"{forum.name}: {times:,} {what}")
        begin(f"evaluating {forum.name}")
        reach(0.0)
        pairs = forum.pairs(run.settings.most_pairs, run.settings.seed)
        here = ForumWords(forum, first, run.background, pairs)
        outcomes = []
        for place, method in enumerate(chosen, 1):
            part = run.part(forum, method)
            outcome = run.cache.get(part)
            if outcome is None:
                outcome = asdict(method.run(here))
                run.cache.put(part, outcome)
            outcomes.append(outcome)
            reach(place / len(chosen))
        problems.append(problem_of(here, outcomes))
        results = results_of(run, problems)
        report(results)
    return results


def problem_of(forum: ForumWords, outcomes: Sequence[Mapping[str, Any]]) -> Problem:
    """A row of the table, from what each method found."""
    scores: dict[str, float] = {}
    seconds: dict[str, float] = {}
    details: dict[str, Any] = {
        "questions": len(forum.forum.questions),
        "pairs": len(forum.pairs),
        "pairs_possible": forum.pairs.possible,
        "duplicates": int(forum.pairs.positive.sum()),
    }
    for outcome in outcomes:
        scores |= outcome["scores"]
        details |= outcome["facts"]
        for step, taken in outcome["seconds"].items():
            seconds[step] = round(seconds.get(step, 0.0) + taken, 3)
    details |= {"notes": dict(forum.forum.notes)} if forum.forum.notes else {}
    return Problem(forum.forum.name, scores, forum.lengths, details | {"seconds": seconds})


def results_of(run: Run, problems: Sequence[Problem]) -> Results:
    """The results so far."""
    statistics = run.background.words.statistics.taken(run.background.columns)
    embedder = run.background.embedder
    return Results(
        experiment="duplicate-questions",
        measure="ROC AUC",
        problems=tuple(problems),
        settings=asdict(run.settings)
        | {
            "skip": list(run.settings.skip),
            "embedder": embedder and embedder.name,
            "vectors": run.vectors_name,
            "vectors_dimensions": run.vectors.dimensions,
            "vectors_fingerprint": run.vectors.fingerprint,
        },
        data=dict(run.data)
        | {
            "questions": statistics.documents,
            "words": statistics.tokens,
            "words_with_vectors": len(run.background.vectors),
            "coverage": statistics.coverage,
        },
        curve=weight_curve(statistics),
        complete=len(problems) == len(run.forums),
    )
