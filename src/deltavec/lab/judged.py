"""A judged collection, read from a folder in BEIR's layout.

::

    FOLDER/
      corpus.jsonl     {"_id": "1", "title": "...", "text": "..."}
      queries.jsonl    {"_id": "q1", "text": "..."}
      qrels/test.tsv   query-id, corpus-id, score: one judgment a line, with or without a header
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltavec.errors import CorpusError


@dataclass(frozen=True)
class Judged:
    """Documents, queries, and the relevant documents of each query.

    Attributes
    ----------
    name : str
        The name of the folder.
    ids, texts : list of str
        The documents; a title comes before the text.
    queries : dict of str to str
        The queries that have a relevant document.
    grades : dict of str to dict of str to int
        The grades above 0 of each query's documents.
    """

    name: str
    ids: list[str]
    texts: list[str]
    queries: dict[str, str]
    grades: dict[str, dict[str, int]]


def read_judged(folder: Path, split: str = "test") -> Judged:
    """The judged collection in a folder.

    Raises
    ------
    CorpusError
        If a file is missing or malformed, or a judgment names an unknown query or document.
    """
    documents = read_texts(folder / "corpus.jsonl")
    queries = read_texts(folder / "queries.jsonl")
    path = folder / "qrels" / f"{split}.tsv"
    grades: dict[str, dict[str, int]] = {}
    for where, line in numbered_lines(path):
        cells = line.decode("utf-8-sig", "replace").rstrip("\r\n").split("\t")
        if cells[-1] == "score" and not grades:
            continue
        if len(cells) != 3 or not cells[2].lstrip("-").isdecimal():
            raise CorpusError(
                f"{where}: expected query-id, corpus-id and a whole number between tabs, "
                f"got {line[:80]!r}"
            )
        query, document, grade = cells[0], cells[1], int(cells[2])
        if query not in queries or document not in documents:
            what = f"query {query!r:.60}" if query not in queries else f"document {document!r:.60}"
            raise CorpusError(f"{where}: there is no {what}")
        if grade > 0:
            grades.setdefault(query, {})[document] = grade
    if not grades:
        raise CorpusError(f"{path}: no document is relevant to any query")
    judged = {id: queries[id] for id in grades}
    return Judged(folder.name, [*documents], [*documents.values()], judged, grades)


def read_texts(path: Path) -> dict[str, str]:
    """The texts of a ``.jsonl`` file by their ids; a title comes first."""
    texts: dict[str, str] = {}
    for where, line in numbered_lines(path):
        record = parse_json(line, where)
        if not isinstance(record, dict) or not {"_id", "text"} <= record.keys():
            raise CorpusError(f"{where}: expected an object with _id and text")
        id, title = str(record["_id"]), str(record.get("title") or "")
        if id in texts:
            raise CorpusError(f"{where}: the id {id!r} occurs in an earlier line")
        texts[id] = f"{title}. {record['text']}" if title else str(record["text"])
    return texts


def numbered_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """The non-blank lines of a file, each with its position for error messages."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield f"{path}, line {number}", line
    except OSError as error:
        raise CorpusError(
            f"{path}: {error.strerror}; expected a folder with corpus.jsonl, queries.jsonl and "
            "qrels/test.tsv (BEIR's layout)"
        ) from error


def parse_json(data: bytes, where: str) -> Any:
    """The value of some JSON."""
    try:
        return json.loads(data)
    except UnicodeDecodeError as error:
        raise CorpusError(f"{where}: not UTF-8 ({error.reason} at byte {error.start})") from None
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{where}: broken JSON ({error}); fetch the file again") from None
