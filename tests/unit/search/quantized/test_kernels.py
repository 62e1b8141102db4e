"""The sieve of exact search, on rows that can be checked by hand."""

import numpy as np
import pytest

from deltavec.search.kernels import Rows
from deltavec.search.quantized import kernels
from deltavec.search.quantized.build import quantize, quantize_as, quantize_queries
from deltavec.search.quantized.kernels import ROWS, Candidates
from support.quantized_rows import ALL, NONE, VECTORS, asked, hits, nothing_found


def test_codes_are_the_numbers_in_steps_of_the_largest():
    sieve = quantize(VECTORS, 1).rows
    assert sieve.codes.shape == (1, 4, ROWS)
    assert sieve.codes[0, :, :4].T.tolist() == [
        [127, 0, 0, 0], [0, 127, 0, 0], [95, 127, 0, 0], [0, 0, 0, 0],
    ]  # fmt: skip
    steps = np.array([1, 1, 0.8, 0], np.float32) / 127
    assert sieve.steps[0, :4].tolist() == pytest.approx(steps.tolist())
    # .6 is 95.25 steps: a quarter of a step is lost, and nothing else
    assert sieve.slacks[0] == pytest.approx(0.25, abs=1e-3)


def test_a_query_of_zeros_has_codes_of_zeros():
    coded = quantize_as(np.zeros((1, 2), np.float32), 0, 0, 0.01, 1e-5)
    assert not coded.codes.any()
    assert coded.steps[0] == 0
    assert coded.slacks[0] > 1e-5


def test_only_rows_that_can_reach_a_score_are_looked_at():
    codes, _ = asked(VECTORS[:1])
    high = Candidates(np.empty(ROWS, np.int64), np.empty(ROWS, np.float32))
    count = kernels.candidate_rows(codes, 0, 1, 0, np.float32(0.5), high, 0)
    assert high.places[:count].tolist() == [0, 2]
    assert (high.scores[:count] >= [1, 0.6]).all()
    assert high.scores[:count].tolist() == pytest.approx([1, 0.6], abs=0.01)


def test_where_heads_let_many_rows_pass_the_whole_codes_are_read():
    # The head of a row sees its first number, and how long the rest is: (0, 1) could be (0, -1).
    directions = np.eye(2)[:, :1]
    query = np.array([[0.6, -0.8]], np.float32)
    for rows, expected in [(np.tile(VECTORS[1:2], (8, 1)), []), (VECTORS, [0, 1, 2])]:
        made = quantize(rows, 1, directions=directions)
        codes = quantize_queries(query, 1e-6, 1e-6, made, 1e-5, ALL)
        high = Candidates(np.empty(ROWS, np.int64), np.empty(ROWS, np.float32))
        count = kernels.candidate_rows(codes, 0, 1, 0, np.float32(0.5), high, 0)
        assert high.places[:count].tolist() == expected


@pytest.mark.parametrize("queries", [1, 2])
@pytest.mark.parametrize("allowed", [[], [0, 1, 1, 1]])
def test_the_best_rows_pass_the_sieve(queries, allowed):
    codes, wanted = asked(VECTORS[:queries])
    best = nothing_found(queries, 2)
    rows = Rows(VECTORS, 10, NONE, NONE)
    codes = codes._replace(allowed=np.array(allowed, np.uint8))
    kernels.scan_quantized(rows, codes, 0, 4, wanted, best)
    expected = [(np.float32(0.6), 12), (0.0, 11)] if allowed else [(1.0, 10), (np.float32(0.6), 12)]
    assert hits(best) == expected


def test_many_blocks_are_looked_through():
    many = np.tile(VECTORS, (3 * ROWS, 1))
    codes, wanted = asked(VECTORS[2:3], many)
    best = nothing_found(1, 3)
    for first in (0, ROWS):  # the second time there is no room, and blocks are taken many at once
        last = ROWS if first == 0 else len(many)
        kernels.scan_quantized(Rows(many, 0, NONE, NONE), codes, first, last, wanted, best)
    assert hits(best) == [(1.0, 2), (1.0, 6), (1.0, 10)]


def test_rows_for_which_there_is_no_more_room_are_scored_and_none_is_lost():
    room = 2 * kernels.FEWER_BLOCKS * ROWS  # where there are two queries
    equals = np.tile(VECTORS[2:3], (room + ROWS, 1))
    ranks = np.arange(len(equals))[::-1].copy()  # the last row comes before all others
    codes, wanted = asked(VECTORS[[2, 2]], equals)
    best = nothing_found(2, 3)
    rows = Rows(equals, 0, NONE, ranks)
    kernels.scan_quantized(rows, codes, 0, len(equals), wanted, best)
    assert hits(best, 0) == hits(best, 1) == [(1.0, 0), (1.0, 1), (1.0, 2)]
