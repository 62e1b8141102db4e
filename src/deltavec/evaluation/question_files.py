"""Forums from files: CQADupStack's own layout, BEIR's, and tables of pairs.

============  =====================================================================
CQADupStack   a zip archive or folder for each forum, with ``<forum>_questions.json``
BEIR          a folder for each forum, with ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/*.tsv``
a table       ``forum``, ``label`` (1 or 0), ``text_a`` and ``text_b``; parquet, csv, tsv or jsonl
============  =====================================================================

What a file gets wrong is an error that says where, or is left out and counted in the forum's
`notes`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from deltavec.errors import CorpusError
from deltavec.evaluation.forums import Forum, as_pairs
from deltavec.evaluation.question_archives import Entry, entries
from deltavec.evaluation.question_tables import is_table, table_forums
from deltavec.evaluation.question_text import without_markup

QUESTIONS = "_questions.json"
CORPUS, QUERIES, JUDGEMENTS = "corpus.jsonl", "queries.jsonl", "qrels"

EXPECTED = (
    "<forum>_questions.json (CQADupStack), corpus.jsonl with queries.jsonl and qrels/*.tsv (BEIR), "
    "or a table with the columns forum, label, text_a and text_b"
)


def read_forums(path: Path) -> list[Forum]:
    """The forums that a file or folder holds, by name.

    Raises
    ------
    CorpusError
        If there are none, if a file is broken, or if a forum has no duplicates, or nothing else.
    """
    if not path.exists():
        raise CorpusError(f"no such file or folder: {path}; expected {EXPECTED}")
    if path.is_file() and is_table(path):
        forums = table_forums(path)
    else:
        found = entries(path, is_wanted)
        forums = [
            cqadupstack_forum(entry) for entry in found if entry.path.name.endswith(QUESTIONS)
        ]
        forums += [beir_forum(entry, found) for entry in found if entry.path.name == CORPUS]
    if not forums:
        raise CorpusError(f"{path}: found no questions; expected {EXPECTED}")
    names = Counter(forum.name for forum in forums)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise CorpusError(
            f"{path}: holds the forum {twice[0]!r} more than once; remove one of them"
        )
    return sorted(forums, key=lambda forum: forum.name)


def is_wanted(path: PurePosixPath) -> bool:
    """Whether a file belongs to one of the layouts."""
    return (
        path.name.endswith(QUESTIONS)
        or path.name in (CORPUS, QUERIES)
        or (path.parent.name == JUDGEMENTS and path.suffix == ".tsv")
    )


def cqadupstack_forum(entry: Entry) -> Forum:
    """The forum of a file ``<forum>_questions.json``.

    The file holds ``{id: {"title": ..., "body": HTML, "dups": [ids], ...}}``. Two questions are
    duplicates if either lists the other. A question is its title and its body's text; one that has
    neither is left out.
    """
    content = parsed(entry.read(), entry.where)
    if not isinstance(content, dict):
        raise CorpusError(
            f"{entry.where}: expected an object with a question for each id, "
            f"got {type(content).__name__}"
        )
    notes: Counter[str] = Counter()
    texts = {}
    for number, question in content.items():
        where = f"{entry.where}, question {number!r}"
        if not isinstance(question, dict):
            raise CorpusError(f"{where}: expected an object, got {type(question).__name__}")
        text = question_text(question, where, notes)
        if text:
            texts[number] = text
        else:
            notes["empty questions left out"] += 1
    places = {number: place for place, number in enumerate(texts)}
    links = [
        Link(number, str(other))
        for number, question in content.items()
        for other in listed(question, "dups", f"{entry.where}, question {number!r}")
    ]
    duplicates = linked(links, places, places, notes)
    name = entry.path.name.removesuffix(QUESTIONS)
    return Forum(name, tuple(texts.values()), as_pairs(duplicates), notes=dict(notes))


def question_text(question: dict[str, Any], where: str, notes: Counter[str]) -> str:
    """The title, and the body without markup."""
    title, body = field(question, "title", where), field(question, "body", where)
    plain = without_markup(body)
    if not plain.text:
        notes["questions without a body"] += 1
    if plain.notices:
        notes["notices of a duplicate removed"] += plain.notices
    return f"{' '.join(title.split())} {plain.text}".strip()


def field(record: dict[str, Any], name: str, where: str) -> str:
    """A text of a record; one that is missing is empty."""
    value = record.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise CorpusError(f"{where}: expected text under {name!r}, got {type(value).__name__}")
    return value


def listed(record: dict[str, Any], name: str, where: str) -> list[Any]:
    """A list of a record; one that is missing is empty."""
    value = record.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise CorpusError(f"{where}: expected a list under {name!r}, got {type(value).__name__}")
    return value


class Link(NamedTuple):
    """That one question is said to be a duplicate of another, by their ids."""

    one: str
    other: str


def linked(
    links: Sequence[Link], ones: dict[str, int], others: dict[str, int], notes: Counter[str]
) -> Iterator[tuple[int, int]]:
    """The places of the questions of each link; what leads nowhere is counted."""
    for link in links:
        if link.one == link.other:
            notes["self-duplicates left out"] += 1
        elif link.one not in ones or link.other not in others:
            notes["duplicates outside the forum left out"] += 1
        else:
            yield ones[link.one], others[link.other]


def beir_forum(corpus: Entry, found: Sequence[Entry]) -> Forum:
    """The forum of a folder in BEIR's layout.

    Each query that was judged is compared with each question of the corpus but itself.
    """
    beside = [entry for entry in found if entry.root == corpus.root and entry.path != corpus.path]
    queries = [entry for entry in beside if entry.path == corpus.path.with_name(QUERIES)]
    folder = corpus.path.with_name(JUDGEMENTS)
    judgements = [entry for entry in beside if entry.path.parent == folder]
    if not queries or not judgements:
        missing = QUERIES if not queries else f"{JUDGEMENTS}/*.tsv"
        raise CorpusError(f"{corpus.where}: there is no {missing} beside it")
    notes: Counter[str] = Counter()
    texts = beir_texts(corpus, notes)
    asked = beir_texts(queries[0], Counter())
    links = [link for entry in judgements for link in beir_links(entry)]
    judged = {link.one for link in links}
    if len(asked.keys() - judged):
        notes["queries without a judgement left out"] = len(asked.keys() - judged)
    kept = {number: text for number, text in asked.items() if number in judged}
    ones = {number: place for place, number in enumerate(kept)}
    others = {number: len(kept) + place for place, number in enumerate(texts)}
    duplicates = linked(links, ones, others, notes)
    return Forum(
        corpus.folder,
        (*kept.values(), *texts.values()),
        as_pairs(duplicates),
        queries=len(kept),
        never=as_pairs((ones[number], others[number]) for number in kept if number in others),
        notes=dict(notes),
    )


def beir_texts(entry: Entry, notes: Counter[str]) -> dict[str, str]:
    """The texts of a ``.jsonl`` file by their ids: title and text."""
    texts: dict[str, str] = {}
    for where, line in lines(entry):
        record = parsed(line, where)
        if not isinstance(record, dict) or "_id" not in record:
            raise CorpusError(f"{where}: expected an object with an '_id'")
        number = str(record["_id"])
        if number in texts:
            raise CorpusError(f"{where}: the id {number!r} is there already, further up")
        title, body = field(record, "title", where), field(record, "text", where)
        if not body.strip():
            notes["questions without a body"] += 1
        texts[number] = " ".join(f"{title} {body}".split())
    return texts


def beir_links(entry: Entry) -> Iterator[Link]:
    """The judgements of a ``.tsv`` file that are above zero."""
    for place, (where, line) in enumerate(lines(entry)):
        cells = decoded(line, where).rstrip("\r\n").split("\t")
        if place == 0 and cells[-1:] == ["score"]:
            continue
        try:
            query, question, score = cells
            if int(score) > 0:
                yield Link(query, question)
        except ValueError:
            raise CorpusError(
                f"{where}: expected query-id, corpus-id and a whole number between tabs, "
                f"got {line[:80]!r}"
            ) from None


def lines(entry: Entry) -> Iterator[tuple[str, bytes]]:
    """The lines of a file that are not blank, and where each is."""
    for number, line in enumerate(entry.read().splitlines(), 1):
        if line.strip():
            yield f"{entry.where}, line {number}", line


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
