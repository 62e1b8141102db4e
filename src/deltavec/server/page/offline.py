"""The map in one file that opens from disk and asks for nothing: page, program and data together.

Modules of the page are put one after the other, each in a function of its own that gives what it
exports. What comes from documents stands in a block of JSON, in which nothing can end the block;
the page runs no other program than the one whose checksum it names.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from deltavec.server.map_view import MapView

MODULES = (
    "dom", "palette", "pixels", "density", "names", "lasso", "gestures", "marks", "map", "keys",
    "panel", "theme", "offline",
)  # fmt: skip
IMPORT = re.compile(r'^import (\{[^}]+\}) from "\./(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:const|class|function) (\w+))", re.MULTILINE)
PLACE = re.compile(r'<section class="place".*?</section>', re.DOTALL)
TEXT_BYTES = 12_000_000  # about, of the beginnings of all texts together
LONGEST_TEXT = 240  # characters
SHORTEST_TEXT = 40
MOST_COLORS = 12  # columns
MOST_NAME = 200


def map_page(overview: MapView, name: str) -> str:
    """The page: the map of a collection, with its colours and the beginnings of its texts."""
    script, style = bundled(), read("explorer.css")
    policy = (
        f"default-src 'none'; script-src '{checksum(script)}'; style-src '{checksum(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    place = PLACE.search(read("index.html"))
    assert place is not None
    parts = {
        "policy": policy,
        "title": escape(f"{name} · deltavec"),
        "style": style,
        "place": place[0],
        "data": inert(page_data(overview, name)),
        "script": script,
    }
    template = read("offline.template")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def page_data(overview: MapView, name: str) -> dict[str, Any]:
    """What the page shows."""
    shown = overview.positions.shown
    collection = overview.collection
    length = int(np.clip(TEXT_BYTES // max(1, len(shown)), SHORTEST_TEXT, LONGEST_TEXT))
    colors = overview.color_names[: MOST_COLORS + 1]
    texts = collection.column("text").take(shown)
    return {
        **json.loads(overview.map_json()),
        "name": name[:MOST_NAME],
        "without": collection.description.zero_rows,
        "colors": {by: json.loads(overview.color_json(by)) for by in colors},
        "texts": [beginning(text.as_py(), length) for text in texts],
    }


def beginning(text: str | None, length: int) -> str:
    """The first characters of a text, on one line."""
    return " ".join((text or "")[: 2 * length].split())[:length]


def inert(data: dict[str, Any]) -> str:
    """JSON that ends no element of the page, whatever is in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def bundled() -> str:
    """The modules of the page as one program."""
    return "\n".join(["'use strict';", *(wrapped(name) for name in MODULES)])


def wrapped(name: str) -> str:
    """A module as a function that gives what it exports."""
    source = IMPORT.sub(r"const \1 = $\2;", read(f"{name}.js"))
    exported = ", ".join(match[2] for match in EXPORT.finditer(source))
    body = EXPORT.sub(r"\1", source)
    return f"const ${name} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


def read(name: str) -> str:
    """A file of the page."""
    return (files("deltavec.server.page") / name).read_text(encoding="utf-8")


def checksum(text: str) -> str:
    """What a policy calls a program or a style by."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
