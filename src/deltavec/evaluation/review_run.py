"""A run of the review benchmark: what is finished is taken from the cache, the rest is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.vectors import WordVectors
from deltavec.evaluation.baselines import Embedder
from deltavec.evaluation.problems_cache import OWN_PACKAGES, Part, ProblemsCache
from deltavec.evaluation.results import Lengths, Problem, Results, WeightCurve
from deltavec.evaluation.review_background import Background
from deltavec.evaluation.review_methods import Method, Stopwatch, methods
from deltavec.evaluation.review_sample import Reviewed, Sample
from deltavec.evaluation.review_settings import ReviewSettings
from deltavec.evaluation.review_words import Documents, weight_curve
from deltavec.io.corpora import Corpus


@dataclass(frozen=True, eq=False)
class Run:
    """All that a run of the benchmark works with.

    Attributes
    ----------
    corpus : Corpus
        The file.
    settings : ReviewSettings
        What is asked for.
    found : Reviewed
        What the file is about.
    sample : Sample
        The locations that were chosen.
    vectors : WordVectors
        The word vectors.
    vectors_name : str
        Where they came from.
    embedder : Embedder or None
        The user's own.
    cache : ProblemsCache
        What is finished.
    threads : int or None
        How many cores to use.
    clock : Stopwatch
        How long the preparation took.
    """

    corpus: Corpus
    settings: ReviewSettings
    found: Reviewed
    sample: Sample
    vectors: WordVectors
    vectors_name: str
    embedder: Embedder | None
    cache: ProblemsCache
    threads: int | None
    clock: Stopwatch

    def rows(self, k: int) -> npt.NDArray[np.int64]:
        """The reviews of each document of a problem."""
        return self.sample.documents(k, self.settings.documents_per_location, self.settings.seed)

    def background(self, begin: Callable[[str], None]) -> Background:
        """What is learned from the whole file."""
        drawn = np.unique(np.concatenate([self.rows(k).reshape(-1) for k in self.settings.ks]))
        return Background(
            self.corpus,
            drawn,
            self.vectors,
            self.settings,
            reviews=self.found.reviews,
            embedder=self.embedder,
            threads=self.threads,
            begin=begin,
        )


class Step(NamedTuple):
    """A method on a problem, and what the cache knows it by."""

    k: int
    method: Method
    part: Part


def evaluated(
    run: Run,
    *,
    begin: Callable[[str], None],
    reach: Callable[[float], None],
    notice: Callable[[str], None],
    report: Callable[[Results], None],
) -> Results:
    """The results of a run, problem by problem; ``report`` is given what is there after each."""
    steps = planned(run)
    finished = [run.cache.get(step.part) for step in steps]
    missing = [step for step, outcome in zip(steps, finished, strict=True) if outcome is None]
    if len(missing) < len(steps):
        notice(f"{len(steps) - len(missing)} of {len(steps)} parts are there from an earlier run")
    background = run.background(begin)
    facts = prepared(run, background, missing)
    begin("evaluating")
    work = Work(sum(step.method.cost(step.k) for step in missing), reach)
    background.within = work.within
    problems: list[Problem] = []
    for k in run.settings.ks:
        outcomes = []
        documents: Documents | None = None
        for step, outcome in zip(steps, finished, strict=True):
            if step.k != k:
                continue
            if outcome is None:
                documents = documents or documents_of(run, background, k)
                with work.of(step.method.cost(k)):
                    outcome = asdict(step.method.run(documents, background))
                run.cache.put(step.part, outcome)
            outcomes.append(outcome)
        problems.append(problem_of(k, outcomes))
        report(results_of(run, problems, facts))
    return results_of(run, problems, facts)


class Work:
    """How much of the work is done, in the unit in which methods tell their cost."""

    def __init__(self, total: float, reach: Callable[[float], None]) -> None:
        self.total, self.reach = total, reach
        self.done = self.current = 0.0

    @contextmanager
    def of(self, cost: float) -> Iterator[None]:
        """A step that costs so much; it is done in the end."""
        self.current = cost
        yield
        self.done += cost
        self.reach(self.done / self.total)

    def within(self, fraction: float) -> None:
        """So much of the current step is done."""
        self.reach((self.done + fraction * self.current) / self.total)


def prepared(run: Run, background: Background, missing: Sequence[Step]) -> dict[str, Any]:
    """The facts about the file, once all is learned from it that the missing steps need."""
    needs = dict.fromkeys(need for step in missing for need in step.method.needs)
    for need in needs:
        with run.clock.timed(need):
            getattr(background, need)
    return corpus_facts(run, background)


def planned(run: Run) -> list[Step]:
    """Every method on every problem that it is asked for, problem by problem."""
    settings = run.settings
    drawn = {
        "data": run.found.digest,
        "locations": [location.name for location in run.sample.locations],
        "documents_per_location": settings.documents_per_location,
        "seed": settings.seed,
        "tokenizer": settings.tokenizer,
    }
    return [
        Step(
            k,
            method,
            Part(
                f"k{k:02}-{method.name}",
                drawn | {"k": k} | dict(method.origin),
                (*OWN_PACKAGES, *method.packages),
            ),
        )
        for k in settings.ks
        for method in methods(settings, run.vectors, run.embedder)
        if method.ks is None or k in method.ks
    ]


def documents_of(run: Run, background: Background, k: int) -> Documents:
    """The documents of a problem."""
    words = background.words
    labels = run.sample.labels(run.settings.documents_per_location)
    return Documents(words, words.places(run.rows(k)), labels)


def corpus_facts(run: Run, background: Background) -> dict[str, Any]:
    """How many words the file holds, and the weights of some of them."""
    part = Part(
        "corpus",
        {
            "data": run.found.digest,
            "vectors": run.vectors.fingerprint,
            "tokenizer": run.settings.tokenizer,
        },
    )
    facts = run.cache.get(part)
    if facts is None:
        known = background.known
        facts = {
            "words": known.statistics.tokens,
            "distinct_words": len(background.words.vocabulary),
            "words_with_vectors": len(known.vectors),
            "coverage": known.statistics.coverage,
            "curve": weight_curve(known.statistics)._asdict(),
        }
        run.cache.put(part, facts)
    return facts


def problem_of(k: int, outcomes: Sequence[dict[str, Any]]) -> Problem:
    """A row of the table, from what each method found."""
    scores: dict[str, float] = {}
    seconds: dict[str, float] = {}
    facts: dict[str, Any] = {}
    for outcome in outcomes:
        scores |= outcome["scores"]
        facts |= outcome["facts"]
        for step, taken in outcome["seconds"].items():
            seconds[step] = round(seconds.get(step, 0.0) + taken, 3)
    lengths = Lengths(**facts.pop("lengths"))
    return Problem(str(k), scores, lengths, facts | {"seconds": seconds})


def results_of(run: Run, problems: Sequence[Problem], facts: dict[str, Any]) -> Results:
    """The results so far."""
    settings, vectors = run.settings, run.vectors
    return Results(
        experiment="reviews",
        measure="ROC AUC",
        problems=tuple(problems),
        settings=settings.as_record()
        | {
            "embedder": run.embedder and run.embedder.name,
            "vectors": run.vectors_name,
            "vectors_dimensions": vectors.dimensions,
            "vectors_fingerprint": vectors.fingerprint,
            "kinds": dict(run.sample.kinds),
            "notes": list(run.sample.notes),
        },
        data={
            "name": Path(run.corpus.name).name,
            "sha256": run.found.digest,
            "reviews": run.found.reviews,
            "locations": len(run.found.locations),
            **{name: value for name, value in facts.items() if name != "curve"},
            "preparation_seconds": {
                step: round(taken, 3) for step, taken in run.clock.seconds.items()
            },
        },
        curve=WeightCurve(**facts["curve"]),
        complete=len(problems) == len(settings.ks),
    )
