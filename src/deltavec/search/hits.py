"""What a search found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt

from deltavec.core.arrays import Float32s
from deltavec.notebook import table

QUERIES_SHOWN = 10
HITS_SHOWN = 20


class Hit(NamedTuple):
    """One row that was found: its id (a number or a string) and its cosine with the query."""

    id: Any
    score: float


@dataclass(frozen=True, eq=False)
class Hits:
    """The rows found for each query, best first.

    ``len(hits)`` is the number of queries; ``hits[0]`` lists what was found for the first one, and
    a loop over ``hits`` goes through the queries.

    Attributes
    ----------
    ids : array of shape (queries, k)
        The ids of the rows: int64, or Python strings.
    scores : float32 array of shape (queries, k)
        Their cosines with the query.
    """

    ids: npt.NDArray[Any]
    scores: Float32s

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, query: int) -> list[Hit]:
        """What was found for one query."""
        pairs = zip(self.ids[query].tolist(), self.scores[query].tolist(), strict=True)
        return [Hit(*pair) for pair in pairs]

    def __iter__(self) -> Iterator[list[Hit]]:
        return map(self.__getitem__, range(len(self)))

    def __repr__(self) -> str:
        queries, k = self.scores.shape
        return f"Hits({queries:,} queries, {k:,} found for each)"

    def _repr_html_(self) -> str:
        """The first hits of the first queries, as a table."""
        queries, k = self.scores.shape
        rows = [
            (query, place + 1, id, f"{score:.4f}")
            for query in range(min(queries, QUERIES_SHOWN))
            for place, (id, score) in enumerate(self[query][:HITS_SHOWN])
        ]
        hidden = queries > QUERIES_SHOWN or k > HITS_SHOWN
        return table(repr(self), ("query", "place", "id", "score"), rows, hidden)
