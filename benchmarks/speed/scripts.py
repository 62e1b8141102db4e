"""The rate on text of which half the words are not ASCII, beside the rate on the same in ASCII."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute

import deltavec as dv
from speed.alphabets import respelled, spellings
from speed.setting import Setting
from speed.sweeps import point
from speed.tables import fitted, frequent, sized
from speed.text import described, strings
from speed.timing import digits, interleaved


def scripts(setting: Setting) -> dict[str, Any]:
    """Rates on both texts, 100 dimensions; each table holds the words of its own text."""
    vocabulary, counts = setting.text.counts.frequent(1)
    spelling = spellings(vocabulary.words, counts.tolist())
    mixed = described(strings(respelled(setting.sample.to_pylist(), spelling)), "half non-ASCII")
    plain = described(setting.sample, "as it is")
    models = {
        text.make_up: fitted(
            text.column, sized(frequent(text.counts), setting.plan.table_words), 100
        )
        for text in (plain, mixed)
    }
    functions = {
        (text.make_up, threads): lambda m=models[text.make_up], c=text.column, t=threads: m.embed(
            c, threads=t
        )
        for text in (plain, mixed)
        for threads in setting.thread_counts
    }
    words = {text.make_up: text.counts.tokens for text in (plain, mixed)}
    seconds = interleaved(functions, setting.plan.repeats)
    return {
        "dimensions": 100,
        "texts": {
            text.make_up: {
                "words": text.counts.tokens,
                "bytes": int(pa.compute.sum(pa.compute.binary_length(text.column)).as_py()),
                "share_of_words_not_ascii": digits(foreign_share(models[text.make_up])),
            }
            for text in (plain, mixed)
        },
        "points": [
            point(words[name], some, text=name, threads=threads)
            for (name, threads), some in seconds.items()
        ],
    }


def foreign_share(model: dv.EmbeddingModel) -> float:
    """How many of the known running words are not ASCII."""
    counts = model.statistics.token_counts
    foreign = [not word.isascii() for word in model.vocabulary.words]
    return float(counts[foreign].sum() / counts.sum())
