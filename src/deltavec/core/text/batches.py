"""Input coercion: whatever holds documents becomes a corpus and UTF-8 bytes.

A *corpus* gives *chunks* of documents, more than once unless it is one-shot. A chunk is an Arrow
array of strings, or a list of documents that are already lists of tokens. `as_text_batch` turns a
chunk into a `TextBatch` without copying the text of an Arrow array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np

from deltavec.core.arguments import require_one_of
from deltavec.core.arrays import pack, read_only
from deltavec.core.text import rules
from deltavec.core.text.external import is_name, named_tokenizer
from deltavec.core.text.normalize import fold_batch
from deltavec.core.text.rules import TextBatch
from deltavec.errors import CorpusError, InputError

if TYPE_CHECKING:
    import pyarrow as pa

Tokenizer: TypeAlias = str | Callable[[str], Iterable[str]]
Chunk: TypeAlias = "pa.Array | Sequence[str] | Sequence[Sequence[str]]"

DOCUMENTS_AT_ONCE = 16_384
COLUMN_AT_ONCE = 1 << 18
FEW = 1024


@runtime_checkable
class Chunked(Protocol):
    """A corpus that comes in chunks of its own, such as a file."""

    @property
    def one_shot(self) -> bool:
        """Whether it can be read only once."""

    def __iter__(self) -> Iterator[Any]:
        """Chunks of documents."""


class InMemory:
    """Documents in memory: a sequence, or an Arrow, pandas or polars column."""

    one_shot = False

    def __init__(self, documents: Any) -> None:
        self.documents = documents

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Any]:
        return self.batches_of(DOCUMENTS_AT_ONCE)

    def large_batches(self) -> Iterator[Any]:
        """Larger chunks, for passes that need no memory per document: a column is not copied."""
        return self.batches_of(
            COLUMN_AT_ONCE if hasattr(self.documents, "buffers") else DOCUMENTS_AT_ONCE
        )

    def batches_of(self, size: int) -> Iterator[Any]:
        """Chunks of so many documents."""
        for begin in range(0, len(self.documents), size):
            yield self.documents[begin : begin + size]


class Streamed:
    """Documents from an iterable."""

    def __init__(self, documents: Iterable[Any]) -> None:
        self.documents = documents
        self.one_shot = iter(documents) is documents
        self.once = Once(type(documents).__name__)

    def __iter__(self) -> Iterator[Any]:
        if self.one_shot:
            self.once.take()
        source = iter(self.documents)
        while chunk := list(islice(source, DOCUMENTS_AT_ONCE)):
            yield chunk


class Once:
    """Guards documents that can be read only once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.taken = False

    def take(self) -> None:
        """Raise a CorpusError, except for the first time."""
        if self.taken:
            raise read_only_once(self.name)
        self.taken = True


def read_only_once(name: str) -> CorpusError:
    """The error for reading a one-shot corpus again."""
    return CorpusError(
        f"this corpus ({name}) can be read only once, and this needs to read it again: write it "
        "to a file, or pass a list"
    )


def as_corpus(corpus: Any) -> Chunked:
    """The corpus in chunks, from any type of input.

    Parameters
    ----------
    corpus
        Something that comes in chunks already (`deltavec.read_corpus`), a sequence or iterable of
        documents, or an Arrow, pandas or polars column. A document is a string, or a list of
        words; None is an empty document.

    Raises
    ------
    CorpusError
        For a single string, or an object that holds no documents.
    """
    if isinstance(corpus, str | bytes):
        raise CorpusError(
            f"expected a list of documents, got one {type(corpus).__name__}: "
            "wrap it in a list, or open a file with deltavec.read_corpus"
        )
    if hasattr(corpus, "one_shot"):
        return cast(Chunked, corpus)
    if len(getattr(corpus, "shape", ())) > 1:
        raise CorpusError(
            f"expected one column of documents, got a table of shape {corpus.shape}: "
            "pass the column that holds the text"
        )
    if hasattr(corpus, "to_list") or hasattr(corpus, "to_pylist"):  # pandas, polars, Arrow
        return InMemory(combine_chunks(as_arrow(corpus)))
    if isinstance(corpus, np.ndarray):
        return InMemory(replace_missing(corpus.tolist()))
    if isinstance(corpus, Sequence):
        return InMemory(corpus)
    if isinstance(corpus, Iterable) and not isinstance(corpus, dict | set | frozenset):
        return Streamed(corpus)
    raise CorpusError(f"expected a collection of documents, got {type(corpus).__name__}")


