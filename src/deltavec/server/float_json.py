r"""Vectors as JSON numbers, fast: nine digits tell any two float32 numbers apart.

A float32 number has 24 bits, so two neighbours differ by a part of at least :math:`2^{-24}`, and
nine decimal digits, off by at most :math:`5 \cdot 10^{-9}`, are nearer to the number than to either
neighbour: whoever reads them as float32, straight or by way of float64, has the number again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int64s, UInt8s
from deltavec.core.jit import compiled

DIGITS = 9
LONGEST = 17  # bytes of a number and its comma: -0.0000123456789,
LEAST_EXPONENT = -45  # of the smallest float32 number
POWERS: Float64s = 10.0 ** np.arange(LEAST_EXPONENT - DIGITS, 60, dtype=np.float64)
POWERS.flags.writeable = False
COMMA, POINT, MINUS, ZERO, EXPONENT = (ord(sign) for sign in ",.-0e")


def rows_as_json(vectors: Float32s) -> list[bytes]:
    """Each row as a JSON array of numbers; all are finite.

    Examples
    --------
    >>> rows_as_json(np.array([[0.25, -0.5, 0], [1e-20, 3, 1 / 3]], np.float32))
    [b'[0.25,-0.5,0]', b'[9.99999968e-21,3e0,0.333333343]']
    """
    written = np.empty(vectors.size * LONGEST, np.uint8)
    ends = np.zeros(len(vectors) + 1, np.int64)
    write_rows(np.ascontiguousarray(vectors), POWERS, written, ends)
    text = written[: ends[-1]].tobytes()
    places = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    # Without the comma after the last number of a row.
    return [b"[" + text[begin : max(begin, end - 1)] + b"]" for begin, end in places]


@compiled
def write_rows(vectors: Float32s, powers: Float64s, written: UInt8s, ends: Int64s) -> None:
    """Write the numbers of all rows, a comma after each, and where the rows end."""
    place = 0
    for row in range(len(vectors)):
        for value in vectors[row]:
            place = write_number(np.float64(value), powers, written, place)
            written[place] = COMMA
            place += 1
        ends[row + 1] = place


@compiled
def write_number(value: Any, powers: Float64s, written: UInt8s, place: int) -> int:
    """Write a number from a place on; the place after it."""
    if value < 0:
        written[place] = MINUS
        place += 1
        value = -value
    if value == 0:
        written[place] = ZERO
        return place + 1
    exponent = np.int64(np.floor(np.log10(value)))
    digits = scaled(value, exponent, powers)
    if digits < 10 ** (DIGITS - 1):  # the logarithm was rounded up,
        exponent -= 1
        digits = scaled(value, exponent, powers)
    elif digits >= 10**DIGITS:  # or down, or the digits were
        exponent += 1
        digits = scaled(value, exponent, powers)
    count = DIGITS
    while digits % 10 == 0:
        digits //= 10
        count -= 1
    if -5 <= exponent < 0:
        written[place] = ZERO
        written[place + 1] = POINT
        place += 2
        for _ in range(-1 - exponent):
            written[place] = ZERO
            place += 1
        return write_digits(digits, count, written, place)
    # The first digit, the others behind the point, the exponent.
    first = digits // 10 ** (count - 1)
    written[place] = ZERO + first
    place += 1
    if count > 1:
        written[place] = POINT
        place = write_digits(digits - first * 10 ** (count - 1), count - 1, written, place + 1)
    written[place] = EXPONENT
    place += 1
    if exponent < 0:
        written[place] = MINUS
        place += 1
        exponent = -exponent
    return write_digits(exponent, 2 if exponent > 9 else 1, written, place)


@compiled
def scaled(value: Any, exponent: Any, powers: Float64s) -> Any:
    """The digits of a number with this exponent, as a whole number."""
    return np.int64(np.rint(value * powers[DIGITS - 1 - exponent - LEAST_EXPONENT + DIGITS]))


@compiled
def write_digits(number: Any, count: int, written: UInt8s, place: int) -> int:
    """Write a whole number with so many digits, zeros in front; the place after it."""
    rest = np.uint32(number)  # a product and a shift instead of a division that looks at signs
    for step in range(count - 1, -1, -1):
        shorter = rest // np.uint32(10)
        written[place + step] = ZERO + (rest - np.uint32(10) * shorter)
        rest = np.uint32(shorter)
    return place + count
