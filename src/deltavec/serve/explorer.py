"""What the explorer asks of a collection, answered in plain objects.

Everything here runs in worker threads, and reads only: nothing is shared that changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from deltavec.collection import Collection
from deltavec.core.explain import shares
from deltavec.errors import InputError
from deltavec.serve.limits import Limits
from deltavec.serve.overview import Overview
from deltavec.serve.questions import ExplainQuestion, SearchQuestion, Shown, SimilarQuestion
from deltavec.serve.refusals import RequestError
from deltavec.serve.shading import Excerpt, Piece, excerpt, spans
from deltavec.serve.values import plain
from deltavec.serve.why import Read, Removal, read, removal, strongest_pairs, word_shares
from deltavec.version import __version__

KEYWORDS = 10
LISTED_WORDS = 40  # of each text in an explanation; the others are summed up
LISTED_UNKNOWN = 50
FILTER_LENGTH = 2000


@dataclass(frozen=True, eq=False)
class Explorer:
    """A collection to be explored.

    Attributes
    ----------
    collection : Collection
        The documents and their vectors.
    overview : Overview
        The map.
    limits : Limits
        What one question may ask for.
    name : str
        What the collection is called on the page.
    """

    collection: Collection
    overview: Overview
    limits: Limits
    name: str

    def search(self, question: SearchQuestion) -> dict[str, Any]:
        """The documents nearest to a text."""
        self.require_text("query", question.query)
        model = self.collection.model
        vector = model.embed([question.query], threads=1)[0]
        words = list(dict.fromkeys(spans(question.query, str(model.tokenizer)).words))
        known = model.vocabulary.ids(words) >= 0
        unknown = [word for word, is_known in zip(words, known, strict=True) if not is_known]
        return {
            "results": self.nearest(vector, question),
            "unknown": unknown[:LISTED_UNKNOWN],
        }

    def similar(self, question: SimilarQuestion) -> dict[str, Any]:
        """The documents nearest to one of them, itself left out."""
        row = self.row(question.id)
        vector = self.collection.index.vectors[row]
        return {"results": self.nearest(vector, question, without=row), "unknown": []}

    def nearest(
        self,
        vector: npt.NDArray[np.float32],
        question: Shown,
        without: int = -1,
    ) -> list[dict[str, Any]]:
        """The documents nearest to a vector, with what their words add if that is asked for."""
        k = within("k", question.k, 10, self.limits.k)
        length = within("length", question.length, 1000, self.limits.excerpt_length)
        mask = self.mask(question.filter)
        if not vector.any():  # no direction: nothing is near it
            return []
        # One thread: the other cores answer others.
        hits = self.collection.index.search(vector, k + 1, where=mask, threads=1)
        rows, scores = hits.ids[0], hits.scores[0]
        others = np.flatnonzero(rows != without)[:k]
        entries = self.collection.documents(rows[others]).to_pylist()
        asked = vector.astype(np.float64) if question.explain else None
        return [
            self.result(row, score, entry, asked, length)
            for row, score, entry in zip(
                rows[others].tolist(), scores[others].tolist(), entries, strict=True
            )
        ]

    def result(
        self,
        row: int,
        score: float,
        entry: dict[str, Any],
        asked: npt.NDArray[np.float64] | None,
        length: int,
    ) -> dict[str, Any]:
        """One document that was found, its words explained if there is a vector to do it with."""
        identity, text = entry.pop("id"), entry.pop("text") or ""
        shown = Excerpt(0, text[:length], [])
        explained = asked is not None and len(text) <= self.limits.explained_length
        if asked is not None and explained:
            model = self.collection.model
            found = spans(text, str(model.tokenizer))
            shown = excerpt(text, found, word_shares(model, found.words, asked), length)
        return {
            "id": identity,
            "score": score,
            "text": shown.text,
            "begin": shown.begin,
            "length": len(text),
            "columns": plain_columns(entry),
            "position": self.position(row),
            "pieces": rounded(shown.pieces) if explained else None,
        }

    def explain(self, question: ExplainQuestion) -> dict[str, Any]:
        """Why two texts are as alike as they are."""
        count = within("pairs", question.pairs, 10, self.limits.pairs)
        length = within("length", question.length, 2000, self.limits.excerpt_length)
        a, b = self.side("a", question), self.side("b", question)
        pairs = strongest_pairs(a.document, b.document, count)
        removed = removal(self.collection.model, a.document, b.document)
        return {
            "cosine": float(a.document.vector @ b.document.vector),
            "a": side_answer(question.id_a, a, b, length),
            "b": side_answer(question.id_b, b, a, length),
            "together": [pair._asdict() for pair in pairs.together],
            "apart": [pair._asdict() for pair in pairs.apart],
            "removed": removed and removed_answer(removed),
        }

    def side(self, name: str, question: ExplainQuestion) -> Read:
        """One of the two texts of an explanation."""
        text = getattr(question, f"text_{name}")
        identity = getattr(question, f"id_{name}")
        if (text is None) == (identity is None):
            raise RequestError(
                422,
                f"expected either text_{name} or id_{name}, got "
                f"{'neither' if text is None else 'both'}",
                param=f"text_{name}",
            )
        if text is not None:
            self.require_text(f"text_{name}", text)
            return read(self.collection.model, text)
        found = self.explainable(self.text(self.row(identity, f"id_{name}")))
        if found is None:
            raise RequestError(
                422,
                f"the document is longer than {self.limits.explained_length:,} characters, too "
                "long to be explained",
                param=f"id_{name}",
            )
        return found

    def document(self, identity: str) -> dict[str, Any]:
        """One document, whole."""
        row = self.row(identity)
        entry = self.collection.documents([row]).to_pylist()[0]
        del entry["id"]
        text = entry.pop("text") or ""
        apart = self.explainable(text)
        words = shares(apart.document, apart.document)[:KEYWORDS] if apart else ()
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
            "limits": asdict(self.limits),
            "collection": plain(self.collection.info()),
        }

    def position(self, row: int) -> list[float] | None:
        """Where a document stands on the map."""
        place = self.overview.positions.of(row)
        return None if place is None else list(place)

    def text(self, row: int) -> str:
        """The text of a document."""
        return self.collection.documents([row]).column("text")[0].as_py() or ""

    def row(self, identity: str, param: str = "id") -> int:
        """The place of a document; an id that is not there is refused."""
        # Not Collection.row: it looks for ids that are spelled alike, which takes seconds.
        row = pc.index(self.collection.ids, identity).as_py()
        if row < 0:
            raise RequestError(404, "there is no document with this id", param=param)
        return int(row)

    def mask(self, filter: str | None) -> npt.NDArray[np.bool_] | None:
        """Which documents a filter lets through; one that cannot be read is refused."""
        if filter is None:
            return None
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


def within(name: str, asked: int | None, default: int, most: int) -> int:
    """What is asked for, if it is within the limit; else the default, as far as the limit goes."""
    if asked is None:
        return min(default, most)
    require_at_most(name, asked, most)
    return asked


def require_at_most(name: str, value: int, most: int, unit: str = "") -> None:
    """Refuse what is beyond a limit."""
    if value > most:
        unit = unit and f" {unit}"
        raise RequestError(422, f"{name} must be at most {most:,}{unit}, got {value:,}", param=name)


def plain_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a document as JSON has them."""
    return {name: plain(value) for name, value in columns.items()}