def require_reiterable(corpus: Chunked) -> Chunked:
    """The same corpus, if it can be read more than once."""
    if corpus.one_shot:
        documents = corpus.documents if isinstance(corpus, Streamed) else corpus
        raise read_only_once(getattr(corpus, "name", type(documents).__name__))
    return corpus


def as_arrow(column: Any) -> Any:
    """The documents of an Arrow, pandas or polars column, as an Arrow array in chunks or whole."""
    import pyarrow as pa

    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    if hasattr(column, "to_arrow"):
        return column.to_arrow()
    try:
        array = pa.Array.from_pandas(column)
    except (pa.ArrowException, UnicodeEncodeError):  # types are mixed, or a text is to be mended
        documents = replace_missing(column.to_list())
        require_strings(documents)
        return string_array(documents)
    return pa.nulls(len(array)) if array.null_count == len(array) else array


def combine_chunks(column: Any) -> Any:
    """An Arrow array that may come in chunks, as one."""
    if not hasattr(column, "num_chunks"):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def replace_missing(documents: list[Any]) -> list[Any]:
    """The documents, with None for missing ones."""
    return [None if is_missing(document) else document for document in documents]


def is_missing(document: Any) -> bool:
    """Whether a value is None, NaN or pandas' NA: a missing document."""
    if document is None or type(document).__name__ == "NAType":
        return True
    return isinstance(document, float) and document != document


def as_text_batch(chunk: Any, tokenizer: Tokenizer) -> TextBatch:
    """The chunk's documents as bytes.

    Documents that are lists of words keep them as they are. Strings are tokenized by the named
    rule; a callable is asked for each string's words.
    """
    if isinstance(chunk, TextBatch):
        return chunk
    if not hasattr(chunk, "buffers"):  # no Arrow array
        documents = list(chunk)
        if any(isinstance(document, list | tuple) for document in documents):
            return batch_of_tokens([word_list(document) for document in documents], tokenizer)
        require_strings(documents)
        if len(documents) <= FEW and not callable(tokenizer):
            # Arrow takes a third of the time for many strings. But the first list that it is given
            # makes it import pandas, which takes longer than all of a short program.
            data = pack(encode(document or "" for document in documents))
            texts = TextBatch(*data, rules.rule(tokenizer))
            return fold_batch(texts) if rules.is_folded(tokenizer) else texts
        chunk = string_array(documents)
    if is_list_column(chunk):
        return batch_of_tokens([document or [] for document in chunk.to_pylist()], tokenizer)
    strings = as_strings(chunk)
    if callable(tokenizer):
        listed = [call_tokenizer(tokenizer, document) for document in strings.to_pylist()]
        return batch_of_tokens(listed, tokenizer)
    texts = batch_of_arrow(strings, rules.rule(tokenizer))
    return fold_batch(texts) if rules.is_folded(tokenizer) else texts


def resolve_tokenizer(
    tokenizer: Tokenizer, units: str = "words", normalization: str = "none"
) -> Tokenizer:
    """The tokenizer that a user chose: the full name of a rule, or a callable.

    The name of a third-party tokenizer (`deltavec.core.text.external`) is resolved here.

    Raises
    ------
    InputError
        For what is neither the name of a rule nor a callable, for units that have no such name,
        for a callable with units other than words, and for a normalization of anything but words.
    """
    counted = rules.Units.named(units)
    require_one_of("normalization", normalization, rules.NORMALIZATIONS)
    if normalization != "none" and tokenizer != "words":
        raise InputError(
            f"normalization {normalization!r} is of the tokenizer 'words', others take text as it "
            f"is written: leave it out; got the tokenizer {tokenizer!r}"
        )
    if isinstance(tokenizer, str) and is_name(tokenizer):
        tokenizer = named_tokenizer(tokenizer)
    if callable(tokenizer):
        if counted.gram:
            raise InputError(
                f"units {units!r} are for the built-in tokenizers: with a tokenizer of your own, "
                "let it return the units, and leave units out"
            )
        return tokenizer
    if not isinstance(tokenizer, str) or tokenizer == "tokens":
        raise rules.unknown_tokenizer(tokenizer)
    name = rules.full_name(tokenizer, counted, normalization)
    rules.rule(name)
    return name


