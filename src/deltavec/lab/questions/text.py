"""The plain text of a question that was written in HTML."""

from __future__ import annotations

from html import unescape
from html.parser import HTMLParser
from typing import NamedTuple

# Elements that separate words.
BLOCKS = frozenset([
    "address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "footer", "h1", "h2",
    "h3", "h4", "h5", "h6", "header", "hr", "img", "li", "ol", "p", "pre", "section", "table",
    "td", "th", "tr", "ul",
])  # fmt: skip
HIDDEN = frozenset(("script", "style"))
NOTICE = "possible duplicate"
MAX_DEPTH = 100  # of quotations in quotations; the text of deeper ones belongs to this one


class PlainText(NamedTuple):
    """Text without markup, and the number of duplicate notices that were removed from it."""

    text: str
    notices: int


def strip_markup(html: str) -> PlainText:
    """The text of a question's body.

    Code stays: many questions are about error messages and commands. A quotation that begins with
    "Possible Duplicate" is removed. The site adds it to a question that was closed as a duplicate,
    with the title of the other one, which would give the answer away.

    Examples
    --------
    >>> strip_markup("<p>Caf&eacute; &amp; <b>bar</b><code>ls -l</code></p>").text
    'Café & barls -l'
    """
    # The parser looks for the end of each unclosed tag up to the end of the text, which takes
    # quadratic time. No tag ends after the last ">", so the rest is text.
    end = html.rfind(">") + 1
    parser = _TextParser()
    parser.feed(html[:end])
    parser.close()
    parser.handle_data(unescape(html[end:]))
    while len(parser.open) > 1:
        parser.close_quotation()
    return PlainText(" ".join("".join(parser.open[0]).split()), parser.notices)


class _TextParser(HTMLParser):
    """Collects text, each quotation on its own so that it can be removed."""

    def __init__(self) -> None:
        super().__init__()
        self.notices = 0
        self.open: list[list[str]] = [[]]
        self.hidden = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden = tag in HIDDEN
        if tag in BLOCKS:
            self.open[-1].append(" ")
        if tag == "blockquote" and len(self.open) < MAX_DEPTH:
            self.open.append([])

    def handle_endtag(self, tag: str) -> None:
        self.hidden = False
        if tag == "blockquote" and len(self.open) > 1:
            self.close_quotation()
        if tag in BLOCKS:
            self.open[-1].append(" ")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.open[-1].append(data)

    def close_quotation(self) -> None:
        quoted = "".join(self.open.pop())
        if quoted.lstrip()[: len(NOTICE)].lower() == NOTICE:
            self.notices += 1
        else:
            self.open[-1].append(quoted)
