"""The arithmetic of the benchmark runner, and its text."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.scripts import ROOT, load_script


@pytest.fixture(autouse=True)
def benchmarks_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    for name in ("measuring", "texts", "run"):  # scripts of other folders may have these names
        monkeypatch.delitem(sys.modules, name, raising=False)


def turn(wall: float, score: float = 0.5) -> dict[str, object]:
    answer = {"ids": ["a", "b"], "numbers": [score, 0.25]}
    return {"wall": wall, "cpu": 2 * wall, "items": 100, "answer": answer}


def test_two_checkouts_are_compared_by_the_medians_of_their_turns() -> None:
    run = load_script("benchmarks/run.py")
    found = run.compare(
        {"now": [turn(1.0), turn(9.0), turn(2.0)], "against": [turn(4.0, 0.5625)] * 3}
    )
    assert found["now"]["wall"] == 2.0
    assert found["now"]["items_per_second"] == 50
    assert found["rate_over_against"] == {"wall": 2.0, "cpu": 2.0}
    assert found["answers"] == {"same_ids": True, "largest_difference": 0.0625}


def test_one_checkout_is_compared_with_nothing() -> None:
    run = load_script("benchmarks/run.py")
    assert set(run.compare({"now": [turn(1.0)]})) == {"now"}


def test_generated_text_is_the_same_for_the_same_seed() -> None:
    texts = load_script("benchmarks/texts.py")
    first = texts.zipf_documents(20)
    assert first == texts.zipf_documents(20) != texts.zipf_documents(20, seed=1)
    assert all(text and text[0].isupper() for text in first)


def test_made_up_words_differ() -> None:
    texts = load_script("benchmarks/texts.py")
    assert len({texts.word(rank) for rank in range(20_000)}) == 20_000


def test_a_corpus_of_a_file_repeats_it_in_one_order(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = load_script("benchmarks/texts.py")
    pq.write_table(pa.table({"text": ["one word", None, "two"]}), tmp_path / "few.parquet")
    made_of = texts.write_corpus(tmp_path / "many.parquet", 7, tmp_path / "few.parquet")
    column = texts.read_column(tmp_path / "many.parquet")
    assert made_of == "real: few.parquet"
    assert column[:3].to_pylist() == column[3:6].to_pylist()
    assert sorted(column[:3].to_pylist()) == ["", "one word", "two"]
    assert texts.count_words(column[:3]) == 3
