"""Time and peak memory against the size of the corpus, from file to file.

Corpora of growing size, the same text over and over, are embedded by ``deltavec embed`` in a
process of its own, Parquet in and Parquet out; the sizes take turns. The rate in memory is taken
in the same run, before and after. Start-up is the time for a corpus of one document; it is part of
every rate, and taken off only where the exponent of growth is fitted.
"""

from __future__ import annotations

import itertools
import shutil
import statistics
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from speed.launching import Launch, deltavec, launched
from speed.setting import Setting
from speed.text import repeated, words_in
from speed.timing import digits, growth_exponent, million_per_second, rounded, seconds_of

DIMENSIONS = 100
ROWS_IN_A_GROUP = 65_536
FITTED_FROM = 300_000  # below, start-up is a good part of the time, and varies
REPEATS = 5
BYTES_A_DOCUMENT = 3_000  # of scratch: text in, vectors out, and room to spare


def growth(setting: Setting) -> dict[str, Any]:
    """Seconds and peak memory for every size, the exponent of growth, and rates."""
    model = setting.model(DIMENSIONS)
    folder = setting.folder / "growth"
    folder.mkdir(exist_ok=True)
    model.save(folder / "model.dv")
    in_memory = embed_seconds(setting)
    sizes, no_room = split_by_room(setting.plan.corpus_sizes, shutil.disk_usage(folder).free)
    words = words_of_sizes(setting, sizes)
    second = sizes[-2:][0]
    runs = [(1, ".parquet"), *((size, ".parquet") for size in sizes), (second, ".npy")]
    launches = taken_in_turn(setting, folder, runs)
    points = [point(size, words[size], launches[size, ".parquet"]) for size in sizes]
    npy = point(second, words[second], launches[second, ".npy"])
    in_memory += embed_seconds(setting)
    rate_in_memory = million_per_second(setting.sample_words, statistics.median(in_memory))
    seconds_at_start = statistics.median(launch.seconds for launch in launches[1, ".parquet"])
    return {
        "dimensions": DIMENSIONS,
        "threads": setting.cores,
        "table_words": len(setting.table),
        "in_memory_million_words_per_second": digits(rate_in_memory),
        "in_memory_seconds": rounded(in_memory),
        "start_up_seconds": digits(seconds_at_start),
        "points": points,
        "npy": npy,
        "exponent": exponent(points, seconds_at_start, FITTED_FROM),
        "exponents_of_other_fits": {
            "from 100,000 documents": exponent(points, seconds_at_start, 100_000),
            "start-up left in": exponent(points, 0, FITTED_FROM),
            "from 100,000 documents, start-up left in": exponent(points, 0, 100_000),
        },
        "sizes_without_room_on_disk": no_room,
    }


def embed_seconds(setting: Setting) -> list[float]:
    """How long the sample takes in memory, several times."""
    model = setting.model(DIMENSIONS)
    model.embed(setting.sample[:100])
    return [
        seconds_of(lambda: model.embed(setting.sample, threads=setting.cores))
        for _ in range(setting.plan.repeats)
    ]


def words_of_sizes(setting: Setting, sizes: list[int]) -> dict[int, int]:
    """How many words each corpus holds."""
    column = setting.text.column
    return {
        size: size // len(column) * setting.text.counts.tokens
        + words_in(column[: size % len(column)])
        for size in sizes
    }


def split_by_room(sizes: tuple[int, ...], free: int) -> tuple[list[int], list[int]]:
    """The sizes that fit on the disk together, smallest first, and those that do not."""
    so_far = zip(sizes, itertools.accumulate(sizes), strict=True)
    fit = [size for size, in_all in so_far if in_all * BYTES_A_DOCUMENT <= free]
    return fit, [size for size in sizes if size not in fit]


def taken_in_turn(
    setting: Setting, folder: Path, runs: list[tuple[int, str]]
) -> dict[tuple[int, str], list[Launch]]:
    """Several launches for every number of documents and kind of output."""
    corpora = {size: folder / f"corpus-{size}.parquet" for size, _ in runs}
    for size, path in corpora.items():
        write_corpus(setting.text.column, size, path)
    launches: dict[tuple[int, str], list[Launch]] = {run: [] for run in runs}
    for _ in range(REPEATS):
        for size, suffix in runs:
            output = folder / f"vectors{suffix}"
            command = deltavec(
                "embed", str(folder / "model.dv"), str(corpora[size]),
                "--output", str(output), "--threads", str(setting.cores), "--json",
            )  # fmt: skip
            launches[size, suffix].append(launched(command, setting.cores))
            output.unlink()
    for path in corpora.values():
        path.unlink()
    return launches


def write_corpus(column: pa.Array, documents: int, path: Path) -> None:
    """Write so many documents, the text over and over."""
    schema = pa.schema([("text", column.type)])
    with pq.ParquetWriter(path, schema) as writer:
        for piece in repeated(column, documents):
            writer.write_table(
                pa.table({"text": piece}, schema=schema), row_group_size=ROWS_IN_A_GROUP
            )


def point(documents: int, words: int, launches: list[Launch]) -> dict[str, Any]:
    """What one size took."""
    seconds = [launch.seconds for launch in launches]
    middle = statistics.median(seconds)
    return {
        "documents": documents,
        "words": words,
        "median_seconds": digits(middle),
        "peak_megabytes": digits(statistics.median(one.peak_bytes for one in launches) / 1e6),
        "million_words_per_second": digits(million_per_second(words, middle)),
        "seconds": rounded(seconds),
        "peaks_megabytes": rounded([one.peak_bytes / 1e6 for one in launches]),
    }


def exponent(points: list[dict[str, Any]], start_up: float, least: int) -> float | None:
    """The exponent of growth from so many documents on, with so much taken off every time."""
    large = [place for place in points if place["documents"] >= least]
    beyond = [place["median_seconds"] - start_up for place in large]
    if len(large) < 2 or min(beyond) <= 0:
        return None
    return digits(growth_exponent([place["documents"] for place in large], beyond), 3)
