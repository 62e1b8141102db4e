import numpy as np

from deltavec.core.kernels.count import COUNTS as COUNTS_OF
from deltavec.core.kernels.count import LEVELS, TOTALS, pack_count
from deltavec.search.lexical import kernels
from deltavec.search.lexical.kernels import Postings, QueryTerms

# Documents: 0 holds words 0 (twice) and 1, 1 holds none, 2 holds 1 and 2; words 0 and 1 are forms.
IDS = np.array([0, 1, 1, 2], np.int32)
COUNTS = np.array([4 * n for n in (1, 0, 2, 0)], np.uint8)  # packed: n = 2, 1, 3, 1
ENDS = np.array([2, 2, 4])
GROUPS = np.array([0, 0, 1], np.int32)
LENGTHS = np.array([3, 0, 4], np.int32)
NORMS = np.array([1.0, 0.5, 2.0], np.float32)


def made():
    holding = np.zeros(2, np.int64)
    kernels.count_documents(IDS, ENDS, GROUPS, 0, holding, np.full(2, -1, np.int32))
    assert holding.tolist() == [2, 1]
    lists = Postings(np.array([0, 2, 3]), np.empty(3, np.int32), np.empty(3, np.uint8))
    kernels.distribute(IDS, COUNTS, ENDS, GROUPS, 0, 0, 2, lists.begins[:-1].copy(), lists)
    return lists


def test_forms_in_a_document_are_one_posting():
    lists = made()
    assert lists.documents.tolist() == [0, 2, 2]
    assert lists.counts.tolist() == [8, 8, 0]


def test_a_byte_has_a_count_and_how_often_a_word_is_in_the_lead():
    for count in range(1, 256):
        packed = pack_count(count, 2)
        assert 0.93 * count < COUNTS_OF[packed] <= count
        assert count > 32 or COUNTS_OF[packed] == count
        assert TOTALS[packed] == COUNTS_OF[packed] + 2
    assert pack_count(1, 0) == 0
    assert pack_count(999, 25) == pack_count(255, 3) == 255
    assert len(set(LEVELS.tolist())) == 64


def test_terms_of_a_range_only():
    lists = Postings(np.array([0, 1]), np.empty(1, np.int32), np.empty(1, np.uint8))
    kernels.distribute(IDS, COUNTS, ENDS, GROUPS, 5, 1, 2, np.zeros(1, np.int64), lists)
    assert (lists.documents.tolist(), lists.counts.tolist()) == ([7], [0])


def test_counts_of_forms_stay_within_a_byte():
    lists = Postings(np.array([0, 1]), np.empty(1, np.int32), np.empty(1, np.uint8))
    counts = np.array([pack_count(200, 2), pack_count(100, 2)], np.uint8)
    kernels.distribute(IDS[:2], counts, ENDS[:1], GROUPS, 0, 0, 1, np.zeros(1, np.int64), lists)
    assert lists.counts.tolist() == [255]
    assert (COUNTS_OF[255], TOTALS[255]) == (255, 258)


def test_old_postings_come_before_new_ones():
    new = Postings(np.array([0, 3, 5]), np.empty(5, np.int32), np.empty(5, np.uint8))
    reached = new.begins[:-1].copy()
    kernels.copy_postings(made(), np.arange(2), np.arange(3, dtype=np.int32), reached, new)
    assert reached.tolist() == [2, 4]
    kernels.distribute(IDS[:1], COUNTS[:1], ENDS[:1] - 1, GROUPS, 3, 0, 2, reached, new)
    assert new.documents[:4].tolist() == [0, 2, 3, 2]
    assert new.counts[:4].tolist() == [8, 8, 4, 0]


