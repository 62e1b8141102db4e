r"""Generated text, for when there is no real one: Zipf's law over made-up words.

The word of rank r is drawn with probability proportional to :math:`1 / (r + 2.7)` (Mandelbrot's
form of the law, exponent 1), from `WORDS` words. A word is made of consonant and vowel pairs, the
frequent ones shorter, as in a language. A document's length is log-normal, with a mean of about
`MEAN_LENGTH` words and a standard deviation of 0.8 in the logarithm, and never below 1. Every
twelfth word or so ends a sentence (a full stop, and the next word begins with a capital), every
eighth is followed by a comma.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

WORDS = 60_000
MEAN_LENGTH = 200
SPREAD = 0.8
SHIFT = 2.7
CONSONANTS = "bcdfghjklmnprstvwz"
VOWELS = "aeiou"
SYLLABLES = [consonant + vowel for consonant in CONSONANTS for vowel in VOWELS]
MAKE_UP = (
    f"generated: {WORDS:,} made-up words by Zipf's law (exponent 1, shift {SHIFT}), "
    f"log-normal lengths of {MEAN_LENGTH} words in the mean"
)


def word(rank: int) -> str:
    """The made-up word of a rank, all different, the first ones shorter."""
    pieces = []
    number = rank + 1
    while number > 0:  # digits from 1 on rather than from 0, so that none leads in vain
        number, place = divmod(number - 1, len(SYLLABLES))
        pieces.append(SYLLABLES[place])
    return "".join(pieces)


def probabilities(words: int = WORDS) -> npt.NDArray[np.float64]:
    """How often the word of each rank is drawn."""
    shares = 1 / (np.arange(words) + 1 + SHIFT)
    return shares / shares.sum()


def lengths(documents: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """How many words each document has."""
    # A log-normal variable has the mean exp(mu + sigma^2 / 2).
    middle = math.log(MEAN_LENGTH) - SPREAD**2 / 2
    return np.maximum(1, rng.lognormal(middle, SPREAD, documents)).astype(np.int64)


def zipf_documents(documents: int, *, seed: int = 0) -> list[str]:
    """So many documents; the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    spelled = forms([word(rank) for rank in range(WORDS)])
    edges = np.cumsum(probabilities())
    texts = []
    for length in lengths(documents, rng).tolist():
        # Rounding may leave the last edge a little below 1.
        ranks = np.minimum(np.searchsorted(edges, rng.random(length)), WORDS - 1)
        kinds = kinds_of_word(rng.random(length))
        texts.append(" ".join(spelled[ranks + WORDS * kinds].tolist()))
    return texts


def forms(words: list[str]) -> npt.NDArray[np.object_]:
    """Each word plain, then each with a comma, a full stop, and capitalised."""
    written = [
        *words,
        *(f"{one}," for one in words),
        *(f"{one}." for one in words),
        *(one.capitalize() for one in words),
    ]
    return np.array(written, dtype=object)


def kinds_of_word(draws: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """0 plain, 1 with a comma, 2 with a full stop, 3 capitalised: the word after a full stop."""
    stops = draws < 1 / 12
    begins = np.concatenate([[True], stops[:-1]])
    stops &= ~begins  # the word that begins a sentence does not end it
    begins = np.concatenate([[True], stops[:-1]])
    commas = draws > 1 - 1 / 8
    return np.select([begins, stops, commas], [3, 2, 1])
