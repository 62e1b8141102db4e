"""Commands that ask a little, in a process of their own: CLI search, info, explain, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measuring import command
from run import Given, Step
from texts import read_column, sentences

import deltavec as dv

DOCUMENTS = 5_000


def steps(given: Given) -> dict[str, Step]:
    """A small model and collection, and commands that use them."""
    corpus, folder = Path(given.corpus), given.path
    column = read_column(corpus, DOCUMENTS)
    dv.fit(column).save(folder / "news.dv")
    texts = folder / "news.txt"
    texts.write_text("\n".join(" ".join(text.split()) for text in column.to_pylist()))
    dv.build_collection(dv.load(folder / "news.dv"), dv.read_corpus(texts), folder / "news.idx")
    query, other = sentences(column, 2)
    asked = {
        "search": ("search", "news.idx", query),
        "search --explain": ("search", "news.idx", query, "--explain", "-k", "3"),
        "similar": ("similar", "news.idx", "5"),
        "info": ("info", "news.idx"),
        "explain": ("explain", "news.dv", query, other),
        "--help": ("--help",),
    }

    def step(arguments: tuple[str, ...]) -> Step:
        def run() -> dict[str, Any]:
            return command(*arguments, cwd=folder)._asdict()

        return run

    return {name: step(arguments) for name, arguments in asked.items()}
