"""What the explorer asks of a collection, as plain objects.

Everything here runs in worker threads, and reads only: nothing is shared that changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.collection import Collection
from deltavec.collection.excerpts import Excerpt, Piece, Read, excerpt, read
from deltavec.collection.hits import Nearest
from deltavec.collection.query import Query
from deltavec.collection.why import QueryWord, document_shares, explained, same_words
from deltavec.core.explain import Document as TakenApart
from deltavec.core.explain import Removal, WordShare, pulling_pairs, pushing_pairs, removal, shares
from deltavec.core.threads import stop_if_unwanted
from deltavec.errors import InputError
from deltavec.server.errors import RequestError
from deltavec.server.limits import Limits
from deltavec.server.map_view import MapView
from deltavec.server.requests import (
    ExplainRequest,
    FindRequest,
    ListRequest,
    WhyRequest,
)
from deltavec.server.responses import plain
from deltavec.version import __version__

KEYWORDS = 10
LISTED_WORDS = 40  # of each text in an explanation; the others are summed up
LISTED_UNKNOWN = 50
FILTER_LENGTH = 2000
LONG_TEXT = 20_000  # characters: some hundredths of a second to take apart
LONG_WORK = 1_000_000  # pairs of words: about the same


class Hit(NamedTuple):
    """A document that was found: its row, its score, what is stored of it, and its place."""

    row: int
    score: float
    entry: dict[str, Any]
    place: tuple[float, float] | None


class LongWorkError(Exception):
    """The work would take seconds: to be done beside short requests, not before them."""


@dataclass(frozen=True, eq=False)
class Explorer:
    """A collection to be explored.

    Attributes
    ----------
    collection : Collection
        The documents and their vectors.
    overview : MapView
        The map.
    limits : Limits
        What one request may ask for.
    name : str
        What the collection is called on the page.
    """

    collection: Collection
    overview: MapView
    limits: Limits
    name: str

    def read(self, query: str, by: str | None) -> Query:
        """A query, read; one that the collection cannot answer is refused."""
        self.require_text("query", query)
        try:
            return self.collection.read(query, by)
        except InputError as error:
            raise RequestError(422, str(error), param="by") from None

    def results(
        self, found: Nearest, query: Query | None, request: FindRequest | ListRequest
    ) -> list[dict[str, Any]]:
        """The documents that were found, with what their words add if that is asked for."""
        length = within("length", request.length, 1000, self.limits.excerpt_length)
        asked = query if request.explain else None
        places = self.overview.positions.of(found.rows)
        entries = self.collection.entries(found.rows)
        hits = zip(found.rows.tolist(), found.scores.tolist(), entries, places, strict=True)
        return [self.result(Hit(*hit), asked, length) for hit in hits]

    def result(self, hit: Hit, query: Query | None, length: int) -> dict[str, Any]:
        """One document that was found, its words explained if there is a query to do it with."""
        stop_if_unwanted()
        row, score, entry, place = hit
        identity, text = entry.pop("id"), entry.pop("text") or ""
        shown = Excerpt(0, text[:length], [])
        matched: tuple[str, ...] = ()
        explained = query is not None and len(text) <= self.limits.explained_length
        if query is not None and explained:
            apart, words = read(self.collection.model, text), self.collection.words
            near = shares(apart.document, query.vector).by_word
            added = document_shares(query, words, row, apart.parted, near)
            matched = same_words(query, words, apart.parted)
            shown = excerpt(text, apart.spans, added, length)
        return {
            "id": identity,
            "score": score,
            "text": shown.text,
            "begin": shown.begin,
            "length": len(text),
            "columns": plain_columns(entry),
            "position": place,
            "matched": list(matched),
            "pieces": rounded(shown.pieces) if explained else None,
        }

    def why(self, request: WhyRequest, *, at_length: bool = True) -> dict[str, Any]:
        """Why a document has its score for a query; long work only ``at_length``."""
        require_short(request.query, at_length)
        query = self.read(request.query, request.by)
        count = within("pairs", request.pairs, 10, self.limits.pairs)
        row = self.row(request.id)
        apart = self.taken_apart(row, "id", at_length)
        self.require_pairs(query.meaning, apart.document, at_length)
        vector, words = self.collection.index.vectors[row], self.collection.words
        why = explained(query, words, row, vector, apart.parted, apart.document, count)
        return {
            "by": why.by,
            "score": why.score,
            **listed(why.words),
            "centre": why.centre,
            "matched": list(why.matched),
            "near": [pair._asdict() for pair in why.near],
            "unknown": list(why.unknown[:LISTED_UNKNOWN]),
        }

    def explain(self, request: ExplainRequest, *, at_length: bool = True) -> dict[str, Any]:
        """Why two texts are as alike as they are; long work only ``at_length``."""
        count = within("pairs", request.pairs, 10, self.limits.pairs)
        length = within("length", request.length, 2000, self.limits.excerpt_length)
        a, b = (self.side(name, request, at_length) for name in "ab")
        documents = a.document, b.document
        self.require_pairs(*documents, at_length)
        removed = removal(*documents, self.collection.model.folded)
        return {
            "cosine": float(a.document.vector @ b.document.vector),
            "a": explained_side(request.id_a, a, b, length),
            "b": explained_side(request.id_b, b, a, length),
            "together": [pair._asdict() for pair in pulling_pairs(*documents, count)],
            "apart": [pair._asdict() for pair in pushing_pairs(*documents, count)],
            "removed": removed and removed_part(removed),
        }

    def require_pairs(self, a: TakenApart, b: TakenApart, at_length: bool) -> None:
        """Refuse texts whose words make too many pairs to be compared."""
        pairs = len(a.words) * len(b.words)
        if pairs > self.limits.explained_pairs:
            raise RequestError(
                422,
                f"the texts have {pairs:,} pairs of different words, and "
                f"{self.limits.explained_pairs:,} can be compared: send shorter ones",
            )
        if pairs > LONG_WORK and not at_length:
            raise LongWorkError

    def side(self, name: str, request: ExplainRequest, at_length: bool) -> Read:
        """One of the two texts of an explanation."""
        text = getattr(request, f"text_{name}")
        identity = getattr(request, f"id_{name}")
        if (text is None) == (identity is None):
            raise RequestError(
                422,
                f"expected either text_{name} or id_{name}, got "
                f"{'neither' if text is None else 'both'}",
                param=f"text_{name}",
            )
        stop_if_unwanted()
        if text is not None:
            self.require_text(f"text_{name}", text)
            require_short(text, at_length)
            return read(self.collection.model, text)
        return self.taken_apart(self.row(identity, f"id_{name}"), f"id_{name}", at_length)

    def taken_apart(self, row: int, param: str, at_length: bool) -> Read:
        """A document to be explained; one that is too long for that is refused."""
        text = self.collection.documents([row]).column("text")[0].as_py() or ""
        require_short(text, at_length)
        found = self.explainable(text)
        if found is None:
            raise RequestError(
                422,
                f"the document is longer than {self.limits.explained_length:,} characters, too "
                "long to be explained",
                param=param,
            )
        return found

    def document(self, identity: str) -> dict[str, Any]:
        """One document, whole."""
        row = self.row(identity)
        entry = self.collection.entries([row])[0]
        del entry["id"]
        text = entry.pop("text") or ""
        apart = self.explainable(text)
        words = shares(apart.document, apart.document.vector).words[:KEYWORDS] if apart else ()
        return {
            "id": identity,
            "text": text,
            "columns": plain_columns(entry),
            "position": self.position(row),
            "keywords": [{"word": word.word, "share": word.share} for word in words],
        }

    def info(self) -> dict[str, Any]:
        """What is served, and what the server takes on."""
        return {
            "version": __version__,
            "name": self.name,
            "documents": len(self.collection),
            "dimensions": self.collection.model.dimensions,
            "columns": list(self.collection.columns),
            "color_by": self.overview.color_names,
            "map": self.overview.positions.method,
            "state": self.overview.state,
            "limits": asdict(self.limits),
            "collection": plain(self.collection.info()),
        }

    def position(self, row: int) -> list[float] | None:
        """Where a document stands on the map."""
        place = self.overview.positions.of(np.array([row]))[0]
        return None if place is None else list(place)

    def row(self, identity: str, param: str = "id") -> int:
        """The place of a document; an id that is not there is refused."""
        # Not Collection.row: it looks for ids that are spelled alike, which takes seconds.
        row = self.collection.find_row(identity)
        if row is None:
            raise RequestError(404, "there is no document with this id", param=param)
        return row

    def wanted(self, request: FindRequest | ListRequest) -> int:
        """How many documents to show; a filter that is too long, or cannot be read, is refused."""
        k = within("k", request.k, 10, self.limits.k)
        if isinstance(request, FindRequest):  # finds all that come before them, too
            deepest = max(self.limits.k, self.limits.deepest)
            require_at_most("offset + k", request.offset + k, deepest, param="offset")
        if request.filter is not None:
            self.mask(request.filter)
        return k

    def mask(self, filter: str) -> npt.NDArray[np.bool_]:
        """Which documents a filter leaves."""
        require_at_most("filter", len(filter), FILTER_LENGTH, "characters")
        try:
            return self.collection.mask(filter)
        except InputError as error:
            raise RequestError(422, str(error), param="filter") from None

    def explainable(self, text: str) -> Read | None:
        """A document taken apart; None if it is too long for that."""
        if len(text) > self.limits.explained_length:
            return None
        return read(self.collection.model, text)

    def require_text(self, name: str, text: str) -> None:
        """Refuse a text that is too long."""
        require_at_most(name, len(text), self.limits.text_length, "characters")


def require_short(text: str, at_length: bool) -> None:
    """Put a text off that takes a while, unless it may."""
    if len(text) > LONG_TEXT and not at_length:
        raise LongWorkError


def within(name: str, asked: int | None, default: int, most: int) -> int:
    """What is asked for, if it is within the limit; else the default, as far as the limit goes."""
    if asked is None:
        return min(default, most)
    require_at_most(name, asked, most)
    return asked


def require_at_most(
    name: str, value: int, most: int, unit: str = "", *, param: str | None = None
) -> None:
    """Refuse what is beyond a limit."""
    if value > most:
        unit = unit and f" {unit}"
        told = f"{name} must be at most {most:,}{unit}, got {value:,}"
        raise RequestError(422, told, param=param or name)


def after(found: Nearest, offset: int) -> Nearest:
    """What was found without the first of it."""
    return Nearest(found.rows[offset:], found.scores[offset:])


def plain_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a document as JSON has them."""
    return {name: plain(value) for name, value in columns.items()}


