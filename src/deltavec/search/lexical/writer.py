"""The postings of a segment: from documents to a file on disk, in bounded memory.

The different words of each document are written to a scratch file as they come, in the order of the
documents. When all words are known, and which of them are forms of one, postings are made from it:
for as many terms at a time as fit into memory, each of them in one pass over the scratch.

The file is one safetensors file, mapped into memory when it is opened. Postings take five bytes
each, four for the document and one for the count, and are most of it: a million documents of 90
different words take about 450 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Int32s, Int64s, offsets_of, pack, read_only
from deltavec.core.learning.stemming import Rules
from deltavec.core.learning.vocabulary_builder import WordCounts
from deltavec.core.text.rules import TextBatch
from deltavec.core.threads import stop_if_cancelled
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import unfinished
from deltavec.io.artifacts.tensors import (
    DTYPES,
    Layout,
    Shapes,
    are_offsets,
    layout,
    mapped_tensors,
    require_words,
)
from deltavec.search.hybrid.score_scale import ScoreScale
from deltavec.search.lexical import kernels
from deltavec.search.lexical.index import InvertedIndex, PostingsSegment
from deltavec.search.lexical.kernels import Postings

LARGEST = 1e15  # more than any real rule has
RANGES = {
    "lengths": (0, 2**31 - 1),
    "rule_scores": (-LARGEST, LARGEST),
    "chance": (-LARGEST, LARGEST),
    "terms": (0, 2**31 - 2),
    "groups": (0, 2**31 - 2),
}


@dataclass(frozen=True)
class Sizes:
    """The numbers that the layout follows from."""

    documents: int
    words: int
    word_bytes: int
    terms: int
    postings: int
    rules: int
    rule_bytes: int


def postings_layout(sizes: Sizes) -> Layout:
    """Where each array stands; eight-byte numbers first, so that every array is aligned."""
    shapes: Shapes = {
        "begins": ("I64", (sizes.terms + 2,)),
        "word_offsets": ("I64", (sizes.words + 1,)),
        "rule_offsets": ("I64", (2 * sizes.rules + 1,)),
        "rule_pairs": ("I64", (sizes.rules,)),
        "rule_scores": ("F64", (sizes.rules,)),
        "chance": ("F64", (2,)),
        "documents": ("I32", (sizes.postings,)),
        "lengths": ("I32", (sizes.documents,)),
        "terms": ("I32", (sizes.terms,)),
        "groups": ("I32", (sizes.words,)),
        "counts": ("U8", (sizes.postings,)),
        "words": ("U8", (sizes.word_bytes,)),
        "rule_endings": ("U8", (sizes.rule_bytes,)),
    }
    return layout("deltavec words", shapes, aligned="documents")


class StoredPostings(NamedTuple):
    """The inverted index of a collection, and how the vectors of its documents are spread."""

    words: InvertedIndex
    spread: ScoreScale


def map_postings(file: BinaryIO, sizes: Sizes, *, verify: bool) -> PostingsSegment:
    """The postings of a file, read-only views of it, once it is known to have this layout.

    The documents of the postings are most of the file, and read here only if ``verify``; the
    kernels of a search pass over those that are not there.

    Raises
    ------
    InputError
        If the length of the file or its header is another, or its numbers lead elsewhere.
    """
    arrays = mapped_tensors(file, postings_layout(sizes))
    require_inside(arrays, sizes)
    if verify:
        require_range(arrays, "documents", 0, sizes.documents - 1)
    ends, data = arrays["rule_offsets"], arrays["rule_endings"].tobytes()
    try:
        endings = [data[a:b].decode() for a, b in pairwise(ends.tolist())]
    except UnicodeDecodeError:
        raise InputError("the endings of words must be UTF-8: the file is damaged") from None
    chance = float(arrays["chance"][0]), float(arrays["chance"][1])
    return PostingsSegment(
        Vocabulary(arrays["words"], arrays["word_offsets"]),
        arrays["groups"],
        Rules(
            list(zip(endings[::2], endings[1::2], strict=True)),
            arrays["rule_pairs"],
            arrays["rule_scores"],
            chance,
        ),
        arrays["terms"],
        Postings(arrays["begins"], arrays["documents"], arrays["counts"]),
        arrays["lengths"],
    )


def require_inside(arrays: Mapping[str, npt.NDArray[Any]], sizes: Sizes) -> None:
    """Refuse numbers that would lead out of an array, or that no documents have."""
    require_words(arrays)
    whole = {"begins": sizes.postings, "rule_offsets": sizes.rule_bytes}
    sound = all(are_offsets(arrays[name], end) for name, end in whole.items())
    if not sound or arrays["begins"][-2] != sizes.postings or (np.diff(arrays["terms"]) <= 0).any():
        raise InputError("places outside of the file: it is damaged")
    if (np.diff(arrays["begins"]) > sizes.documents).any():
        raise InputError("a word in more documents than there are: the file is damaged")
    for name, (smallest, largest) in RANGES.items():
        require_range(arrays, name, smallest, largest)


def require_range(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, smallest: float, largest: float
) -> None:
    """Refuse an array with a number outside this range, or NaN."""
    numbers = arrays[name]
    # NaN is neither above nor below, and a minimum with one is NaN.
    if numbers.size and not smallest <= numbers.min() <= numbers.max() <= largest:
        raise InputError(f"{name} must be from {smallest:g} to {largest:g}: the file is damaged")


def as_arrays(segment: PostingsSegment) -> dict[str, npt.NDArray[Any]]:
    """All arrays but the documents and counts of the postings, as they are stored."""
    rules = segment.rules
    rule_endings, rule_offsets = pack([e.encode() for pair in rules.endings for e in pair])
    return {
        "begins": segment.postings.begins,
        "word_offsets": segment.words.offsets,
        "rule_offsets": rule_offsets,
        "rule_pairs": rules.pairs,
        "rule_scores": rules.scores,
        "chance": np.array(rules.chance),
        "lengths": segment.lengths,
        "terms": segment.terms,
        "groups": segment.groups,
        "words": segment.words.data,
        "rule_endings": rule_endings,
    }


POSTINGS_AT_ONCE = 1 << 25  # 160 MB


class PostingBuffers(NamedTuple):
    """The words of the documents, as they came."""

    ids: Int32s
    counts: npt.NDArray[np.uint8]
    ends: Int64s


class WordTerms(NamedTuple):
    """The terms of words.

    Attributes
    ----------
    groups : ndarray of int32
        The term of each word.
    new : ndarray of int64
        Which words no earlier segment has.
    rules : Rules
        What tells the forms of words, in a first segment.
    """

    groups: Int32s
    new: Int64s
    rules: Rules


class PostingsWriter:
    """Takes in the words of documents, and writes a file of them when all are there.

    A thread of its own lists the words of some documents, while the caller reads the next.

    Parameters
    ----------
    folder
        Where scratch files go.
    """

    def __init__(self, folder: Path) -> None:
        self.words = WordCounts()
        self.lengths: list[Int32s] = [np.zeros(0, np.int32)]
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
        terms_of: Callable[[Vocabulary], WordTerms],
        at_once: int = POSTINGS_AT_ONCE,
    ) -> Sizes:
        """Write the file; what it holds.

        Parameters
        ----------
        path
            The file.
        terms_of
            What tells the terms of words.
        at_once
            How many postings to hold in memory at a time.
        """
        self._wait()
        scratch, vocabulary = self._scratch(), self.words.vocabulary
        found = terms_of(vocabulary)
        names, local = np.unique(found.groups, return_inverse=True)
        holding = np.zeros(len(names), np.int64)
        latest = np.full(len(names), -1, np.int32)
        kernels.count_documents(
            scratch.ids, scratch.ends, read_only(local.astype(np.int32)), 0, holding, latest
        )
        held = holding > 0  # single bytes have no postings
        places = read_only((np.cumsum(held) - 1)[local].astype(np.int32))
        words = vocabulary.taken(found.new)
        plan = PostingsSegment(
            words, found.groups[found.new], found.rules, names[held].astype(np.int32),
            no_postings(holding[held]), np.concatenate(self.lengths),
        )  # fmt: skip

        def fill(begin: int, end: int, reached: Int64s, lists: Postings) -> None:
            kernels.distribute(*scratch, places, 0, begin, end, reached, lists)

        return write_postings_file(path, plan, fill, at_once)

    def _scratch(self) -> PostingBuffers:
        """What was taken in, mapped."""
        for file in self.files:
            file.close()
        ids, counts = (
            np.memmap(path, kind, "r").view(np.ndarray) if self.written else np.zeros(0, kind)
            for path, kind in zip(self.paths, (np.int32, np.uint8), strict=True)
        )
        return PostingBuffers(read_only(ids), read_only(counts), np.concatenate(self.ends))


def no_postings(holding: Int64s) -> Postings:
    """Posting lists of these lengths and an empty one, without what they hold."""
    begins = offsets_of(np.append(holding, 0))
    return Postings(read_only(begins), np.zeros(0, np.int32), np.zeros(0, np.uint8))


def write_postings_file(
    path: Path,
    plan: PostingsSegment,
    fill: Callable[[int, int, Int64s, Postings], None],
    at_once: int,
) -> Sizes:
    """Write a file of postings, some terms at a time; what it holds.

    ``fill`` writes the postings of the terms in a range, from where each list begins on.
    """
    begins, rules = plan.postings.begins, plan.rules
    sizes = Sizes(
        documents=len(plan.lengths),
        words=len(plan.words),
        word_bytes=len(plan.words.data),
        terms=len(plan.terms),
        postings=int(begins[-1]),
        rules=len(rules.endings),
        rule_bytes=sum(len(ending.encode()) for pair in rules.endings for ending in pair),
    )
    layout = postings_layout(sizes)
    with path.open("xb") as file:
        file.write(layout.header)
        file.truncate(layout.size)
        for begin, end in term_ranges(begins[:-1], at_once):
            stop_if_cancelled()
            own = begins[begin : end + 1] - begins[begin]
            lists = Postings(own, np.empty(own[-1], np.int32), np.empty(own[-1], np.uint8))
            fill(begin, end, own[:-1].copy(), lists)
            write_rows(file, layout, "documents", lists.documents, int(begins[begin]))
            write_rows(file, layout, "counts", lists.counts, int(begins[begin]))
        for name, array in as_arrays(plan).items():
            write_rows(file, layout, name, array)
    return sizes


def merge_postings(
    path: Path,
    parts: Sequence[tuple[PostingsSegment, Int32s]],
    *,
    whole: bool,
    at_once: int = POSTINGS_AT_ONCE,
) -> Sizes:
    """Write the postings of successive segments as those of one; what the file holds.

    Parameters
    ----------
    path
        The file.
    parts
        The segments, and the new numbers of their documents; -1 for deleted ones.
    whole
        Whether these are all segments of a collection. Then terms without documents are forgotten
        and the others numbered anew.
    at_once
        How many postings to hold in memory at a time.
    """
    names = np.unique(np.concatenate([part.terms for part, _ in parts]))
    holding = np.zeros(len(names), np.int64)
    for part, numbers in parts:
        counts = np.zeros(len(part.terms), np.int64)
        kernels.count_kept(part.postings, numbers, counts)
        holding[np.searchsorted(names, part.terms)] += counts
    terms, holding = names[holding > 0], holding[holding > 0]
    vocabularies = [part.words for part, _ in parts]
    offsets = offsets_of(np.concatenate([np.diff(one.offsets) for one in vocabularies]))
    words = Vocabulary(np.concatenate([one.data for one in vocabularies]), offsets)
    groups = np.concatenate([part.groups for part, _ in parts])
    numbered = terms
    if whole:
        kept = np.isin(groups, terms) | (np.diff(offsets) == 1)
        words, groups = words.taken(np.flatnonzero(kept)), groups[kept]
        left = np.unique(groups)
        groups = np.searchsorted(left, groups).astype(np.int32)
        numbered = np.searchsorted(left, terms).astype(np.int32)
    lengths = [part.lengths[numbers >= 0] for part, numbers in parts]
    plan = PostingsSegment(
        words, groups, parts[0][0].rules, numbered, no_postings(holding), np.concatenate(lengths)
    )
    origins = [part.locate(terms) for part, _ in parts]

    def fill(begin: int, end: int, reached: Int64s, lists: Postings) -> None:
        for (part, numbers), places in zip(parts, origins, strict=True):
            kernels.copy_postings(part.postings, places[begin:end], numbers, reached, lists)

    return write_postings_file(path, plan, fill, at_once)


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
