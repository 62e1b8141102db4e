"""Run the notebooks of the documentation, and keep in them what they print.

    python tools/notebooks.py         runs docs/notebooks/*.ipynb, each in a process of its own

No Jupyter is needed: a cell prints what it prints, and then its last expression, as HTML if that
can be shown so. The tests run them again and compare.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"
END, HTML = "\x1e end of a cell", "\x1e as HTML "
PRELUDE = f"""
def _shown(value):
    if hasattr(value, "_repr_html_"):
        print({HTML!r} + value._repr_html_())
    elif value is not None:
        print(repr(value))
"""


def read(path: Path) -> dict[str, Any]:
    """A notebook."""
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Its cells with code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def as_script(notebook: dict[str, Any]) -> str:
    """One program that does what its cells do, and says where each of them ends."""
    parts = [PRELUDE]
    for cell in code_cells(notebook):
        tree = ast.parse("".join(cell["source"]))
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            tree.body[-1].value = ast.Call(ast.Name("_shown"), [tree.body[-1].value], [])
        parts += [ast.unparse(tree), f"print({END!r})"]
    return "\n".join(parts)


def printed(notebook: dict[str, Any]) -> list[str]:
    """What each of its cells prints, run from the first to the last; a warning is an error."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", as_script(notebook)],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [part.removeprefix("\n") for part in done.stdout.split(END)[:-1]]


def as_outputs(text: str, number: int) -> list[dict[str, Any]]:
    """What a cell printed, as a notebook keeps it."""
    plain, _, html = text.partition(HTML)
    outputs: list[dict[str, Any]] = []
    if plain:
        lines = plain.splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines})
    if html:
        data = {"text/html": html.rstrip("\n").splitlines(keepends=True)}
        result = {"output_type": "execute_result", "execution_count": number}
        outputs.append({**result, "metadata": {}, "data": data})
    return outputs


def kept(cell: dict[str, Any]) -> str:
    """What a cell has kept, as it was printed."""
    return "".join(
        HTML + "".join(output["data"]["text/html"]) + "\n"
        if output["output_type"] == "execute_result"
        else "".join(output["text"])
        for output in cell["outputs"]
    )


def main() -> None:
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = read(path)
        cells = code_cells(notebook)
        for number, (cell, text) in enumerate(zip(cells, printed(notebook), strict=True), 1):
            cell["execution_count"] = number
            cell["outputs"] = as_outputs(text, number)
        content = json.dumps(notebook, indent=1, ensure_ascii=False)
        path.write_text(content + "\n", encoding="utf-8")
        print(f"{path.name}: {len(cells)} cells")


if __name__ == "__main__":
    main()
