"""One runner for the paper's experiments: every method on every problem, what is done kept on disk.

Reviews, questions and Lee's stories differ in their documents and in what a score is. They share
the rest: what they are asked for, what is learned from the whole corpus, and how it all is run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from deltavec.core.arguments import require_one_of, require_whole
from deltavec.core.text.batches import resolve_tokenizer
from deltavec.core.vectors import WordVectors
from deltavec.io.vectors.load import load_vectors
from deltavec.lab.baselines import Embedder
from deltavec.lab.cache import OWN_PACKAGES, Cache, Part
from deltavec.lab.results import Lengths, Problem, Results, WeightCurve
from deltavec.training import METHODS

if TYPE_CHECKING:
    from deltavec.lab.background import Background

SKIPPABLE = ("doc2vec", "tf-idf", "lsa")

Item = TypeVar("Item")
Location = str | os.PathLike[str]


def ignore(_: Any) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Progress:
    """Who is told how an experiment goes on; by default nobody.

    Attributes
    ----------
    stage : callable
        Called with a few words when each stage begins.
    reach : callable
        Called with the share of the stage that is done.
    notice : callable
        Called with a sentence where the data did not allow what was asked for, where something
        was left out, and where earlier work is used.
    results : callable
        Called after each problem with what is there so far.
    """

    stage: Callable[[str], None] = ignore
    reach: Callable[[float], None] = ignore
    notice: Callable[[str], None] = ignore
    results: Callable[[Results], None] = ignore


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every experiment can be asked for, checked before any work.

    Attributes
    ----------
    seed : int
        Where random numbers begin.
    vectors_method : str
        ``ppmi`` or ``word2vec``, for word vectors that are trained.
    skip : tuple of str
        Baselines to leave out: ``doc2vec``, ``tf-idf``, ``lsa``.
    tokenizer : str
        ``words`` or ``whitespace``.
    """

    seed: int = 0
    vectors_method: str = "ppmi"
    skip: Sequence[str] = ()
    tokenizer: str = "words"

    def __post_init__(self) -> None:
        require_whole("seed", self.seed, 0)
        require_one_of("vectors_method", self.vectors_method, METHODS)
        resolve_tokenizer(self.tokenizer)
        object.__setattr__(self, "skip", tuple(dict.fromkeys(self.skip)))
        for name in self.skip:
            require_one_of("skip", name, SKIPPABLE)

    def as_record(self) -> dict[str, Any]:
        """The options, as JSON knows them."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }


D = TypeVar("D")
S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Stopwatch:
    """How many seconds each step took."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the time that something takes to a step."""
        begun = time.perf_counter()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - begun

    def timed_each(self, step: str, items: Iterable[Item]) -> Iterator[Item]:
        """The items; the time that each takes to come is added to a step."""
        iterator = iter(items)
        while True:
            with self.timed(step):
                try:
                    item = next(iterator)
                except StopIteration:
                    return
            yield item


@dataclass(frozen=True)
class Outcome(Stopwatch):
    """What a method found on a problem: scores, facts, and the seconds that each step took."""

    scores: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


class Meter:
    """How much of the evaluation is done, in the unit in which methods tell their cost."""

    def __init__(self, reach: Callable[[float], None]) -> None:
        self.reach = reach
        self.total = self.done = self.current = 0.0

    @contextmanager
    def step(self, cost: float) -> Iterator[None]:
        """A step that costs so much; it is done in the end."""
        self.current = cost
        yield
        self.done += cost
        self.reach(self.done / self.total)

    def within(self, fraction: float) -> None:
        """So much of the current step is done."""
        self.reach((self.done + fraction * self.current) / self.total)


@dataclass(frozen=True, eq=False)
class Given(Generic[S]):
    """What an experiment is given besides its data: read and tried before any work.

    Attributes
    ----------
    settings : Settings
        What is asked for.
    vectors : WordVectors or None
        Word vectors, if there are any.
    vectors_name : str
        Where word vectors come from; empty for those that are trained.
    embedder : Embedder or None
        The user's own.
    cache : Cache
        What is finished.
    threads : int or None
        How many cores to use.
    progress : Progress
        Who is told.
    clock : Stopwatch
        How long the preparation takes.
    meter : Meter
        How much of the evaluation is done.
    """

    settings: S
    vectors: WordVectors | None
    vectors_name: str
    embedder: Embedder | None
    cache: Cache
    threads: int | None
    progress: Progress
    clock: Stopwatch
    meter: Meter

    @classmethod
    def of(
        cls,
        kind: type[S],
        *,
        vectors: WordVectors | Location | None = None,
        embedder: str | Embedder | None = None,
        cache: Location | None = None,
        threads: int | None = None,
        progress: Progress = Progress(),  # noqa: B008, frozen
        **settings: Any,
    ) -> Given[S]:
        """What these arguments mean: files are read, and an embedder is tried.

        Parameters
        ----------
        kind
            The settings of the experiment.
        vectors
            Word vectors, or their file; by default they are trained on the texts.
        embedder
            A function from a list of texts to a matrix, as ``module:function`` or an `Embedder`.
        cache
            A folder in which finished parts and trained vectors are kept: the same call goes on
            from there.
        threads
            How many cores to use; all of them by default. word2vec and doc2vec repeat exactly
            only with 1.
        progress
            Who is told how it goes on.
        **settings
            The fields of the settings.
        """
        asked = kind(**settings)
        if isinstance(embedder, str):
            progress.stage(f"trying {embedder}")
            embedder = Embedder.named(embedder)
        name = "" if vectors is None else "given in memory"
        if isinstance(vectors, str | os.PathLike):
            name = Path(vectors).name  # never where it lies
            progress.stage(f"loading {name}")
            vectors = load_vectors(vectors)
        kept = Cache(None if cache is None else Path(cache))
        return cls(
            asked, vectors, name, embedder, kept, threads, progress, Stopwatch(),
            Meter(progress.reach),
        )  # fmt: skip


