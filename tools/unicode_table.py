"""Write src/deltavec/core/text/unicode14.txt from the running Python's Unicode database.

Run it with Python 3.11, whose database is Unicode 14.0.0: the table is frozen there
(docs/decisions/0003), so that a model gives the same bits on every Python version.
"""

from __future__ import annotations

import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

HEADER = """\
# Word characters and their lower case, frozen at Unicode {version}.
# Written by tools/unicode_table.py.
# [word] first-last code point of each run of word characters (categories L, M, N; underscore)
# [lower] first-last/step+shift: the lower case of each is the code point plus the shift
# [mark] marks (category M, and the half-width voicing marks), which belong to the character before
# [unspaced] word characters, marks aside, of scripts that are written without spaces
[word]
{ranges}
[lower]
{runs}
[mark]
{marks}
[unspaced]
{unspaced}
"""

# Where scripts stand that put no spaces between words, as Unicode 14 has them. Han, Hiragana,
# Katakana and their extensions: Scripts.txt. The rest, Thai to Tai Viet: characters whose class in
# LineBreak.txt is SA, "complex context dependent", which need a dictionary to be parted. Tibetan is
# not among these: a mark stands between its syllables, which are read as words. Digits and numbers
# of these scripts (categories Nd, No) stay numbers.
UNSPACED_BLOCKS = (
    (0x0E01, 0x0E3A),  # Thai
    (0x0E40, 0x0E4E),
    (0x0E81, 0x0ECD),  # Lao
    (0x0EDC, 0x0EDF),
    (0x1000, 0x103F),  # Myanmar
    (0x1050, 0x108F),
    (0x109A, 0x109F),
    (0x1780, 0x17D3),  # Khmer
    (0x17D7, 0x17D7),
    (0x17DC, 0x17DD),
    (0x1950, 0x1974),  # Tai Le
    (0x1980, 0x19C9),  # New Tai Lue
    (0x1A20, 0x1A7C),  # Tai Tham
    (0x1AA7, 0x1AA7),
    (0xA9E0, 0xA9EF),  # Myanmar, extended
    (0xA9FA, 0xA9FE),
    (0xAA60, 0xAAC2),  # Myanmar, extended; Tai Viet
    (0xAADB, 0xAADF),
    (0x11700, 0x1172B),  # Ahom
    (0x11740, 0x11746),
    (0x2E80, 0x2FD5),  # Han: radicals
    (0x3005, 0x3007),  # iteration mark, closing mark, zero
    (0x3021, 0x3029),
    (0x3031, 0x3035),  # Kana repeat marks
    (0x3038, 0x303C),
    (0x3041, 0x30FF),  # Hiragana, Katakana, the sound mark that prolongs
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAD9),
    (0xFF66, 0xFF9F),  # half-width Katakana
    (0x1AFF0, 0x1B122),  # Kana, supplements
    (0x1B150, 0x1B167),
    (0x20000, 0x3FFFD),  # Han
)
HALF_WIDTH_VOICING = (0xFF9E, 0xFF9F)  # letters by category; Unicode lets them extend a character


def is_word_character(code_point: int) -> bool:
    character = chr(code_point)
    return character == "_" or unicodedata.category(character)[0] in "LMN"


def is_mark(code_point: int) -> bool:
    category = unicodedata.category(chr(code_point))
    return category[0] == "M" or code_point in HALF_WIDTH_VOICING


def is_unspaced(code_point: int) -> bool:
    inside = any(first <= code_point <= last for first, last in UNSPACED_BLOCKS)
    is_number = unicodedata.category(chr(code_point)) in ("Nd", "No")
    return inside and is_word_character(code_point) and not is_mark(code_point) and not is_number


def lower_case(code_point: int) -> int:
    lowered = chr(code_point).lower()
    return ord(lowered) if len(lowered) == 1 else code_point


def ranges_where(holds: Callable[[int], bool]) -> str:
    ranges: list[tuple[int, int]] = []
    for code_point in filter(holds, range(sys.maxunicode + 1)):
        if ranges and ranges[-1][1] == code_point - 1:
            ranges[-1] = (ranges[-1][0], code_point)
        else:
            ranges.append((code_point, code_point))
    return wrapped(f"{first:X}-{last:X}" for first, last in ranges)


def wrapped(items: Iterable[str]) -> str:
    return textwrap.fill(" ".join(items), 99, break_long_words=False, break_on_hyphens=False)


def lower_case_runs() -> list[tuple[int, int, int, int]]:
    changed = [
        (code_point, lower_case(code_point) - code_point)
        for code_point in filter(is_word_character, range(sys.maxunicode + 1))
        if lower_case(code_point) != code_point
    ]
    runs = []
    start = 0
    while start < len(changed):
        first, shift = changed[start]
        length, step = max(
            (run_length(changed, start, candidate), -candidate) for candidate in (1, 2)
        )
        runs.append((first, changed[start + length - 1][0], -step, shift))
        start += length
    return runs


def run_length(changed: list[tuple[int, int]], start: int, step: int) -> int:
    first, shift = changed[start]
    length = 1
    while changed[start + length : start + length + 1] == [(first + length * step, shift)]:
        length += 1
    return length


def main() -> None:
    runs = (
        f"{first:X}-{last:X}/{step}{shift:+d}" for first, last, step, shift in lower_case_runs()
    )
    target = Path(__file__).parents[1] / "src" / "deltavec" / "core" / "text" / "unicode14.txt"
    target.write_text(
        HEADER.format(
            version=unicodedata.unidata_version,
            ranges=ranges_where(is_word_character),
            runs=wrapped(runs),
            marks=ranges_where(is_mark),
            unspaced=ranges_where(is_unspaced),
        )
    )


if __name__ == "__main__":
    main()
