"""How many words of a collection its model knows, and when it should be fitted anew.

What is added uses the model as it is. As the text drifts away from what the model was fitted on,
more and more of its words are unknown, and weigh nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from deltavec.core.statistics import CorpusStatistics

LARGEST_LOSS = 0.05  # of coverage against the fitting corpus
WORDS_TO_JUDGE = 1_000  # below it, coverage is chance


@dataclass(frozen=True)
class TextCounts:
    """Documents and words of some text, and how many of them a model knows; they add."""

    documents: int = 0
    tokens: int = 0
    known_tokens: int = 0
    unknown_documents: int = 0

    @classmethod
    def of(cls, statistics: CorpusStatistics) -> TextCounts:
        """What these statistics come to."""
        return cls(
            statistics.documents,
            statistics.tokens,
            statistics.known_tokens,
            statistics.unknown_documents,
        )

    def __add__(self, other: TextCounts) -> TextCounts:
        return TextCounts(
            self.documents + other.documents,
            self.tokens + other.tokens,
            self.known_tokens + other.known_tokens,
            self.unknown_documents + other.unknown_documents,
        )

    @property
    def coverage(self) -> float | None:
        """The share of the words that are known; None of no words at all."""
        return self.known_tokens / self.tokens if self.tokens else None


def refit_reason(fitted: TextCounts, built: TextCounts, added: TextCounts) -> str | None:
    """Why the model should be fitted anew and the collection built from it, None if it need not.

    Due when the text of the collection, or what was added to it, is covered more than 5 points
    less than the fitting corpus (judged from 1,000 words on), or when more documents were added
    than it was built from.

    Examples
    --------
    >>> refit_reason(
    ...     TextCounts(9, 9000, 9000), TextCounts(9, 9000, 8900), TextCounts(1, 2000, 1700)
    ... )
    'the model knows 85.0 % of the words added, and 100.0 % of those it was fitted on'
    """
    known = fitted.coverage or 0.0
    for name, text in (("added", added), ("of the collection", built)):
        coverage = text.coverage
        if coverage is None or text.tokens < WORDS_TO_JUDGE:
            continue
        if known - coverage > LARGEST_LOSS:
            return (
                f"the model knows {100 * coverage:.1f} % of the words {name}, and "
                f"{100 * known:.1f} % of those it was fitted on"
            )
    if added.documents > built.documents:
        return (
            f"{added.documents:,} documents were added to the {built.documents:,} that the "
            "collection was built from"
        )
    return None
