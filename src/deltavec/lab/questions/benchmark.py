"""The duplicate-questions benchmark: duplicates should be closer than other questions.

(Schmidt, section 6; Hoogeveen et al. 2015.) A problem is one forum. The score of a method is the
area under the ROC curve of its cosines over pairs of the forum's questions.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from deltavec.core.arguments import require_whole
from deltavec.lab.experiment import Documents, Settings, Task, prepare, run
from deltavec.lab.questions.files import read_forums
from deltavec.lab.questions.forums import MOST_PAIRS, Forum, digest
from deltavec.lab.questions.methods import QuestionBackground, forum_documents, methods
from deltavec.lab.results import Results


@dataclass(frozen=True, kw_only=True)
class QuestionSettings(Settings):
    """The settings of the benchmark, besides those of every experiment.

    Attributes
    ----------
    most_pairs : int
        The number of pairs of a forum to compare. If it has more, all its duplicates and a sample
        of the others.
    """

    most_pairs: int = MOST_PAIRS

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("most_pairs", self.most_pairs, 2)


def duplicate_questions_benchmark(
    source: str | os.PathLike[str] | Sequence[Forum], *, encoding: str | None = None, **options: Any
) -> Results:
    """The score of each method on each forum.

    Parameters
    ----------
    source
        A file or folder as in `deltavec.lab.questions.files`, or forums.
    encoding
        The encoding of a table, as for `deltavec.read_corpus`.
    **options
        The options of `deltavec.lab.experiment.prepare`, and the fields of
        `QuestionSettings`.

    Returns
    -------
    Results
        One problem for each forum.
    """
    given = prepare(QuestionSettings, **options)
    settings, progress = given.settings, given.progress
    progress.stage("reading questions")
    if isinstance(source, str | os.PathLike):
        name, forums = Path(source).name, read_forums(Path(source), encoding)
    else:
        name, forums = "given in memory", list(source)
    background = QuestionBackground(given, forums, digest(forums))

    def documents(forum: Forum, rows: range) -> Documents:
        pairs = forum.pairs(settings.most_pairs, settings.seed)
        return forum_documents(forum, rows, background.words, pairs, given.threads)

    tasks: list[Task] = []
    first = 0
    for forum in forums:
        for what, times in forum.notes.items():
            progress.notice(f"{forum.name}: {times:,} {what}")
        rows = range(first, first + len(forum.questions))
        first = rows.stop
        tasks.append(Task(forum.name, partial(documents, forum, rows), methods(background)))
    return run(
        "duplicate-questions",
        "ROC AUC",
        tasks,
        background,
        data={"name": name, "sha256": background.digest, "forums": len(forums), "questions": first},
    )
