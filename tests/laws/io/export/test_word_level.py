"""The exported tokenizer finds the words that ours finds, in any text."""

import json

import numpy as np
import pytest
from hypothesis import given

from deltavec.core.text.tokenize import words
from deltavec.io.export.export import shifts_of, word_level_tokenizer
from support.strategies import texts

tokenizers = pytest.importorskip("tokenizers", reason="pip install model2vec brings it")

RULES = ("words", "whitespace")
READ = {
    name: tokenizers.Tokenizer.from_str(json.dumps(word_level_tokenizer(name, [])))
    for name in RULES
}


def pieces(text: str, name: str) -> list[str]:
    """What tokenizers makes of a text."""
    read = READ[name]
    lowered = read.normalizer.normalize_str(text) if read.normalizer else text
    return [piece for piece, _ in read.pre_tokenizer.pre_tokenize_str(lowered)]


@pytest.mark.parametrize("name", RULES)
@given(text=texts())
def test_every_text_is_parted_alike(name: str, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()  # tokenizers takes no half of a surrogate pair
    assert pieces(text, name) == words(text, name)


@pytest.mark.parametrize("name", RULES)
def test_characters_are_read_alike_wherever_the_table_changes(name: str) -> None:
    shifts = shifts_of(name)
    edges = np.flatnonzero(np.diff(shifts))
    codes = np.unique(np.concatenate([edges, edges + 1, np.flatnonzero(shifts > 0)]))
    codes = codes[(codes < 0xD800) | (codes >= 0xE000)]
    line = " ".join(f"a{chr(code)}B" for code in codes.tolist())
    assert pieces(line, name) == words(line, name)
