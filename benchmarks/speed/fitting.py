"""Fit's counting pass beside the embedding pass, over the same documents and table."""

from __future__ import annotations

from typing import Any

from deltavec.core.learning.corpora import corpus_statistics
from deltavec.core.text.batches import as_chunked
from speed.setting import Setting
from speed.sweeps import point
from speed.tables import random_vectors
from speed.timing import interleaved


def fitting(setting: Setting) -> dict[str, Any]:
    """Rates of both passes, 100 dimensions."""
    model = setting.model(100)
    # As fit has it: in the order that the vectors came in.
    vocabulary = random_vectors(setting.table, 2).vocabulary
    chunked = as_chunked(setting.sample)
    functions = {}
    for threads in setting.thread_counts:
        functions["count", threads] = lambda t=threads: corpus_statistics(
            chunked, vocabulary, "words", t
        )
        functions["embed", threads] = lambda t=threads: model.embed(setting.sample, threads=t)
    return {
        "dimensions": 100,
        "table_words": len(setting.table),
        "points": [
            point(setting.sample_words, some, **{"pass": name, "threads": threads})
            for (name, threads), some in interleaved(functions, setting.plan.repeats).items()
        ],
    }
