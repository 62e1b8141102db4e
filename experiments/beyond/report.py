"""Write the tables into README.md and the guide, and draw the plot, from ``results/*.json``.

A table stands between ``<!-- NAME -->`` and ``<!-- end NAME -->`` and is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import comparison_tables
import question_tables
from outcomes import RESULTS, kept
from quality_plot import drawn

HERE = Path(__file__).parent
PAGES = (HERE / "README.md", HERE.parents[1] / "docs" / "guides" / "quality.md")
PLOTS = (HERE / "quality.svg", HERE.parents[1] / "docs" / "guides" / "quality.svg")


def filled(page: str, tables: dict[str, Callable[[], str]]) -> str:
    """The page with every table it names made anew."""

    def table(match: re.Match[str]) -> str:
        name = match[1]
        try:
            made = tables[name]()
        except FileNotFoundError as missing:
            made = f"(Not run yet: `results/{Path(missing.filename).name}` is not there.)"
        return f"<!-- {name} -->\n\n{made}\n\n<!-- end {name} -->"

    return re.sub(r"<!-- ([\w-]+) -->.*?<!-- end \1 -->", table, page, flags=re.DOTALL)


def write(pages: Iterable[Path], tables: dict[str, Callable[[], str]]) -> None:
    for path in pages:
        if path.exists():
            path.write_text(filled(path.read_text("utf-8"), tables), "utf-8")


def main() -> None:
    write(PAGES, comparison_tables.TABLES | question_tables.TABLES)
    if (RESULTS / "speed.json").exists():
        figure = drawn(kept("speed")["methods"], comparison_tables.review_means())
        for path in PLOTS:
            path.write_text(figure, "utf-8")


if __name__ == "__main__":
    main()
