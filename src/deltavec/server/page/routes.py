"""The explorer's files, and a page that lists the operations of the API.

The files are read once, when the application is created. Addresses are looked up by name, so no
path that a client sends reaches the disk.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from deltavec.server.errors import as_json

MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
ADDRESSES = {"index.html": "/", "icon.svg": "/favicon.ico"}


@dataclass(frozen=True)
class PageFile:
    """A file at an address: an ASGI application that sends it."""

    path: str
    content: bytes
    media_type: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file, or 304 if the browser has it."""
        tag = f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'
        headers = {"Cache-Control": "no-cache", "ETag": tag}
        if Headers(scope=scope).get("if-none-match") == tag:
            response = Response(None, 304, headers)
        else:
            response = Response(self.content, headers=headers, media_type=self.media_type)
        await response(scope, receive, send)


def page_files(schema: dict[str, Any]) -> list[PageFile]:
    """The files of the page, the OpenAPI schema and the reference."""
    found = [
        PageFile("/openapi.json", as_json(schema), "application/json"),
        PageFile("/docs", reference_page(schema).encode(), MEDIA_TYPES[".html"]),
    ]
    for entry in files("deltavec.server.page").iterdir():
        media_type = MEDIA_TYPES.get(entry.name[entry.name.rfind(".") :])
        if media_type:
            address = ADDRESSES.get(entry.name, f"/page/{entry.name}")
            found.append(PageFile(address, entry.read_bytes(), media_type))
    return found


def reference_page(schema: dict[str, Any]) -> str:
    """The operations of the API as a page without scripts."""
    entries = [
        operation_entry(method, address, operation)
        for address, operations in schema["paths"].items()
        for method, operation in operations.items()
    ]
    template = (files("deltavec.server.page") / "reference.template").read_text("utf-8")
    return template.replace("{{operations}}", "".join(entries))


def operation_entry(method: str, address: str, operation: dict[str, Any]) -> str:
    """One operation: what it returns, and its parameters."""
    rows = "".join(
        f"<li><code>{escape(field['name'])}</code> {escape(field.get('description', ''))}</li>"
        for field in operation.get("parameters", [])
    )
    body = operation.get("requestBody")
    if body:
        reference = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        rows += f"<li>a JSON object: <code>{escape(reference)}</code></li>"
    return (
        f"<section><h2><b>{method.upper()}</b> {escape(address)}</h2>"
        f"<p>{escape(operation['description'])}</p><ul>{rows}</ul></section>\n"
    )
