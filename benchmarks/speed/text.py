"""The text that is measured on: a file's, or generated; and the same words in other shapes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

import deltavec as dv
from deltavec.core.learning.vocabulary_builder import WordCounts, word_counts
from deltavec.core.text.batches import as_chunked
from speed.zipf import MAKE_UP, zipf_documents

UNITS = re.compile(r"\S+\s*")


@dataclass(frozen=True, eq=False)
class Text:
    """Documents, in an order drawn once, and what they are."""

    make_up: str
    column: pa.Array
    counts: WordCounts

    def facts(self) -> dict[str, Any]:
        """What it is, in figures."""
        return {
            "text": self.make_up,
            "documents": len(self.column),
            "words": self.counts.tokens,
            "distinct_words": self.counts.distinct,
            "bytes": int(pa.compute.sum(pa.compute.binary_length(self.column)).as_py()),
        }


def described(column: pa.Array, make_up: str) -> Text:
    """The documents with their words counted."""
    return Text(make_up, column, word_counts(as_chunked(column), "words"))


def read_text(path: Path, column: str, most: int | None = None) -> Text:
    """A file's documents in an order drawn once: its first ones may be all of one kind."""
    chunks = [strings(chunk) for chunk in dv.read_corpus(path, column=column)]
    whole = pa.concat_arrays(chunks)
    order = np.random.default_rng(0).permutation(len(whole))[:most]
    return described(whole.take(pa.array(order)), f"real: column {column} of {path.name}")


def generated_text(documents: int) -> Text:
    """Zipf text."""
    return described(strings(zipf_documents(documents)), MAKE_UP)


def strings(documents: Any) -> pa.Array:
    """Documents as an Arrow column whose offsets have room for any amount of text."""
    if isinstance(documents, pa.Array):
        return documents.cast(pa.large_string()).fill_null("")
    return pa.array(documents, pa.large_string())


def words_in(column: pa.Array) -> int:
    """How many words the documents hold, as deltavec parts them."""
    return word_counts(as_chunked(column), "words").tokens


def recut(column: pa.Array, length: int, words: int) -> pa.Array:
    """About so many words of the same text, cut into documents of ``length`` words each.

    Words are what stands between spaces. Text is used again from its beginning if it is short.
    """
    units = first_units(column.to_pylist(), words)
    whole = (units * (words // len(units) + 1))[: max(length, words // length * length)]
    return strings(["".join(whole[at : at + length]) for at in range(0, len(whole), length)])


def first_units(texts: Sequence[str], most: int) -> list[str]:
    """The first words of the texts, each with the space behind it."""
    units: list[str] = []
    for text in texts:
        units += UNITS.findall(text + "\n")
        if len(units) >= most:
            break
    return units[:most]


def repeated(column: pa.Array, documents: int) -> list[pa.Array]:
    """So many documents: the text over and over, as pieces that share its memory."""
    whole, rest = divmod(documents, len(column))
    return [column] * whole + ([column[:rest]] if rest else [])
