"""Whichever words are essential, the same documents are found, with the same scores."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deltavec.core.kernels.count import TOTALS
from deltavec.search.hybrid import maxscore
from deltavec.search.hybrid.bounds import Search
from deltavec.search.kernels import cosine, margin
from deltavec.search.lexical.kernels import add_query_scores, first_posting_from
from deltavec.search.topk import NONE, no_rows
from support.quantized_rows import queries_of, rows_of, words_of
from support.search_strategies import unit_rows

DOCUMENTS = 640


@given(st.lists(st.integers(0, 40)), st.integers(0, 45))
def test_a_place_is_found_from_any_before_it(numbers, document):
    documents = np.array(sorted(set(numbers)), np.int32)
    right = int(np.searchsorted(documents, document))
    for begin in range(right + 1):
        assert first_posting_from(documents, begin, document) == right
    if right < len(documents):
        assert first_posting_from(documents, right + 1, document) == right + 1


@given(
    st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2, 1.0, 3.0]), st.booleans(), st.booleans()
)
def test_what_is_found_is_what_a_look_at_all_documents_finds(seed, scale, with_peaks, in_parts):
    rng = np.random.default_rng(seed)
    held = [np.flatnonzero(rng.random(DOCUMENTS) < share) for share in (0.1, 0.05, 0.3, 0.8, 0.1)]
    norms = rng.uniform(0.4, 4, DOCUMENTS).astype(np.float32)
    words = words_of(held, rng.uniform(0.1, 4, len(held)), norms)
    words.postings.counts[:] = rng.integers(1, 5, len(words.postings.counts))
    vectors = unit_rows(rng.standard_normal((DOCUMENTS, 4)))
    vectors[rng.integers(0, DOCUMENTS, 200)] = vectors[0]  # equal cosines
    direction, k = unit_rows(rng.standard_normal((1, 4))), 3
    scores = np.empty(DOCUMENTS)
    add_query_scores(words, 0, False, 0, scores)
    scores += [scale * np.float64(cosine(direction[0], vector)) for vector in vectors]
    order = np.lexsort((np.arange(DOCUMENTS), -scores))[:k]
    floor = np.array([scores[order[-1]] - rng.choice([0.0, 0.5])])
    if with_peaks:
        counts, begins = TOTALS[words.postings.counts], words.postings.begins
        values = counts / (counts + norms[words.postings.documents])
        highest = [values[begins[term] : begins[term + 1]].max() for term in words.terms]
        words = words._replace(limits=words.weights * highest)
    best = no_rows(1, k)
    best.scores[:], best.sizes[:] = floor, k
    queries = queries_of(direction, scale)._replace(margin=margin(4, 1e-6, 1e-6))
    given_up = np.zeros(1, np.uint8)
    for first in range(0, DOCUMENTS, 320) if in_parts else (0,):
        last = first + 320 if in_parts else DOCUMENTS
        rows = rows_of(vectors)
        search = Search(rows, queries, words, best)
        maxscore.search_candidates(search, first, last, NONE, given_up)
    if not given_up[0]:
        found = np.lexsort((best.ranks[0], -best.scores[0]))
        assert best.ranks[0][found].tolist() == order.tolist()
        assert best.scores[0][found].tolist() == scores[order].tolist()
