"""The duplicate-questions benchmark: whether duplicates lie closer than other questions.

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
from deltavec.lab.experiment import Given, Settings, Task, run
from deltavec.lab.questions.files import read_forums
from deltavec.lab.questions.forums import Forum, digest
from deltavec.lab.questions.methods import ForumDocuments, QuestionBackground, methods
from deltavec.lab.questions.pairs import MOST_PAIRS
from deltavec.lab.results import Results


@dataclass(frozen=True, kw_only=True)
class QuestionSettings(Settings):
    """What the benchmark can be asked for, besides what every experiment can.

    Attributes
    ----------
    most_pairs : int
        How many pairs of a forum to compare; if it has more, all its duplicates and a sample of
        the others.
    """

    most_pairs: int = MOST_PAIRS

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("most_pairs", self.most_pairs, 2)


def duplicate_questions_benchmark(
    source: str | os.PathLike[str] | Sequence[Forum],
    *,
    encoding: str | None = None,
    **options: Any,
) -> Results:
    """What each method scores on each forum.

    Parameters
    ----------
    source
        A file or folder that `deltavec.lab.questions.files` knows, or forums.
    encoding
        How a table of pairs is encoded, as for `deltavec.read_corpus`.
    **options
        What `deltavec.lab.experiment.Given.of` takes, and the fields of
        `QuestionSettings`.

    Returns
    -------
    Results
        One problem for each forum.
    """
    given = Given.of(QuestionSettings, **options)
    asked, progress = given.settings, given.progress
    progress.stage("reading questions")
    if isinstance(source, str | os.PathLike):
        name, forums = Path(source).name, read_forums(Path(source), encoding)
    else:
        name, forums = "given in memory", list(source)
    fingerprint = digest(forums)
    background = QuestionBackground(given, forums, fingerprint)

    def documents(forum: Forum, first: int) -> ForumDocuments:
        pairs = forum.pairs(asked.most_pairs, asked.seed)
        return ForumDocuments(forum, first, background.words, pairs, given.threads)

    tasks, first = [], 0
    for number, forum in enumerate(forums, 1):
        for what, times in forum.notes.items():
            progress.notice(f"{forum.name}: {times:,} {what}")
        origin = {
            "data": fingerprint,
            "forum": forum.name,
            "most_pairs": asked.most_pairs,
            "seed": asked.seed,
            "tokenizer": asked.tokenizer,
        }
        # A forum's name may hold what no file's name can.
        made = partial(documents, forum, first)
        tasks.append(Task(forum.name, f"forum{number:02}", origin, made, methods(background)))
        first += len(forum.questions)
    return run(
        "duplicate-questions",
        "ROC AUC",
        tasks,
        background,
        data={
            "name": name,
            "sha256": fingerprint,
            "forums": len(forums),
            "questions": first,
        },
    )
