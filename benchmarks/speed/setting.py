"""What all sections share: the text, its words, how much of everything, and where to put files."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

import deltavec as dv
from speed.tables import fitted, frequent, sized
from speed.text import Text, words_in


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes
    ----------
    documents : int
        Documents of the text for what is timed in memory, and for the peers that are quick.
    slow_documents : tuple of pairs
        For each slow peer the smaller number it gets.
    table_words : int
        Words of the table, most of which the text never uses: a pretrained table's size.
    arithmetic : int
        Rounds of the loop that shows what a second thread is worth.
    repeats, peer_repeats : int
        How often each timing is taken.
    lengths, table_sizes, dimensions : tuple of int
        What rates are measured against.
    recut_words : int
        Words of the text that is cut into documents of one length.
    corpus_sizes : tuple of int
        Documents of the corpora that are embedded from file to file.
    training_documents : int
        Documents that word vectors are trained on.
    """

    documents: int = 40_000
    slow_documents: tuple[tuple[str, int], ...] = (
        ("model2vec potion-base-8M", 12_000),  # above 10,000 it uses all cores
        ("gensim doc2vec", 400),
        ("spaCy Doc.vector", 1_000),
        ("sentence-transformers MiniLM", 64),
    )
    table_words: int = 400_000
    repeats: int = 15
    arithmetic: int = 100_000_000
    peer_repeats: int = 5
    lengths: tuple[int, ...] = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
    table_sizes: tuple[int, ...] = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
    dimensions: tuple[int, ...] = (25, 50, 100, 200, 300, 600)
    recut_words: int = 4_000_000
    corpus_sizes: tuple[int, ...] = (10_000, 31_623, 100_000, 316_228, 1_000_000, 3_162_278)
    training_documents: int = 200_000


QUICK = Plan(
    documents=1_000,
    slow_documents=(
        ("model2vec potion-base-8M", 100),
        ("gensim doc2vec", 20),
        ("spaCy Doc.vector", 20),
        ("sentence-transformers MiniLM", 4),
    ),
    table_words=20_000,
    repeats=2,
    arithmetic=100_000,
    peer_repeats=2,
    lengths=(10, 1_000, 100_000),
    table_sizes=(1_000, 30_000),
    dimensions=(50, 100),
    recut_words=200_000,
    corpus_sizes=(1_000, 3_162, 10_000),
    training_documents=1_000,
)


@dataclass(frozen=True, eq=False)
class Setting:
    """The text, the plan, the cores to use, and a folder for scratch."""

    text: Text
    plan: Plan
    cores: int
    folder: Path
    models: Path
    absent: dict[str, str]

    @property
    def sample(self) -> pa.Array:
        """The documents that are timed in memory."""
        return self.text.column[: self.plan.documents]

    @functools.cached_property
    def sample_words(self) -> int:
        """How many words the sample holds."""
        return words_in(self.sample)

    @functools.cached_property
    def seen_words(self) -> list[str]:
        """The words of the whole text that occur at least twice, the most frequent first."""
        return frequent(self.text.counts)

    @functools.cached_property
    def table(self) -> list[str]:
        """The words of the usual table."""
        return sized(self.seen_words, self.plan.table_words)

    @functools.lru_cache(maxsize=1)  # noqa: B019, one setting in a run
    def model(self, dimensions: int) -> dv.EmbeddingModel:
        """The model of the sample over the usual table."""
        return fitted(self.sample, self.table, dimensions)

    @property
    def thread_counts(self) -> tuple[int, ...]:
        """One thread, and as many as there are cores."""
        return (1, self.cores) if self.cores > 1 else (1,)
