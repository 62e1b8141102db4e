"""Our rules for words as a ``tokenizer.json``, which the library tokenizers reads.

Its own classes of characters belong to its version of Unicode, and ours to another (see
``core/text/unicode14.txt``). So the patterns name every range of our table. A document is then
tokenized as by `deltavec.core.text.tokenize`, but for one thing: pieces of that library cannot
overlap, and two neighbors of a script without spaces are a unit of ours beside each of the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.model import EmbeddingModel
from deltavec.core.text.rules import (
    MARK,
    SEPARATOR,
    UNSPACED,
    are_unspaced,
    is_folded,
    rule,
    units_of,
)
from deltavec.errors import ModelError

UNKNOWN = "[UNK]"
# Its lower case has two code points, so that it stays as it is: hidden while others are lowered.
KEPT, HIDDEN = "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}", "\ue000"
ASCII = 128
INSTEAD = "export a table of its rows instead (word2vec or safetensors)"
MOST_PAIRS = 0.01


def require_word_level(model: EmbeddingModel) -> None:
    """Refuse a model whose units no pattern finds."""
    if not isinstance(model.tokenizer, str):
        raise ModelError(
            f"this model's words are found by code ({model.tokenizer_name}), which a "
            f"tokenizer.json cannot hold: {INSTEAD}, or fit with tokenizer='words'"
        )
    if is_folded(model.tokenizer):
        raise ModelError(
            "this model's texts are written in one way first (normalization 'folded'), which no "
            f"tokenizer.json does: {INSTEAD}, or fit with normalization='none'"
        )
    units = units_of(model.tokenizer)
    if units.gram:
        raise ModelError(
            f"this model counts {units.name}, runs of characters that overlap, and the pieces of a "
            f"tokenizer.json cannot: {INSTEAD}, or fit with units='words'"
        )
    share = share_of_pairs(model)
    if share > MOST_PAIRS:
        raise ModelError(
            f"{share:.1%} of what this model counts are pairs of neighbors in a script without "
            f"spaces, which overlap, and the pieces of a tokenizer.json cannot: {INSTEAD}"
        )


def share_of_pairs(model: EmbeddingModel) -> float:
    """The share of the known words of the fitting corpus that a ``tokenizer.json`` does not find.

    These are pairs of neighbors in a script without spaces.
    """
    if model.tokenizer != "words":
        return 0.0
    counts = model.statistics.token_counts
    pairs = [
        number
        for number, word in enumerate(model.vocabulary.words)
        if not word.isascii() and are_unspaced(word).sum() > 1
    ]
    return float(counts[pairs].sum() / max(counts.sum(), 1))


def word_level_tokenizer(name: str, words: Sequence[str]) -> dict[str, Any]:
    """What a ``tokenizer.json`` holds for the rule of this name and these words.

    The id of a word is its place plus one; 0 is that of all unknown ones.
    """
    shifts = shifts_of(name)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": lower_case(shifts) if shifts.max() > 0 else None,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": word_pattern(shifts)},
            "behavior": "Removed",
            "invert": True,  # what is not matched is removed
        },
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: place for place, word in enumerate([unknown(words), *words])},
            "unk_token": unknown(words),
        },
    }


def unknown(words: Sequence[str]) -> str:
    """A name for unknown words that is none of the words."""
    name, known = UNKNOWN, set(words)
    while name in known:
        name = f"[{name}]"
    return name


def shifts_of(name: str) -> npt.NDArray[np.int32]:
    """For each code point its shift to lower case, or what it is instead."""
    table = rule(name)
    shifts: npt.NDArray[np.int32] = table.pages[table.page_of].reshape(-1)
    return shifts


def word_pattern(shifts: npt.NDArray[np.int32]) -> str:
    """The pattern of a word: of a script without spaces, a character and its marks."""
    spaced = f"[{ranges((shifts != SEPARATOR) & (shifts != UNSPACED))}]+"
    if not (shifts == UNSPACED).any():
        return spaced
    return f"[{ranges(shifts == UNSPACED)}][{ranges(shifts == MARK)}]*|{spaced}"


def lower_case(shifts: npt.NDArray[np.int32]) -> dict[str, Any]:
    """Lower case, code point by code point, of what our table knows.

    What it does not know goes first: of a letter that came to Unicode later, the lower case may be
    one that we know.
    """
    others = shifts == SEPARATOR
    others[:ASCII] = False  # no capitals, and many
    steps = [
        {"type": "Replace", "pattern": {"Regex": f"[{ranges(others)}]"}, "content": " "},
        {"type": "Replace", "pattern": {"String": KEPT}, "content": HIDDEN},
        {"type": "Lowercase"},
        {"type": "Replace", "pattern": {"String": HIDDEN}, "content": KEPT},
    ]
    return {"type": "Sequence", "normalizers": steps}


def ranges(chosen: npt.NDArray[np.bool_]) -> str:
    """The chosen code points, as the inside of a class in a pattern."""
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
    firsts, ends = edges[::2].tolist(), edges[1::2].tolist()
    return "".join(
        f"\\x{{{first:X}}}-\\x{{{end - 1:X}}}" for first, end in zip(firsts, ends, strict=True)
    )
