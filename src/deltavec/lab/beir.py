"""Files as BEIR lays them out: documents and queries as JSON lines, judgements between tabs.

What a file gets wrong is an error that says where.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from deltavec.errors import CorpusError

CORPUS, QUERIES, JUDGEMENTS = "corpus.jsonl", "queries.jsonl", "qrels"


class Record(NamedTuple):
    """A document or a query: where it stands, its id, and all that is said of it."""

    where: str
    id: str
    content: dict[str, Any]


class Judgement(NamedTuple):
    """How well a document suits a query, and where that is said."""

    where: str
    query: str
    document: str
    grade: int


def records(lines: Iterable[bytes], where: str) -> Iterator[Record]:
    """The documents or queries of a ``.jsonl`` file; each has an id of its own."""
    seen = set()
    for place, line in numbered(lines, where):
        content = parsed(line, place)
        if not isinstance(content, dict) or "_id" not in content:
            raise CorpusError(f"{place}: expected an object with an '_id'")
        record = Record(place, str(content["_id"]), content)
        if record.id in seen:
            raise CorpusError(f"{place}: the id {record.id!r} is there already, further up")
        seen.add(record.id)
        yield record


def judgements(lines: Iterable[bytes], where: str) -> Iterator[Judgement]:
    """The judgements of a ``.tsv`` file, with or without a heading."""
    for count, (place, line) in enumerate(numbered(lines, where)):
        cells = decoded(line, place).rstrip("\r\n").split("\t")
        if count == 0 and cells[-1:] == ["score"]:
            continue
        try:
            query, document, grade = cells
            yield Judgement(place, query, document, int(grade))
        except ValueError:
            raise CorpusError(
                f"{place}: expected query-id, corpus-id and a whole number between tabs, "
                f"got {line[:80]!r}"
            ) from None


def numbered(lines: Iterable[bytes], where: str) -> Iterator[tuple[str, bytes]]:
    """The lines that are not blank, and where each is."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"{where}, line {number}", line


def parsed(data: bytes, where: str) -> Any:
    """What JSON says."""
    text = decoded(data, where)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise CorpusError(
            f"{where}: broken JSON at {place} ({error.msg}); fetch or write the file again"
        ) from None
    except (ValueError, RecursionError) as error:  # a number or a nest too large to be meant
        raise CorpusError(f"{where}: broken JSON ({error})") from None


def decoded(data: bytes, where: str) -> str:
    """The text of some bytes."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError(f"{where}: not UTF-8 ({error.reason} at byte {error.start})") from None
