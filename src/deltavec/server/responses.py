"""What a client gets, as the OpenAPI schema tells it.

Responses are made as plain objects in the worker threads; a test holds them against these classes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from deltavec.io.output.tables import json_value

LONGEST_VALUE = 1000  # characters of a column's value
EXACT_INTEGERS = 2**53  # from here on a browser would round


def plain(value: Any) -> Any:
    """A value of a column as a browser can show it."""
    return json_value(value, longest=LONGEST_VALUE, largest=EXACT_INTEGERS)


class StrictResponse(BaseModel):
    """What our own responses have in common: no field that is not told here."""

    model_config = ConfigDict(extra="forbid")


# A stretch of text; if it is a known word, with what it adds to the cosine, all its occurrences
# together.
Piece = Annotated[list[str | float | None], Field(min_length=2, max_length=2)]


class Result(StrictResponse):
    """A document that was found."""

    id: str
    score: float = Field(
        description="Semantic: the cosine. Otherwise a sum that compares results of one query."
    )
    text: str = Field(description="The document, or the stretch of it that matters most.")
    begin: int = Field(description="Where that stretch begins.")
    length: int = Field(description="How many characters the whole document has.")
    columns: dict[str, Any]
    position: list[float] | None = Field(description="Where it stands on the map.")
    matched: list[str] = Field(
        description="Words of the text that are words of the query, in whatever form; if explained."
    )
    pieces: list[Piece] | None = Field(
        description="The text in pieces, if explained: [text, share], the share of a known word "
        "(all its occurrences together) or null."
    )


class Results(StrictResponse):
    """The documents that were found, the nearest first."""

    results: list[Result]
    unknown: list[str] = Field(description="Words of the query that count for nothing.")
    by: Literal["hybrid", "keyword", "semantic"] = Field(description="The search mode.")
    suggestions: dict[str, list[str]] = Field(description="Known words for unknown ones.")
    matches: int | None = Field(
        description="How many documents contain a word of the query; null for a semantic search."
    )


class Listed(Result):
    """A document of a list; with a score and pieces if the list is that of a topic."""

    score: float | None = Field(  # type: ignore[assignment]
        description="The cosine with the topic's direction."
    )


class Listing(StrictResponse):
    """A page of documents: of a topic the most typical first, else in their order."""

    results: list[Listed]
    documents: int = Field(description="How many there are on all pages.")


class Selection(StrictResponse):
    """What a filter leaves, and a topic holds."""

    documents: int
    points: str = Field(description="For each point of the map 1 if it is among them, else 0.")


class SelectionWords(StrictResponse):
    """What tells some documents from the others."""

    documents: int
    words: list[str] = Field(description="Those that set them apart, strongest first.")


class Topic(StrictResponse):
    """Documents that are alike."""

    name: str
    words: list[str] = Field(description="What pulls them together, strongest first.")
    documents: int
    central_id: str = Field(description="The document nearest to their middle.")
    cohesion: float = Field(description="Their mean cosine with their direction.")


class TopicList(StrictResponse):
    """The topics of a collection, the largest first."""

    topics: list[Topic]


class Column(StrictResponse):
    """A column that a filter may use."""

    name: str
    kind: Literal["number", "date", "truth", "text", "other"]
    written: str | None = Field(description="Its name as a filter has it.")
    values: list[str] = Field(description="The most frequent ones, as a filter has them.")
    counts: list[int] = Field(description="How many documents have each of these.")
    example: str | None = Field(description="A filter that uses it.")


class Columns(StrictResponse):
    """The columns of a collection."""

    columns: list[Column]


class WordShare(StrictResponse):
    """A word, how often it occurs, and what it adds to the cosine."""

    word: str
    occurrences: int
    share: float


class WordPair(StrictResponse):
    """A word of each text, and what the two add to the cosine together."""

    word_a: str
    word_b: str
    share: float


class QueryWord(StrictResponse):
    """A word of the query, and its shares of a document's score."""

    word: str
    occurrences: int
    keyword: float = Field(description="Its BM25 share: the document has it, in any form.")
    semantic: float = Field(description="Its share of the cosine similarity.")


class Found(StrictResponse):
    """Why a document has its score: the words' shares and the center's add up to it."""

    by: Literal["hybrid", "keyword", "semantic"]
    score: float
    words: list[QueryWord]
    other_words: int = Field(description="How many words of the query are not listed.")
    other_share: float = Field(description="What they add together.")
    center: float = Field(description="What taking the corpus' center off the query adds.")
    matched: list[str]
    near: list[WordPair] = Field(description="Words of the query and of the text near in meaning.")
    unknown: list[str]


