"""Recipes tried one after the other on both halves, as long as the budget lasts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from deltavec.core.model import EmbeddingModel
from deltavec.core.spectral import usual_window
from deltavec.errors import CorpusError
from deltavec.evaluation.tuning.areas import Areas, Gain, areas
from deltavec.evaluation.tuning.budget import Clock, Pace
from deltavec.evaluation.tuning.candidates import Candidate, Step, combined, spectral_step
from deltavec.evaluation.tuning.halves import Half, Halves
from deltavec.evaluation.tuning.models import SpectralModels, VectorModels
from deltavec.evaluation.tuning.results import Trial, Untried

NO_TIME = "no time left in the budget"
TOGETHER = "the best values together"


class Measured(NamedTuple):
    """The areas of one recipe on both halves."""

    choosing: Areas
    held_back: Areas


class Comparison:
    """What is compared, and what came of it so far.

    Parameters
    ----------
    halves
        The labelled documents.
    spectral, from_vectors
        Where models come from.
    pace
        How long things take.
    clock
        What is left of the budget.
    threads
        How many cores to use.

    Attributes
    ----------
    trials : list of Trial
        What was tried, in its order.
    untried : list of Untried
        What was not.
    """

    def __init__(
        self,
        halves: Halves,
        spectral: SpectralModels,
        from_vectors: VectorModels,
        pace: Pace,
        clock: Clock,
        threads: int | None,
    ) -> None:
        self.halves, self.spectral, self.from_vectors = halves, spectral, from_vectors
        self.pace, self.clock, self.threads = pace, clock, threads
        self.trials: list[Trial] = []
        self.untried: list[Untried] = []
        self._default: Measured | None = None
        self._reached = 0.0

    def go_through(
        self,
        steps: Sequence[Step],
        reach: Callable[[float], None],
        report: Callable[[Trial], None],
    ) -> None:
        """Try all steps for which there is time, and at last the best values together."""
        for place, step in enumerate(steps):
            ahead = sum(one.seconds(self.pace) for one in steps[place + 1 :])
            self._try(step, ahead, reach, report)
        tried = [Candidate(trial.name, trial.recipe) for trial in self.trials]
        together = combined({trial.name: trial.choosing for trial in self.trials}, tried)
        if together is not None:
            window = together.window or usual_window(self.spectral.statistics)
            self._try(spectral_step(together, window), 0.0, reach, report, TOGETHER)

    def _try(
        self,
        step: Step,
        ahead: float,
        reach: Callable[[float], None],
        report: Callable[[Trial], None],
        called: str | None = None,
    ) -> None:
        for place, candidate in enumerate(step.candidates):
            rest = step._replace(candidates=step.candidates[place:])
            name = called if called and place == 0 else rest.name
            cost = rest.seconds(self.pace) if place == 0 else self.pace.comparing
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
            report(self.trials[-1])
            left = len(rest.candidates) - 1
            # Estimates change, and a bar should not go back.
            share = self.clock.fraction(ahead + left * self.pace.comparing)
            self._reached = max(self._reached, share)
            reach(self._reached)

    def _trial(self, candidate: Candidate) -> Trial:
        begun = time.perf_counter()
        recipe = candidate.recipe
        if recipe.form == "spectral":
            model = self.spectral.model(recipe)
        else:
            if not self.from_vectors.ready:
                self.spectral.close()
            model = self.from_vectors.model(recipe)
        fitted = time.perf_counter()
        measured = Measured(
            self._measured(model, self.halves.choosing),
            self._measured(model, self.halves.held_back),
        )
        ended = time.perf_counter()
        self.pace.comparing = ended - fitted
        default = self._default = self._default or measured
        return Trial(
            candidate.name,
            recipe,
            measured.choosing.whole,
            measured.held_back.whole,
            Gain.between(measured.choosing, default.choosing),
            Gain.between(measured.held_back, default.held_back),
            ended - begun,
        )

    def _measured(self, model: EmbeddingModel, half: Half) -> Areas:
        collection = model.for_collection(half.texts, threads=self.threads)
        vectors = collection.embed(half.texts, threads=self.threads)
        return areas(half.pairs.cosines(vectors, self.threads), half.pairs)
