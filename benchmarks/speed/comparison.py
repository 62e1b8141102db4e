"""Ours and the peers on the same text, one run of each in turn."""

from __future__ import annotations

import json
import re
import statistics
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from speed.peers import CONTESTANTS, NEEDS
from speed.setting import Setting
from speed.text import words_in
from speed.timing import digits, million_per_second, rounded
from speed.workers import AbsentError, Worker, working

REPEATS_OF_SLOW = 3
PLAIN_DIMENSIONS = 100
ROUNDING = 1e-5  # of sums in float32
OURS, REGEX = "deltavec", "regex + dict + scipy"


class Entry(NamedTuple):
    """One row of the comparison: who, with how many threads and dimensions, on how much."""

    contestant: str
    threads: int
    dimensions: int
    documents: int
    repeats: int

    @property
    def label(self) -> str:
        """A name that no other row has."""
        if not self.contestant.startswith(OURS):
            return self.contestant
        return f"{self.contestant}, {self.dimensions} dimensions, {count(self.threads)}"


def count(threads: int) -> str:
    """So many threads, in words."""
    return "1 thread" if threads == 1 else f"{threads} threads"


def entries(setting: Setting) -> list[Entry]:
    """All rows, ours first."""
    plan, cores = setting.plan, setting.cores
    slow = dict(plan.slow_documents)
    documents = min(plan.documents, len(setting.text.column))
    ours = [
        Entry(OURS, threads, dimensions, documents, plan.peer_repeats)
        for dimensions in (
            PLAIN_DIMENSIONS,
            256,
            384,
        )  # the dimensions of the peers that have their own
        for threads in setting.thread_counts
    ]
    listed = Entry(
        "deltavec, list of strings", cores, PLAIN_DIMENSIONS, documents, plan.peer_repeats
    )
    spectral = Entry("deltavec spectral", cores, 300, documents, plan.peer_repeats)
    peers = [
        Entry(
            name,
            cores,
            PLAIN_DIMENSIONS,
            min(slow.get(name, documents), documents),
            min(REPEATS_OF_SLOW, plan.peer_repeats) if name in slow else plan.peer_repeats,
        )
        for name in CONTESTANTS
        if not name.startswith(OURS)
    ]
    return [*ours, listed, spectral, *peers]


def comparison(setting: Setting) -> dict[str, Any]:
    """Rates of ours and of every peer, and who is absent."""
    rows = entries(setting)
    prepare(setting, rows)
    seconds: dict[Entry, list[float]] = {row: [] for row in rows}
    found: dict[Entry, int | None] = {}
    absent: dict[str, str] = {}
    with ExitStack() as stack:
        workers = {}
        for number, row in enumerate(rows):
            try:
                worker = stack.enter_context(
                    working(row.contestant, given(setting, row, number), setting.cores)
                )
                found[row] = worker.answer()["dimensions"]
                workers[row] = worker
            except AbsentError as reason:
                absent[row.label] = why_absent(row.contestant, str(reason), setting.absent)
        for turn in range(max(row.repeats for row in rows)):
            for row, worker in workers.items():
                if turn < row.repeats and row.label not in absent:
                    try:
                        seconds[row].append(worker.ask("run")["seconds"])
                    except AbsentError as reason:
                        absent[row.label] = without_folders(str(reason))
        agreed = agreement(setting, workers)
    words = {size: words_in(setting.sample[:size]) for size in {row.documents for row in rows}}
    return {
        "table_words": len(setting.table),
        "rates": [
            rate(row, found[row], seconds[row], words[row.documents])
            for row in rows
            if row.label not in absent
        ],
        "absent": absent,
        "agreement_with_regex": agreed,
    }


def prepare(setting: Setting, rows: list[Entry]) -> None:
    """Write the documents, and a model for each number of dimensions."""
    pq.write_table(pa.table({"text": setting.sample}), setting.folder / "texts.parquet")
    for dimensions in {row.dimensions for row in rows if row.contestant != "deltavec spectral"}:
        setting.model(dimensions).save(setting.folder / f"model-{dimensions}.dv")


def given(setting: Setting, row: Entry, number: int) -> Path:
    """A file that tells a worker what it gets."""
    told = {
        "texts": str(setting.folder / "texts.parquet"),
        "documents": row.documents,
        "model": str(setting.folder / f"model-{row.dimensions}.dv"),
        "models": str(setting.models),
        "threads": row.threads,
        "seen_words": min(len(setting.seen_words), len(setting.table)),
    }
    path = setting.folder / f"given-{number}.json"
    path.write_text(json.dumps(told), "utf-8")
    return path


def why_absent(contestant: str, reason: str, not_installed: dict[str, str]) -> str:
    """Why a peer does not take part: what the set-up said, or what it said itself."""
    missing = [
        f"{need}: {not_installed[need]}"
        for need in NEEDS.get(contestant, ())
        if need in not_installed
    ]
    return "; ".join(missing) or without_folders(reason)


def without_folders(reason: str) -> str:
    """A reason that names files, but not where they are."""
    return re.sub(r"(?:/[^\s/'\"]+)+/", "", reason)


def agreement(setting: Setting, workers: dict[Entry, Worker]) -> dict[str, Any] | None:
    r"""Whether ours and the plain way give the same vectors; None if one of them is absent.

    A few documents may be apart: ``\w`` leaves out marks, such as those that follow an emoji.
    """
    both = {
        row.contestant: worker
        for row, worker in workers.items()
        if row.contestant in (OURS, REGEX) and row.dimensions == PLAIN_DIMENSIONS
    }
    if len(both) < 2:
        return None
    results = []
    for number, worker in enumerate(both.values()):
        path = setting.folder / f"result-{number}.npy"
        try:
            worker.ask(f"save {path}")
        except AbsentError:
            return None
        results.append(np.load(path))
    apart = np.abs(results[0] - results[1]).max(axis=1)
    return {
        "documents_apart": int((apart > ROUNDING).sum()),
        "largest_difference_of_the_others": digits(float(apart[apart <= ROUNDING].max()), 2),
    }


def rate(row: Entry, dimensions: int | None, seconds: list[float], words: int) -> dict[str, Any]:
    """One row of the result."""
    return {
        "name": row.label,
        "threads": row.threads,
        "dimensions": dimensions,
        "documents": row.documents,
        "words": words,
        "seconds": rounded(seconds),
        "million_words_per_second": digits(million_per_second(words, statistics.median(seconds))),
    }
