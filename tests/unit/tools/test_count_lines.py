from __future__ import annotations

from pathlib import Path

from support.scripts import load_script

count_lines = load_script("tools/count_lines.py")

SOURCE = '''"""A docstring
over two lines."""

# a comment
TABLE = """
a value

"""  # the blank line inside does not count


def area(width: int) -> int:
    """Docstring."""
    return (  # code before a comment
        width
        * width
    )


class Square:
    """Docstring."""

    "A string that nobody reads."
'''


def test_docstrings_comments_and_blank_lines_do_not_count() -> None:
    assert count_lines.code_lines(SOURCE) == 3 + 5 + 2


def test_each_folder_is_a_room(tmp_path: Path) -> None:
    (tmp_path / "house" / "kitchen").mkdir(parents=True)
    (tmp_path / "house" / "door.py").write_text("a = 1\nb = 2\n", "utf-8")
    (tmp_path / "house" / "kitchen" / "stove.py").write_text("c = 3\n", "utf-8")

    assert count_lines.lines_by_room(tmp_path) == {"house": 2, "house/kitchen": 1}