class Method(NamedTuple, Generic[D]):
    """A way to embed documents, and what to know of it before it is run.

    Attributes
    ----------
    name : str
        What it is called.
    run : callable
        Gives the outcome for a problem's documents.
    cost : float
        About how long it takes, beside the other methods.
    needs : tuple of str
        What it asks of the background, to be made before the first problem.
    origin : Mapping
        What the outcome depends on, besides the documents.
    packages : tuple of str
        The packages it depends on, besides our own.
    """

    name: str
    run: Callable[[D], Outcome]
    cost: float = 1.0
    needs: tuple[str, ...] = ("words",)
    origin: Mapping[str, Any] = MappingProxyType({})
    packages: tuple[str, ...] = ()


class Task(NamedTuple, Generic[D]):
    """One problem, before it is solved.

    Attributes
    ----------
    name : str
        The name of its row.
    file_name : str
        What its files in the cache begin with.
    origin : Mapping
        What all its outcomes depend on.
    documents : callable
        Makes its documents, once a method needs them.
    methods : sequence of Method
        What is run on them.
    """

    name: str
    file_name: str
    origin: Mapping[str, Any]
    documents: Callable[[], D]
    methods: Sequence[Method[D]]

    def part(self, method: Method[D]) -> Part:
        """A method on this problem, as the cache knows it."""
        return Part(
            f"{self.file_name}-{method.name}",
            {**self.origin, **method.origin},
            (*OWN_PACKAGES, *method.packages),
        )

    def solved(self, given: Given[Any]) -> Problem:
        """The row of the table: finished parts from the cache, the rest computed."""
        documents: D | None = None
        outcomes = []
        for method in self.methods:
            part = self.part(method)
            outcome = given.cache.get(part)
            if outcome is None:
                documents = documents or self.documents()
                with given.meter.step(method.cost):
                    outcome = asdict(method.run(documents))
                given.cache.put(part, outcome)
            outcomes.append(outcome)
        return problem_of(self.name, outcomes)


def problem_of(name: str, outcomes: Sequence[Mapping[str, Any]]) -> Problem:
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
    return Problem(name, scores, lengths, facts | {"seconds": seconds})


def run(
    experiment: str,
    measure: str,
    tasks: Sequence[Task[Any]],
    background: Background,
    *,
    data: Mapping[str, Any],
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> Results:
    """The results of an experiment; who follows its progress is given what is there after each.

    Parameters
    ----------
    experiment
        What it is called.
    measure
        What a score is.
    tasks
        Its problems.
    background
        What comes from the whole corpus.
    data, settings
        What else to tell of its data and its settings.
    """
    given = background.given
    clock, progress, meter = given.clock, given.progress, given.meter
    every = [(task, method) for task in tasks for method in task.methods]
    missing = [method for task, method in every if given.cache.get(task.part(method)) is None]
    if len(missing) < len(every):
        done = len(every) - len(missing)
        progress.notice(f"{done} of {len(every)} parts are there from an earlier run")
    for need in dict.fromkeys(need for method in missing for need in method.needs):
        with clock.timed(need):
            getattr(background, need)
    facts = dict(background.facts())
    curve = WeightCurve(**facts.pop("curve"))
    progress.stage("evaluating")
    meter.total = sum(method.cost for method in missing)
    problems: list[Problem] = []
    for task in tasks:
        problems.append(task.solved(given))
        results = Results(
            experiment,
            measure,
            tuple(problems),
            given.settings.as_record() | background.origin | dict(settings),
            {
                **data,
                **facts,
                "preparation_seconds": {
                    step: round(taken, 3) for step, taken in clock.seconds.items()
                },
            },
            curve,
            complete=len(problems) == len(tasks),
        )
        progress.results(results)
    return results
