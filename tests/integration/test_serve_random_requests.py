"""Ten thousand random requests, drawn from the OpenAPI schema and from beside it.

Whatever comes, the answer comes in time, is JSON, and no fault of the server's.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any
from urllib.parse import quote_plus

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette

from deltavec.server.app import create_app
from deltavec.server.limits import Limits
from support.served import TEXTS, ask, asked, small_collection

REQUESTS, AT_ONCE = 10_000, 25
LIMITS = Limits(k=20, batch=8, text_length=100, body_bytes=10_000, seconds=30)
EXPECTED = {200, 400, 403, 404, 405, 413, 421, 422}

ODD_TEXTS = [
    "", "sea", "a quiet room", "\0", "\x1b[31m", "<script>", "é\u0301", "\U0001f30a", "\ud800",
    "../..", "%2e%2e", "' or 1 = 1", "x" * 101, "((((", "stars >= 4", "kind == 'room'", "NaN",
    *TEXTS,
]  # fmt: skip
ODD_NUMBERS = [0, 1, 2, 20, 21, -1, 2**31, 2**63, 10**30, 0.5, 1e308]
ODD_VALUES = [None, True, False, [], {}, [[]], ["a", 1], {"a": None}, [1, 2], [[3]]]

texts = st.sampled_from(ODD_TEXTS)
anything = st.sampled_from([*ODD_TEXTS, *ODD_NUMBERS, *ODD_VALUES])


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Starlette:
    return create_app(small_collection(tmp_path_factory.mktemp("random")), limits=LIMITS)


def drawn_from(schema: dict[str, Any], known: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values as a schema describes them; one in some is not."""
    if "$ref" in schema:
        return drawn_from(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema:
        return st.one_of([drawn_from(one, known) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if kind == "object":
        needed = schema.get("required", [])
        fields = {n: drawn_from(s, known) for n, s in schema.get("properties", {}).items()}
        optional = {name: field for name, field in fields.items() if name not in needed}
        required = {name: fields[name] for name in needed}
        return st.fixed_dictionaries(required, optional=optional)
    if kind == "array":
        return st.lists(drawn_from(schema["items"], known), max_size=10)
    return {
        "string": texts,
        "integer": st.sampled_from([1, 3, 5, *ODD_NUMBERS]),
        "boolean": st.booleans(),
        "null": st.none(),
    }.get(str(kind), anything)


def operations(schema: dict[str, Any]) -> list[st.SearchStrategy[dict[str, Any]]]:
    """Requests to each address, as the schema describes them."""
    known = schema["components"]["schemas"]
    found = []
    for address, methods in schema["paths"].items():
        for method, operation in methods.items():
            parts = operation.get("parameters", [])
            fields = {
                place: {
                    part["name"]: drawn_from(part["schema"], known)
                    for part in parts
                    if part["in"] == place
                }
                for place in ("path", "query")
            }
            body = operation.get("requestBody")
            content = body["content"]["application/json"]["schema"] if body else None
            found.append(
                st.fixed_dictionaries(
                    {
                        "method": st.just(method.upper()),
                        "address": st.just(address),
                        "path": st.fixed_dictionaries(fields["path"]),
                        "query": st.fixed_dictionaries({}, optional=fields["query"]),
                        "body": drawn_from(content, known) if content else st.none(),
                    }
                )
            )
    return found


# What a request becomes on its way, now and then: something the schema does not know.
spoiled = st.fixed_dictionaries(
    {},
    optional={
        "method": st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "X"]),
        "address": st.sampled_from(
            [
                "/",
                "//",
                "/nope",
                "/page/../app.py",
                "/docs",
                "/openapi.json",
                "/search/",
                "/v1",
                "/*",
            ]
        ),
        "body": st.one_of(anything, st.dictionaries(texts, anything, max_size=3)),
        "raw": st.sampled_from([b"", b"{", b"\xff", b"[" * 5000, b'{"query":', b" " * 10_001]),
        "headers": st.sampled_from(
            [
                {"content-type": "text/plain"},
                {"content-type": "application/json; charset=utf-16"},
                {"content-length": "99999999999999999999"},
                {"host": "evil.example"},
                {"accept-encoding": "\xff"},
            ]
        ),
    },
)


async def sent(app: Starlette, request: dict[str, Any]) -> int:
    """Send a request and look at the answer; its status."""
    address = request["address"]
    for name, value in request["path"].items():
        for spelled in (f"{{{name}}}", f"{{{name}:path}}"):
            address = address.replace(spelled, str(value).encode(errors="replace").decode())
    query = "&".join(
        f"{quote_plus(name)}={quote_plus(str(value), errors='replace')}"
        for name, value in request["query"].items()
    )
    body = request.get("raw")
    if body is None and request["body"] is not None:
        body = json.dumps(request["body"]).encode()
    answer = await asked(
        app, request["method"], address, query=query, body=body, headers=request.get("headers")
    )
    assert answer.status in EXPECTED, (request, answer)
    if answer.status >= 400:
        assert answer.error["message"], (request, answer)
    elif answer.headers["content-type"] == "application/json":
        assert answer.json is not None
    return answer.status


def test_ten_thousand_random_requests_are_answered(app: Starlette) -> None:
    described = st.one_of(operations(ask(app, "GET", "/openapi.json").json))
    requests = st.lists(
        st.builds(
            lambda request, change: {**request, **change},
            described,
            st.one_of(st.just({}), st.just({}), spoiled),
        ),
        min_size=AT_ONCE,
        max_size=AT_ONCE,
    )
    seen: Counter[int] = Counter()

    @settings(
        max_examples=REQUESTS // AT_ONCE,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],  # a failure names its request: no need to make it shorter
    )
    @given(requests)
    def send(batch: list[dict[str, Any]]) -> None:
        async def all_at_once() -> list[int]:
            async with asyncio.timeout(LIMITS.seconds + 10):
                return await asyncio.gather(*(sent(app, request) for request in batch))

        seen.update(asyncio.run(all_at_once()))

    send()
    assert seen.total() >= REQUESTS
    assert min(seen[status] for status in EXPECTED) > 5, seen  # of each kind there were some
    assert seen[200] > REQUESTS / 10, seen
