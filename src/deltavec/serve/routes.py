"""The addresses of the HTTP API.

Ids may hold any characters. ``/documents/{id}`` takes slashes too; an id with a line break, or such
as ``..``, which a client would resolve before it asks, goes into ``?id=``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from deltavec.serve import answers
from deltavec.serve.crew import Crew
from deltavec.serve.explorer import Explorer
from deltavec.serve.questions import (
    ExplainQuestion,
    Identity,
    SearchQuestion,
    Shown,
    SimilarQuestion,
)
from deltavec.serve.refusals import as_json
from deltavec.version import __version__


def sent(content: bytes) -> Response:
    """Bytes of JSON as an answer."""
    return Response(content, media_type="application/json")


def routes(explorer: Explorer, crew: Crew) -> APIRouter:
    """The addresses of the explorer."""
    router = APIRouter()

    async def answered(work: Callable[..., dict[str, Any]], *question: Any) -> Response:
        # Written as JSON in the thread too: the event loop stays free.
        return sent(await crew.run(lambda: as_json(work(*question))))

    @router.get("/search", tags=["find"], response_model=answers.Results)
    async def search(question: Annotated[SearchQuestion, Query()]) -> Response:
        """The documents nearest to a text."""
        return await answered(explorer.search, question)

    @router.post("/search", tags=["find"], response_model=answers.Results)
    async def search_long(question: SearchQuestion) -> Response:
        """The same, for a text too long for an address."""
        return await answered(explorer.search, question)

    @router.get("/similar", tags=["find"], response_model=answers.Results)
    async def similar(question: Annotated[SimilarQuestion, Query()]) -> Response:
        """The documents nearest to one of them, itself left out."""
        return await answered(explorer.similar, question)

    @router.get("/similar/{id:path}", tags=["find"], response_model=answers.Results)
    async def similar_to(id: Identity, shown: Annotated[Shown, Query()]) -> Response:
        """The same, the id in the path."""
        return await answered(explorer.similar, SimilarQuestion(id=id, **shown.model_dump()))

    @router.get("/explain", tags=["explain"], response_model=answers.Why)
    async def explain(question: Annotated[ExplainQuestion, Query()]) -> Response:
        """Why two texts are as alike as they are."""
        return await answered(explorer.explain, question)

    @router.post("/explain", tags=["explain"], response_model=answers.Why)
    async def explain_long(question: ExplainQuestion) -> Response:
        """The same, for texts too long for an address."""
        return await answered(explorer.explain, question)

    @router.get("/documents", tags=["look"], response_model=answers.Document)
    async def document(id: Annotated[Identity, Query()]) -> Response:
        """One document, whole, with its keywords."""
        return await answered(explorer.document, id)

    @router.get("/documents/{id:path}", tags=["look"], response_model=answers.Document)
    async def document_at(id: Identity) -> Response:
        """The same, the id in the path."""
        return await answered(explorer.document, id)

    @router.get("/map", tags=["look"], response_model=answers.Map)
    async def map_() -> Response:
        """Where the documents stand in two dimensions."""
        return sent(await crew.run(explorer.overview.map_answer))

    @router.get("/map/colors", tags=["look"], response_model=answers.MapColors)
    async def map_colors(by: Annotated[str, Query(max_length=10_000)]) -> Response:
        """What colours the points of the map: a column, or ``cluster``."""
        return sent(await crew.run(explorer.overview.color_answer, by))

    @router.get("/info", tags=["server"], response_model=answers.Info)
    async def info() -> Response:
        """What is served, and what the server takes on."""
        return await answered(explorer.info)

    @router.get("/health", tags=["server"], response_model=answers.Health)
    async def health() -> dict[str, str]:
        """That the server is there. Asks for no token."""
        return {"status": "ok", "version": __version__}

    return router
