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

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from deltavec.errors import CorpusError
from deltavec.lab.beir import CORPUS, JUDGEMENTS, QUERIES, judgements, parsed, records
from deltavec.lab.questions.archives import Entry, entries
from deltavec.lab.questions.forums import Forum, as_pairs
from deltavec.lab.questions.tables import as_a, is_table, table_forums
from deltavec.lab.questions.text import without_markup

QUESTIONS = "_questions.json"

Link = tuple[str, str]  # the ids of two questions, one said to be a duplicate of the other

EXPECTED = (
    "<forum>_questions.json (CQADupStack), corpus.jsonl with queries.jsonl and qrels/*.tsv (BEIR), "
    "or a table with the columns forum, label, text_a and text_b"
)


def read_forums(path: Path, encoding: str | None = None) -> list[Forum]:
    """The forums that a file or folder holds, by name; the encoding is that of a table.

    Raises
    ------
    CorpusError
        If there are none, if a file is broken, or if a forum has no duplicates, or nothing else.
    """
    if not path.exists():
        raise CorpusError(f"no such file or folder: {path}; expected {EXPECTED}")
    if path.is_file() and is_table(path):
        forums = table_forums(path, encoding)
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
        (number, str(other))
        for number, question in content.items()
        for other in as_a(list, question.get("dups"), "dups", f"{entry.where}, question {number!r}")
    ]
    duplicates = linked(links, places, places, notes)
    name = entry.path.name.removesuffix(QUESTIONS)
    return Forum(name, tuple(texts.values()), as_pairs(duplicates), notes=dict(notes))


def question_text(question: dict[str, Any], where: str, notes: Counter[str]) -> str:
    """The title, and the body without markup."""
    title, body = (as_a(str, question.get(name), name, where) for name in ("title", "body"))
    plain = without_markup(body)
    if not plain.text:
        notes["questions without a body"] += 1
    if plain.notices:
        notes["notices of a duplicate removed"] += plain.notices
    return f"{' '.join(title.split())} {plain.text}".strip()


def linked(
    links: Sequence[Link], ones: dict[str, int], others: dict[str, int], notes: Counter[str]
) -> Iterator[tuple[int, int]]:
    """The places of the questions of each link; what leads nowhere is counted."""
    for one, other in links:
        if one == other:
            notes["self-duplicates left out"] += 1
        elif one not in ones or other not in others:
            notes["duplicates outside the forum left out"] += 1
        else:
            yield ones[one], others[other]


def beir_forum(corpus: Entry, found: Sequence[Entry]) -> Forum:
    """The forum of a folder in BEIR's layout.

    Each query that was judged is compared with each question of the corpus but itself.
    """
    beside = [entry for entry in found if entry.root == corpus.root and entry.path != corpus.path]
    queries = [entry for entry in beside if entry.path == corpus.path.with_name(QUERIES)]
    folder = corpus.path.with_name(JUDGEMENTS)
    judged_in = [entry for entry in beside if entry.path.parent == folder]
    if not queries or not judged_in:
        missing = QUERIES if not queries else f"{JUDGEMENTS}/*.tsv"
        raise CorpusError(f"{corpus.where}: there is no {missing} beside it")
    notes: Counter[str] = Counter()
    texts = beir_texts(corpus, notes)
    asked = beir_texts(queries[0], Counter())
    links = [
        (judgement.query, judgement.document)
        for entry in judged_in
        for judgement in judgements(entry.read().splitlines(), entry.where)
        if judgement.grade > 0
    ]
    judged = {query for query, _ in links}
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
    for where, number, record in records(entry.read().splitlines(), entry.where):
        title, body = (as_a(str, record.get(name), name, where) for name in ("title", "text"))
        if not body.strip():
            notes["questions without a body"] += 1
        texts[number] = " ".join(f"{title} {body}".split())
    return texts