def test_documents_that_go_leave_no_postings_and_others_get_their_numbers():
    numbers = np.array([-1, 0, 1], np.int32)
    counts = np.zeros(2, np.int64)
    kernels.count_kept(made(), numbers, counts)
    assert counts.tolist() == [1, 1]
    new = Postings(np.array([0, 1]), np.empty(1, np.int32), np.empty(1, np.uint8))
    reached = new.begins[:-1].copy()
    kernels.copy_postings(made(), np.array([1, 7])[:1], numbers, reached, new)  # the second term
    assert (new.documents.tolist(), new.counts.tolist(), reached.tolist()) == ([1], [0], [1])


def test_documents_that_cannot_be_are_passed_over():
    lists = Postings(np.array([0, 3]), np.array([-5, 1, 99], np.int32), np.ones(3, np.uint8))
    counts = np.zeros(1, np.int64)
    kernels.count_kept(lists, np.arange(3, dtype=np.int32), counts)
    assert counts.tolist() == [1]


def test_a_term_is_measured_over_all_documents():
    lists, sums = made(), np.zeros(7)
    kernels.measure_postings(lists.documents[:2], lists.counts[:2], LENGTHS, NORMS, sums)
    values = np.array([3 / 4, 3 / 5])
    expected = [2, 6, 18, 3 * 3 + 3 * 4, values.sum(), (values**2).sum(), 3 / 4]
    assert np.allclose(sums, expected)


def test_deleted_documents_count_for_nothing():
    lists, sums = made(), np.zeros(7)
    norms = np.array([np.inf, 0.5, 2.0], np.float32)
    kernels.measure_postings(lists.documents[:2], lists.counts[:2], LENGTHS, norms, sums)
    assert np.allclose(sums, [1, 3, 9, 12, 3 / 5, 9 / 25, 3 / 5])


def asked(terms, weights, light):
    begins, ends, worth = np.array([0]), np.array([len(terms)]), np.array(weights)
    light = np.array(light, np.uint8)
    return QueryTerms(
        made(), NORMS, begins, ends, np.array(terms), worth, worth, light, np.zeros(1)
    )


def test_scores_add_up_over_the_terms_of_a_block():
    scores = np.full(2, 9.0)
    kernels.add_query_scores(asked([0, 1], [2.0, 10.0], [0, 1]), 0, False, 1, scores)
    assert np.allclose(scores, [0, 2 * 3 / 5 + 10 / 3])
    kernels.add_query_scores(asked([0, 1], [2.0, 10.0], [0, 1]), 0, True, 1, scores)
    assert np.allclose(scores, [0, 2 * 3 / 5])


def test_the_score_of_one_document_is_that_of_the_block():
    words = asked([0, 1, 1], [2.0, 10.0, 0.1], [0, 1, 0])
    words = words._replace(begins=np.array([0, 2]), ends=np.array([2, 3]))
    for query, heavy in ((0, False), (1, False), (0, True)):
        scores = np.empty(3)
        kernels.add_query_scores(words, query, heavy, 0, scores)
        sums = [kernels.lexical_score(words, query, each, heavy) for each in range(3)]
        assert sums == scores.tolist()


def test_documents_that_are_not_there_lead_no_kernel_out_of_its_arrays():
    # A stranger's file: none of these is a document, and the last comes after a larger one.
    documents = np.array([-(2**31), -1, 3, 2**31 - 1, 0], np.int32)
    hostile = Postings(np.array([0, 5]), documents, np.full(5, 8, np.uint8))
    scores = np.zeros(1 + 2)
    words = asked([0], [1.0], [0])._replace(postings=hostile)
    kernels.add_query_scores(words, 0, False, 1, scores[:2])
    assert scores.tolist() == [0, 0, 0]
    kernels.add_query_scores(words, 0, False, 0, scores[1:])
    backwards = Postings(np.array([0, 3]), np.array([1, 2, 0], np.int32), np.zeros(3, np.uint8))
    kernels.add_query_scores(words._replace(postings=backwards), 0, False, 1, scores[1:])
    assert scores.tolist() == [0, 1 / 1.5, 1 / 3]
    sums = np.zeros(7)
    kernels.measure_postings(hostile.documents, hostile.counts, LENGTHS, NORMS, sums)
    assert sums[:2].tolist() == [1, 3]
