"""Lines of code per room: without docstrings, comments and blank lines.

``python tools/count_lines.py [folder]`` counts the Python files of a folder, ``src`` unless told.
A line counts if any part of it is code: a statement over five lines is five lines, and so is a
string that is a value. A docstring is the string that opens a module, a class or a function.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

SILENT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def docstring_lines(source: str) -> set[int]:
    """The lines of all docstrings."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def code_lines(source: str) -> int:
    """How many lines of a file hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    text = source.split("\n")
    return sum(bool(text[line - 1].strip()) for line in lines - docstring_lines(source))


def lines_by_room(folder: Path) -> Counter[str]:
    """The lines of code of each folder, without those below it."""
    rooms: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.py")):
        rooms[path.parent.relative_to(folder).as_posix()] += code_lines(path.read_text("utf-8"))
    return rooms


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "src")
    if not folder.is_dir():
        sys.exit(f"expected a folder of Python files, got {folder}")
    rooms = lines_by_room(folder)
    for room, lines in sorted(rooms.items()):
        print(f"{lines:7,}  {room}")
    print(f"{sum(rooms.values()):7,}  in all")


if __name__ == "__main__":
    main()
