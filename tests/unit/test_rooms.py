"""Rooms a newcomer finds: no folder of the package is a heap (docs/decisions/0014)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import deltavec

PACKAGE = Path(deltavec.__file__).parent


def modules() -> list[Path]:
    return [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if path.stem != "__init__"]


def test_no_folder_holds_more_than_18_modules() -> None:
    sizes = Counter(str(path.parent) for path in modules())
    assert {folder: size for folder, size in sizes.items() if size > 18} == {}


def test_a_prefix_shared_by_three_files_is_a_folder() -> None:
    prefixes = Counter(
        f"{path.stem.split('_')[0]}_ in {path.parent.as_posix()}"
        for path in modules()
        if "_" in path.stem.strip("_")
    )
    assert {prefix: files for prefix, files in prefixes.items() if files > 2} == {}
