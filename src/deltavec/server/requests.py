"""What clients send: pydantic models that parse requests and describe them in the OpenAPI schema.

A field with a `Limit` may be as large as this server allows, which the schema says, too. Requests
are validated with the limits of the server as their context.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo
from pydantic_core import PydanticCustomError, core_schema

from deltavec.docstrings import described, summary
from deltavec.server.errors import LIMIT

MOST = 100_000
FILTER_LENGTH = 2000
MOST_CLUSTERS = 24


def valid_text(text: str) -> str:
    """The text if it can be encoded as UTF-8; JSON may hold unpaired surrogates."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("holds half of a surrogate pair, which is no character")
    return text


@dataclass(frozen=True)
class Limit:
    """A limit of the server, as the bound of a field: see `deltavec.server.limits.Limits`."""

    name: str
    unit: str = ""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Check the bound after the value is known to be of its type."""
        return core_schema.with_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """Name the limit; `deltavec.server.page.routes.openapi` puts its number there."""
        return {**handler(schema), LIMIT: self.name}

    def check(self, value: Any, info: ValidationInfo) -> Any:
        """The value; raises if it is too large, or too long."""
        most = getattr(info.context, self.name, math.inf)
        size = value if isinstance(value, int) else len(value)
        if size > most:
            message = f"must be at most {most:,} {self.unit}".rstrip() + f", got {size:,}"
            raise PydanticCustomError(LIMIT, "{message}", {"message": message})
        return value


Text = Annotated[str, AfterValidator(valid_text)]
Identity = Annotated[Text, Field(max_length=10_000, description="A document's id.")]
LongText = Annotated[Text, Limit("text_length", "characters")]
Count = Annotated[int, Field(ge=1), Limit("k")]
Length = Annotated[int, Field(ge=0), Limit("excerpt_length")]
Pairs = Annotated[int, Field(ge=0), Limit("pairs")]


By = Literal["hybrid", "keyword", "semantic"]


def describe(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Write what the docstrings of a request say into its schema."""
    schema["description"] = summary(model.__doc__)
    for kind in reversed(model.__mro__):
        for name, (_, text) in described(kind.__doc__).items():
            if name in schema["properties"]:
                schema["properties"][name]["description"] = text


class Request(BaseModel):
    """A request; its docstring describes its fields."""

    model_config = ConfigDict(json_schema_extra=describe)


class NoRequest(BaseModel):
    """A request without parameters."""


class DocumentRequest(BaseModel):
    """A document by its id."""

    id: Identity


