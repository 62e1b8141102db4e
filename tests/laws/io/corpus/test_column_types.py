"""What holds for every column of text: it has a type if all its values do, and loses nothing."""

from datetime import date, datetime

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from deltavec.io.corpus.columns import MISSING, Seen, without_missing

NUMBERS = st.integers(-(10**18) + 1, 10**18 - 1)
FLOATS = st.floats(-1e8, 1e8).map(  # with six decimals 15 digits at most
    lambda value: float(f"{value:.6f}")
)
DAYS = st.dates(date(1000, 1, 1), date(2999, 12, 31))
MOMENTS = st.datetimes(datetime(1000, 1, 1), datetime(2999, 12, 31))


def typed(chunks):
    seen = Seen()
    for chunk in chunks:
        seen.look_at(pa.array(chunk, pa.string()))
    return seen.kind


@given(
    st.one_of(
        st.lists(NUMBERS.map(lambda value: (str(value), value)), min_size=1),
        st.lists(DAYS.map(lambda value: (value.isoformat(), value)), min_size=1),
        st.lists(DAYS.map(lambda value: (f"{value:%d.%m.}{value.year}", value)), min_size=1),
        st.lists(MOMENTS.map(lambda value: (value.isoformat(), value)), min_size=1),
        st.lists(st.booleans().map(lambda value: (str(value), value)), min_size=1),
    ),
    st.integers(1, 5),
    st.lists(st.sampled_from(MISSING), max_size=3),
)
def test_values_that_were_written_are_read(pairs, size, missing):
    texts = [text for text, _ in pairs] + missing
    kind = typed([texts[i : i + size] for i in range(0, len(texts), size)])
    parsed = kind.values(without_missing(pa.array(texts, pa.string()))).to_pylist()
    assert parsed == [value for _, value in pairs] + [None] * len(missing)


@given(st.lists(FLOATS, min_size=1))
def test_numbers_with_a_point_are_read_as_python_reads_them(values):
    texts = [f"{value:.6f}" for value in values]
    kind = typed([texts])
    assert kind.values(pa.array(texts)).to_pylist() == values


@given(st.lists(NUMBERS, min_size=1), st.data())
def test_one_value_that_is_no_number_leaves_a_column_text_wherever_it_stands(values, data):
    texts = [str(value) for value in values]
    odd = data.draw(st.sampled_from(["x", "007", "1,5", "2024-01-01", "true", "+1", "1 2"]))
    texts.insert(data.draw(st.integers(0, len(texts))), odd)
    assert typed([[text] for text in texts]) is None


@given(st.lists(st.text("0123456789.-+eE:/TZ trufals", max_size=12), max_size=5))
def test_any_texts_have_the_same_type_in_any_chunks_and_whole_numbers_read_as_written(texts):
    kind = typed([texts])
    assert kind == typed([[text] for text in texts])
    if kind is not None and kind.type == pa.int64():
        values = kind.values(without_missing(pa.array(texts, pa.string()))).to_pylist()
        written = [text.strip() for text in texts if text.strip() not in MISSING]
        assert [str(value) for value in values if value is not None] == written