def rounded(pieces: list[Piece]) -> list[Piece]:
    """Pieces for the screen: shares to six digits, half as long as JSON."""
    return [(text, share and round(share, 6)) for text, share in pieces]


def side_answer(identity: str | None, one: Read, other: Read, length: int) -> dict[str, Any]:
    """One of two texts, with the shares of its words."""
    words = shares(one.document, other.document)
    strongest = sorted(words, key=lambda word: -abs(word.share))
    listed, others = strongest[:LISTED_WORDS], strongest[LISTED_WORDS:]
    shown = excerpt(one.text, one.spans, {word.word: word.share for word in words}, length)
    return {
        "id": identity,
        "text": shown.text,
        "begin": shown.begin,
        "length": len(one.text),
        "pieces": rounded(shown.pieces),
        "words": [word._asdict() for word in sorted(listed, key=lambda word: -word.share)],
        "other_words": len(others),
        "other_share": sum(word.share for word in others),
        "offset": float(np.dot(one.document.offset, other.document.vector)),
        "unknown": list(one.document.unknown[:LISTED_UNKNOWN]),
    }


def removed_answer(removed: Removal) -> dict[str, Any]:
    """What the removal took away."""
    answer = removed._asdict()
    for name in ("words_a", "words_b"):
        answer[name] = [{"word": word, "share": share} for word, share in answer[name]]
    return answer
