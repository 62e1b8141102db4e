"""A judged collection, read from a folder as BEIR lays it out.

::

    FOLDER/
      corpus.jsonl     {"_id": "1", "title": "...", "text": "..."}
      queries.jsonl    {"_id": "q1", "text": "..."}
      qrels/test.tsv   query-id, corpus-id, score: a line for each judgement, a heading first
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deltavec.errors import CorpusError
from deltavec.lab.beir import CORPUS, JUDGEMENTS, QUERIES, judgements, records


@dataclass(frozen=True)
class Judged:
    """Documents, queries, and which documents are relevant to each.

    Attributes
    ----------
    name : str
        The folder's own.
    ids, texts : list of str
        The documents; a title comes before the text.
    queries : dict of str to str
        Those that have a relevant document.
    grades : dict of str to dict of str to int
        For each of them the documents above 0.
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
        If a file is missing or not as it should be, or a judgement names what is not there.
    """
    documents = texts_of(folder / CORPUS)
    asked = texts_of(folder / QUERIES)
    path = folder / JUDGEMENTS / f"{split}.tsv"
    grades: dict[str, dict[str, int]] = {}
    for where, query, document, grade in judgements(opened(path), str(path)):
        if query not in asked or document not in documents:
            what = f"query {query!r:.60}" if query not in asked else f"document {document!r:.60}"
            raise CorpusError(f"{where}: there is no {what}")
        if grade > 0:
            grades.setdefault(query, {})[document] = grade
    if not grades:
        raise CorpusError(f"{path}: no document is relevant to any query")
    queries = {name: asked[name] for name in grades}
    return Judged(folder.name, [*documents], [*documents.values()], queries, grades)


def texts_of(path: Path) -> dict[str, str]:
    """The texts of a file by their ids; a title comes first."""
    texts = {}
    for where, id, record in records(opened(path), str(path)):
        if "text" not in record:
            raise CorpusError(f"{where}: expected an object with _id and text")
        title = str(record.get("title") or "")
        texts[id] = f"{title}. {record['text']}" if title else str(record["text"])
    return texts


def opened(path: Path) -> Iterator[bytes]:
    """The lines of a file."""
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise CorpusError(
            f"{path}: {error.strerror}; expected a folder with corpus.jsonl, queries.jsonl and "
            "qrels/test.tsv, as BEIR lays it out"
        ) from error
