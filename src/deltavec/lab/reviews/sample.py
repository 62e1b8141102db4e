"""The sample of reviews: locations, and reviews drawn without replacement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deltavec.errors import CorpusError
from deltavec.evaluation.groups import Group, Groups
from deltavec.lab.reviews.settings import ReviewSettings


@dataclass(frozen=True, eq=False)
class Sample:
    """The locations of the benchmark.

    Attributes
    ----------
    locations : tuple of Group
        The locations.
    kinds : Mapping[str, int]
        The number of locations of each kind; empty without a kind column.
    notes : tuple of str
        Where the data did not allow what was asked for.
    """

    locations: tuple[Group, ...]
    kinds: Mapping[str, int]
    notes: tuple[str, ...]

    def labels(self, documents: int) -> npt.NDArray[np.int64]:
        """The location of each document, for this many documents per location."""
        return np.repeat(np.arange(len(self.locations)), documents)

    def documents(self, k: int, documents: int, seed: int) -> npt.NDArray[np.int64]:
        """The rows of the k reviews of each document, sorted by location.

        No review is drawn twice. The draw depends only on the seed, on k and on the rank of the
        location.
        """
        return np.concatenate(
            [
                np.random.default_rng([seed, k, rank])
                .permutation(location.rows)[: k * documents]
                .reshape(documents, k)
                for rank, location in enumerate(self.locations)
            ]
        )


def choose_locations(groups: Groups, settings: ReviewSettings) -> Sample:
    """The locations with the most reviews, as many of each kind as the data allow."""
    wanted, reviews = settings.locations, settings.reviews_needed
    if len(groups.groups) < 2:
        names = ", ".join(repr(location.name) for location in groups.groups)
        raise CorpusError(
            f"expected reviews of at least two locations, got {names or 'none'}: "
            "is this the column that tells them apart?"
        )
    enough = [location for location in groups.groups if len(location.rows) >= reviews]
    if len(enough) < wanted:
        largest = groups.groups[min(len(enough), len(groups.groups) - 1)]
        raise CorpusError(
            f"expected {wanted:,} locations with at least {reviews:,} reviews each "
            f"({max(settings.ks)} for each of {settings.documents_per_location} documents), "
            f"got {len(enough):,} of {len(groups.groups):,}; "
            f"the next, {largest.name!r}, has {len(largest.rows):,}: "
            "ask for smaller k, fewer documents of each location, or fewer locations"
        )
    if settings.kind_column is None:
        return Sample(tuple(enough[:wanted]), {}, ())
    kinds = sorted({location.kind for location in groups.groups})
    quotas = {
        kind: wanted // len(kinds) + (rank < wanted % len(kinds)) for rank, kind in enumerate(kinds)
    }
    taken: list[Group] = []
    for kind, quota in quotas.items():
        taken += [location for location in enough if location.kind == kind][:quota]
    chosen = {location.name for location in taken}
    taken += [one for one in enough if one.name not in chosen][: wanted - len(taken)]
    counts = Counter(location.kind for location in taken)
    notes = tuple(
        f"{counts[kind]} of {quota} locations of the kind {kind!r}: no more of them have "
        f"{reviews:,} reviews; others take their place"
        for kind, quota in quotas.items()
        if counts[kind] < quota
    )
    taken.sort(key=lambda location: (-len(location.rows), location.name))
    return Sample(tuple(taken), {kind: counts[kind] for kind in kinds}, notes)
