"""The explorer's files, the OpenAPI schema, and a page that lists the operations of the API.

The files are read once, when the application is created. Addresses are looked up by name, so no
path that a client sends reaches the disk. The schema is made from the operations and their pydantic
models, with the limits of this server.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from pydantic.json_schema import models_json_schema
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from deltavec.server.errors import LIMIT, SCHEMAS, as_json
from deltavec.server.limits import Limits
from deltavec.server.routes import Operation
from deltavec.version import __version__

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


DESCRIPTION = "Find documents, compare them, and see why they are similar."
SECURITY = {"token": {"type": "http", "scheme": "bearer"}}
REFERENCE = "#/components/schemas/{model}"
BOUNDS = {"integer": "maximum", "string": "maxLength", "array": "maxItems"}


def openapi(operations: Sequence[Operation], root_path: str, limits: Limits) -> dict[str, Any]:
    """The OpenAPI document."""
    taken = dict.fromkeys(one.takes for one in operations if one.method == "POST")
    _, requests = models_json_schema(
        [(model, "validation") for model in taken], ref_template=REFERENCE
    )
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.address, {})[one.method.lower()] = describe(one)
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "deltavec", "description": DESCRIPTION, "version": __version__},
        "paths": paths,
        "components": {"schemas": requests["$defs"] | SCHEMAS, "securitySchemes": SECURITY},
        "security": [{}, *({name: []} for name in SECURITY)],  # a server may have no token
    }
    if root_path:
        document["servers"] = [{"url": root_path}]
    return dict(with_limits(document, limits))


def with_limits(schema: Any, limits: Limits) -> Any:
    """A schema with the limits of this server where fields name them."""
    if isinstance(schema, list):
        return [with_limits(one, limits) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: with_limits(value, limits) for name, value in schema.items() if name != LIMIT}
    if LIMIT in schema:
        found[BOUNDS[schema["type"]]] = getattr(limits, schema[LIMIT])
    return found


def describe(operation: Operation) -> dict[str, Any]:
    """One operation of the document."""
    method, respond = operation.method.lower(), operation.respond
    described: dict[str, Any] = {
        "tags": [operation.tag],
        "summary": respond.__name__.replace("_", " ").title(),
        "description": (respond.__doc__ or "").partition("\n")[0],
        "operationId": re.sub(r"\W", "_", f"{respond.__name__}{operation.address}_{method}"),
    }
    if method == "post":
        described["requestBody"] = {"required": True, **content(operation.takes.__name__)}
    else:
        described["parameters"] = parameters(operation)
    described["responses"] = {
        "200": {"description": "Successful Response", **content(operation.returns)},
        "default": {"description": "Default Response", **content("Error")},
    }
    return described


def parameters(operation: Operation) -> list[dict[str, Any]]:
    """The fields of a request as parameters of the path or the query."""
    schema = operation.takes.model_json_schema(ref_template=REFERENCE)
    required = schema.get("required", ())
    return [
        {
            "name": name,
            "in": "path" if f"{{{name}}}" in operation.address else "query",
            "required": name in required,
            "schema": field,
            **({"description": field["description"]} if "description" in field else {}),
        }
        for name, field in schema.get("properties", {}).items()
    ]


def content(name: str | None) -> dict[str, Any]:
    """The body of a request or a response: JSON by a schema, or plain text for None."""
    if name is None:
        return {"content": {"text/plain": {"schema": {"type": "string"}}}}
    schema = {"$ref": REFERENCE.format(model=name)}
    return {"content": {"application/json": {"schema": schema}}}
