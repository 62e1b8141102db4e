"""What clients send: pydantic models that parse requests and describe them in the OpenAPI schema.

The bounds here hold for every server; ``/info`` lists the limits of this one.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MOST = 100_000


def valid_text(text: str) -> str:
    """The text if it can be encoded as UTF-8; JSON may hold unpaired surrogates."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("holds half of a surrogate pair, which is no character")
    return text


Text = Annotated[str, AfterValidator(valid_text)]
Identity = Annotated[Text, Field(max_length=10_000, description="A document's id.")]
Count = Annotated[int, Field(ge=1, le=MOST)]
Size = Annotated[int, Field(ge=0, le=MOST)]


By = Literal["hybrid", "keyword", "semantic"]
BY = (
    "hybrid: BM25 and cosine similarity in one score. keyword: BM25 alone. semantic: the cosine "
    "alone. By default hybrid, if the collection has postings."
)


class NoRequest(BaseModel):
    """A request without parameters."""


class DocumentRequest(BaseModel):
    """A document by its id."""

    id: Identity


class StrictRequest(BaseModel):
    """A request in which an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


class WriteRequest(StrictRequest):
    """Documents to add, or to put in the place of those with their ids."""

    documents: list[dict[str, Any]] = Field(
        min_length=1,
        max_length=MOST,
        description="Each with an id, a text, and the columns of the collection.",
        examples=[[{"id": "r1", "text": "Lovely quiet room", "rating": 5}]],
    )


class RemoveRequest(StrictRequest):
    """A document to remove."""

    id: Identity


class RemoveByFilterRequest(StrictRequest):
    """Documents to remove."""

    filter: Text = Field(max_length=10_000, description="Which documents, by their columns.")


class ModelRequest(BaseModel):
    """A model by its name."""

    name: str


class FilteredRequest(StrictRequest):
    """Which documents may be found."""

    filter: Text | None = Field(
        None,
        max_length=10_000,
        description="Which documents may be found, by the columns of the collection.",
        examples=["rating >= 4 and city == 'London'"],
    )


class PagedRequest(FilteredRequest):
    """How many documents to return, and what to show of them."""

    k: Count | None = Field(None, description="How many documents to find; 10 by default.")
    offset: int = Field(0, ge=0, le=2**31, description="How many to skip: the next page.")
    sort: Text | None = Field(
        None,
        max_length=1000,
        description="A column to sort by, the smallest value first; -rating: the largest first. "
        "A search sorts its best documents.",
    )
    explain: bool = Field(False, description="Whether to return each word's share of the score.")
    length: Size | None = Field(
        None, description="Characters to show of each text; 1000 by default."
    )


class FindRequest(PagedRequest):
    """A ranked search."""


class SearchRequest(FindRequest):
    """A search for the documents that match a text best."""

    query: Text = Field(description="The text to look for.")
    by: By | None = Field(None, description=BY)
    broad: bool = Field(
        False, description="Add .2 of the mean score of the ten nearest documents to each score."
    )


Number = Annotated[float, Field(ge=0, le=1e15)]
Sums = Annotated[list[Number], Field(min_length=7, max_length=7)]
Words = Annotated[list[Text], Field(max_length=10_000)]


class FormsRequest(StrictRequest):
    """A query, and other words whose forms are wanted."""

    query: Text
    words: Words = []


class SumsRequest(StrictRequest):
    """A query, the words of each of its terms, and the mean length of all documents."""

    query: Text
    terms: list[Words] = Field(max_length=10_000)
    mean_length: float = Field(ge=1, le=1e15)


class GivenStatistics(StrictRequest):
    """The statistics of several collections, added up."""

    documents: int = Field(ge=0, le=2**40)
    lengths: list[Number] = Field(min_length=2, max_length=2)
    terms: list[Words] = Field(max_length=10_000, description="The words of each term.")
    rows: list[Sums] = Field(max_length=10_000, description="The sums of each term.")
    cosines: list[Annotated[float, Field(ge=-1e15, le=1e15)]] = Field(min_length=3, max_length=3)


class ShardSearchRequest(SearchRequest):
    """A search with the statistics of several collections."""

    statistics: GivenStatistics


class EncodeRequest(StrictRequest):
    """A query to be run in another store."""

    query: Text = Field(description="The text to look for.")
    by: By | None = Field(None, description=BY)
    k: Count | None = Field(None, description="How many documents to find; 10 by default.")


class SimilarRequest(FindRequest):
    """A search for the documents that are most similar to one of them."""

    id: Identity


ClusterCount = Annotated[int, Field(ge=2, le=MOST, description="Of how many; 8 by default.")]


class TopicsRequest(BaseModel):
    """How many topics."""

    clusters: ClusterCount | None = None


class ColorsRequest(TopicsRequest):
    """What colors the points of the map; of those that a filter leaves."""

    filter: Text | None = Field(None, max_length=10_000)

    by: Annotated[str, Field(max_length=10_000)]


class SelectionRequest(FilteredRequest):
    """Documents by their columns, their topic, their position on the map, or all of these."""

    cluster: Size | None = Field(None, description="The number of a topic; the largest is 0.")
    clusters: ClusterCount | None = None
    area: Text | None = Field(
        None,
        max_length=20_000,
        description="A polygon on the map: its corners, from -1 to 1.",
        examples=["0,0 0.5,0 0.5,0.5"],
    )


class ExportRequest(SelectionRequest):
    """A selection as a file."""

    format: Literal["csv", "ids"] = Field(
        "csv", description="A table of ids, texts, columns and positions; or the ids, one a line."
    )
    formulas: bool = Field(
        False,
        description="Leave text that a spreadsheet would run as a formula (=, +, -, @, tab) as it "
        "is; else an apostrophe is put before it.",
    )


class ListRequest(SelectionRequest, PagedRequest):
    """A page of a selection."""


class DuplicatesRequest(StrictRequest):
    """A page of near-duplicates."""

    k: Count | None = Field(None, description="How many pairs; 10 by default.")
    offset: int = Field(0, ge=0, le=2**31, description="How many to skip: the next page.")
    length: Size | None = Field(None, description="Characters of each text; 300 by default.")


class WhyRequest(StrictRequest):
    """A query and a document, whose score is to be explained."""

    query: Text = Field(description="The text of the search.")
    id: Identity
    by: By | None = Field(None, description=BY)
    pairs: Size | None = Field(
        None, description="How many pairs of words near in meaning to list; 10 by default."
    )


class ShardWhyRequest(WhyRequest):
    """The same with the statistics of several collections."""

    statistics: GivenStatistics


class ExplainRequest(StrictRequest):
    """Two texts to compare: for each one either the text, or the id of a document."""

    text_a: Text | None = None
    id_a: Identity | None = None
    text_b: Text | None = None
    id_b: Identity | None = None
    pairs: Size | None = Field(
        None, description="How many pairs of words to list, of either kind; 10 by default."
    )
    length: Size | None = Field(
        None, description="Characters to show of each text; 2000 by default."
    )


class EmbeddingsRequest(BaseModel):
    """Texts to embed, as the OpenAI client sends them. Unknown fields are ignored."""

    input: Text | list[Text] | list[int] | list[list[int]] = Field(
        description="A text, or a list of texts. Lists of token numbers are refused: a token is "
        "a word here, and has no number."
    )
    model: Text = Field(max_length=1000, description="A name that /v1/models lists.")
    encoding_format: Literal["float", "base64"] = Field(
        "float", description="Numbers, or the bytes of little-endian float32 in base64."
    )
    dimensions: int | None = Field(
        None, description="Refused unless it is what the model has: its vectors cannot be cut."
    )
    user: str | None = Field(None, description="Ignored.")
