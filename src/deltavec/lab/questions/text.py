"""The words of a question that was written as HTML, read once from its beginning to its end.

Python's own parser looks for the end of a tag that is never closed again and again, which takes
minutes for a megabyte of them. Here whatever is looked for in vain once is not looked for again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

# Elements that end a word where they begin and end.
BLOCKS = frozenset([
    "address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "footer", "h1", "h2",
    "h3", "h4", "h5", "h6", "header", "hr", "img", "li", "ol", "p", "pre", "section", "table",
    "td", "th", "tr", "ul",
])  # fmt: skip
HIDDEN = frozenset(("script", "style"))
NOTICE = "possible duplicate"
DEEPEST = 100  # quotations within quotations; beyond it they are text

NAME = re.compile(r"</?([a-zA-Z][^\s/>]*)")
# Possessive: what a quote holds is not looked at twice.
REST_OF_TAG = re.compile(r"""(?:[^>"'=]|=\s*+"[^"]*+"|=\s*+'[^']*+'|["'=])*+>""")
LONG_NUMBER = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{8,});?")


class PlainText(NamedTuple):
    """Text without markup, and how many notices of a duplicate were left out of it."""

    text: str
    notices: int


def without_markup(html: str) -> PlainText:
    """The text of a question's body.

    Code stays, as text: error messages and commands are what many questions are about. A quotation
    that begins with "Possible Duplicate" goes: the site adds it to a question that was closed as a
    duplicate, with the title of the other one, and it would give the answer away.

    Examples
    --------
    >>> without_markup("<p>Caf&eacute; &amp; <b>bar</b><code>ls -l</code></p>").text
    'Café & barls -l'
    """
    words = _Words()
    reader = _Reader(html)
    for token in reader:
        words.take(token)
    return PlainText(" ".join(words.text().split()), words.notices)


class _Token(NamedTuple):
    """Some text, or a tag: its name, and whether it opens and closes an element."""

    text: str = ""
    name: str = ""
    opens: bool = False
    closes: bool = False


class _Reader:
    """The tags and texts of some HTML, in their order."""

    def __init__(self, html: str) -> None:
        self.html = html
        self.missing: set[str] = set()  # what does not come any more from here on

    def __iter__(self) -> Iterator[_Token]:
        html, place = self.html, 0
        while place < len(html):
            begin = html.find("<", place)
            if begin < 0:
                begin = len(html)
            if begin > place:
                yield _Token(text=html[place:begin])
            if begin == len(html):
                return
            token, place = self.tag(begin)
            yield token
            if token.opens and not token.closes and token.name in HIDDEN:
                place = self.behind_hidden(token.name, place)

    def tag(self, begin: int) -> tuple[_Token, int]:
        """The tag that begins here, and where it ends; a sign that begins none is text."""
        html = self.html
        if html.startswith("<!--", begin):
            end = self.behind("-->", begin + 4)
            return (_Token(), end) if end else self.behind_sign(begin)
        if html.startswith(("<!", "<?"), begin):
            return self.behind_sign(begin)
        name = NAME.match(html, begin)
        if name is None:
            if html.startswith("</", begin):
                return self.behind_sign(begin)
            return _Token(text="<"), begin + 1
        tag = name[1].lower()
        if html[begin + 1] == "/":
            end = self.behind(">", name.end())
            return (_Token(name=tag, closes=True), end) if end else self.to_the_end(begin)
        end = self.behind_attributes(name.end())
        if not end:
            return self.to_the_end(begin)
        return _Token(name=tag, opens=True, closes=html[end - 2] == "/"), end

    def behind_sign(self, begin: int) -> tuple[_Token, int]:
        """A declaration: nothing, up to the next bracket."""
        end = self.behind(">", begin)
        return (_Token(), end) if end else self.to_the_end(begin)

    def to_the_end(self, begin: int) -> tuple[_Token, int]:
        """All the rest as text."""
        return _Token(text=self.html[begin:]), len(self.html)

    def behind(self, mark: str, place: int) -> int:
        """Where the next such mark ends, 0 if none comes."""
        if mark in self.missing:
            return 0
        found = self.html.find(mark, place)
        if found < 0:
            self.missing.add(mark)
            return 0
        return found + len(mark)

    def behind_attributes(self, place: int) -> int:
        """Where a tag ends: at a bracket outside of quotes, if there are any to come."""
        if "quoted" not in self.missing:
            found = REST_OF_TAG.match(self.html, place)
            if found:
                return found.end()
            self.missing.add("quoted")
        return self.behind(">", place)

    def behind_hidden(self, name: str, place: int) -> int:
        """Where the content of an element ends that holds no markup."""
        found = re.compile(rf"</{name}\b", re.IGNORECASE).search(self.html, place)
        return found.start() if found else len(self.html)


class _Words:
    """Collects text; each quotation by itself, so that it can be left out."""

    def __init__(self) -> None:
        self.notices = 0
        self._open: list[list[str]] = [[]]
        self._deeper = 0

    def take(self, token: _Token) -> None:
        """Take in a tag, or some text."""
        if token.text:
            numbers = LONG_NUMBER.sub("\ufffd", token.text)
            self._open[-1].append(unescape(numbers))
        if token.opens:
            self._begin(token.name)
        if token.closes:
            self._end(token.name)

    def _begin(self, tag: str) -> None:
        if tag in BLOCKS:
            self._open[-1].append(" ")
        if tag == "blockquote":
            if len(self._open) > DEEPEST:
                self._deeper += 1
            else:
                self._open.append([])

    def _end(self, tag: str) -> None:
        if tag == "blockquote":
            if self._deeper:
                self._deeper -= 1
            elif len(self._open) > 1:
                self._close_quotation()
        if tag in BLOCKS:
            self._open[-1].append(" ")

    def text(self) -> str:
        """All text so far; quotations that were never closed end here."""
        while len(self._open) > 1:
            self._close_quotation()
        return "".join(self._open[0])

    def _close_quotation(self) -> None:
        quoted = "".join(self._open.pop())
        if quoted.lstrip()[: len(NOTICE)].lower() == NOTICE:
            self.notices += 1
        else:
            self._open[-1].append(quoted)
