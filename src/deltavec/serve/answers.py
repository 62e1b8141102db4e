"""What a client gets, as the OpenAPI schema tells it.

Answers are made as plain objects in the worker threads; a test holds them against these classes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """What all answers have in common: no field that is not told here."""

    model_config = ConfigDict(extra="forbid")


# A stretch of text; if it is a known word, with what it adds to the cosine, all its occurrences
# together.
Piece = Annotated[list[str | float | None], Field(min_length=2, max_length=2)]


class Result(Answer):
    """A document that was found."""

    id: str
    score: float = Field(description="The cosine.")
    text: str = Field(description="The document, or the stretch of it that matters most.")
    begin: int = Field(description="Where that stretch begins.")
    length: int = Field(description="How many characters the whole document has.")
    columns: dict[str, Any]
    position: list[float] | None = Field(description="Where it stands on the map.")
    pieces: list[Piece] | None = Field(
        description="The text in pieces, if explained: [text, share], the share of a known word "
        "(all its occurrences together) or null."
    )


class Results(Answer):
    """The documents that were found, the nearest first."""

    results: list[Result]
    unknown: list[str] = Field(description="Words of the query that the model does not know.")


class WordShare(Answer):
    """A word, how often it occurs, and what it adds to the cosine."""

    word: str
    occurrences: int
    share: float


class WordPair(Answer):
    """A word of each text, and what the two add to the cosine together."""

    word_a: str
    word_b: str
    share: float


class WordValue(Answer):
    """A word and a number."""

    word: str
    share: float


class Side(Answer):
    """One of two texts: its shares and its offset add up to the cosine."""

    id: str | None
    text: str
    begin: int
    length: int
    pieces: list[Piece]
    words: list[WordShare]
    other_words: int = Field(description="How many known words are not listed.")
    other_share: float = Field(description="What they add together.")
    offset: float = Field(description="What taking the corpus' centre off the text adds.")
    unknown: list[str]


class RemovedPart(Answer):
    """What the removal of common components took away: before = left + taken."""

    components: int
    before: float
    left: float
    taken: float
    words_a: list[WordValue]
    words_b: list[WordValue]


class Why(Answer):
    """Why two texts are as alike as they are."""

    cosine: float
    a: Side
    b: Side
    together: list[WordPair] = Field(description="Pairs of words that pull the two together.")
    apart: list[WordPair] = Field(description="Pairs of words that push them apart.")
    removed: RemovedPart | None


class Document(Answer):
    """A document of the collection."""

    id: str
    text: str
    columns: dict[str, Any]
    position: list[float] | None
    keywords: list[WordValue] = Field(description="Words by their share of its own direction.")


class Map(Answer):
    """Where the documents stand, one entry for each point in every list."""

    method: Literal["pca", "umap"]
    documents: int = Field(description="How many documents the collection has.")
    explained: list[float] = Field(description="The share of variance along each axis.")
    ids: list[str]
    x: list[float]
    y: list[float]


class MapColors(Answer):
    """What colours the points of the map."""

    by: str
    kind: Literal["category", "number"]
    labels: list[str]
    counts: list[int]
    range: list[float]
    values: list[float | None]


class Health(Answer):
    """That the server is there."""

    status: Literal["ok"]
    version: str


class Info(Answer):
    """What is served, and what the server takes on."""

    version: str
    name: str
    documents: int
    dimensions: int
    columns: list[str]
    color_by: list[str]
    map: Literal["pca", "umap"]
    limits: dict[str, float]
    collection: dict[str, Any]


class Embedding(BaseModel):
    """One vector."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Usage(BaseModel):
    """How many words were read."""

    prompt_tokens: int
    total_tokens: int


class Embeddings(BaseModel):
    """One vector for each text, in their order."""

    object: Literal["list"]
    data: list[Embedding]
    model: str
    usage: Usage


class Model(BaseModel):
    """A model that embeds."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class Models(BaseModel):
    """The models there are."""

    object: Literal["list"]
    data: list[Model]


class ErrorBody(BaseModel):
    """What went wrong."""

    type: str
    message: str
    param: str | None


class Error(BaseModel):
    """What a client is told when it does not get what it asked for."""

    error: ErrorBody
