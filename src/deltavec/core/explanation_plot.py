"""An explanation as a picture: a bar for each word, by its share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deltavec.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from deltavec.core.explain import Explanation, WordShare

PULLS, PUSHES = "#268bd2", "#dc6428"
LONGEST = 24  # characters of a word


def plotted(explanation: Explanation, words: int) -> Any:
    """Two matplotlib axes side by side, with the strongest words of each text."""
    if isinstance(words, bool) or not isinstance(words, int) or words < 1:
        raise InputError(f"words must be a whole number from 1 on, got {words!r}")
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingDependencyError(
            "explanation.plot() needs matplotlib: pip install 'deltavec[plots]'"
        ) from None
    height = 1.2 + 0.26 * words
    figure, axes = pyplot.subplots(1, 2, figsize=(9, height), sharex=True, layout="constrained")
    figure.suptitle(f"cosine {explanation.cosine:+.3f}")
    for name, ax, shares in zip(
        "AB", axes, (explanation.words_a, explanation.words_b), strict=True
    ):
        bars(ax, shares, words)
        ax.set_title(f"text {name}")
        ax.set_xlabel("share of the cosine")
    return axes


def bars(ax: Any, shares: Sequence[WordShare], words: int) -> None:
    """Draw the strongest words, the largest share on top."""
    strongest = sorted(shares, key=lambda word: -abs(word.share))[:words]
    shown = sorted(strongest, key=lambda word: word.share)
    places = range(len(shown))
    colours = [PULLS if word.share >= 0 else PUSHES for word in shown]
    ax.barh(places, [word.share for word in shown], color=colours)
    # A dollar sign would begin a formula.
    ax.set_yticks(places, [word.word[:LONGEST].replace("$", r"\$") for word in shown])
    ax.axvline(0, color="gray", linewidth=0.8)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
