"""``/v1/embeddings`` and ``/v1/models``: what the OpenAI client asks for.

A token is a word, so usage counts words. The vectors are the model's own: they cannot be cut to
fewer dimensions, and a text without known words is a vector of zeros.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from deltavec.core.model import EmbeddingModel
from deltavec.core.passes import counted
from deltavec.core.texts import as_texts
from deltavec.serve import answers
from deltavec.serve.crew import Crew
from deltavec.serve.limits import Limits
from deltavec.serve.questions import EmbeddingsQuestion
from deltavec.serve.refusals import RequestError

SHORT_NAME = "deltavec"


def model_name(model: EmbeddingModel) -> str:
    """The model's name: models with the same one give the same vectors."""
    return f"{SHORT_NAME}-{model.fingerprint}"


def routes(model: EmbeddingModel, limits: Limits, crew: Crew) -> APIRouter:
    """The addresses that the OpenAI client knows."""
    router = APIRouter(prefix="/v1", tags=["OpenAI-compatible"])

    @router.post("/embeddings", response_model=answers.Embeddings)
    async def embeddings(question: EmbeddingsQuestion) -> Response:
        """Texts as vectors."""
        answer = await crew.run(embeddings_answer, model, limits, question)
        return Response(answer, media_type="application/json")

    @router.get("/models", response_model=answers.Models)
    async def models() -> dict[str, Any]:
        """The names by which the model can be asked for."""
        names = (SHORT_NAME, model_name(model))
        return {"object": "list", "data": [model_answer(name) for name in names]}

    @router.get("/models/{name}", response_model=answers.Model)
    async def one_model(name: str) -> dict[str, Any]:
        """One of the names."""
        require_model(name, model)
        return model_answer(name)

    return router


def model_answer(name: str) -> dict[str, Any]:
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


def wanted_texts(question: EmbeddingsQuestion, model: EmbeddingModel, limits: Limits) -> list[str]:
    """The texts to be embedded, if all that is asked for can be done."""
    require_model(question.model, model)
    if question.dimensions not in (None, model.dimensions):
        raise RequestError(
            422,
            f"the model's vectors have {model.dimensions} dimensions and cannot be cut: leave "
            "dimensions out",
            param="dimensions",
        )
    given = [question.input] if isinstance(question.input, str) else question.input
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


def embeddings_answer(model: EmbeddingModel, limits: Limits, question: EmbeddingsQuestion) -> bytes:
    """The vectors as JSON, one written after the other: no list of all numbers is ever made."""
    texts = wanted_texts(question, model, limits)
    # One thread: the other cores answer others.
    vectors = model.embed(texts, threads=1)
    words = counted(as_texts(texts, model.tokenizer), model.vocabulary, 1).tokens
    entries = []
    for index, vector in enumerate(vectors):
        content: Any = vector.tolist()
        if question.encoding_format == "base64":
            content = base64.b64encode(vector.astype("<f4").tobytes()).decode()
        entries.append(json.dumps({"object": "embedding", "index": index, "embedding": content}))
    usage = {"prompt_tokens": words, "total_tokens": words}
    rest = json.dumps({"object": "list", "model": model_name(model), "usage": usage})
    return f'{rest[:-1]}, "data": [{", ".join(entries)}]}}'.encode()
