"""Forums from files: CQADupStack's own layout, and tables of pairs.

============  =====================================================================
CQADupStack   a zip archive or folder for each forum, with ``<forum>_questions.json``
a table       ``forum``, ``label`` (1 or 0), ``text_a`` and ``text_b``; parquet, csv, tsv or jsonl
============  =====================================================================
"""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from deltavec.errors import CorpusError
from deltavec.evaluation.pairs import as_label
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.corpus.files import COMPRESSIONS, SUFFIXES
from deltavec.lab.judged import parse_json
from deltavec.lab.questions.forums import Forum, sort_pairs
from deltavec.lab.questions.text import strip_markup

QUESTIONS = "_questions.json"
COLUMNS = ("text_a", "text_b", "forum", "label")
LARGEST_FILE = 1 << 30  # the largest forum of CQADupStack takes a fifth of this
EXPECTED = (
    "<forum>_questions.json (CQADupStack), or a table with the columns forum, label, text_a and "
    "text_b"
)
# What zipfile raises for damaged or encrypted archives.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError),
    *(IndexError, OverflowError, RuntimeError, OSError),
)

Kind = TypeVar("Kind", str, list[Any])


def read_forums(path: Path, encoding: str | None = None) -> list[Forum]:
    """The forums of a file or folder, sorted by name.

    Parameters
    ----------
    path
        A table, a ``_questions.json`` file, a zip archive, or a folder of them.
    encoding
        The encoding of a table.

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
        forums = [cqadupstack_forum(file) for file in question_files(path)]
    if not forums:
        raise CorpusError(f"{path}: found no questions; expected {EXPECTED}")
    for name, count in Counter(forum.name for forum in forums).items():
        if count > 1:
            raise CorpusError(f"{path}: holds the forum {name!r} more than once; remove one")
    return sorted(forums, key=lambda forum: forum.name)


def is_table(path: Path) -> bool:
    """Whether the file name is that of a table, compressed or not."""
    name = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return SUFFIXES.get(name.suffix.lower()) not in (None, "txt")


class QuestionFile(NamedTuple):
    """The content of a ``_questions.json`` file, its name, and its path for error messages."""

    name: str
    where: str
    content: bytes


def question_files(path: Path) -> Iterator[QuestionFile]:
    """The ``_questions.json`` files of a folder, its archives or one archive, or the one file."""
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.suffix.lower() == ".zip":
            yield from archived_files(file)
        elif file.name.endswith(QUESTIONS) and not file.name.startswith("."):
            require_size(str(file), file.stat().st_size)
            yield QuestionFile(file.name, str(file), file.read_bytes())


def archived_files(path: Path) -> Iterator[QuestionFile]:
    """The ``_questions.json`` files of a zip archive; nothing is unpacked to disk."""
    where = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            for item in archive.infolist():
                name = item.filename.rpartition("/")[2]
                if not name.endswith(QUESTIONS) or name.startswith("."):
                    continue
                where = f"{path}: {item.filename}"
                require_size(where, item.file_size)
                with archive.open(item) as file:
                    # Never more than the archive says.
                    yield QuestionFile(name, where, file.read(item.file_size + 1))
    except DAMAGE as error:
        raise CorpusError(f"{where}: not a zip archive that can be read ({error})") from None


def require_size(where: str, size: int) -> None:
    """Refuse a file that is too large to hold in memory."""
    if size > LARGEST_FILE:
        raise CorpusError(f"{where}: holds {size:,} bytes; expected at most {LARGEST_FILE:,}")


def cqadupstack_forum(file: QuestionFile) -> Forum:
    """The forum of a file ``<forum>_questions.json``.

    The file holds ``{id: {"title": ..., "body": HTML, "dups": [ids], ...}}``. Two questions are
    duplicates if either lists the other. A question is its title and the text of its body; a
    question that has neither is left out.
    """
    content = parse_json(file.content, file.where)
    if not isinstance(content, dict):
        raise CorpusError(
            f"{file.where}: expected an object with a question for each id, "
            f"got {type(content).__name__}"
        )
    notes: Counter[str] = Counter()
    texts: dict[str, str] = {}
    links: list[tuple[str, str]] = []
    for id, question in content.items():
        where = f"{file.where}, question {id!r}"
        if not isinstance(question, dict):
            raise CorpusError(f"{where}: expected an object, got {type(question).__name__}")
        text = question_text(question, where, notes)
        if text:
            texts[id] = text
        else:
            notes["empty questions left out"] += 1
        links += [(id, str(other)) for other in typed(list, question, "dups", where)]
    rows = {id: row for row, id in enumerate(texts)}
    duplicates = []
    for id, other in links:
        if id == other:
            notes["self-duplicates left out"] += 1
        elif id not in rows or other not in rows:
            notes["duplicates outside the forum left out"] += 1
        else:
            duplicates.append((rows[id], rows[other]))
    name = file.name.removesuffix(QUESTIONS)
    return Forum(name, tuple(texts.values()), sort_pairs(duplicates), notes=dict(notes))


def question_text(question: dict[str, Any], where: str, notes: Counter[str]) -> str:
    """The title, and the body without markup."""
    title, body = (typed(str, question, name, where) for name in ("title", "body"))
    try:
        plain = strip_markup(body)
    except (AssertionError, ValueError) as error:  # declarations or numbers that make no sense
        raise CorpusError(f"{where}: the body is not HTML ({error})") from None
    if not plain.text:
        notes["questions without a body"] += 1
    if plain.notices:
        notes["notices of a duplicate removed"] += plain.notices
    return f"{' '.join(title.split())} {plain.text}".strip()


def typed(kind: type[Kind], record: dict[str, Any], name: str, where: str) -> Kind:
    """A text or list field of a record; an empty one if it is missing."""
    value = record.get(name)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        expected = "text" if kind is str else "a list"
        raise CorpusError(
            f"{where}: expected {expected} under {name!r}, got {type(value).__name__}"
        )
    return value


def table_forums(path: Path, encoding: str | None = None) -> list[Forum]:
    """The forums of a table with the columns forum, label, text_a and text_b."""
    corpus = read_corpus(path, column=COLUMNS[0], encoding=encoding)
    beside = [*COLUMNS[1:]]
    corpus.schema(beside)  # a missing column is an error before any reading
    questions: dict[str, dict[str, int]] = defaultdict(dict)
    pairs: dict[tuple[str, bool], list[list[int]]] = defaultdict(list)
    empty: Counter[str] = Counter()
    rows = (row for batch in corpus.batches(beside) for row in batch.to_pylist())
    for number, row in enumerate(rows, 1):
        where = f"{path}, row {number}"
        forum = "" if row["forum"] is None else str(row["forum"])
        if not forum.strip():
            raise CorpusError(f"{where}: no forum; expected a name in each row")
        texts = [typed(str, row, name, where) for name in COLUMNS[:2]]
        empty[forum] += not all(text.strip() for text in texts)
        ids = questions[forum]
        label = as_label(row["label"], path, number)
        pairs[forum, label].append([ids.setdefault(text, len(ids)) for text in texts])
    if not questions:
        raise CorpusError(f"{path}: holds no pairs")
    forums = []
    for name, ids in questions.items():
        duplicates, others = (
            np.array(pairs[name, label], np.int64).reshape(-1, 2) for label in (True, False)
        )
        notes = {"pairs with an empty text": empty[name]} if empty[name] else {}
        forums.append(Forum(name, tuple(ids), duplicates, others, notes))
    return forums
