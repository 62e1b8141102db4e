"""The words of a collection on disk: numbers that lead elsewhere are refused."""

from __future__ import annotations

import numpy as np
import pytest

from deltavec.core.learning.stemming import Rules, Stems
from deltavec.core.text.batches import as_text_batch
from deltavec.errors import InputError
from deltavec.search.lexical.writer import PostingsWriter, WordTerms, map_postings, postings_layout


@pytest.fixture
def stored(tmp_path):
    """A file of words, and the sizes that its layout follows from."""
    path = tmp_path / "words"
    with PostingsWriter(tmp_path) as writer:
        writer.add(as_text_batch(["sea room sea", "room wind", ""], "words"))
        sizes = writer.finish(
            path,
            lambda v: WordTerms(Stems.none(len(v)).groups, np.arange(len(v)), Rules.none()),
        )
    return path, sizes


@pytest.mark.parametrize(
    ("name", "numbers", "message"),
    [
        ("begins", [0, 2**63 - 1, -2, 4, 4], "places outside of the file"),
        ("begins", [0, 1, 2, 3, 4], "places outside of the file"),
        ("begins", [0, 4, 4, 4, 4], "a word in more documents than there are"),
        ("word_offsets", [0, 2**62, 4, 11], "word_offsets must rise"),
        ("groups", [0, 1, -1], "groups must be from 0"),
        ("terms", [0, 1, 1], "places outside of the file"),
        ("documents", [0, 0, 1, 3], "documents must be from 0 to 2"),
        ("documents", [0, 0, 1, -1], "documents must be from 0 to 2"),
        ("words", list(b"sea\xffoomwind"), "words must be UTF-8"),
        ("lengths", [1, 2, -3], "lengths must be from 0"),
    ],
)
def test_numbers_that_lead_elsewhere_are_refused(stored, name, numbers, message):
    path, sizes = stored
    layout = postings_layout(sizes)
    data = bytearray(path.read_bytes())
    tensor = layout.tensors[name]
    kind = {"I64": "<i8", "F64": "<f8", "I32": "<i4", "U8": "u1"}[tensor.dtype]
    new = np.array(numbers, kind).tobytes()
    begin = len(layout.header) + tensor.begin
    assert len(new) == tensor.end - tensor.begin
    data[begin : begin + len(new)] = new
    path.write_bytes(data)
    with path.open("rb") as file, pytest.raises(InputError, match=message):
        map_postings(file, sizes, verify=True)
