"""What we unpack ourselves is what pyarrow unpacks, and what we cannot is left to it."""

import numba  # noqa: F401, where it is loaded pages are unpacked by ourselves
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltavec.errors import CorpusError
from deltavec.io.corpus import parquet
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.corpus.footers import row_groups
from deltavec.io.corpus.plain.kernels import QUICK_ELEMENTS, unsnapped
from deltavec.io.corpus.plain.pages import plain_pages, rows_before_plain, texts_of

pytestmark = pytest.mark.compiled


@pytest.fixture(autouse=True, scope="module")
def small_groups_too():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "LEAST_UNPACKED", 0)
        yield


SNAPPY = pa.Codec("snappy")
GUARD = 64
repetitive = st.lists(st.sampled_from([b"sea ", b"quiet ", b"a", b"\0\xff", b"room by the "]))
some_bytes = st.one_of(
    st.binary(max_size=300),
    repetitive.map(b"".join),
    st.tuples(repetitive.map(b"".join), st.integers(1, 40)).map(lambda pair: pair[0] * pair[1]),
)


class Room:
    """Bytes with room for what they stand for, and behind both what may not be changed."""

    def __init__(self, packed=b"", size=0):
        self.packed, self.size = packed, size
        self.end = size + len(packed)
        self.whole = np.full(self.end + GUARD, 7, np.uint8)
        self.whole[size : self.end] = np.frombuffer(packed, np.uint8)

    def given(self):
        return self.whole[: self.end], len(self.packed), self.size

    def made(self):
        assert (self.whole[self.end :] == 7).all()
        assert self.whole[self.size : self.end].tobytes() == self.packed
        return self.whole[: self.size].tobytes()


def unpacked(*rooms):
    """The bytes of both rooms, None if they are refused."""
    sound = unsnapped(*rooms[0].given(), *rooms[1].given(), QUICK_ELEMENTS)
    made = tuple(room.made() for room in rooms)
    return made if sound else None


def packed_room(data):
    return Room(SNAPPY.compress(data, asbytes=True), len(data))


@given(some_bytes, some_bytes)
def test_what_snappy_packs_comes_back_of_both_rooms(data, other):
    assert unpacked(packed_room(data), packed_room(other)) == (data, other)


@settings(max_examples=500)
@given(some_bytes, some_bytes, st.booleans(), st.data())
def test_changed_bytes_are_taken_or_refused_as_arrow_does(data, other, is_first, draw):
    packed = bytearray(SNAPPY.compress(data, asbytes=True))
    for _ in range(draw.draw(st.integers(1, 3))):
        place = draw.draw(st.integers(min(2, len(packed) - 1), len(packed) - 1))
        packed[place] = draw.draw(st.integers(0, 255))
    packed = bytes(packed[: draw.draw(st.integers(1, len(packed)))])
    try:
        expected = SNAPPY.decompress(packed, len(data), asbytes=True)
    except (pa.ArrowException, OSError):
        expected = None
    rooms = (Room(packed, len(data)), packed_room(other))
    ours = unpacked(*(rooms if is_first else rooms[::-1]))
    if len(packed) > 2:  # with the size untouched
        assert (ours is None) == (expected is None)
        assert ours is None or set(ours) == {expected, other}


texts = st.lists(
    st.one_of(st.text(max_size=30), st.sampled_from(["sea " * 90, "quiet room " * 30, ""])),
    max_size=60,
)
writing = st.fixed_dictionaries(
    {
        "compression": st.sampled_from(["none", "snappy", "zstd"]),
        "use_dictionary": st.booleans(),
        "dictionary_pagesize_limit": st.sampled_from([10, 500, 1 << 20]),
        "data_page_size": st.sampled_from([1, 300, 1 << 20]),
        "write_batch_size": st.sampled_from([1, 7, 1024]),
        "row_group_size": st.sampled_from([1, 13, 1000]),
        "data_page_version": st.sampled_from(["1.0", "1.0", "1.0", "2.0"]),
    }
)


@settings(deadline=None, max_examples=200)
@given(texts, writing, st.booleans(), st.booleans(), st.sampled_from(["string", "large_string"]))
def test_a_file_however_written_is_read_as_pyarrow_reads_it(
    tmp_path_factory, values, options, nullable, gaps, kind
):
    if nullable and gaps:
        values = [value or None for value in values]
    path = tmp_path_factory.mktemp("written") / "a.parquet"
    schema = pa.schema([pa.field("text", kind, nullable=nullable)])
    pq.write_table(pa.table({"text": values}, schema=schema), path, **options)
    found = [text for batch in read_corpus(path).batches() for text in batch[0].to_pylist()]
    assert found == values
    all_packed = list(read_corpus(path).pieces())
    assert [piece.documents for piece in all_packed] == [len(piece.batch) for piece in all_packed]
    assert [text for piece in all_packed for text in piece.batch[0].to_pylist()] == values


@pytest.mark.parametrize("compression", ["none", "snappy"])
@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize("limit", [1000, 1 << 20])
def test_usual_files_are_not_left_to_pyarrow(tmp_path, compression, nullable, limit):
    values = [f"number {number} by the sea" for number in range(3000)]
    schema = pa.schema([pa.field("text", "string", nullable=nullable)])
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"text": values}, schema=schema), path, compression=compression,
        dictionary_pagesize_limit=limit, use_dictionary=limit == 1000, data_page_size=5000,
    )  # fmt: skip
    ((chunk,),) = row_groups(path)
    with path.open("rb") as file:
        before = rows_before_plain(file, chunk)
        pages = list(plain_pages(file, chunk, before, 20_000))
        parts = [texts_of(file, chunk, nullable, some) for some in pages]
    assert (0 < before < 3000) == (limit == 1000)
    assert len(parts) > 1
    for part in parts:
        part.validate(full=True)
    assert [text for part in parts for text in part.to_pylist()] == values[before:]


def test_text_alone_in_large_groups_goes_this_way(tmp_path, monkeypatch):
    values = [f"number {number} by the sea" for number in range(50_000)]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": values, "number": range(50_000)}), path)
    seen = []
    real = parquet.plain_pages
    monkeypatch.setattr(parquet, "LEAST_UNPACKED", 1 << 20)
    monkeypatch.setattr(parquet, "plain_pages", lambda *given: seen.append(given) or real(*given))
    for keep, ways in ((["number"], 0), ([], 1)):
        batches = list(read_corpus(path).batches(keep))
        assert [text for batch in batches for text in batch[0].to_pylist()] == values
        assert len(seen) == ways


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_a_changed_file_is_read_as_pyarrow_reads_it_or_refused(tmp_path_factory, data):
    values = [f"number {number} by the sea, the sea, the sea" for number in range(200)]
    path = tmp_path_factory.mktemp("changed") / "a.parquet"
    pq.write_table(pa.table({"text": values}), path, use_dictionary=False, data_page_size=500)
    content = bytearray(path.read_bytes())
    footer = int.from_bytes(content[-8:-4], "little")
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(4, len(content) - footer - 9))
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        whole = pq.ParquetFile(path).read().column("text").cast(pa.binary())
        theirs = [value.decode("utf-8", "replace") for value in whole.to_pylist()]
    except (pa.ArrowException, OSError):
        theirs = None
    try:
        found = [text for batch in read_corpus(path).batches() for text in batch[0].to_pylist()]
    except CorpusError:
        found = None
    if found is None:  # pyarrow may read fewer rows than there are, without a word
        assert theirs is None or len(theirs) < len(values)
    else:  # of a page's header we read less than pyarrow, and so may read what it refuses
        assert found == theirs or (theirs is None and len(found) == len(values))
