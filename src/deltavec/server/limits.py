"""How much one request may ask for, and how many are worked on at once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from deltavec.core.threads import thread_count
from deltavec.errors import InputError


@dataclass(frozen=True)
class Limits:
    """What the server takes on. All are above 0.

    Attributes
    ----------
    body_bytes : int
        The size of a request's body.
    batch : int
        Texts to be embedded in one request.
    k : int
        Results of one search.
    deepest : int
        How far its pages go: results passed over and results together.
    pairs : int
        Pairs of words in one explanation.
    text_length : int
        Characters of a query, or of a text to be embedded or explained.
    excerpt_length : int
        Characters shown of each result.
    explained_length : int
        Characters up to which a stored document is explained.
    explained_pairs : int
        Pairs of different words that two texts to be compared may have: what an explanation costs.
    seconds : float
        Time for one request, from its first byte to its answer.
    workers : int
        Requests worked on at once; as many as there are cores by default. Long ones have threads
        of their own, one less than that but one at least.
    waiting : int
        Requests that may wait for a worker; one more is sent away with 503. Long ones have half of
        these places.
    wait_seconds : float
        The longest expected wait of a request; one that would wait longer is refused.
    from_client : int
        Requests of one client at once, by its address; those of this machine are not limited,
        since a proxy may send them for many clients.
    map_points : int
        Points on the map; of a larger collection a sample is shown.
    exported : int
        Documents in one table that is exported.
    compared : int
        Documents of a collection whose near-duplicates are listed.

    Examples
    --------
    >>> from deltavec.server.app import create_app
    >>> from deltavec.server.limits import Limits
    >>> app = create_app(news, limits=Limits(k=20, seconds=5))
    """

    body_bytes: int = 8 << 20
    batch: int = 2048
    k: int = 100
    deepest: int = 1000
    pairs: int = 100
    text_length: int = 100_000
    excerpt_length: int = 10_000
    explained_length: int = 200_000
    explained_pairs: int = 20_000_000
    seconds: float = 30.0
    workers: int = field(default_factory=lambda: thread_count(None))
    waiting: int = 256
    wait_seconds: float = 2.0
    from_client: int = 64
    map_points: int = 200_000
    exported: int = 20_000
    compared: int = 200_000

    @property
    def last(self) -> int:
        """The last result of a search that a page may begin with."""
        return max(self.k, self.deepest) - 1

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if not value > 0:
                raise InputError(f"{entry.name} must be above 0, got {value!r}")
