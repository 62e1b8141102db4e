"""Counting tokens and building vocabularies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Int32s, Int64s, UInt8s
from deltavec.core.jit import compiled
from deltavec.core.kernels.hashing import VocabTable, insert
from deltavec.core.kernels.tokenize import scan_documents, token_buffers
from deltavec.core.kernels.utf8 import NOT_AS_WRITTEN, class_at
from deltavec.core.text.rules import UNSPACED, Rule, TextBatch

IDS_AT_ONCE = 4096
LONGEST_LEARNED = 1024
SHARE_UNITS = 2.0**40
MOST_COUNTED = 255


class DocumentTerms(NamedTuple):
    """The different words of documents, one document after the other, and how often each occurs.

    Words of a single byte are left out. Counts go up to `MOST_COUNTED`.
    """

    ids: Int32s
    counts: UInt8s
    ends: Int64s  # where each document's words end
    lengths: Int64s  # how many words each document holds, however often they occur


@compiled
def count(
    texts: TextBatch,
    first: int,
    last: int,
    words: VocabTable,
    token_counts: Int64s,
    document_counts: Int64s,
) -> tuple[int, int]:
    """Add the words of documents ``first`` to ``last`` to the counts.

    How many words the documents hold, known or not, and how many hold no known word.
    """
    ids = np.empty(IDS_AT_ONCE, np.int32)
    closed = np.empty(IDS_AT_ONCE, np.int64)
    spelling = token_buffers(words.longest)
    seen_in = np.full(token_counts.size, -1, np.int64)
    tokens = 0
    unknown = 0
    known_before = 0  # of the document that the last scan did not read to its end
    document, position = first, texts.ends[first]
    while document < last:
        begun = document
        document, position, known, passed, _, _ = scan_documents(
            texts,
            begun,
            position,
            min(last, begun + closed.size),
            words,
            spelling,
            ids,
            closed,
            False,
        )
        tokens += passed
        place = 0
        for nth in range(document - begun + 1):
            end = closed[nth] if begun + nth < document else known
            known_before += end - place
            while place < end:
                number = np.uint64(ids[place])
                token_counts[number] += 1
                document_counts[number] += seen_in[number] != begun + nth
                seen_in[number] = begun + nth
                place += 1
            if begun + nth < document:
                unknown += known_before == 0
                known_before = 0
    return tokens, int(unknown)


@compiled
def add_shares(texts: TextBatch, first: int, last: int, words: VocabTable, shares: Int64s) -> None:
    """Add n_i / N of each of the documents ``first`` to ``last``, in units of 1 / `SHARE_UNITS`.

    Sums of whole numbers are the same for every split of the documents.
    """
    ids = np.empty(IDS_AT_ONCE, np.int32)
    closed = np.empty(1, np.int64)
    spelling = token_buffers(words.longest)
    for document in range(first, last):
        known_here = 0
        # Once to learn N, once more to add 1 / N for each word, unless all are still there.
        for adding in (False, True):
            reached, position = document, texts.ends[document]
            while reached == document:
                reached, position, known, _, _, _ = scan_documents(
                    texts, document, position, document + 1, words, spelling, ids, closed, False
                )
                known_here += known * (not adding)
                if adding or (known == known_here and reached > document):
                    for place in range(known):
                        shares[ids[place]] += np.int64(np.rint(SHARE_UNITS / known_here))
            if not adding and known == known_here:
                break


@compiled
def list_ids(texts: TextBatch, first: int, last: int, words: VocabTable, listed: Int32s) -> int:
    """List the ids of the known words of documents ``first`` to ``last``, each closed by -1.

    ``listed`` has room for `Rule.most_units`. How many were written.
    """
    closed = np.empty(1, np.int64)
    spelling = token_buffers(words.longest)
    written = 0
    for document in range(first, last):
        _, _, known, _, _, _ = scan_documents(
            texts,
            document,
            texts.ends[document],
            document + 1,
            words,
            spelling,
            listed[written:],
            closed,
            False,
        )
        written += known
        listed[written] = -1
        written += 1
    return written


@compiled
def learn_word(h: np.uint64, word: UInt8s, number: int, words: VocabTable, rule: Rule) -> None:
    """Put a new word behind the others, for which there must be room."""
    begin = words.offsets[number]
    words.data[begin : begin + word.size] = word
    words.offsets[number + 1] = begin + word.size
    marked = np.uint64(word.size)
    if rule.decodes and class_at(word, 0, word.size, rule)[0] == UNSPACED:
        marked |= NOT_AS_WRITTEN  # characters side by side are more words than one
    insert(h, marked, number, words.slots)


@compiled
def learn(texts: TextBatch, words: VocabTable, token_counts: Int64s, progress: Int64s) -> bool:
    """Count every word, known or new; True when done, False when there is no more room.

    ``progress`` holds the document and the place to go on from, how many distinct words there
    are, and how many words were passed, so that the caller can make room and call again. A word
    of more than `LONGEST_LEARNED` bytes is passed, not learned.
    """
    ids = np.empty(IDS_AT_ONCE, np.int32)
    closed = np.empty(IDS_AT_ONCE, np.int64)
    spelling = token_buffers(LONGEST_LEARNED)
    document, position, distinct, passed = progress
    while document < texts.ends.size - 1:
        room = words.data.size - words.offsets[distinct]
        if distinct + 1 >= token_counts.size or room < LONGEST_LEARNED:
            progress[:] = document, position, distinct, passed
            return False
        last = min(texts.ends.size - 1, document + closed.size)
        document, position, known, passed_here, length, h = scan_documents(
            texts, document, position, last, words, spelling, ids, closed, True
        )
        passed += passed_here
        for place in range(known):
            token_counts[ids[place]] += 1
        if 0 < length <= LONGEST_LEARNED:
            learn_word(h, spelling.word[:length], distinct, words, texts.rule)
            token_counts[distinct] += 1
            distinct += 1
    progress[:] = document, position, distinct, passed
    return True


@compiled
def learn_documents(
    texts: TextBatch,
    words: VocabTable,
    occurrences: Int64s,
    listed: DocumentTerms,
    progress: Int64s,
) -> bool:
    """List the different words of each document, known or new; like `learn` otherwise.

    ``listed`` has room for `Rule.most_units`, and one more. ``occurrences`` are 0 before and after;
    ``progress`` also holds how many were listed.
    """
    ids = np.empty(IDS_AT_ONCE, np.int32)
    closed = np.empty(1, np.int64)
    spelling = token_buffers(LONGEST_LEARNED)
    document, position, distinct, passed, written = progress
    while document < texts.ends.size - 1:
        room = words.data.size - words.offsets[distinct]
        if distinct + 1 >= occurrences.size or room < LONGEST_LEARNED:
            progress[:] = document, position, distinct, passed, written
            return False
        reached, position, known, passed_here, length, h = scan_documents(
            texts, document, position, document + 1, words, spelling, ids, closed, True
        )
        passed += passed_here
        for place in range(known):
            number = ids[place]
            listed.ids[written] = number
            written += occurrences[number] == 0
            occurrences[number] += 1
        if 0 < length <= LONGEST_LEARNED:
            learn_word(h, spelling.word[:length], distinct, words, texts.rule)
            listed.ids[written] = distinct
            written += 1
            occurrences[distinct] = 1
            distinct += 1
        if reached > document:
            begin = 0 if document == 0 else listed.ends[document - 1]
            written, listed.lengths[document] = count_terms(
                begin, written, words, occurrences, listed
            )
            listed.ends[document] = written
            document = reached
    progress[:] = document, position, distinct, passed, written
    return True


@compiled
def count_terms(
    begin: int, end: int, words: VocabTable, occurrences: Int64s, listed: DocumentTerms
) -> tuple[int, int]:
    """Write how often the words of a document occur, set back to 0; leave out single bytes.

    Where the words that are left end, and how many words the document holds.
    """
    kept = begin
    total = 0
    for place in range(begin, end):
        number = listed.ids[place]
        count = occurrences[number]
        occurrences[number] = 0
        if words.offsets[number + 1] - words.offsets[number] > 1:
            listed.ids[kept] = number
            listed.counts[kept] = min(count, MOST_COUNTED)
            kept += 1
            total += count
    return kept, total
