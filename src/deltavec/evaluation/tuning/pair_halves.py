"""Two halves of labelled pairs, cut so that no document is on both sides."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse
from scipy.sparse import csgraph

from deltavec.errors import CorpusError
from deltavec.evaluation.tuning.areas import LabelledPairs
from deltavec.evaluation.tuning.halves import Half, Halves
from deltavec.evaluation.tuning.pairs import Listed, Pairs

# A half has at least this share of the pairs of each label, or the cut is made another way.
SMALLEST_SHARE = 0.25

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Cut(NamedTuple):
    """A unit for each document, and a side for each unit."""

    unit_of: Ints
    sides: Ints
    unit: str

    def kept(self, pairs: Pairs) -> Bools:
        """The pairs whose documents are on one side."""
        sides = self.sides[self.unit_of[pairs]]
        within: Bools = sides[:, 0] == sides[:, 1]
        return within

    def on(self, side: int, pairs: Pairs) -> Bools:
        """The pairs on one side."""
        here: Bools = self.kept(pairs) & (self.sides[self.unit_of[pairs[:, 0]]] == side)
        return here


def pair_halves(listed: Listed, texts: Any, seed: int) -> Halves:
    """Two halves of the pairs, each with the documents that they name.

    Documents that are connected by pairs stay together. Where most of them are connected, those
    that belong together do, and the other pairs that would join the halves are left out.
    """
    cuts = (
        cut(listed, connected(listed, listed.pairs), "connected set", seed),
        cut(listed, connected(listed, listed.pairs[listed.positive]), "cluster", seed),
    )
    for made, share in zip(cuts, (SMALLEST_SHARE, 0.0), strict=True):
        if is_fair(listed, made, share):
            both = [half_of(listed, texts, made, side) for side in (0, 1)]
            return Halves(both[0], both[1], made.unit, (*listed.notes, *notes_of(listed, made)))
    positives = int(listed.positive.sum())
    raise CorpusError(
        f"{len(listed.pairs):,} pairs ({positives:,} that belong together) cannot be cut into "
        "halves that share no document: each half needs pairs of both labels, and some must be "
        "left when a document is left out; add pairs of other documents"
    )


def connected(listed: Listed, pairs: Pairs) -> Ints:
    """A number for each document, the same for those that the pairs connect."""
    documents = len(listed.names)
    links = sparse.coo_matrix((np.ones(len(pairs), np.int8), pairs.T), (documents, documents))
    numbers: Ints = csgraph.connected_components(links, directed=False)[1].astype(np.int64)
    return numbers


def cut(listed: Listed, unit_of: Ints, unit: str, seed: int) -> Cut:
    """The units shared out, the largest first, so that both sides have as many of each label."""
    units = int(unit_of.max()) + 1
    touched = np.stack(
        [
            np.bincount(
                unit_of[listed.pairs[listed.positive == label]].reshape(-1), minlength=units
            )
            for label in (True, False)
        ],
        axis=1,
    )
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(units), -touched[:, 1], -touched[:, 0]))
    sides = np.zeros(units, np.int64)
    loads = np.zeros((2, 2), np.int64)
    for number in order.tolist():
        by = 0 if touched[number, 0] else 1
        side = int(loads[1, by] < loads[0, by])
        sides[number] = side
        loads[side] += touched[number]
    return Cut(unit_of, sides, unit)


def is_fair(listed: Listed, made: Cut, share: float) -> bool:
    """Whether both sides have enough pairs of both labels, with any unit left out too."""
    for side in (0, 1):
        here = made.on(side, listed.pairs)
        for label in (True, False):
            of_label = listed.positive == label
            own = listed.pairs[here & of_label]
            if len(own) == 0 or len(own) < share * of_label.sum():
                return False
            one, other = made.unit_of[own].T
            touching = np.bincount(np.concatenate([one, other[other != one]]))
            if touching.max() == len(own):
                return False
    return True


def half_of(listed: Listed, texts: Any, made: Cut, side: int) -> Half:
    """The pairs on one side, and the documents that they name."""
    here = made.on(side, listed.pairs)
    documents, places = np.unique(listed.pairs[here], return_inverse=True)
    ends = np.sort(places.reshape(-1, 2), axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))  # in order of the first: see `products`
    first, second = ends[order].T.astype(np.int32)
    units, unit_of = np.unique(made.unit_of[documents], return_inverse=True)
    pairs = LabelledPairs(first, second, listed.positive[here][order], unit_of.astype(np.int32))
    return Half(texts.take(pa.array(documents)), pairs, len(units))


def notes_of(listed: Listed, made: Cut) -> tuple[str, ...]:
    """What was left out, if anything."""
    lost = int((~made.kept(listed.pairs)).sum())
    if not lost:
        return ()
    note = (
        f"{lost:,} of {len(listed.pairs):,} pairs would join the halves and are left out: most "
        "documents are connected by pairs"
    )
    return (note,)
