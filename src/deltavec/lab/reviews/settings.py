"""The settings of the review benchmark, checked before any work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deltavec.core.arguments import require_whole
from deltavec.errors import InputError
from deltavec.lab.experiment import Settings


@dataclass(frozen=True, kw_only=True)
class ReviewSettings(Settings):
    """The settings of the review benchmark, besides those of every experiment.

    Attributes
    ----------
    group_column : str
        The column with the location of a review.
    kind_column : str or None
        The column with the kind of a location. Each kind then has the same share of the
        locations, if the data allow.
    ks : sequence of int
        The number of reviews in a document, for each problem.
    documents_per_location : int
        The number of documents per location. No review is drawn twice for one k.
    locations : int
        The number of locations, those with the most reviews. They are the same for every k, so
        each must have enough reviews for the largest.
    doc2vec_ks : sequence of int or None
        The k to train doc2vec for, which is slow; all by default.
    """

    group_column: str
    kind_column: str | None = None
    ks: Sequence[int] = range(1, 21)
    documents_per_location: int = 50
    locations: int = 60
    doc2vec_ks: Sequence[int] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        ks = whole_numbers("k", self.ks)
        asked = ks if self.doc2vec_ks is None else whole_numbers("doc2vec_ks", self.doc2vec_ks)
        doc2vec_ks = () if "doc2vec" in self.skip else asked
        object.__setattr__(self, "ks", ks)
        object.__setattr__(self, "doc2vec_ks", doc2vec_ks)
        require_whole("documents_per_location", self.documents_per_location, 2)
        require_whole("locations", self.locations, 2)
        if not ks:
            raise InputError("expected at least one number of reviews (k), got none")
        missing = set(doc2vec_ks) - set(ks)
        if missing:
            raise InputError(
                f"doc2vec is asked for k = {min(missing)}, which is not among the k evaluated"
            )

    @property
    def reviews_needed(self) -> int:
        """The number of reviews that a location must have, for the largest k."""
        return max(self.ks) * self.documents_per_location


def whole_numbers(name: str, values: Iterable[int]) -> tuple[int, ...]:
    """The distinct numbers, ascending; all must be at least 1."""
    numbers = list(values)
    for number in numbers:
        require_whole(name, number, 1)
    return tuple(sorted({int(number) for number in numbers}))
