"""What is asked of the review benchmark, checked before any work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from deltavec.core.texts import require_tokenizer
from deltavec.errors import InputError
from deltavec.training import METHODS

SKIPPABLE = ("doc2vec", "tf-idf", "lsa")
COMPONENTS_FROM = ("documents", "corpus")


@dataclass(frozen=True)
class ReviewSettings:
    """The options of the review benchmark; see `deltavec.evaluation.reviews.review_benchmark`."""

    group_column: str
    kind_column: str | None
    ks: tuple[int, ...]
    documents_per_location: int
    locations: int
    seed: int
    vectors_method: str
    components_from: str
    skip: tuple[str, ...]
    doc2vec_ks: tuple[int, ...]
    tokenizer: str

    def __post_init__(self) -> None:
        require_number("documents_per_location", self.documents_per_location, 2)
        require_number("locations", self.locations, 2)
        require_number("seed", self.seed, 0)
        require_one_of("vectors_method", self.vectors_method, METHODS)
        require_one_of("components_from", self.components_from, COMPONENTS_FROM)
        require_tokenizer(self.tokenizer)
        for name in self.skip:
            require_one_of("skip", name, SKIPPABLE)
        if not self.ks:
            raise InputError("expected at least one number of reviews (k), got none")
        missing = set(self.doc2vec_ks) - set(self.ks)
        if missing:
            raise InputError(
                f"doc2vec is asked for k = {min(missing)}, which is not among the k evaluated"
            )

    @property
    def reviews_needed(self) -> int:
        """How many reviews a location must have, for the largest k."""
        return max(self.ks) * self.documents_per_location

    def as_record(self) -> dict[str, Any]:
        """The options, as JSON knows them."""
        record = asdict(self)
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in record.items()
        }


def whole_numbers(name: str, values: Iterable[int]) -> tuple[int, ...]:
    """The numbers from 1 on, each once, ascending."""
    numbers = list(values)
    for number in numbers:
        require_number(name, number, 1)
    return tuple(sorted({int(number) for number in numbers}))


def require_number(name: str, value: object, least: int) -> None:
    """Refuse what is not a whole number from ``least`` on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number from {least} on, got {value!r}")


def require_one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse what is not one of the names."""
    if value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
