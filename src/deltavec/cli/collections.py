"""Collections as the commands take them: argument, options, and how one is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltavec.cli.progress import Stages

if TYPE_CHECKING:
    from deltavec.collection import Collection
    from deltavec.io.sinks import Progress

Folder = Annotated[
    Path,
    typer.Argument(
        metavar="REVIEWS.idx", show_default=False, help="What `deltavec index build` wrote."
    ),
]
Id = Annotated[str, typer.Argument(metavar="ID", show_default=False, help="The id of a document.")]
K = Annotated[int, typer.Option("-k", min=1, metavar="N", help="How many documents to show.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Show the words that make each document alike.")
]
Filter = Annotated[
    str | None,
    typer.Option(
        "--filter",
        "-f",
        metavar="CONDITION",
        show_default=False,
        help="Only documents whose columns fulfil it: \"rating >= 4 and city == 'Rome'\".",
    ),
]
Length = Annotated[
    int, typer.Option(min=0, metavar="N", help="How many characters of each text to show.")
]


def opened(folder: Path) -> Collection:
    """The collection in a folder, at once: each text is checked as it is read."""
    from deltavec.collection import open_collection

    return open_collection(folder, verify=False)


class Passes:
    """Tells how far each pass over a corpus is."""

    def __init__(self, work: Stages) -> None:
        self.work = work
        self.before = 0

    def begin(self, stage: str) -> None:
        """A pass begins."""
        self.before = 0
        self.work.begin(stage)

    def progress(self, reached: Progress) -> None:
        """Some more documents are done."""
        self.work.add_documents(reached.documents - self.before)
        self.before = reached.documents
        if reached.fraction is not None:
            self.work.reach(reached.fraction)