def call_tokenizer(tokenizer: Callable[[str], Iterable[str]], document: str) -> list[str]:
    """The words that a caller's tokenizer finds in a document."""
    found = tokenizer(document)
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise CorpusError(
            f"tokenizer must return a list of words, got {describe(found)} for {document[:40]!r}"
        )
    return word_list(list(found))


def word_list(document: Any) -> list[str]:
    """The document, if it is a list of words."""
    if document is None:
        return []
    if isinstance(document, list | tuple) and all(isinstance(word, str) for word in document):
        return list(document)
    raise CorpusError(f"expected a document as a list of words, got {describe(document)}")


def batch_of_tokens(documents: list[list[str]], tokenizer: Tokenizer) -> TextBatch:
    """Documents given as words, as bytes with a separator that no word can hold."""
    pieces = [rules.TOKEN_SEPARATOR.join(encode(words)) for words in documents]
    rule = rules.rule_of_lists(tokenizer if isinstance(tokenizer, str) else "words")
    return TextBatch(*pack(pieces), rule)


def require_strings(documents: Sequence[Any]) -> None:
    """Raise an error for documents that are neither strings nor None."""
    for place, document in enumerate(documents):
        if type(document) is not str and document is not None and not isinstance(document, str):
            raise CorpusError(
                f"every document must be a string, got {describe(document)} at place {place}"
            )


def encode(texts: Iterable[str]) -> list[bytes]:
    """Texts or words in UTF-8; surrogates are repaired."""
    listed = list(texts)
    try:
        return [text.encode() for text in listed]
    except UnicodeEncodeError:
        return [repair_surrogates(text).encode() for text in listed]


def repair_surrogates(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair, which UTF-8 cannot hold.

    A pair that belongs together becomes its character. Every Python string is repaired by
    this rule.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def string_array(texts: Sequence[str | None], kind: Any = None) -> Any:
    """An Arrow array of these strings, large strings unless told; surrogates are repaired."""
    import pyarrow as pa

    kind = kind or pa.large_string()
    try:
        return pa.array(texts, kind)
    except UnicodeEncodeError:
        return pa.array([text and repair_surrogates(text) for text in texts], kind)


def describe(value: Any) -> str:
    """A value for an error message: its type and how it begins."""
    return f"{type(value).__name__} ({repr(value)[:40]})"


def is_list_column(chunk: Any) -> bool:
    """Whether an Arrow array holds lists of words."""
    import pyarrow.types as types

    kind = chunk.type
    return (types.is_list(kind) or types.is_large_list(kind)) and is_text(kind.value_type)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of strings."""
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def as_strings(chunk: Any) -> Any:
    """An Arrow array of documents as plain strings without nulls."""
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.types as types

    kind = chunk.type.value_type if types.is_dictionary(chunk.type) else chunk.type
    if types.is_null(kind):
        return pa.array([""] * len(chunk), pa.large_string())
    if not is_text(kind):
        raise CorpusError(f"expected a column of strings, got {chunk.type}")
    if not (types.is_string(chunk.type) or types.is_large_string(chunk.type)):
        chunk = chunk.cast(pa.large_string())
    return pyarrow.compute.fill_null(chunk, "") if chunk.null_count else chunk


def batch_of_arrow(strings: Any, rule: rules.Rule) -> TextBatch:
    """An Arrow array of strings as bytes; the text itself is shared."""
    import pyarrow.types as types

    if len(strings) == 0:  # its buffers may be missing
        return TextBatch(*pack([]), rule)
    kind = np.int64 if types.is_large_string(strings.type) else np.int32
    _, ends, data = strings.buffers()
    first, last = strings.offset, strings.offset + len(strings) + 1
    places = np.frombuffer(ends, kind)[first:last].astype(np.int64)
    text = np.frombuffer(data if data is not None else b"", np.uint8)
    return TextBatch(read_only(text), read_only(places), rule)
