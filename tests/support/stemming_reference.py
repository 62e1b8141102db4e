"""Forms of words the slow, obvious way: the oracle for `deltavec.core.learning.stemming`."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations, product

import numpy as np
import numpy.typing as npt


def common_letters(a: str, b: str) -> int:
    """How many letters two words begin with alike."""
    count = 0
    while count < min(len(a), len(b)) and a[count] == b[count]:
        count += 1
    return count


def rule_of(a: str, b: str) -> tuple[str, str] | None:
    """The endings that part two words, if they can be forms of one."""
    if any(character.isnumeric() for character in a + b):
        return None
    k = common_letters(a, b)
    if k < 4 or len(a) - k > 5 or len(b) - k > 5:
        return None
    first, second = sorted([a[k:], b[k:]])
    return first, second


def candidates(words: list[str]) -> list[tuple[str, str, tuple[str, str]]]:
    """All pairs that can be forms of one word, in the order of the alphabet, and their rules."""
    found = []
    for a, b in combinations(sorted(words), 2):
        rule = rule_of(a, b)
        if rule is not None:
            found.append((a, b, rule))
    return found


def rules(
    rows: dict[str, npt.NDArray[np.float32]],
) -> tuple[dict[tuple[str, str], float], tuple[float, float]]:
    """The rules that hold, each with the mean z of its pairs; and what chance is."""
    pairs = candidates(list(rows))
    n = len(pairs)
    if n < 5:
        return {}, (0.0, 1.0)
    step = round(0.618 * n)
    while math.gcd(step, n) != 1:
        step += 1
    by_chance = [
        float(rows[a] @ rows[pairs[(place + step) % n][1]]) for place, (a, _, _) in enumerate(pairs)
    ]
    chance = float(np.mean(by_chance)), max(float(np.std(by_chance)), 0.01)
    z = defaultdict(list)
    for a, b, rule in pairs:
        z[rule].append((float(rows[a] @ rows[b]) - chance[0]) / chance[1])
    held = {
        rule: sum(values) / len(values)
        for rule, values in z.items()
        if len(values) >= 5 and sum(values) / math.sqrt(len(values)) >= 4
    }
    return held, chance


def groups(words: list[str], rows: dict[str, npt.NDArray[np.float32]]) -> set[frozenset[str]]:
    """The words in groups of forms."""
    held, chance = rules(rows)
    links = {}
    for a, b, rule in candidates(words):
        if rule not in held:
            continue
        z = 0.0
        if a in rows and b in rows:
            z = (float(rows[a] @ rows[b]) - chance[0]) / chance[1]
        if z + held[rule] > 0:
            links[a, b] = z + held[rule]
    group_of = {word: frozenset([word]) for word in words}
    for a, b in sorted(links, key=lambda link: -links[link]):
        one, other = group_of[a], group_of[b]
        if one == other:
            continue
        linked = sum((u, v) in links or (v, u) in links for u, v in product(one, other))
        if 2 * linked >= len(one) * len(other):
            for word in one | other:
                group_of[word] = one | other
    return set(group_of.values())
