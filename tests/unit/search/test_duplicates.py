"""Duplicates: what is refused, what is written, what a notebook shows."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import deltavec as dv

pytestmark = pytest.mark.nojit

STORY = "we came late in the night and the porter led us up to a room over the bay"


def stories(count: int) -> list[str]:
    return [" ".join(f"{word}{chr(97 + n)}" for word in STORY.split()) for n in range(count)]


def test_a_chain_of_copies_keeps_what_is_no_duplicate_of_the_first() -> None:
    words = stories(9)[0].split()
    changed = [" ".join([*(f"{w}z" for w in words[:n]), *words[n:]]) for n in (0, 6, 12)]
    found = dv.duplicates([*changed, *stories(9)[1:]], 0.35)
    assert [group.tolist() for group in found.groups] == [[0, 1, 2]]
    assert found.removed.tolist() == [1]


def test_a_copy_of_what_goes_has_the_same_representative() -> None:
    first, *others = stories(8)
    longer = f"{first} again"
    found = dv.duplicates([first, longer, *others, longer.upper()])
    rows = {row["id"]: row for row in found.table.to_pylist()}
    assert rows[9]["representative"] == rows[1]["representative"] == 0
    assert rows[9]["why"] == "shared text"
    assert rows[9]["shared"] == rows[1]["shared"] < 1
    kept = dv.duplicates([first, longer, *others, longer.upper()], keep="longest")
    assert kept.removed.tolist() == [0, 9]


def test_pairs_are_written(tmp_path: Path) -> None:
    found = dv.duplicates(["one two", "One, two", "three"], ids=["x", "y", "z"])
    found.write(tmp_path / "p.parquet")
    assert parquet.read_table(tmp_path / "p.parquet").to_pylist() == [
        {"a": "x", "b": "y", "shared": 1, "contained": 1}
    ]
    with pytest.raises(dv.InputError, match=r"must end in \.parquet"):
        found.write(tmp_path / "p.csv")


def test_a_notebook_shows_groups_as_text() -> None:
    texts = [text for story in stories(22) for text in (story, story.upper())]
    page = dv.duplicates(texts, ids=["<b>", *map(str, range(43))])._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "Not all are shown" in page


def test_nothing_has_no_duplicates() -> None:
    for documents in ([], [""], ["", ""], [None, None]):
        found = dv.duplicates(documents)
        assert (len(found), found.groups, found.removed.tolist()) == (0, (), [])
        assert len(found.table) == 0


@pytest.mark.parametrize("threshold", [0, -0.5, 1.0001, float("nan"), "0.9", None, True])
def test_thresholds_that_are_no_shares_are_refused(threshold: object) -> None:
    with pytest.raises(dv.InputError, match="threshold must be a share above 0, up to 1, got"):
        dv.duplicates(["one"], threshold)  # type: ignore[arg-type]


def test_what_makes_no_sense_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(dv.InputError, match="got vectors: use similar_pairs"):
        dv.duplicates(np.eye(3))
    with pytest.raises(dv.InputError, match="keep must be one of first, longest, got 'last'"):
        dv.duplicates(["one"], keep="last")
    with pytest.raises(dv.InputError, match="an id for each of 1 rows, got 2"):
        dv.duplicates(["one"], ids=[1, 2])
    with pytest.raises(dv.CorpusError, match="wrap it in a list"):
        dv.duplicates("one")
    monkeypatch.setattr(sys.modules["deltavec.search.duplicates"], "MOST_PAIRS", 0)
    first, *others = stories(8)
    with pytest.raises(dv.InputError, match=r"more than 0 pairs share 0\.5: raise the threshold"):
        dv.duplicates([first, f"{first} again", *others])


def test_progress_is_told_up_to_the_end() -> None:
    told: list[float] = []
    dv.duplicates(stories(3), on_progress=told.append)
    assert told[-1] == 1
