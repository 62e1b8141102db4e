r"""The text that is measured on: a Parquet file's, or generated.

Generated text follows Zipf's law over made-up words: the word of rank r is drawn with probability
proportional to :math:`1 / (r + 2.7)` from `WORDS` words. A word is made of syllables, frequent
ones shorter. Lengths of documents are log-normal with a mean of `MEAN_LENGTH` words.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

WORDS = 60_000
MEAN_LENGTH = 200
SPREAD = 0.8
SHIFT = 2.7
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwz" for vowel in "aeiou"]


def word(rank: int) -> str:
    """The made-up word of a rank; all differ, and the first ones are short."""
    pieces = []
    number = rank + 1
    while number > 0:  # digits count from 1, so that no word repeats another with leading zeros
        number, syllable = divmod(number - 1, len(SYLLABLES))
        pieces.append(SYLLABLES[syllable])
    return "".join(pieces)


def zipf_documents(documents: int, *, seed: int = 0) -> list[str]:
    """Generated documents; the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    words = [word(rank) for rank in range(WORDS)]
    plain, ended, begun = (
        np.array([form(one) for one in words], object) for form in (str, "{}.".format, str.title)
    )
    edges = np.cumsum(1 / (np.arange(WORDS) + 1 + SHIFT))
    # A log-normal variable has the mean exp(mu + sigma^2 / 2).
    middle = math.log(MEAN_LENGTH) - SPREAD**2 / 2
    lengths = np.maximum(1, rng.lognormal(middle, SPREAD, documents)).astype(int)
    texts = []
    for length in lengths.tolist():
        ranks = np.searchsorted(edges, rng.random(length) * edges[-1]).clip(max=WORDS - 1)
        stops = rng.random(length) < 1 / 12
        starts = np.concatenate([[True], stops[:-1]])
        chosen = np.where(starts, begun[ranks], np.where(stops, ended[ranks], plain[ranks]))
        texts.append(" ".join(chosen.tolist()))
    return texts


def write_corpus(target: Path, documents: int, source: Path | None) -> str:
    """Write ``id`` and ``text`` of so many documents as Parquet; say what they are.

    Documents of a file come in an order drawn once, since its first ones may be of one kind; a
    file that is too short is used again from its beginning.
    """
    if source is None:
        column = pa.array(zipf_documents(min(documents, 20_000)), pa.large_string())
        made_of = f"generated: {WORDS:,} words by Zipf's law"
    else:
        column = pq.read_table(source, columns=["text"])["text"].combine_chunks()
        column = column.cast(pa.large_string()).fill_null("")
        made_of = f"real: {source.name}"
    order = np.random.default_rng(0).permutation(len(column))
    column = column.take(pa.array(np.resize(order, documents)))
    ids = pa.array([f"document-{number}" for number in range(documents)])
    pq.write_table(pa.table({"id": ids, "text": column}), target, row_group_size=65_536)
    return made_of


def read_column(path: Path, most: int | None = None) -> pa.Array:
    """The first documents of a file that `write_corpus` wrote."""
    column = pq.read_table(path, columns=["text"])["text"]
    return column.slice(0, most).combine_chunks().cast(pa.large_string())


def count_words(column: pa.Array) -> int:
    """How many words stand between spaces."""
    return int(pc.sum(pc.count_substring_regex(column, r"\S+")).as_py())


def sentences(column: pa.Array, count: int) -> list[str]:
    """Queries: the first words of so many documents, 8 each."""
    texts = column.slice(0, count).to_pylist()
    return [" ".join(text.replace('"', " ").split()[:8]) or "nothing" for text in texts]
