"""Readability of the guides: mean words per sentence, and paragraphs that are too long.

``python tools/readability.py [file ...]`` looks at README.md and at the pages of ``docs`` unless
told. Code, tables, headings, equations and directives are left out; a list item is a paragraph.
Exits with 1 if the mean sentence of a page has 18 words or more, or a paragraph more than 90.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
MEAN_SENTENCE = 18
LONGEST_PARAGRAPH = 90
FENCED = re.compile(r"^(`{3,}|:{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)
DISPLAYED = re.compile(r"\$\$.*?\$\$(?: \([a-z]+\))?", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->|<[a-z/][^>]*>", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]*`|\$[^$]*\$")
SENTENCE_END = re.compile(r"[.!?:](?=\s|$)")
NOT_PROSE = re.compile(r"^\s*(\||#|\[\^|!\[|: {3}|>>>|\(.*\)=$)")
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")


class Readability(NamedTuple):
    """What a page looks like to its reader."""

    sentence: float
    longest: int
    paragraph: str


def pages() -> list[Path]:
    """README and the pages for users: decisions and generated reports are for developers."""
    docs = [
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if not {"decisions", "_build", "reports"} & set(path.parts)
    ]
    return [ROOT / "README.md", *docs]


def paragraphs(page: str) -> Iterator[str]:
    """The paragraphs and list items of a page, without markup."""
    for pattern in (FENCED, DISPLAYED, COMMENT):
        page = pattern.sub("\n\n", page)
    page = CODE.sub("code", LINK.sub(r"\1", page))
    lines: list[str] = []
    for line in [*page.splitlines(), ""]:
        starts_item = ITEM.match(line)
        if not line.strip() or NOT_PROSE.match(line) or starts_item:
            if lines:
                yield " ".join(lines)
            lines = []
        if line.strip() and not NOT_PROSE.match(line):
            lines.append(ITEM.sub("", line).strip())


def readability(page: str) -> Readability:
    """Mean words per sentence, and the longest paragraph with its words."""
    words = sentences = longest = 0
    worst = ""
    for paragraph in paragraphs(page):
        count = len(re.findall(r"\w[\w'-]*", paragraph))
        parts = [part for part in SENTENCE_END.split(paragraph) if re.search(r"\w", part)]
        words, sentences = words + count, sentences + len(parts)
        if count > longest:
            longest, worst = count, paragraph
    return Readability(words / max(sentences, 1), longest, worst)


def main() -> int:
    """Print a line for each page."""
    failed = False
    for path in [Path(name) for name in sys.argv[1:]] or pages():
        found = readability(path.read_text("utf-8"))
        bad = found.sentence >= MEAN_SENTENCE or found.longest > LONGEST_PARAGRAPH
        failed |= bad
        mark = "  <-- " + found.paragraph[:60] if bad else ""
        print(f"{found.sentence:5.1f} {found.longest:4d}  {path}{mark}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
