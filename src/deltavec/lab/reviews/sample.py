"""Which reviews make which documents: locations chosen, and reviews drawn without replacement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deltavec.errors import CorpusError
from deltavec.evaluation.groups import Group, Groups


@dataclass(frozen=True, eq=False)
class Sample:
    """The locations that were chosen, and how.

    Attributes
    ----------
    locations : tuple of Group
        Those whose reviews are drawn.
    kinds : Mapping[str, int]
        How many of each kind; empty if no kinds are told apart.
    notes : tuple of str
        Where the data did not allow what was asked for.
    """

    locations: tuple[Group, ...]
    kinds: Mapping[str, int]
    notes: tuple[str, ...]

    def labels(self, documents: int) -> npt.NDArray[np.int64]:
        """The number of each document's location, for so many documents of each."""
        return np.repeat(np.arange(len(self.locations)), documents)

    def documents(self, k: int, documents: int, seed: int) -> npt.NDArray[np.int64]:
        """The rows of the k reviews of each document, documents of a location together.

        No review is drawn twice. The draw depends on the seed, on k and on the place of the
        location only.
        """
        return np.concatenate(
            [
                np.random.default_rng([seed, k, place])
                .permutation(location.rows)[: k * documents]
                .reshape(documents, k)
                for place, location in enumerate(self.locations)
            ]
        )


def chosen(
    groups: Groups, locations: int, reviews: int, *, by_kind: bool, needed_for: str
) -> Sample:
    """The most reviewed locations, as many of each kind as the data allow.

    Parameters
    ----------
    groups
        What the file is about.
    locations
        How many to choose.
    reviews
        How many reviews each must have.
    by_kind
        Whether each kind gets the same share.
    needed_for
        What so many reviews are needed for, in an error's words.
    """
    if len(groups.groups) < 2:
        names = ", ".join(repr(location.name) for location in groups.groups)
        raise CorpusError(
            f"expected reviews of at least two locations, got {names or 'none'}: "
            "is this the column that tells them apart?"
        )
    enough = [location for location in groups.groups if len(location.rows) >= reviews]
    if len(enough) < locations:
        largest = groups.groups[min(len(enough), len(groups.groups) - 1)]
        raise CorpusError(
            f"expected {locations:,} locations with at least {reviews:,} reviews each "
            f"({needed_for}), got {len(enough):,} of {len(groups.groups):,}; "
            f"the next, {largest.name!r}, has {len(largest.rows):,}: "
            "ask for smaller k, fewer documents of each location, or fewer locations"
        )
    if not by_kind:
        return Sample(tuple(enough[:locations]), {}, ())
    return shared_by_kind(groups, enough, locations, reviews)


def shared_by_kind(groups: Groups, enough: Sequence[Group], locations: int, reviews: int) -> Sample:
    """The most reviewed locations of each kind, in equal shares where there are enough."""
    kinds = sorted({location.kind for location in groups.groups})
    shares = Counter({kind: locations // len(kinds) for kind in kinds})
    for kind in kinds[: locations % len(kinds)]:
        shares[kind] += 1
    picked = [
        location
        for kind in kinds
        for location in [one for one in enough if one.kind == kind][: shares[kind]]
    ]
    rest = [location for location in enough if not any(location is one for one in picked)]
    taken = picked + rest[: locations - len(picked)]
    counts = Counter(location.kind for location in taken)
    notes = tuple(
        f"{counts[kind]} of {shares[kind]} locations of the kind {kind!r}: no more of them have "
        f"{reviews:,} reviews; others take their place"
        for kind in kinds
        if counts[kind] < shares[kind]
    )
    taken.sort(key=lambda location: (-len(location.rows), location.name))
    return Sample(tuple(taken), {kind: counts[kind] for kind in kinds}, notes)
