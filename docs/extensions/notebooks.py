"""Notebooks as pages: their text is Markdown, and beside their code stands what it printed.

They are not run here: `tools/notebooks.py` has done that, and a test does it again.
"""

from __future__ import annotations

import json
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx


class NotebookParser(MystParser):
    """Reads a notebook as the Markdown that it amounts to."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Read a notebook into a document."""
        cells = json.loads(inputstring)["cells"]
        super().parse("\n\n".join(part for cell in cells for part in parts(cell)), document)


def parts(cell: dict[str, Any]) -> list[str]:
    """A cell as Markdown: text as it is, code and what it printed between fences."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    return [fenced("python", source), *(shown(output) for output in cell["outputs"])]


def shown(output: dict[str, Any]) -> str:
    """What a cell printed."""
    if output["output_type"] == "stream":
        return fenced("text", "".join(output["text"]))
    return fenced("{raw} html", "".join(output["data"]["text/html"]))


def fenced(kind: str, content: str) -> str:
    """Lines between fences that do not occur in them."""
    return f"~~~~{kind}\n{content.rstrip()}\n~~~~"


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
