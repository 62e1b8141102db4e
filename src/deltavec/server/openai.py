"""``/v1/embeddings`` and ``/v1/models``: what the OpenAI client asks for.

A token is what the model counts: a word, in scripts without spaces a character or a pair. The
vectors are the model's own: they cannot be cut to fewer dimensions, and a text without known words
is a vector of zeros.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from deltavec.core.arrays import Float32s
from deltavec.core.model import EmbeddingModel
from deltavec.server import responses
from deltavec.server.errors import RequestError, as_json
from deltavec.server.float_json import rows_as_json
from deltavec.server.limits import Limits
from deltavec.server.pool import Workers
from deltavec.server.requests import EmbeddingsRequest

SHORT_NAME = "deltavec"


def model_name(model: EmbeddingModel) -> str:
    """The model's name: models with the same one give the same vectors."""
    return f"{SHORT_NAME}-{model.fingerprint}"


def openai_routes(
    current: Callable[[], EmbeddingModel], limits: Limits, workers: Workers
) -> APIRouter:
    """The addresses that the OpenAI client knows, for the model that is served at the time."""
    router = APIRouter(prefix="/v1", tags=["OpenAI-compatible"])

    @router.post("/embeddings", response_model=responses.Embeddings)
    async def embeddings(request: EmbeddingsRequest) -> Response:
        """Texts as vectors."""
        content = await workers.run(embeddings_json, current(), limits, request)
        return Response(content, media_type="application/json")

    @router.get("/models", response_model=responses.Models)
    async def models() -> dict[str, Any]:
        """The names by which the model can be asked for."""
        names = (SHORT_NAME, model_name(current()))
        return {"object": "list", "data": [model_entry(name) for name in names]}

    @router.get("/models/{name}", response_model=responses.Model)
    async def one_model(name: str) -> dict[str, Any]:
        """One of the names."""
        require_model(name, current())
        return model_entry(name)

    return router


def model_entry(name: str) -> dict[str, Any]:
    """A model as the client expects it."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "deltavec"}


def require_model(name: str, model: EmbeddingModel) -> None:
    """Refuse a name that is not the model's."""
    if name not in (SHORT_NAME, model_name(model)):
        raise RequestError(
            404,
            f"there is no model of this name; expected '{SHORT_NAME}' or '{model_name(model)}'",
            param="model",
        )


def wanted_texts(request: EmbeddingsRequest, model: EmbeddingModel, limits: Limits) -> list[str]:
    """The texts to be embedded, if all that is asked for can be done."""
    require_model(request.model, model)
    if request.dimensions not in (None, model.dimensions):
        raise RequestError(
            422,
            f"the model's vectors have {model.dimensions} dimensions and cannot be cut: leave "
            "dimensions out",
            param="dimensions",
        )
    given = [request.input] if isinstance(request.input, str) else request.input
    texts = [text for text in given if isinstance(text, str)]
    if len(texts) < len(given):
        raise RequestError(
            422,
            "expected a text or a list of texts, got token numbers: a token is a word here, and "
            "has no number; send the text itself",
            param="input",
        )
    if not texts:
        raise RequestError(422, "expected at least one text, got an empty list", param="input")
    if len(texts) > limits.batch:
        raise RequestError(
            422,
            f"expected at most {limits.batch:,} texts, got {len(texts):,}: send them in parts",
            param="input",
        )
    longest = max(map(len, texts))
    if longest > limits.text_length:
        raise RequestError(
            422,
            f"expected texts of at most {limits.text_length:,} characters, got one of {longest:,}",
            param="input",
        )
    return texts


def embeddings_json(model: EmbeddingModel, limits: Limits, request: EmbeddingsRequest) -> bytes:
    """The vectors as JSON; no Python number is ever made of theirs."""
    texts = wanted_texts(request, model, limits)
    # One thread: the other cores answer others.
    vectors, counts = model.embed_and_count(texts, threads=1)
    rows = ROWS_AS_JSON[request.encoding_format](vectors)
    data = b",".join(
        b'{"object":"embedding","index":%d,"embedding":%b}' % entry for entry in enumerate(rows)
    )
    usage = {"prompt_tokens": counts.tokens, "total_tokens": counts.tokens}
    rest = as_json({"object": "list", "model": model_name(model), "usage": usage})
    return b'%b,"data":[%b]}' % (rest[:-1], data)


def rows_in_base64(vectors: Float32s) -> list[bytes]:
    """Each row as a JSON string: the bytes of little-endian float32 in base64."""
    return [b'"%b"' % base64.b64encode(vector) for vector in vectors.astype("<f4")]


ROWS_AS_JSON = {"float": rows_as_json, "base64": rows_in_base64}
