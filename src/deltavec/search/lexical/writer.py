"""From documents to postings, in bounded memory.

The different words of each document are written to a scratch file as they come, in the order of the
documents. When all words are known, and which of them are forms of one, postings are made from it:
for as many terms at a time as fit into memory, each of them in one pass over the scratch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Int32s, Int64s, offsets_of, read_only
from deltavec.core.learning.stemming import Stems
from deltavec.core.learning.vocabulary_builder import WordCounts
from deltavec.core.text.rules import TextBatch
from deltavec.core.threads import stop_if_cancelled
from deltavec.core.vocabulary import Vocabulary
from deltavec.io.artifacts.atomic import unfinished
from deltavec.io.artifacts.tensors import DTYPES, Layout
from deltavec.search.hybrid.score_scale import ScoreScale
from deltavec.search.lexical import kernels
from deltavec.search.lexical.bm25 import burstiness_weights, norms_of
from deltavec.search.lexical.index import InvertedIndex
from deltavec.search.lexical.kernels import Postings
from deltavec.search.lexical.storage import Sizes, as_arrays, postings_layout

POSTINGS_AT_ONCE = 1 << 25  # 160 MB

NO_LISTS = Postings(
    read_only(np.zeros(1, np.int64)),
    read_only(np.zeros(0, np.int32)),
    read_only(np.zeros(0, np.uint8)),
)


class PostingBuffers(NamedTuple):
    """The words of the documents, as they came."""

    ids: Int32s
    counts: npt.NDArray[np.uint8]
    ends: Int64s


class PostingsWriter:
    """Takes in the words of documents, and writes a file of them when all are there.

    A thread of its own lists the words of some documents, while the caller reads the next.

    Parameters
    ----------
    folder
        Where scratch files go.
    before
        The words of the documents that come before, if there are any.
    """

    def __init__(self, folder: Path, before: InvertedIndex | None = None) -> None:
        self.before = before
        self.words = WordCounts() if before is None else WordCounts.of(before.words)
        self.lengths: list[Int32s] = []
        self.ends: list[Int64s] = [np.zeros(0, np.int64)]
        self.written = 0
        self.paths = unfinished(folder / "ids"), unfinished(folder / "counts")
        self.files: list[BinaryIO] = [path.open("xb") for path in self.paths]
        self.thread = ThreadPoolExecutor(1, "deltavec-words")
        self.listing: Future[None] | None = None

    def __enter__(self) -> PostingsWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.thread.shutdown()
        for file, path in zip(self.files, self.paths, strict=True):
            file.close()
            path.unlink(missing_ok=True)

    def add(self, texts: TextBatch) -> None:
        """Take in the words of some more documents, once those of the ones before are listed."""
        self._wait()
        # Whole words too, whatever the embedding counts.
        self.listing = self.thread.submit(
            self._list, texts._replace(rule=texts.rule._replace(whole=True))
        )

    def _wait(self) -> None:
        if self.listing:
            self.listing.result()

    def _list(self, texts: TextBatch) -> None:
        listed = self.words.listed(texts)
        self.lengths.append(np.minimum(listed.lengths, np.iinfo(np.int32).max).astype(np.int32))
        self.ends.append(self.written + listed.ends[1:])
        self.written += len(listed.ids)
        self.files[0].write(listed.ids.data)
        self.files[1].write(listed.counts.astype(np.uint8).data)

    def finish(
        self,
        path: Path,
        stems_of: Callable[[Vocabulary], Stems],
        spread_of: Callable[[], ScoreScale],
        dimensions: int,
        at_once: int = POSTINGS_AT_ONCE,
        keep: npt.NDArray[np.bool_] | None = None,
    ) -> Sizes:
        """Write the file; what it holds.

        Parameters
        ----------
        path
            The file.
        stems_of
            What tells the forms of words; those there were before keep their terms.
        spread_of
            What tells how the vectors of all documents are spread; asked at the very end, so that
            they may be made meanwhile.
        dimensions
            How long a vector is.
        at_once
            How many postings to hold in memory at a time.
        keep
            Which of the documents before stay; all of them by default. Terms that no document
            holds any more are forgotten with those that go.
        """
        self._wait()
        old = self.before.postings if self.before else NO_LISTS
        before = self.before.lengths if self.before else np.zeros(0, np.int32)
        keep = np.ones(len(before), bool) if keep is None else keep
        lengths = np.concatenate([before[keep], *self.lengths])
        numbers = read_only(np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32))
        scratch = self._scratch()
        known = self.words.vocabulary
        all_stems, first = stems_of(known), int(keep.sum())
        holding = self._holding(scratch, all_stems, old, numbers, first)
        terms = terms_in_use(known, all_stems, holding, every=bool(keep.all()))
        vocabulary, stems = terms.vocabulary, terms.stems
        begins = offsets_of(holding[terms.origins])
        rules = sum(len(ending.encode()) for pair in stems.rules.endings for ending in pair)
        sizes = Sizes(
            documents=len(lengths),
            dimensions=dimensions,
            words=len(vocabulary),
            word_bytes=len(vocabulary.data),
            terms=len(stems),
            postings=int(begins[-1]),
            rules=len(stems.rules.endings),
            rule_bytes=rules,
        )
        layout = postings_layout(sizes)
        sums, variances = np.zeros((len(stems), 3)), np.zeros(len(stems))
        with path.open("xb") as file:
            file.write(layout.header)
            file.truncate(layout.size)
            for begin, end in term_ranges(begins, at_once):
                stop_if_cancelled()
                own = begins[begin : end + 1] - begins[begin]
                lists = Postings(own, np.empty(own[-1], np.int32), np.empty(own[-1], np.uint8))
                reached = own[:-1].copy()
                kernels.copy_postings(old, terms.origins[begin:end], numbers, reached, lists)
                kernels.distribute(*scratch, terms.groups, first, begin, end, reached, lists)
                write_rows(file, layout, "documents", lists.documents, int(begins[begin]))
                write_rows(file, layout, "counts", lists.counts, int(begins[begin]))
                kernels.measure_terms(
                    lists, 0, end - begin, lengths, norms_of(lengths), sums[begin:end],
                    variances[begin:end],
                )  # fmt: skip
            index = InvertedIndex(
                vocabulary, stems, NO_LISTS._replace(begins=begins), lengths,
                burstiness_weights(sums, lengths), variances,
            )  # fmt: skip
            for name, array in as_arrays(index, spread_of()).items():
                write_rows(file, layout, name, array)
        return sizes

    def _scratch(self) -> PostingBuffers:
        """What was taken in, mapped."""
        for file in self.files:
            file.close()
        ids, counts = (
            np.memmap(path, kind, "r").view(np.ndarray) if self.written else np.zeros(0, kind)
            for path, kind in zip(self.paths, (np.int32, np.uint8), strict=True)
        )
        return PostingBuffers(read_only(ids), read_only(counts), np.concatenate(self.ends))

    @staticmethod
    def _holding(
        scratch: PostingBuffers, stems: Stems, old: Postings, numbers: Int32s, first: int
    ) -> Int64s:
        """Document frequency per term after the update."""
        holding = np.zeros(len(stems), np.int64)
        latest = np.full(len(stems), -1, np.int32)
        kernels.count_kept(old, numbers, holding)
        kernels.count_documents(scratch.ids, scratch.ends, stems.groups, first, holding, latest)
        return holding


class TermsInUse(NamedTuple):
    """The terms that are held, numbered anew.

    Attributes
    ----------
    vocabulary : Vocabulary
        Their words.
    stems : Stems
        The new number of each of these words' term.
    groups : ndarray of int32
        The same for all words that were known; -1 for those that are forgotten.
    origins : ndarray of int64
        The number that each term had.
    """

    vocabulary: Vocabulary
    stems: Stems
    groups: Int32s
    origins: Int64s


def terms_in_use(
    vocabulary: Vocabulary, stems: Stems, holding: Int64s, *, every: bool
) -> TermsInUse:
    """The terms that some document holds, or every one of them; single bytes have no postings."""
    if every:
        return TermsInUse(vocabulary, stems, stems.groups, np.arange(len(stems)))
    held = holding > 0
    held[stems.groups[np.diff(vocabulary.offsets) == 1]] = True
    numbers = np.where(held, np.cumsum(held) - 1, -1).astype(np.int32)
    groups = read_only(numbers[stems.groups])
    left = np.flatnonzero(groups >= 0)
    kept = Stems(read_only(groups[left]), stems.rules)
    return TermsInUse(vocabulary.taken(left), kept, groups, np.flatnonzero(held))


def term_ranges(begins: Int64s, at_once: int) -> Iterator[tuple[int, int]]:
    """Successive terms with so many postings at most, or one term with more."""
    first, terms = 0, len(begins) - 1
    while first < terms:
        last = int(np.searchsorted(begins, begins[first] + at_once, side="right")) - 1
        last = min(max(last, first + 1), terms)
        yield first, last
        first = last


def write_rows(
    file: BinaryIO, layout: Layout, name: str, array: npt.NDArray[Any], first: int = 0
) -> None:
    """Write numbers of an array into their place in a file, from the ``first`` on."""
    tensor = layout.tensors[name]
    kind = DTYPES[tensor.dtype]
    file.seek(len(layout.header) + tensor.begin + first * kind.itemsize)
    file.write(np.ascontiguousarray(array, kind).data)
