"""The map as one HTML file that works offline: page, scripts and data together.

The page's modules are concatenated, each one wrapped in a function that returns its exports. Text
from documents is in a JSON block that it cannot close. The content security policy allows only the
script whose checksum it names.
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


def map_page(map_view: MapView, name: str) -> str:
    """The page: the map of a collection, with its colors and the beginnings of its texts."""
    script, style = bundle(), read("explorer.css")
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
        "data": inert(page_data(map_view, name)),
        "script": script,
    }
    template = read("offline.template")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def page_data(map_view: MapView, name: str) -> dict[str, Any]:
    """The data of the page."""
    shown = map_view.positions.shown
    collection = map_view.collection
    length = int(np.clip(TEXT_BYTES // max(1, len(shown)), SHORTEST_TEXT, LONGEST_TEXT))
    colors = map_view.color_names[: MOST_COLORS + 1]
    texts = collection.column("text").take(shown)
    return {
        **map_view.map_points(),
        "name": name[:MOST_NAME],
        "without": collection.description.zero_rows,
        "colors": {by: map_view.colors(by)._asdict() for by in colors},
        "texts": [beginning(text.as_py(), length) for text in texts],
    }


def beginning(text: str | None, length: int) -> str:
    """The first characters of a text, on one line."""
    return " ".join((text or "")[: 2 * length].split())[:length]


def inert(data: dict[str, Any]) -> str:
    """JSON that cannot close an element of the page, whatever it holds."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def bundle() -> str:
    """The modules of the page as one script."""
    return "\n".join(["'use strict';", *(wrap(name) for name in MODULES)])


def wrap(name: str) -> str:
    """A module as a function that returns its exports."""
    source = IMPORT.sub(r"const \1 = $\2;", read(f"{name}.js"))
    exported = ", ".join(match[2] for match in EXPORT.finditer(source))
    body = EXPORT.sub(r"\1", source)
    return f"const ${name} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


def read(name: str) -> str:
    """A file of the page."""
    return (files("deltavec.server.page") / name).read_text(encoding="utf-8")


def checksum(text: str) -> str:
    """The hash of a script or a style in a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
