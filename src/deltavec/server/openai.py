"""``/v1/embeddings`` and ``/v1/models``, compatible with the OpenAI client.

Tokens are counted as the model counts them: words, and in scripts without spaces characters and
pairs of them. Vectors cannot be shortened; a text without known words is a zero vector.
"""

from __future__ import annotations

import base64
from typing import Any

from pydantic_core import to_json

from deltavec.core.model import EmbeddingModel
from deltavec.server.errors import RequestError, as_json, invalid
from deltavec.server.explorer import Explorer
from deltavec.server.requests import EmbeddingsRequest, EncodeRequest, ModelRequest, NoRequest

SHORT_NAME = "deltavec"


def model_name(model: EmbeddingModel) -> str:
    """The model's name; models with the same name give the same vectors."""
    return f"{SHORT_NAME}-{model.fingerprint}"


def embeddings(explorer: Explorer, request: EmbeddingsRequest) -> bytes:
    """Texts as vectors."""
    model = explorer.collection.model
    texts = valid_input(request, model)
    # One thread: the other cores answer other requests.
    vectors, counts = model.embed_and_count(texts, threads=1)
    if request.encoding_format == "base64":
        rows = [base64.b64encode(vector).decode() for vector in vectors.astype("<f4")]
    else:
        rows = vectors.tolist()
    return to_json(
        {
            "object": "list",
            "model": model_name(model),
            "usage": {"prompt_tokens": counts.tokens, "total_tokens": counts.tokens},
            "data": [
                {"object": "embedding", "index": index, "embedding": row}
                for index, row in enumerate(rows)
            ],
        }
    )


def models(explorer: Explorer, request: NoRequest) -> bytes:
    """The names of the model."""
    names = (SHORT_NAME, model_name(explorer.collection.model))
    return as_json({"object": "list", "data": [model_entry(name) for name in names]})


def one_model(explorer: Explorer, request: ModelRequest) -> bytes:
    """One of the names."""
    require_model(request.name, explorer.collection.model)
    return as_json(model_entry(request.name))


def model_entry(name: str) -> dict[str, Any]:
    """A model as the client expects it."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "deltavec"}


def require_model(name: str, model: EmbeddingModel) -> None:
    """Raise if a name is not the model's."""
    if name not in (SHORT_NAME, model_name(model)):
        raise RequestError(
            404,
            f"there is no model of this name; expected '{SHORT_NAME}' or '{model_name(model)}'",
            param="model",
        )


def encode_query(explorer: Explorer, request: EncodeRequest) -> bytes:
    """A query as vectors, and ready to be run, for documents that were exported to a store."""
    encoder = explorer.encoder
    if encoder is None:
        raise RequestError(404, "this server has no query encoder: start it with --encoder FOLDER")
    found, k = encoder.query(request.query, by=request.by), request.k
    is_sql = encoder.store == "pgvector"
    return to_json(
        {
            "by": found.by,
            "store": encoder.store,
            "name": encoder.name,
            "terms": found.terms.tolist(),
            "weights": found.weights.tolist(),
            "vector": found.vector.tolist(),
            "unknown": found.unknown,
            "sql": found.sql(k) if is_sql else None,
            "request": None if is_sql else found.request(k),
        }
    )


def valid_input(request: EmbeddingsRequest, model: EmbeddingModel) -> list[str]:
    """The texts to embed; raises if the request asks for what the model cannot do."""
    require_model(request.model, model)
    if request.dimensions not in (None, model.dimensions):
        raise invalid(
            f"the model's vectors have {model.dimensions} dimensions and cannot be cut: leave "
            "dimensions out",
            "dimensions",
        )
    given = [request.input] if isinstance(request.input, str) else request.input
    texts = [text for text in given if isinstance(text, str)]
    if len(texts) < len(given):
        raise invalid(
            "expected a text or a list of texts, got token numbers: a token is a word here, and "
            "has no number; send the text itself (LangChain sends it with "
            "OpenAIEmbeddings(check_embedding_ctx_length=False))",
            "input",
        )
    if not texts:
        raise invalid("expected at least one text, got an empty list", "input")
    return texts
