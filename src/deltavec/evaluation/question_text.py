"""The words of a question that was written as HTML."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple

# Elements that end a word where they begin and end.
BLOCKS = frozenset(
    [
        "address",
        "article",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "img",
        "li",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "td",
        "th",
        "tr",
        "ul",
    ]
)
HIDDEN = frozenset(("script", "style"))
NOTICE = "possible duplicate"


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
    parser = _Words()
    parser.feed(html)
    parser.close()
    return PlainText(" ".join(parser.text().split()), parser.notices)


class _Words(HTMLParser):
    """Collects text; each quotation by itself, so that it can be left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.notices = 0
        self._open: list[list[str]] = [[]]
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in BLOCKS:
            self._open[-1].append(" ")
        if tag in HIDDEN:
            self._hidden += 1
        if tag == "blockquote":
            self._open.append([])

    def handle_endtag(self, tag: str) -> None:
        if tag in HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        if tag == "blockquote" and len(self._open) > 1:
            self._close_quotation()
        if tag in BLOCKS:
            self._open[-1].append(" ")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._open[-1].append(data)

    def text(self) -> str:
        """All text so far; quotations that were never closed end here."""
        while len(self._open) > 1:
            self._close_quotation()
        return "".join(self._open[0])

    def _close_quotation(self) -> None:
        quoted = "".join(self._open.pop())
        if quoted.lstrip().lower().startswith(NOTICE):
            self.notices += 1
        else:
            self._open[-1].append(quoted)
