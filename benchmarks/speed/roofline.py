"""The limit, measured: what finding the words and adding the rows take by themselves.

A document's vector needs each of its words found (b) and the rows of its distinct words added (c).
Done one after the other, the rate is 1 / (1 / b + 1 / c): the bound. Nothing in (c) is ours but
the ids: no counting, no float64, no unit length. (a), copying the text, is for scale.

Documents of ten words are measured too. Their vectors are a good part of what is moved, into memory
that is there in (c); `embed` has it from the result before, which nobody holds any more.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import deltavec as dv
from deltavec.core.text.batches import as_texts
from deltavec.core.text.rules import Texts
from deltavec.core.threads import equal_shares
from speed import bound_kernels
from speed.setting import Setting
from speed.text import recut, words_in
from speed.timing import bound, digits, interleaved, medians, million_per_second, rounded

PIECES_PER_THREAD = 4
BYTES_AT_ONCE = 1 << 20
SHORT = 10


class Listed(NamedTuple):
    """The distinct words of every document, found beforehand: where each begins, ids, shares."""

    begins: np.ndarray
    ids: np.ndarray
    shares: np.ndarray


def roofline(setting: Setting) -> dict[str, Any]:
    """Rates of the parts, of the bound, and of ours, for 100 and 300 dimensions."""
    of_ten = recut(setting.text.column, SHORT, setting.plan.recut_words // 4)
    return {
        "table_words": len(setting.table),
        "documents": len(setting.sample),
        "rooflines": [
            *roofs(setting, setting.model(100), setting.sample),
            *roofs(setting, setting.model(300), setting.sample),
            *roofs(setting, setting.model(300), of_ten, SHORT),
        ],
    }


def roofs(
    setting: Setting, model: dv.EmbeddingModel, documents: pa.Array, length: int | None = None
) -> list[dict[str, Any]]:
    """One roofline for each number of threads."""
    texts = as_texts(documents, "words")
    listed = listed_terms(texts, model)
    sums = np.empty((texts.documents, model.dimensions), np.float32)
    copied = np.empty(int(texts.ends[-1] - texts.ends[0]), np.uint8)
    with ThreadPoolExecutor(setting.cores) as pool:
        functions = {
            (part, threads): function
            for threads in setting.thread_counts
            for part, function in parts(
                documents, model, texts, listed, sums, copied, pool, threads
            ).items()
        }
        seconds = interleaved(functions, setting.plan.repeats)
    agreement = largest_difference(model.embed(documents), sums)
    words = words_in(documents)
    return [
        {
            "dimensions": model.dimensions,
            "threads": threads,
            "length": length,
            "rows_added": len(listed.ids),
            **shares_of_bound(
                {part: some for (part, t), some in seconds.items() if t == threads},
                words,
            ),
            "text_gigabytes_per_second": digits(
                copied.size / medians(seconds)["copy", threads] / 1e9
            ),
            "largest_difference_of_gathered": agreement,
        }
        for threads in setting.thread_counts
    ]


def parts(
    documents: pa.Array,
    model: dv.EmbeddingModel,
    texts: Texts,
    listed: Listed,
    sums: np.ndarray,
    copied: np.ndarray,
    pool: ThreadPoolExecutor,
    threads: int,
) -> dict[str, Callable[[], Any]]:
    """What is timed, with so many threads."""
    words, rows = model.vocabulary.table, model.folded.rows
    text = texts.data[texts.ends[0] : texts.ends[-1]]
    pieces = equal_shares(texts.ends, threads * PIECES_PER_THREAD)
    blocks = equal_shares(np.arange(0, copied.size + BYTES_AT_ONCE, BYTES_AT_ONCE), threads)

    def on_all(work: Callable[[int, int], Any], shares: Any) -> None:
        if threads == 1:
            for share in shares:
                work(*share)
        else:
            list(pool.map(lambda share: work(*share), shares))

    return {
        "copy": lambda: on_all(
            lambda first, last: bound_kernels.copy(
                text, first * BYTES_AT_ONCE, min(last * BYTES_AT_ONCE, copied.size), copied
            ),
            blocks,
        ),
        "scan": lambda: on_all(
            lambda first, last: bound_kernels.scan_only(texts, first, last, words), pieces
        ),
        "gather": lambda: on_all(
            lambda first, last: bound_kernels.gather_add(*listed, rows, first, last, sums), pieces
        ),
        "deltavec": lambda: model.embed(documents, threads=threads),
    }


def listed_terms(texts: Texts, model: dv.EmbeddingModel) -> Listed:
    """The rows that embedding adds, and by how much, for every document."""
    room = int((np.diff(texts.ends) // 2 + 1).sum())  # a word and its separator are two bytes
    begins = np.empty(texts.documents + 1, np.int64)
    ids, shares = np.empty(room, np.int32), np.empty(room, np.float32)
    bound_kernels.list_terms(
        texts, model.vocabulary.table, model.folded.penalties, begins, ids, shares
    )
    return Listed(begins, ids[: begins[-1]].copy(), shares[: begins[-1]].copy())


def largest_difference(unit: np.ndarray, sums: np.ndarray) -> float:
    """How far the gathered sums, at unit length, are from the vectors: that they are the same."""
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    kept = np.linalg.norm(unit, axis=1) > 0
    return digits(float(np.abs(sums[kept] / lengths[kept] - unit[kept]).max()), 2)


def shares_of_bound(seconds: dict[str, list[float]], words: int) -> dict[str, Any]:
    """The rates of the parts, the bound, and ours as a share of it."""
    rates = {part: million_per_second(words, median) for part, median in medians(seconds).items()}
    rates["bound"] = bound(rates["scan"], rates["gather"])
    return {
        "million_words_per_second": {part: digits(rate) for part, rate in rates.items()},
        "share_of_bound": digits(rates["deltavec"] / rates["bound"], 3),
        "seconds": {part: rounded(some) for part, some in seconds.items()},
    }
