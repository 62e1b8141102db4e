"""The addresses of the explorer's files, and a page that lists the addresses of the API.

The files are read once, when the application is made; an address is looked up among their names, so
no path that a client sends ever reaches the disk.
"""

from __future__ import annotations

import hashlib
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import Response

MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
ADDRESSES = {"index.html": "/", "icon.svg": "/favicon.ico"}
REFERENCE = "/docs"


class PageFile(NamedTuple):
    """What stands at an address of the page."""

    content: bytes
    media_type: str


def page_files() -> dict[str, PageFile]:
    """The files of the page by their addresses."""
    by_address = {}
    for entry in files("deltavec.server.page").iterdir():
        media_type = MEDIA_TYPES.get(entry.name[entry.name.rfind(".") :])
        if media_type:
            address = ADDRESSES.get(entry.name, f"/page/{entry.name}")
            by_address[address] = PageFile(entry.read_bytes(), media_type)
    return by_address


def page_routes(by_address: dict[str, PageFile]) -> APIRouter:
    """The addresses of the page's files, and of the reference."""
    router = APIRouter(include_in_schema=False)

    def add(address: str, content: bytes, media_type: str) -> None:
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        headers = {"Cache-Control": "no-cache", "ETag": tag}

        async def file(request: Request) -> Response:
            if request.headers.get("if-none-match") == tag:
                return Response(None, 304, headers)
            return Response(content, headers=headers, media_type=media_type)

        router.add_api_route(address, file, methods=["GET", "HEAD"], response_class=Response)

    for address, file in by_address.items():
        add(address, *file)

    @router.get(REFERENCE, response_class=Response)
    async def reference(request: Request) -> Response:
        listed = reference_page(request.app.openapi())
        return Response(listed, media_type=MEDIA_TYPES[".html"])

    return router


def reference_page(schema: dict[str, Any]) -> str:
    """The addresses of the API as a page without scripts."""
    entries = [
        operation_entry(method, address, operation)
        for address, operations in schema["paths"].items()
        for method, operation in operations.items()
    ]
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>deltavec: the HTTP API</title>
<link rel="icon" href="favicon.ico" type="image/svg+xml">
<link rel="stylesheet" href="page/explorer.css">
</head>
<body class="reference">
<main>
<h1>The HTTP API</h1>
<p>All of it, for programs: <a href="openapi.json">/openapi.json</a>. To look around:
<a href="./">the explorer</a>.</p>
{"".join(entries)}
</main>
</body>
</html>
"""


def operation_entry(method: str, address: str, operation: dict[str, Any]) -> str:
    """One address: what it gives, and what it takes."""
    fields = {
        parameter["name"]: parameter["schema"] for parameter in operation.get("parameters", [])
    }
    rows = "".join(
        f"<li><code>{escape(name)}</code> {escape(str(field.get('description', '')))}</li>"
        for name, field in fields.items()
    )
    body = operation.get("requestBody")
    if body:
        reference = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        rows += f"<li>a JSON object: <code>{escape(reference)}</code></li>"
    return (
        f"<section><h2><b>{method.upper()}</b> {escape(address)}</h2>"
        f"<p>{escape(operation['description'])}</p><ul>{rows}</ul></section>\n"
    )