class StrictRequest(Request):
    """A request in which an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


class WriteRequest(StrictRequest):
    """Documents to add, or to put in the place of those with their ids.

    Attributes
    ----------
    documents
        Each with an id, a text, and the columns of the collection.
    """

    documents: Annotated[list[dict[str, Any]], Limit("batch", "documents")] = Field(
        min_length=1, examples=[[{"id": "r1", "text": "Lovely quiet room", "rating": 5}]]
    )


class RemoveRequest(StrictRequest):
    """A document to remove."""

    id: Identity


class RemoveByFilterRequest(StrictRequest):
    """Documents to remove.

    Attributes
    ----------
    filter
        Which documents, by their columns.
    """

    filter: Text = Field(max_length=10_000)


class ModelRequest(BaseModel):
    """A model by its name."""

    name: str


class FilteredRequest(StrictRequest):
    """Which documents may be found.

    Attributes
    ----------
    filter
        Which documents may be found, by the columns of the collection.
    """

    filter: Text | None = Field(
        None, max_length=FILTER_LENGTH, examples=["rating >= 4 and city == 'London'"]
    )


class PagedRequest(FilteredRequest):
    """How many documents to return, and what to show of them.

    Attributes
    ----------
    k
        How many documents to find.
    offset
        How many to skip: the next page.
    sort
        A column to sort by, the smallest value first; -rating: the largest first. A search sorts
        its best documents.
    explain
        Whether to return each word's share of the score.
    length
        Characters to show of each text.
    """

    k: Count = 10
    offset: int = Field(0, ge=0, le=2**31)
    sort: Text | None = Field(None, max_length=1000)
    explain: bool = False
    length: Length = 1000


class FindRequest(PagedRequest):
    """A ranked search."""

    offset: Annotated[int, Field(ge=0), Limit("last")] = 0


class SearchRequest(FindRequest):
    """A search for the documents that match a text best.

    Attributes
    ----------
    query
        The text to look for.
    by
        hybrid: BM25 and cosine similarity in one score. keyword: BM25 alone. semantic: the cosine
        alone. By default hybrid.
    broad
        Add .2 of the mean score of the ten nearest documents to each score.
    """

    query: LongText
    by: By | None = None
    broad: bool = False


Number = Annotated[float, Field(ge=0, le=1e15)]
Sums = Annotated[list[Number], Field(min_length=7, max_length=7)]
Words = Annotated[list[Text], Field(max_length=10_000)]


class FormsRequest(StrictRequest):
    """A query, and other words whose forms are wanted."""

    query: LongText
    words: Words = []


class SumsRequest(StrictRequest):
    """A query, the words of each of its terms, and the mean length of all documents."""

    query: LongText
    terms: list[Words] = Field(max_length=10_000)
    mean_length: float = Field(ge=1, le=1e15)


class GivenStatistics(StrictRequest):
    """The statistics of several collections, added up.

    Attributes
    ----------
    terms
        The words of each term.
    rows
        The sums of each term.
    """

    documents: int = Field(ge=0, le=2**40)
    lengths: list[Number] = Field(min_length=2, max_length=2)
    terms: list[Words] = Field(max_length=10_000)
    rows: list[Sums] = Field(max_length=10_000)
    cosines: list[Annotated[float, Field(ge=-1e15, le=1e15)]] = Field(min_length=3, max_length=3)


class ShardSearchRequest(SearchRequest):
    """A search with the statistics of several collections."""

    statistics: GivenStatistics


class EncodeRequest(StrictRequest):
    """A query to be run in another store.

    Attributes
    ----------
    query
        The text to look for.
    by
        hybrid: BM25 and cosine similarity in one score. keyword: BM25 alone. semantic: the cosine
        alone. By default hybrid.
    k
        How many documents to find.
    """

    query: LongText
    by: By | None = None
    k: int = Field(10, ge=1, le=MOST)


class SimilarRequest(FindRequest):
    """A search for the documents that are most similar to one of them."""

    id: Identity


ClusterCount = Annotated[
    int, Field(ge=2, le=MOST_CLUSTERS, description="Of how many; 8 by default.")
]


class TopicsRequest(BaseModel):
    """How many topics."""

    clusters: ClusterCount | None = None


class ColorsRequest(TopicsRequest):
    """What colors the points of the map; of those that a filter leaves."""

    filter: Text | None = Field(None, max_length=FILTER_LENGTH)
    by: Annotated[str, Field(max_length=10_000)]


class SelectionRequest(FilteredRequest):
    """Documents by their columns, their topic, their position on the map, or all of these.

    Attributes
    ----------
    cluster
        The number of a topic; the largest is 0.
    area
        A polygon on the map: its corners, from -1 to 1.
    """

    cluster: int | None = Field(None, ge=0, le=MOST_CLUSTERS - 1)
    clusters: ClusterCount | None = None
    area: Text | None = Field(None, max_length=20_000, examples=["0,0 0.5,0 0.5,0.5"])


class ExportRequest(SelectionRequest):
    """A selection as a file.

    Attributes
    ----------
    format
        A table of ids, texts, columns and positions; or the ids, one a line.
    formulas
        Leave text that a spreadsheet would run as a formula (=, +, -, @, tab) as it is; else an
        apostrophe is put before it.
    """

    format: Literal["csv", "ids"] = "csv"
    formulas: bool = False


class ListRequest(SelectionRequest, PagedRequest):
    """A page of a selection."""


class DuplicatesRequest(StrictRequest):
    """A page of near-duplicates.

    Attributes
    ----------
    k
        How many pairs.
    offset
        How many to skip: the next page.
    length
        Characters of each text.
    """

    k: Count = 10
    offset: int = Field(0, ge=0, le=2**31)
    length: Length = 300


class WhyRequest(StrictRequest):
    """A query and a document, whose score is to be explained.

    Attributes
    ----------
    query
        The text of the search.
    by
        hybrid: BM25 and cosine similarity in one score. keyword: BM25 alone. semantic: the cosine
        alone. By default hybrid.
    pairs
        How many pairs of words near in meaning to list.
    """

    query: LongText
    id: Identity
    by: By | None = None
    pairs: Pairs = 10


class ShardWhyRequest(WhyRequest):
    """The same with the statistics of several collections."""

    statistics: GivenStatistics


class ExplainRequest(StrictRequest):
    """Two texts to compare: for each one either the text, or the id of a document.

    Attributes
    ----------
    pairs
        How many pairs of words to list, of either kind.
    length
        Characters to show of each text.
    """

    text_a: LongText | None = None
    id_a: Identity | None = None
    text_b: LongText | None = None
    id_b: Identity | None = None
    pairs: Pairs = 10
    length: Length = 2000


class EmbeddingsRequest(Request):
    """Texts to embed, as the OpenAI client sends them. Unknown fields are ignored.

    Attributes
    ----------
    input
        A text, or a list of texts. Lists of token numbers are refused: a token is a word here,
        and has no number.
    model
        A name that /v1/models lists.
    encoding_format
        Numbers, or the bytes of little-endian float32 in base64.
    dimensions
        Refused unless it is what the model has: its vectors cannot be cut.
    user
        Ignored.
    """

    input: (
        LongText | Annotated[list[LongText], Limit("batch", "texts")] | list[int] | list[list[int]]
    )
    model: Text = Field(max_length=1000)
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: str | None = None