class DuplicatePair(StrictResponse):
    """Two documents that share text."""

    a: str
    b: str
    shared: float = Field(description="The share of the heavier text that both have.")
    contained: float = Field(description="The share of the lighter one.")
    text_a: str
    text_b: str


class DuplicateList(StrictResponse):
    """Pairs of near-duplicates, those that share most first."""

    pairs: list[DuplicatePair]
    documents: int = Field(description="How many pairs there are on all pages.")


class WordValue(StrictResponse):
    """A word and a number."""

    word: str
    share: float


class Side(StrictResponse):
    """One of two texts: its shares and its offset add up to the cosine."""

    id: str | None
    text: str
    begin: int
    length: int
    pieces: list[Piece]
    same: list[list[str | bool]] = Field(description="Its pieces, and whether the other has them.")
    words: list[WordShare]
    other_words: int = Field(description="How many known words are not listed.")
    other_share: float = Field(description="What they add together.")
    offset: float = Field(description="What taking the corpus' center off the text adds.")
    unknown: list[str]


class RemovedPart(StrictResponse):
    """What the removal of common components took away: before = left + taken."""

    components: int
    before: float
    left: float
    taken: float
    words_a: list[WordValue]
    words_b: list[WordValue]


class Why(StrictResponse):
    """Why two texts are as alike as they are."""

    cosine: float
    a: Side
    b: Side
    together: list[WordPair] = Field(description="Pairs of words that pull the two together.")
    apart: list[WordPair] = Field(description="Pairs of words that push them apart.")
    removed: RemovedPart | None


class Document(StrictResponse):
    """A document of the collection."""

    id: str
    text: str
    columns: dict[str, Any]
    position: list[float] | None
    keywords: list[WordValue] = Field(description="Words by their share of its own direction.")


class Written(StrictResponse):
    """How many documents are on disk now."""

    written: int


class Removed(StrictResponse):
    """How many documents were removed."""

    removed: int


class Stats(StrictResponse):
    """How the collection changes, and whether its model should be fitted anew."""

    documents: int
    documents_added: int
    documents_removed: int
    documents_deleted: int = Field(description="Removed, and still on disk.")
    segments: int
    coverage_at_fit: float | None
    coverage_added: float | None
    refit_due: bool
    refit_reason: str | None


class RegionName(StrictResponse):
    """A name on the map, where most documents of a topic are."""

    text: str
    level: int = Field(description="0 for the broadest topics, more for finer ones.")
    x: float
    y: float
    documents: int


class Map(StrictResponse):
    """Where the documents stand, one entry for each point in every list."""

    method: Literal["neighbors", "pca"]
    state: str = Field(description="Changes when the collection does.")
    documents: int = Field(description="How many documents the collection has.")
    explained: list[float] = Field(description="The share of variance along each axis.")
    ids: list[str]
    x: list[float]
    y: list[float]
    names: list[RegionName] = Field(description="Names of regions, the broadest topics first.")


class MapColors(StrictResponse):
    """What colors the points of the map."""

    by: str
    kind: Literal["category", "number", "date"]
    labels: list[str]
    counts: list[int]
    other: int = Field(description="Points whose value is too rare for a label.")
    missing: int = Field(description="Points without a value.")
    range: list[float]
    values: list[float | None]


class Health(StrictResponse):
    """That the server is there."""

    status: Literal["ok"]
    version: str


class Ready(StrictResponse):
    """That the server takes requests."""

    status: Literal["ready"]


class Info(StrictResponse):
    """What is served, and what the server takes on."""

    version: str
    name: str
    documents: int
    dimensions: int
    columns: list[str]
    color_by: list[str]
    map: Literal["neighbors", "pca"]
    state: str = Field(description="Changes when the collection does.")
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


class EncodedQuery(BaseModel):
    """A query as a sparse and a dense vector, and as a statement or a request of the store."""

    by: str
    store: str
    name: str
    terms: list[int]
    weights: list[float]
    vector: list[float] = Field(description="The embedding times its scale.")
    unknown: list[str]
    sql: str | None = Field(description="For PostgreSQL with pgvector: id, score, exact.")
    request: dict[str, Any] | None = Field(description="For Qdrant or OpenSearch.")


class ErrorBody(BaseModel):
    """What went wrong."""

    type: str
    message: str
    param: str | None


class Error(BaseModel):
    """What a client is told when it does not get what it asked for."""

    error: ErrorBody
