"""What is asked of the review benchmark, checked before any work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deltavec.core.arguments import require_one_of, require_whole
from deltavec.errors import InputError
from deltavec.lab.experiment import Settings

COMPONENTS_FROM = ("documents", "corpus")


@dataclass(frozen=True, kw_only=True)
class ReviewSettings(Settings):
    """What the review benchmark can be asked for, besides what every experiment can.

    Attributes
    ----------
    group_column : str
        The column that says which location a review is of.
    kind_column : str or None
        The column that says of which kind a location is. Each kind then has the same share of
        the locations, if the data allow.
    ks : sequence of int
        How many reviews make a document, for each problem.
    documents_per_location : int
        How many documents are made for each location. No review is drawn twice for one k.
    locations : int
        How many locations: the most reviewed. They are the same for every k, so that each must
        have enough reviews for the largest.
    components_from : str
        Where ``-pca`` finds the component to remove: on the ``documents`` that are compared, as in
        the paper, or on the whole ``corpus``. Two recipes have the other way in a column besides.
    doc2vec_ks : sequence of int or None
        The k to train doc2vec for, which takes long; all by default.
    """

    group_column: str
    kind_column: str | None = None
    ks: Sequence[int] = range(1, 21)
    documents_per_location: int = 50
    locations: int = 60
    components_from: str = "documents"
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
        require_one_of("components_from", self.components_from, COMPONENTS_FROM)
        if not ks:
            raise InputError("expected at least one number of reviews (k), got none")
        missing = set(doc2vec_ks) - set(ks)
        if missing:
            raise InputError(
                f"doc2vec is asked for k = {min(missing)}, which is not among the k evaluated"
            )

    @property
    def reviews_needed(self) -> int:
        """How many reviews a location must have, for the largest k."""
        return max(self.ks) * self.documents_per_location


def whole_numbers(name: str, values: Iterable[int]) -> tuple[int, ...]:
    """The numbers from 1 on, each once, ascending."""
    numbers = list(values)
    for number in numbers:
        require_whole(name, number, 1)
    return tuple(sorted({int(number) for number in numbers}))
