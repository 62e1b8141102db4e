"""Every room has a budget of code lines, and files and folders stay small."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "deltavec"
MOST_MODULES = 18
MOST_LINES = 450
# Code lines per room, without docstrings, comments and blank lines. A file belongs to the room with
# the longest matching path. Lowering a number is welcome; raising one needs a decision record.
BUDGETS = {
    "": 779,  # with evaluation/ and adapters/
    "core": 1_981,
    "core/kernels": 1_163,
    "core/text": 690,
    "core/learning": 1_936,
    "io/corpus": 1_495,
    "io/vectors": 669,
    "io/artifacts": 777,
    "io/output": 552,
    "io/export": 251,
    "search": 1_812,
    "search/quantized": 238,
    "search/lexical": 693,
    "search/hybrid": 482,
    "search/tsne": 310,
    "collection": 2_921,
    "collection/filters": 381,
    "collection/topics": 407,
    "collection/map": 276,
    "collection/export": 639,
    "collection/shards": 226,
    "server": 2_567,
    "cli": 2_349,
    "spark": 1_111,
    "lab": 3_143,  # with cli/commands/evaluate.py
}
PRODUCT = 24_705
SAME_BUDGET = {"evaluation": "", "adapters": "", "cli/commands/evaluate.py": "lab"}


def count_lines(path: Path) -> int:
    """The code lines of a file, as `tools/count_lines.py` counts them."""
    return COUNT.code_lines(path.read_text("utf-8"))


def load_count() -> Any:
    spec = importlib.util.spec_from_file_location("count_lines", ROOT / "tools" / "count_lines.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


COUNT = load_count()
LINES = {path.relative_to(SOURCE).as_posix(): count_lines(path) for path in SOURCE.rglob("*.py")}


def room_of(path: str) -> str:
    """The room that a file belongs to."""
    rooms = [
        room
        for room in (*BUDGETS, *SAME_BUDGET)
        if room in ("", path) or path.startswith(f"{room}/")
    ]
    longest = max(rooms, key=len)
    return SAME_BUDGET.get(longest, longest)


ROOMS = Counter[str]()
for _path, _lines in LINES.items():
    ROOMS[room_of(_path)] += _lines


@pytest.mark.parametrize("room", BUDGETS)
def test_a_room_stays_within_its_budget(room: str) -> None:
    assert ROOMS[room] <= BUDGETS[room], f"{room or 'the top'} has {ROOMS[room]:,} code lines"


def test_the_product_stays_within_its_budget() -> None:
    assert sum(ROOMS.values()) - ROOMS["lab"] <= PRODUCT


def test_no_file_has_too_many_lines() -> None:
    assert {path: lines for path, lines in LINES.items() if lines > MOST_LINES} == {}


def test_no_folder_has_too_many_modules() -> None:
    folders = Counter(str(Path(path).parent) for path in LINES if not path.endswith("__init__.py"))
    assert {folder: count for folder, count in folders.items() if count > MOST_MODULES} == {}


def test_a_prefix_shared_by_three_files_is_a_folder() -> None:
    prefixes = Counter(
        f"{path.stem.split('_')[0]}_ in {path.parent.as_posix()}"
        for path in map(Path, LINES)
        if "_" in path.stem.strip("_")
    )
    assert {prefix: files for prefix, files in prefixes.items() if files > 2} == {}
