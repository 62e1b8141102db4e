"""Wherever a run is cut off, what it left goes on to the same file."""

import os

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltavec.io.output import shards
from deltavec.io.output.growing import FORMATS, Group, good_groups, grown


def tables(sizes, width, schema):
    rng = np.random.default_rng(0)
    for size in sizes:
        vectors = rng.integers(0, 2, (size, width)).astype(np.float32)
        yield shards.as_table(
            [shards.EmbeddedRows(pa.record_batch({}), np.zeros(size, np.int64), vectors)], schema
        )


def written(folder, schema, suffix, groups):
    """Write the groups that are not there yet; the bytes of the file, and what it was made of."""
    with grown(folder, schema, suffix) as store:
        fresh = [store.add(group) for group in groups[len(store.before) :]]
    return store.path.read_bytes(), [*store.before, *fresh]


@pytest.mark.parametrize("suffix", FORMATS)
@settings(deadline=None)
@given(
    sizes=st.lists(st.integers(0, 9), max_size=6),
    width=st.integers(1, 5),
    cuts=st.tuples(st.integers(0, 400), st.integers(0, 400)),
)
def test_a_file_and_a_journal_cut_anywhere_are_completed_to_the_same_bytes(
    tmp_path_factory, suffix, sizes, width, cuts
):
    schema = shards.of_run(shards.shard_schema(pa.schema([]), width), {"made": "from this"})
    groups = list(tables(sizes, width, schema))
    folder = tmp_path_factory.mktemp("grown")
    whole, finished = written(folder, schema, suffix, groups)
    assert [group.documents for group in finished] == sizes
    for path, cut in zip(sorted(folder.iterdir()), cuts, strict=True):
        os.truncate(path, min(cut, path.stat().st_size))
    again, refinished = written(folder, schema, suffix, groups)
    assert again == whole
    assert refinished == finished


@given(st.binary(max_size=60))
def test_a_line_of_any_bytes_is_a_group_only_if_it_was_written_as_one(line):
    group = Group.of(line)
    assert group is None or group.line() == line


@given(st.integers(0, 1 << 40), st.integers(0, 1 << 40), st.integers(0, 1 << 60), st.data())
def test_a_line_with_one_byte_changed_is_no_group(documents, zero_rows, end, data):
    line = Group(documents, zero_rows, end).line()
    assert Group.of(line) == (documents, zero_rows, end)
    place = data.draw(st.integers(0, len(line) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != line[place]))
    assert Group.of(line[:place] + bytes([byte]) + line[place + 1 :]) is None


def test_without_a_file_or_a_journal_there_is_nothing_to_go_on_from(tmp_path):
    journal, file = tmp_path / "a.journal", tmp_path / "a"
    journal.write_bytes(Group(1, 0, 0).line())
    assert good_groups(journal, file) == []
    file.touch()
    assert good_groups(journal, file) == [(1, 0, 0)]
    journal.unlink()
    assert good_groups(journal, file) == []
