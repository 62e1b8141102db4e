"""The OpenAPI schema of the HTTP API, from the operations and their pydantic models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic.json_schema import models_json_schema

from deltavec.server.responses import SCHEMAS
from deltavec.server.routes import Operation
from deltavec.version import __version__

DESCRIPTION = "Find documents, compare them, and see why they are similar."
SECURITY = {"token": {"type": "http", "scheme": "bearer"}}
REFERENCE = "#/components/schemas/{model}"


def openapi(operations: Sequence[Operation], root_path: str) -> dict[str, Any]:
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
    return {**document, "servers": [{"url": root_path}]} if root_path else document


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
