"""The results of tuning: every recipe tried, the recommended one, and why."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from deltavec.core.recipes import Recipe
from deltavec.evaluation.pairs import AtThreshold
from deltavec.io.artifacts.model import save_recipe
from deltavec.lab.tuning.jackknife import Gain


@dataclass(frozen=True)
class Trial:
    """One recipe on both parts.

    Attributes
    ----------
    name : str
        The name of the recipe.
    recipe : Recipe
        The recipe.
    choosing, held_back : float
        The area under the ROC curve on the half to choose on, and on the half that is held back.
    choosing_gain, held_back_gain : Gain
        The gain over the default, with its standard error.
    seconds : float
        The time of the trial, without work that it shares with earlier ones.
    thresholds : tuple of AtThreshold
        Precision and recall of some cosines, on the half that is held back.
    best_threshold : AtThreshold or None
        The cosine with the highest F1 on the half to choose on, and its precision and recall on
        the other.

    Examples
    --------
    >>> for trial in tuned.trials:  # doctest: +SKIP
    ...     print(trial.recipe, trial.score)
    """

    name: str
    recipe: Recipe
    choosing: float
    held_back: float
    choosing_gain: Gain
    held_back_gain: Gain
    seconds: float
    thresholds: tuple[AtThreshold, ...] = ()
    best_threshold: AtThreshold | None = None

    def as_record(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return vars(self) | {
            "recipe": self.recipe.entries,
            "choosing_gain": self.choosing_gain._asdict(),
            "held_back_gain": self.held_back_gain._asdict(),
            "seconds": round(self.seconds, 3),
            "thresholds": [one._asdict() for one in self.thresholds],
            "best_threshold": self.best_threshold and self.best_threshold._asdict(),
        }


class Untried(NamedTuple):
    """A recipe that was not tried, and why."""

    name: str
    reason: str


def choose(trials: Sequence[Trial]) -> tuple[Trial, str]:
    """The trial whose recipe to recommend, and why; the default is the first trial.

    It is the best on the choosing half, if it beats the default there by more than noise and is not
    worse on the half that is held back; else the default.
    """
    default = trials[0]
    best = max(trials, key=lambda trial: trial.choosing)
    gain, confirmed = best.choosing_gain, best.held_back_gain
    if len(trials) == 1:
        return default, "no other recipe was tried"
    if best is default:
        return default, "no other recipe scored higher on the choosing half"
    scored = f"{best.name} scored {gain.value:+.4f} on the choosing half"
    kept = f"the default is kept: {scored}"
    if gain.value <= gain.noise:
        return default, f"{kept}, which is within noise ({gain.noise:.4f})"
    if confirmed.value < 0:
        return default, f"{kept}, but {confirmed.value:+.4f} on the half that was held back"
    return best, f"{scored}, more than noise ({gain.noise:.4f})"


@dataclass(frozen=True)
class Tuning:
    """The results of `deltavec.tune`.

    Attributes
    ----------
    trials : tuple of Trial
        The recipes that were tried, in their order; the default is the first.
    recommended : Trial
        The one to use.
    reason : str
        Why.
    untried : tuple of Untried
        What was not tried, and why.
    unit : str
        What standard errors are over: ``group``; ``document`` where groups are too few; for pairs
        ``connected set`` (of documents, by pairs), or ``cluster`` (by those that belong together).
    sizes : dict
        Groups, documents and pairs in each half.
    vectors : str or None
        The word vectors that were given, by name.
    notes : tuple of str
        What the data did not allow.
    seconds : float
        How long tuning took.

    Examples
    --------
    >>> tuned = dv.tune("news.csv", column="text", group_column="year")  # doctest: +SKIP
    >>> tuned.recipe, tuned.gain  # doctest: +SKIP
    """

    trials: tuple[Trial, ...]
    recommended: Trial
    reason: str
    untried: tuple[Untried, ...]
    unit: str
    sizes: dict[str, dict[str, int]]
    vectors: str | None
    notes: tuple[str, ...]
    seconds: float

    @property
    def recipe(self) -> Recipe:
        """The recipe to use: ``deltavec.fit(corpus, recipe=tuning.recipe)``."""
        return self.recommended.recipe

    @property
    def default(self) -> Trial:
        """The trial of the default recipe."""
        return self.trials[0]

    @property
    def gain(self) -> Gain:
        """The gain over the default, on the half that was held back."""
        return self.recommended.held_back_gain

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recipe to a file that ``deltavec fit --recipe`` reads."""
        save_recipe(
            self.recipe,
            Path(path),
            vectors=self.vectors if self.recipe.needs_vectors else None,
            about={
                "chosen_by": "deltavec tune",
                "reason": self.reason,
                "held_back": self.recommended.held_back,
                "gain": self.gain.value,
                "standard_error": self.gain.standard_error,
            },
        )

    def as_record(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "recommended": self.recommended.name,
            "recipe": self.recipe.entries,
            "reason": self.reason,
            "gain": self.gain.value,
            "standard_error": self.gain.standard_error,
            "standard_error_over": f"{self.unit}s",
            "trials": [trial.as_record() for trial in self.trials],
            "untried": [missing._asdict() for missing in self.untried],
            "sizes": self.sizes,
            "vectors": self.vectors,
            "notes": list(self.notes),
            "seconds": round(self.seconds, 3),
        }
