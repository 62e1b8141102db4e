"""The postings of a segment on disk: one safetensors file, mapped into memory when it is opened.

Postings take five bytes each, four for the document and one for the count, and are most of it: a
million documents of 90 different words take about 450 MB.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import pack
from deltavec.core.learning.stemming import Rules
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError
from deltavec.io.artifacts.tensors import (
    Layout,
    Shapes,
    are_offsets,
    layout,
    mapped_tensors,
    require_words,
)
from deltavec.search.hybrid.score_scale import ScoreScale
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
