"""Counting the tokens of a stream of ids, in which every document is closed by -1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deltavec.core.arrays import Int32s, Int64s
from deltavec.core.jit import compiled, inlined

LEAD = 25  # words at the beginning of a document, which count twice in search
UNITS_A_WORD = 5  # about so many units has a word with its n-grams
IN_LEAD = 1 << 24  # added to a count for each occurrence in the lead

# A packed count has six bits for the count of a term and two for how often it is in the lead, up to
# 3. Counts are exact up to 32; then a level stands for counts within 7 %, up to 255.
LEVELS = np.concatenate([np.arange(1, 33), np.rint(32 * (255 / 32) ** (np.arange(1, 33) / 32))])
LEVEL_OF = (np.searchsorted(LEVELS, np.arange(256), side="right") - 1).clip(0)
COUNTS = np.repeat(LEVELS, 4)  # n of each packed count
TOTALS = COUNTS + np.tile(np.arange(4.0), 64)  # n, and the occurrences in the lead once more


def pack_count(count: Any, in_lead: Any) -> Any:
    """A count, and how often of these a term is in the lead, in one byte."""
    return 4 * LEVEL_OF[np.minimum(count, 255)] + np.minimum(in_lead, 3)


packed_count = inlined(pack_count)  # the same for kernels


class DocumentTerms(NamedTuple):
    """The distinct terms of documents, one document after the other, and how often each occurs.

    Attributes
    ----------
    ids, counts
        The terms in the order in which they first occur, and their counts.
    ends
        Document d has the terms from ``ends[d]`` to ``ends[d + 1]``.
    lengths
        How many tokens each document has.
    """

    ids: Int32s
    counts: Int64s
    ends: Int64s
    lengths: Int64s


@compiled
def count_ids(
    ids: Int32s, token_counts: Int64s, document_counts: Int64s, seen_in: Int64s, progress: Int64s
) -> None:
    """Add the tokens of documents to the counts.

    ``seen_in`` holds the last document of each term, -1 at first. ``progress`` holds the number of
    complete documents, the tokens of the next one so far, and how many documents were empty.
    """
    document, length, empty = progress[0], progress[1], progress[2]
    for place in range(ids.size):
        if ids[place] >= 0:
            number = np.uint64(ids[place])
            token_counts[number] += 1
            document_counts[number] += seen_in[number] != document
            seen_in[number] = document
            length += 1
        else:
            empty += length == 0
            document += 1
            length = 0
    progress[0], progress[1], progress[2] = document, length, empty


@compiled
def collect_terms(
    ids: Int32s, occurrences: Int32s, lead: int, terms: DocumentTerms, progress: Int64s
) -> None:
    """List the distinct terms of documents.

    ``occurrences`` are 0 before a document and after it. Those among the first ``lead`` tokens of a
    document count `IN_LEAD` more. ``progress`` holds the number of complete
    documents, the terms listed so far, and the tokens of the document that is not complete yet.
    """
    listed, counts, ends, lengths = terms
    documents, distinct, length = progress[0], progress[1], progress[2]
    for place in range(ids.size):
        if ids[place] >= 0:
            number = np.uint64(ids[place])
            # Written in any case: whether a term is new is hard to foresee.
            listed[distinct] = ids[place]
            distinct += occurrences[number] == 0
            occurrences[number] += 1 + IN_LEAD * (length < lead)
            length += 1
        else:
            for term in range(np.uint64(ends[documents]), np.uint64(distinct)):
                number = np.uint64(listed[term])
                counts[term] = occurrences[number]
                occurrences[number] = 0
            lengths[documents] = length
            documents += 1
            ends[documents] = distinct
            length = 0
    progress[0], progress[1], progress[2] = documents, distinct, length