def rounded(pieces: list[Piece]) -> list[Piece]:
    """Pieces for the screen: shares to six digits, half as long as JSON."""
    return [(text, share and round(share, 6)) for text, share in pieces]


def explained_side(identity: str | None, one: Read, other: Read, length: int) -> dict[str, Any]:
    """One of two texts, with the shares of its words."""
    added = shares(one.document, other.document.vector)
    shown = excerpt(one.text, one.spans, added.by_word, length)
    return {
        "id": identity,
        "text": shown.text,
        "begin": shown.begin,
        "length": len(one.text),
        "pieces": rounded(shown.pieces),
        **listed(added.words),
        "offset": added.offset,
        "unknown": list(one.document.unknown[:LISTED_UNKNOWN]),
    }


def listed(words: Sequence[WordShare | QueryWord]) -> dict[str, Any]:
    """The words with the strongest shares, the largest first, and the others summed up."""
    strongest = sorted(words, key=lambda word: -abs(word.share))
    first, others = strongest[:LISTED_WORDS], strongest[LISTED_WORDS:]
    return {
        "words": [word._asdict() for word in sorted(first, key=lambda word: -word.share)],
        "other_words": len(others),
        "other_share": sum(word.share for word in others),
    }


def removed_part(removed: Removal) -> dict[str, Any]:
    """What the removal took away."""
    part = removed._asdict()
    for name in ("words_a", "words_b"):
        part[name] = [{"word": word, "share": share} for word, share in part[name]]
    return part
