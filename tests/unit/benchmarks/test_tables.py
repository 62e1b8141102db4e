"""Tables of guides have the numbers of result files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.scripts import load_script

ROOT = Path(__file__).parents[3]
NAMES = ["askubuntu", "english_stackexchange", "meta_stackexchange", "sts", "cranfield",
         "newsgroups", "reuters", "ohsumed"]  # fmt: skip


def test_the_guide_has_the_numbers_of_the_result_file() -> None:
    results = json.loads((ROOT / "experiments/answers/results/targets.json").read_text())
    guide = (ROOT / "docs/guides/targets.md").read_text("utf-8")
    rows = re.findall(r"^\| [a-zA-Z].*\|$", guide, re.MULTILINE)
    assert len(rows) == len(NAMES)
    for name, row in zip(NAMES, rows, strict=True):
        cells = [cell.strip() for cell in row.split("|")[2:6]]
        wanted = [results[name][key] for key in ("spectral", "0.4", "0.5", "1.0")]
        assert cells == [f"{value:.3f}".lstrip("0") for value in wanted]


def test_the_guide_to_search_has_the_numbers_of_other_engines() -> None:
    results = json.loads((ROOT / "benchmarks/results/retrieval_peers.json").read_text())
    page = (ROOT / "docs/tutorials/hybrid-search.md").read_text("utf-8")
    guide = page.split("## How good is it?")[1]
    rows = re.findall(r"^\| [a-zA-Z].*\|$", guide, re.MULTILINE)
    del results["versions"]
    assert len(rows) == len(results) == 5
    for row, engines in zip(rows, results.values(), strict=True):
        wanted = [f"{one['nDCG@10']:.3f}".lstrip("0") for one in engines.values()]
        assert [cell.strip() for cell in row.split("|")[2:-1]] == wanted


def test_the_plots_of_the_benchmarks_page_are_made_from_the_result_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "experiments/beyond"))
    for name, plot in load_script("experiments/beyond/tables.py").plots().items():
        assert (ROOT / "docs/guides" / name).read_text("utf-8") == plot, "run tables.py"
