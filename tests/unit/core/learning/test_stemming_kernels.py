import numpy as np
import pytest

from deltavec.core.arrays import offsets_of
from deltavec.core.learning import stemming_kernels


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([(0, 1), (2, 3), (1, 2)], [0, 0, 2, 2]),  # one of four pairs between the two groups
        ([(0, 1), (2, 3), (1, 2), (0, 2)], [0, 0, 0, 0]),  # two of four
        ([(3, 2), (2, 1), (1, 3)], [0, 1, 1, 1]),
    ],
)
def test_groups_merge_where_half_of_their_pairs_are_linked(links, expected):
    a, b = np.array(links).T
    both = sorted([*zip(a, b, strict=True), *zip(b, a, strict=True)])
    begins = offsets_of(np.bincount([one for one, _ in both], minlength=4))
    groups = np.arange(4, dtype=np.int32)
    stemming_kernels.merge_groups(a, b, begins, np.array([other for _, other in both]), groups, 0)
    assert groups.tolist() == expected


def test_endings_of_more_letters_than_allowed_are_passed_over():
    words = ["room", "roommates", "rooms"]
    letters = np.array([ord(letter) for word in words for letter in word], np.uint16)
    begins = offsets_of([len(word) for word in words])
    common = stemming_kernels.common_prefixes(letters, begins)
    assert common.tolist() == [0, 4, 4]
    pairs, endings = np.zeros((9, 2), np.int32), np.zeros((9, 2), np.uint64)
    no_rules = np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.uint64)
    found, reached = stemming_kernels.prefix_pairs(
        letters, begins, common, 4, 4, *no_rules, 0, pairs, endings
    )
    assert (found, reached) == (1, 3)
    assert pairs[0].tolist() == [0, 2]
    assert endings[0].tolist() == [0, ord("s")]


def test_endings_of_five_letters_are_told_apart_by_each_of_them():
    letters = np.array([4095, 1, 2, 3, 4095], np.uint16)
    others = [np.where(np.arange(5) == place, 7, letters) for place in range(5)]
    packed = {int(stemming_kernels.pack_ending(row.astype(np.uint16), 0, 5)) for row in others}
    assert len(packed | {int(stemming_kernels.pack_ending(letters, 0, 5))}) == 6


def test_only_pairs_that_a_rule_joins_are_listed():
    words = ["room", "rooms", "roomy"]
    letters = np.array([ord(letter) for word in words for letter in word], np.uint16)
    begins = offsets_of([len(word) for word in words])
    common = stemming_kernels.common_prefixes(letters, begins)
    rules = np.zeros(1, np.uint64), np.array([0, 1]), np.array([ord("s")], np.uint64)  # "" and "s"
    pairs, endings = np.zeros((9, 2), np.int32), np.zeros((9, 2), np.uint64)
    found, reached = stemming_kernels.prefix_pairs(
        letters, begins, common, 4, 4, *rules, 0, pairs, endings
    )
    assert (found, reached) == (1, 3)
    assert pairs[0].tolist() == [0, 1]
