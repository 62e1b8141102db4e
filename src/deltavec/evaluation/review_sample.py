"""Which reviews make which documents: locations chosen, and reviews drawn without replacement."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltavec.errors import CorpusError, InputError
from deltavec.io.corpora import Corpus


@dataclass(frozen=True, eq=False)
class Location:
    """A place that people review.

    Attributes
    ----------
    name : str
        What it is called.
    kind : str
        What kind of place it is; empty if no kinds are told apart.
    rows : ndarray of int64
        The rows of its reviews that hold text.
    """

    name: str
    kind: str
    rows: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reviewed:
    """What a file of reviews is about.

    Attributes
    ----------
    locations : tuple of Location
        Those that have reviews, the most reviewed first, ties by name.
    reviews : int
        How many rows the file has, those without text or location among them.
    digest : str
        A hash of all texts, locations and kinds.
    """

    locations: tuple[Location, ...]
    reviews: int
    digest: str


@dataclass(frozen=True, eq=False)
class Sample:
    """The locations that were chosen, and how.

    Attributes
    ----------
    locations : tuple of Location
        Those whose reviews are drawn.
    kinds : Mapping[str, int]
        How many of each kind; empty if no kinds are told apart.
    notes : tuple of str
        Where the data did not allow what was asked for.
    """

    locations: tuple[Location, ...]
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


def reviewed(corpus: Corpus, group_column: str, kind_column: str | None = None) -> Reviewed:
    """The locations of a file and their reviews."""
    columns = [group_column] if kind_column is None else [group_column, kind_column]
    for name in columns:
        if name == corpus.column:
            raise InputError(f"the column {name!r} holds the text; expected one that holds labels")
    if kind_column == group_column:
        raise InputError(f"the column {group_column!r} names the locations; name another for kinds")
    corpus.schema(columns)  # an unknown column is an error before any reading
    rows: dict[str, list[npt.NDArray[np.int64]]] = {}
    kinds: dict[str, str] = {}
    digest = hashlib.sha256()
    reviews = 0
    for batch in corpus.batches(columns):
        texts, *labels = (batch.column(place) for place in range(batch.num_columns))
        names, *named_kinds = map(strings, labels, columns)
        add_to_digest(digest, [texts.fill_null(""), names, *named_kinds])
        labelled = names.to_pylist()
        if named_kinds:
            add_kinds(kinds, labelled, named_kinds[0].to_pylist())
        for name, places in places_by_name(labelled, holds_text(texts)).items():
            rows.setdefault(name, []).append(reviews + places)
        reviews += len(texts)
    locations = [
        Location(name, kinds.get(name, ""), np.concatenate(places)) for name, places in rows.items()
    ]
    locations.sort(key=lambda location: (-len(location.rows), location.name))
    return Reviewed(tuple(locations), reviews, digest.hexdigest())


def strings(column: Any, name: str) -> Any:
    """A column of labels as strings; a missing label is an empty one."""
    try:
        return column.cast(pa.string()).fill_null("")
    except pa.ArrowException:
        raise CorpusError(
            f"expected labels (text or numbers) in the column {name!r}, got {column.type}"
        ) from None


def holds_text(texts: Any) -> npt.NDArray[np.bool_]:
    """Whether each text holds more than white space."""
    trimmed = pc.utf8_trim_whitespace(texts.fill_null(""))
    held: npt.NDArray[np.bool_] = pc.greater(pc.binary_length(trimmed), 0).to_numpy(
        zero_copy_only=False
    )
    return held


def places_by_name(
    names: Sequence[str], usable: npt.NDArray[np.bool_]
) -> dict[str, npt.NDArray[np.int64]]:
    """The places of each name where something usable stands."""
    found: dict[str, list[int]] = {}
    for place in np.flatnonzero(usable).tolist():
        if names[place]:
            found.setdefault(names[place], []).append(place)
    return {name: np.array(places, np.int64) for name, places in found.items()}


def add_kinds(known: dict[str, str], names: Iterable[str], kinds: Iterable[str]) -> None:
    """Note the kind of each location, which must have one only."""
    for name, kind in dict.fromkeys(zip(names, kinds, strict=True)):
        if name and known.setdefault(name, kind) != kind:
            raise CorpusError(
                f"expected one kind for each location, got {known[name]!r} and {kind!r} "
                f"for {name!r}"
            )


def add_to_digest(digest: Any, columns: Sequence[Any]) -> None:
    """Add rows to the hash; how they come in batches does not matter."""
    for row in zip(*(column.to_pylist() for column in columns), strict=True):
        for cell in row:
            encoded = cell.encode()
            digest.update(len(encoded).to_bytes(8, "little"))
            digest.update(encoded)


def chosen(
    found: Reviewed, locations: int, reviews: int, *, by_kind: bool, needed_for: str
) -> Sample:
    """The most reviewed locations, as many of each kind as the data allow.

    Parameters
    ----------
    found
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
    if len(found.locations) < 2:
        names = ", ".join(repr(location.name) for location in found.locations)
        raise CorpusError(
            f"expected reviews of at least two locations, got {names or 'none'}: "
            "is this the column that tells them apart?"
        )
    enough = [location for location in found.locations if len(location.rows) >= reviews]
    if len(enough) < locations:
        largest = found.locations[min(len(enough), len(found.locations) - 1)]
        raise CorpusError(
            f"expected {locations:,} locations with at least {reviews:,} reviews each "
            f"({needed_for}), got {len(enough):,} of {len(found.locations):,}; "
            f"the next, {largest.name!r}, has {len(largest.rows):,}: "
            "ask for smaller k, fewer documents of each location, or fewer locations"
        )
    if not by_kind:
        return Sample(tuple(enough[:locations]), {}, ())
    return shared_by_kind(found, enough, locations, reviews)


def shared_by_kind(
    found: Reviewed, enough: Sequence[Location], locations: int, reviews: int
) -> Sample:
    """The most reviewed locations of each kind, in equal shares where there are enough."""
    kinds = sorted({location.kind for location in found.locations})
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
