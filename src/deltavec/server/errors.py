"""What a client is told when it does not get what it asked for.

Every error has the same form, whoever notices it::

    {"error": {"type": "invalid_request", "message": "...", "param": "k"}}

It is also the form in which the OpenAI client looks for a message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from deltavec.server.log import log_error

TYPES = {
    400: "invalid_request",
    401: "unauthorized",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    413: "too_large",
    421: "wrong_host",
    422: "invalid_request",
    500: "internal_error",
    503: "busy",
    504: "timeout",
}

# What is written is made here, and holds no circles to look for.
ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
)


class RequestError(Exception):
    """A request that is not answered, and why."""

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


def as_json(content: Any) -> bytes:
    """The bytes of a JSON text; NaN, which JSON does not have, is an error."""
    # A wrong field's name may hold anything.
    return ENCODER.encode(content).encode("utf-8", "replace")


def as_response(refusal: RequestError) -> Response:
    """What the client gets."""
    error = {
        "type": TYPES.get(refusal.status, "error"),
        "message": refusal.message,
        "param": refusal.param,
    }
    return Response(
        as_json({"error": error}),
        refusal.status,
        headers=refusal.headers,
        media_type="application/json",
    )


def explained_validation(errors: Sequence[Any]) -> RequestError:
    """What is wrong with a request's fields. What came is not repeated: it may be anything."""
    told = []
    for error in errors[:3]:
        place = ".".join(str(step) for step in error["loc"][1:]) or str(error["loc"][0])
        told.append(f"{place[:100]}: {error['msg']}")
    if errors and errors[0]["type"] == "json_invalid":
        return RequestError(400, "expected a JSON object in the body, got something else")
    first = errors[0]["loc"][1:] if errors else ()
    param = str(first[0])[:100] if first else None
    return RequestError(422, "; ".join(told) or "the request is not valid", param=param)


def unexpected(error: Exception) -> RequestError:
    """What the client is told of a mistake that is ours: that it is ours, and no more."""
    log_error(error)
    return RequestError(500, "something went wrong in the server; this is a bug in deltavec")


def add_handlers(app: FastAPI) -> None:
    """Let the application answer every error in this form."""

    @app.exception_handler(RequestError)
    async def refused(request: Request, refusal: RequestError) -> Response:
        return as_response(refusal)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return as_response(explained_validation(error.errors()))

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        message = {
            400: "the body could not be read: expected a JSON object",
            404: "there is nothing at this address; /openapi.json lists the addresses there are",
            405: f"{request.method[:20]} is not possible here",
        }.get(error.status_code, HTTPStatus(error.status_code).phrase.lower())
        return as_response(RequestError(error.status_code, message, headers=error.headers))
