"""The runner of the paper's experiments: every method on every problem, with resume.

Reviews, questions and Lee's stories differ in their documents and in what a score is. They share
the options, what is learned from the whole corpus, and the runner.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from deltavec.core.arguments import require_one_of, require_whole
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.batches import resolve_tokenizer
from deltavec.core.vectors import WordVectors
from deltavec.io.vectors.load import load_vectors
from deltavec.lab.baselines import TRAINING, Embedder
from deltavec.lab.results import Problem, Results, write_atomically
from deltavec.lab.words import Counts, document_lengths, weight_curve

if TYPE_CHECKING:
    from deltavec.lab.background import Background

SKIPPABLE = ("doc2vec", "tf-idf", "lsa")

Path_ = str | os.PathLike[str]


def ignore(_: Any) -> None:
    """Do nothing: the default of every callback."""


@dataclass(frozen=True)
class Progress:
    """Callbacks for the progress of an experiment.

    Attributes
    ----------
    stage : callable
        Called with a few words when each stage begins.
    reach : callable
        Called with the fraction of the stage that is done.
    notice : callable
        Called with a sentence when data is left out and when earlier work is reused.
    results : callable
        Called after each problem with the results so far.
    """

    stage: Callable[[str], None] = ignore
    reach: Callable[[float], None] = ignore
    notice: Callable[[str], None] = ignore
    results: Callable[[Results], None] = ignore


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of every experiment, checked before any work.

    Attributes
    ----------
    seed : int
        The seed of all random draws.
    vectors_method : str
        ``ppmi`` or ``word2vec``: how to train word vectors if none are given.
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
        require_one_of("vectors_method", self.vectors_method, TRAINING)
        resolve_tokenizer(self.tokenizer)
        object.__setattr__(self, "skip", tuple(dict.fromkeys(self.skip)))
        for name in self.skip:
            require_one_of("skip", name, SKIPPABLE)


S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, eq=False)
class Given(Generic[S]):
    """The checked input of an experiment, except for its data.

    Attributes
    ----------
    settings : Settings
        The settings.
    vectors : WordVectors or None
        Word vectors, if any were given.
    vectors_name : str
        Where they come from; empty if they are to be trained.
    embedder : Embedder or None
        The user's own embedder.
    folder : Path or None
        The folder for results and trained vectors.
    threads : int or None
        How many cores to use.
    progress : Progress
        The callbacks.
    """

    settings: S
    vectors: WordVectors | None
    vectors_name: str
    embedder: Embedder | None
    folder: Path | None
    threads: int | None
    progress: Progress


def prepare(
    kind: type[S],
    *,
    vectors: WordVectors | Path_ | None = None,
    embedder: str | Embedder | None = None,
    folder: Path_ | None = None,
    threads: int | None = None,
    progress: Progress = Progress(),  # noqa: B008, frozen
    **settings: Any,
) -> Given[S]:
    """Check the options of an experiment, read word vectors and try the embedder.

    Parameters
    ----------
    kind
        The settings class of the experiment.
    vectors
        Word vectors, or their file. By default they are trained on the texts.
    embedder
        A function from a list of texts to a matrix, as ``module:function`` or an `Embedder`.
    folder
        A folder for ``results.json`` and trained vectors. The same call resumes from it.
    threads
        How many cores to use; all of them by default. word2vec and doc2vec give the same result
        every time only with 1.
    progress
        The callbacks.
    **settings
        The fields of ``kind``.
    """
    checked = kind(**settings)
    if isinstance(embedder, str):
        progress.stage(f"trying {embedder}")
        embedder = Embedder.named(embedder)
    name = "" if vectors is None else "given in memory"
    if isinstance(vectors, str | os.PathLike):
        name = Path(vectors).name  # results never hold a path
        progress.stage(f"loading {name}")
        vectors = load_vectors(vectors)
    kept = None if folder is None else Path(folder)
    return Given(checked, vectors, name, embedder, kept, threads, progress)


@dataclass(frozen=True, eq=False)
class Documents:
    """The documents of one problem, as every method sees them.

    Attributes
    ----------
    counts : sparse matrix
        The count of each corpus word in each document.
    statistics : CorpusStatistics
        The counts that weights come from.
    texts : list of str
        The texts.
    tokens : list of ndarray of int32
        The token ids of each document.
    score : callable
        Returns the score of their vectors: unit rows, dense or sparse.
    facts : Mapping
        Numbers for the table of problems.
    """

    counts: Counts
    statistics: CorpusStatistics
    texts: list[str]
    tokens: Sequence[npt.NDArray[np.int32]]
    score: Callable[[Any], float]
    facts: Mapping[str, Any]


class Method(NamedTuple):
    """A way to embed documents.

    Attributes
    ----------
    name : str
        Its name in the table of times.
    scores : callable
        Returns the scores for a problem's documents, by the name of the column.
    needs : tuple of str
        The attributes of the background to compute before the first problem.
    """

    name: str
    scores: Callable[[Documents], Mapping[str, float]]
    needs: tuple[str, ...] = ()


class Task(NamedTuple):
    """One problem: its name, its documents, made when needed, and the methods to run on them."""

    name: str
    documents: Callable[[], Documents]
    methods: Sequence[Method]


def run(
    experiment: str,
    measure: str,
    tasks: Sequence[Task],
    background: Background,
    *,
    data: Mapping[str, Any],
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> Results:
    """Run every method on every problem; return the results.

    Parameters
    ----------
    experiment
        The name of the experiment.
    measure
        What a score is.
    tasks
        The problems.
    background
        What is learned from the whole corpus.
    data, settings
        More facts for the results.
    """
    folder, progress = background.given.folder, background.given.progress
    known = json.loads(json.dumps(asdict(background.given.settings) | background.origin))
    empty = Results(experiment, measure, (), known | dict(settings), data)
    problems = {problem.name: problem for problem in finished_problems(folder, empty)}
    if problems:
        progress.notice(f"{len(problems)} of {len(tasks)} problems are there from an earlier run")
    left = [task for task in tasks if task.name not in problems]
    for need in dict.fromkeys(n for task in left for method in task.methods for n in method.needs):
        getattr(background, need)
    facts = background.facts()
    progress.stage("evaluating")
    steps = sum(len(task.methods) for task in left)
    done = 0
    for task in tasks:
        if task.name not in problems:
            documents = task.documents()
            scores: dict[str, float] = {}
            seconds: dict[str, float] = {}
            for method in task.methods:
                begun = time.perf_counter()
                scores |= method.scores(documents)
                seconds[method.name] = round(time.perf_counter() - begun, 3)
                done += 1
                progress.reach(done / steps)
            lengths, details = document_lengths(documents.counts), {"seconds": seconds}
            problems[task.name] = Problem(
                task.name, scores, lengths, {**documents.facts, **details}
            )
        results = replace(
            empty,
            problems=tuple(problems[one.name] for one in tasks if one.name in problems),
            data={**data, **facts},
            curve=weight_curve(background.known.statistics),
            complete=len(problems) == len(tasks),
        )
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / "results.json", results.as_json() + "\n")
        progress.results(results)
    return results


def finished_problems(folder: Path | None, wanted: Results) -> Sequence[Problem]:
    """The problems that an earlier run of the same experiment on the same data finished."""
    if folder is None or not (folder / "results.json").exists():
        return ()
    earlier = Results.from_json((folder / "results.json").read_text("utf-8"))
    same = (
        earlier.settings == wanted.settings
        and earlier.data.get("sha256") == wanted.data["sha256"]
        and earlier.versions == wanted.versions
    )
    return earlier.problems if same else ()
