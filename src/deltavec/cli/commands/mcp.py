"""``deltavec mcp``: a collection as tools for agents, by the Model Context Protocol."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from deltavec.cli.inputs import open_collection
from deltavec.errors import DeltavecError, needing

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from deltavec.collection.answers import Hit
    from deltavec.collection.collection import Collection

MOST = 100  # documents in one answer
EXCERPT = 400  # characters shown of each document
By = Literal["hybrid", "keyword", "semantic"]


def mcp(collection: Path, *, trust: bool = False) -> None:
    """Serve a collection to agents by MCP over stdio.

    Tools: search, similar, read, why. They take filters, and answer with exact shares of each word.
    Nothing leaves this machine but what the agent is told. Needs the extra mcp.

    Examples
    --------
    deltavec mcp reviews.idx
    """
    with needing("mcp", "deltavec mcp needs the package mcp"):
        server = tools_of(collection, trust)
    server.run("stdio")


def tools_of(path: Path, trust: bool = False) -> MCPServer:
    """The server with its tools; it follows changes of the collection."""
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    from deltavec.collection.open import refresh
    from deltavec.io.output.tables import json_value

    opened = [open_collection(path, trust)]
    columns = ", ".join(opened[0].columns) or "none"
    about = (
        f"{len(opened[0]):,} documents in the collection {path.stem!r}. Columns to filter by: "
        f"{columns}. A filter is a condition such as rating >= 4 and city == 'Rome'."
    )
    server = MCPServer(f"deltavec {path.stem}", instructions=about)

    def current() -> Collection:
        opened[0] = refresh(opened[0])
        return opened[0]

    def tool(function: Callable[..., Any]) -> None:
        @functools.wraps(function)
        def run(*given: Any, **named: Any) -> Any:
            try:
                return function(*given, **named)
            except DeltavecError as error:  # what the agent can mend
                raise ToolError(str(error)) from None

        server.add_tool(run)

    def search(
        query: str, k: int = 10, filter: str | None = None, by: By | None = None
    ) -> list[dict[str, Any]]:
        """Find the documents that match a query best, by words and by meaning.

        A word in quotation marks must occur as written, one after a hyphen must not occur.
        """
        documents = current()
        asked = documents.query(query, min(k, MOST), by=by, filter=filter)
        hits = documents.hits(documents.best([asked])[0], asked, length=EXCERPT)
        return [as_dict(hit) for hit in hits]

    def similar(id: str, k: int = 10, filter: str | None = None) -> list[dict[str, Any]]:
        """Find the documents that are most similar to a document, given by its id."""
        return [as_dict(hit) for hit in current().similar(id, min(k, MOST), filter=filter)]

    def read(id: str, begin: int = 0, length: int = 20_000) -> dict[str, Any]:
        """Read the text and the columns of a document, from a character on."""
        [entry] = current().entries([id])
        text = entry.pop("text") or ""
        return {**json_value(entry), "text": text[begin : begin + length], "characters": len(text)}

    def why(query: str, id: str, by: By | None = None) -> dict[str, Any]:
        """Explain the score of a document: the shares of the query's words add up to it."""
        found = asdict(current().why(query, id, by=by))
        found["words"] = [one._asdict() | {"share": one.share} for one in found["words"]]
        return found | {"near": [pair._asdict() for pair in found["near"]]}

    for function in (search, similar, read, why):
        tool(function)
    return server


def as_dict(hit: Hit) -> dict[str, Any]:
    """A hit as JSON."""
    from deltavec.io.output.tables import json_value

    shown = hit.excerpt.text or hit.text[:EXCERPT]
    columns = json_value(hit.columns)
    return {"id": hit.id, "score": hit.score, "excerpt": shown, "columns": columns}
