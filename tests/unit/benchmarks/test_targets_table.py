"""The table of the guide to targets has the numbers of the result file."""

from __future__ import annotations

import json
import re
from pathlib import Path

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
