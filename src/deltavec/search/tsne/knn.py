"""The neighbors of very many rows, most of them: looked for in the groups around each row.

All pairs of 200,000 rows take a quarter of an hour of a core. Rows are clustered into groups of
some hundreds, and each is compared with those of the groups nearest to its own: a map loses nothing
by a neighbor that it misses now and then. Groups begin with rows at even distances in their order:
nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Int64s, blocks, offsets_of
from deltavec.core.threads import one_blas_thread, parallel_map, thread_count

ROWS_A_GROUP = 400
LEARNED_FROM = 40  # rows for each group, from which it learns where it is
ROUNDS = 4
LEAST_GROUPS = 12  # that are looked through for each row; of many groups,
SHARE_OF_GROUPS = 25  # one in so many
PRODUCTS = 16_000_000  # at a time


class Groups(NamedTuple):
    """Rows in groups: those of group g are ``order[begins[g] : begins[g + 1]]``."""

    order: Int64s
    begins: Int64s
    nearest: Int64s  # (groups, groups): the groups by their distance from each, itself first

    def members(self, group: int) -> Int64s:
        """The rows of a group."""
        return self.order[self.begins[group] : self.begins[group + 1]]


@one_blas_thread()
def approximate_neighbors(
    rows: Float32s,
    k: int,
    *,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Int64s:
    """The k rows nearest to each, as far as groups tell; there are more than k others."""
    groups = cluster(rows)
    count = len(groups.begins) - 1
    found = np.empty((len(rows), k), np.int64)

    def look(group: int) -> None:
        mine = groups.members(group)
        others = search_groups(groups, group, k)
        for part in blocks(len(mine), max(1, PRODUCTS // len(others))):
            products = rows[mine[part]] @ rows[others].T
            products[mine[part][:, None] == others[None, :]] = -np.inf
            best = np.argpartition(-products, k - 1, axis=1)[:, :k]
            found[mine[part]] = np.sort(others[best], axis=1)

    for done, _ in enumerate(parallel_map(look, range(count), thread_count(threads)), 1):
        if on_progress:
            on_progress(done / count)
    return found


def search_groups(groups: Groups, group: int, k: int) -> Int64s:
    """The rows of the groups around one: so many groups, and more if they are too small."""
    count = len(groups.begins) - 1
    wanted = min(count, max(LEAST_GROUPS, count // SHARE_OF_GROUPS))
    while True:
        near = groups.nearest[group, :wanted].tolist()
        rows = np.sort(np.concatenate([groups.members(one) for one in near]))
        if len(rows) > k or wanted == count:
            return rows
        wanted = min(count, 2 * wanted)


def cluster(rows: Float32s) -> Groups:
    """The rows in groups of like ones."""
    count = max(1, len(rows) // ROWS_A_GROUP)
    sample = rows[sample_evenly(len(rows), min(len(rows), LEARNED_FROM * count))]
    centers = sample[sample_evenly(len(sample), count)].copy()
    for _ in range(ROUNDS):
        labels = nearest_center(sample, centers)
        order = np.argsort(labels, kind="stable")
        there, firsts = np.unique(labels[order], return_index=True)
        sums = np.add.reduceat(sample[order], firsts, axis=0)
        centers[there] = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    labels = nearest_center(rows, centers)
    nearest = np.argsort(-(centers @ centers.T) - 2 * np.eye(count), axis=1, kind="stable")
    begins = offsets_of(np.bincount(labels, minlength=count))
    return Groups(np.argsort(labels, kind="stable"), begins, nearest)


def sample_evenly(rows: int, count: int) -> Int64s:
    """So many of the numbers below another, at even distances."""
    return (np.arange(count) * rows) // count


def nearest_center(rows: Float32s, centers: Float32s) -> Int64s:
    """The center that each row is nearest to."""
    return np.concatenate([(rows[part] @ centers.T).argmax(axis=1) for part in blocks(len(rows))])
