"""What is written for a reader is read as it was meant."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deltavec.collection.filters.masks import (
    Comparison,
    column_as_written,
    parse_filter,
    text_value,
)

UNICODE = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(UNICODE, UNICODE)
def test_any_column_and_any_text_can_be_written_unless_a_backquote_is_in_the_name(
    name: str, text: str
) -> None:
    written = column_as_written(name)
    if written is None:
        assert not name or "`" in name
    else:
        found = parse_filter(f"{written} == {text_value(text)}")
        assert found == Comparison(name, "==", text)
