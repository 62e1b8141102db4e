"""Recipes tried one after the other on both halves, as long as the budget lasts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from deltavec.core.learning.spectral import usual_window
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import SpectralRecipe, WeightedRecipe
from deltavec.errors import CorpusError
from deltavec.evaluation.thresholds import at_thresholds, best_threshold
from deltavec.lab.tuning.budget import Clock
from deltavec.lab.tuning.candidates import Candidate, Step, combined, spectral_step
from deltavec.lab.tuning.jackknife import Gain, JackknifedAuc, jackknifed_auc
from deltavec.lab.tuning.models import SpectralModels, VectorModels
from deltavec.lab.tuning.results import Trial, Untried
from deltavec.lab.tuning.split import Half, Split

NO_TIME = "no time left in the budget"
TOGETHER = "the best values together"


@dataclass
class Comparison:
    """What is compared, and what came of it so far.

    Attributes
    ----------
    halves : Split
        The labelled documents.
    spectral, from_vectors
        Where models come from.
    clock : Clock
        What is left of the budget.
    reach : callable
        Told the share of the work that is done.
    report : callable
        Told what each trial found.
    trials : list of Trial
        What was tried, in its order.
    untried : list of Untried
        What was not.
    """

    halves: Split
    spectral: SpectralModels
    from_vectors: VectorModels
    clock: Clock
    reach: Callable[[float], None]
    report: Callable[[Trial], None]
    trials: list[Trial] = field(default_factory=list)
    untried: list[Untried] = field(default_factory=list)
    _default: tuple[JackknifedAuc, JackknifedAuc] | None = None
    _reached: float = 0.0

    def go_through(self, steps: Sequence[Step]) -> None:
        """Try all steps for which there is time, and at last the best values together."""
        for place, step in enumerate(steps):
            ahead = sum(one.seconds(self.spectral.pace) for one in steps[place + 1 :])
            self._try(step, ahead)
        together = combined({trial.recipe: trial.choosing for trial in self.trials})
        if together is not None:
            window = together.window or usual_window(self.spectral.words.statistics)
            self._try(spectral_step(together, window), 0.0, TOGETHER)

    def _try(self, step: Step, ahead: float, called: str | None = None) -> None:
        pace = self.spectral.pace
        for place, candidate in enumerate(step.candidates):
            rest = step._replace(candidates=step.candidates[place:])
            name = called if called and place == 0 else rest.name
            cost = rest.seconds(pace) if place == 0 else pace.comparing
            # The default is the first of all, and is tried whatever it costs.
            if self.trials and cost > self.clock.left:
                self.untried.append(Untried(name, NO_TIME))
                return
            try:
                self.trials.append(self._trial(candidate))
            except CorpusError as error:
                if not self.trials:
                    raise
                self.untried.append(Untried(name, str(error)))
                return
            self.report(self.trials[-1])
            left = len(rest.candidates) - 1
            # Estimates change, and a bar should not go back.
            share = self.clock.fraction(ahead + left * pace.comparing)
            self._reached = max(self._reached, share)
            self.reach(self._reached)

    def _trial(self, candidate: Candidate) -> Trial:
        begun = time.perf_counter()
        model = self._model(candidate.recipe)
        fitted = time.perf_counter()
        halves = (self.halves.choosing, self.halves.held_back)
        cosines = [self._cosines(model, half) for half in halves]
        choosing, held_back = (
            jackknifed_auc(own, half.pairs) for own, half in zip(cosines, halves, strict=True)
        )
        best = best_threshold(cosines[0], halves[0].pairs.positive)
        ended = time.perf_counter()
        self.spectral.pace.comparing = ended - fitted
        default = self._default = self._default or (choosing, held_back)
        return Trial(
            candidate.name,
            candidate.recipe,
            choosing.whole,
            held_back.whole,
            Gain.between(choosing, default[0]),
            Gain.between(held_back, default[1]),
            ended - begun,
            at_thresholds(cosines[1], halves[1].pairs.positive),
            at_thresholds(cosines[1], halves[1].pairs.positive, [best])[0],
        )

    def _model(self, recipe: SpectralRecipe | WeightedRecipe) -> EmbeddingModel:
        if isinstance(recipe, SpectralRecipe):
            return self.spectral.model(recipe)
        if not self.from_vectors.ready:
            self.spectral.close()
        return self.from_vectors.model(recipe)

    def _cosines(self, model: EmbeddingModel, half: Half) -> npt.NDArray[np.float32]:
        threads = self.spectral.corpus.threads
        collection = model.for_collection(half.texts, threads=threads)
        return half.pairs.cosines(collection.embed(half.texts, threads=threads), threads)
