"""Errors as JSON, and the schemas of all responses.

All errors have the same form, which is also where the OpenAI client looks for a message::

    {"error": {"type": "invalid_request", "message": "...", "param": "k"}}

What a client gets, as the OpenAPI schema tells it, is in ``responses.json``. Responses are made as
plain objects in the worker threads; a test holds them against the schemas.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deltavec.io.output.tables import json_value
from deltavec.server.metrics import log_error

TYPES = {
    400: "invalid_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    413: "too_large",
    421: "wrong_host",
    422: "invalid_request",
    500: "internal_error",
    503: "busy",
    504: "timeout",
    507: "disk_full",
}

# Responses are built here and hold no reference cycles.
ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
)


class RequestError(Exception):
    """A request that cannot be answered, with the status and the reason."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.headers = dict(headers or {})


def invalid(message: str, param: str | None = None) -> RequestError:
    """The error for a request that asks for what is not possible."""
    return RequestError(422, message, param=param)


def busy(message: str) -> RequestError:
    """The error for a request that may be sent again in a second."""
    return RequestError(503, message, headers={"Retry-After": "1"})


def as_json(content: Any) -> bytes:
    """The content as JSON; NaN, which JSON does not have, is an error."""
    # The name of a wrong field may hold unpaired surrogates.
    return ENCODER.encode(content).encode("utf-8", "replace")


def json_response(content: bytes) -> Response:
    """A response whose content is already JSON."""
    return Response(content, media_type="application/json")


def error_response(error: RequestError) -> Response:
    """The response that reports an error."""
    kind = TYPES.get(error.status, "error")
    content = as_json({"error": {"type": kind, "message": error.message, "param": error.param}})
    return Response(content, error.status, error.headers, media_type="application/json")


def validation_error(error: ValidationError) -> RequestError:
    """What is wrong with the fields of a request, without the values, which may be anything."""
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    messages = [
        f"{'.'.join(map(str, one['loc']))[:100] or 'body'}"
        + (" " if one["type"] == LIMIT else ": ")
        + one["msg"]
        for one in sorted(errors, key=lambda one: one["type"] != LIMIT)[:3]
    ]
    first = errors[0]["loc"]
    return invalid("; ".join(messages), str(first[0])[:100] if first else None)


def internal_error(error: Exception) -> RequestError:
    """The generic 500 response; details go to the log."""
    log_error(error)
    return RequestError(500, "something went wrong in the server; this is a bug in deltavec")


async def handle_http_error(request: Request, error: Exception) -> Response:
    """The response to an error that Starlette raises: unknown address, wrong method."""
    assert isinstance(error, HTTPException)
    message = {
        404: "there is nothing at this address; /openapi.json lists the addresses there are",
        405: f"{request.method[:20]} is not possible here",
    }.get(error.status_code, HTTPStatus(error.status_code).phrase.lower())
    return error_response(RequestError(error.status_code, message, headers=error.headers))


LIMIT = "x-limit"  # marks fields that are bounded by a limit of the server, and their errors
LONGEST_VALUE = 1000  # characters of a column's value
EXACT_INTEGERS = 2**53  # from here on a browser would round

SCHEMAS = json.loads((files("deltavec.server") / "responses.json").read_text("utf-8"))
for schema in SCHEMAS.values():  # all properties and no others
    schema |= {"type": "object", "required": [*schema["properties"]], "additionalProperties": False}


def plain(value: Any) -> Any:
    """A value of a column as a browser can show it."""
    return json_value(value, longest=LONGEST_VALUE, largest=EXACT_INTEGERS)
