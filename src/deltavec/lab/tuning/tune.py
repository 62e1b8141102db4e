"""Compare recipes on a user's own labeled documents, and recommend one."""

from __future__ import annotations

import math
import os
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deltavec.core.arguments import require_whole
from deltavec.core.fitting import fit
from deltavec.core.learning.cooccurrence import DEFAULT_MEMORY
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import Recipe
from deltavec.core.text.batches import Tokenizer, require_reiterable
from deltavec.core.vectors import WordVectors
from deltavec.errors import CorpusError, InputError, LowCoverageWarning, SmallModelWarning
from deltavec.evaluation.pairs import at_thresholds, best_threshold
from deltavec.io.corpus.corpus import Corpus, read_corpus
from deltavec.io.vectors.load import load_vectors
from deltavec.lab.tuning.candidates import (
    DEFAULT,
    Candidate,
    at_exponents,
    combine,
    other_candidates,
)
from deltavec.lab.tuning.jackknife import Gain, JackknifedAuc, jackknife_auc
from deltavec.lab.tuning.labels import document_texts, read_pairs
from deltavec.lab.tuning.results import Trial, Tuning, Untried, choose
from deltavec.lab.tuning.split import Split, split_groups, split_pairs
from deltavec.training import train_vectors

DOCUMENTS = 3_000
UNITS = {"s": 1, "m": 60, "h": 3600}


def ignore(_: Any) -> None:
    """Do nothing: the default of every callback."""


def tune(
    corpus: Any,
    *,
    group_column: str | None = None,
    pairs: Any = None,
    id_column: str | None = None,
    column: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    vectors: WordVectors | str | os.PathLike[str] | None = None,
    budget: str | float = "10m",
    seed: int = 0,
    documents: int = DOCUMENTS,
    tokenizer: Tokenizer = "words",
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    on_stage: Callable[[str], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> Tuning:
    """The recipe that suits labeled documents, chosen on one half of them, measured on the other.

    Every recipe is fitted on the whole corpus, without labels. Its score is the area under the ROC
    curve of cosines: are documents that belong together closer than others? Each half is
    embedded as a collection of its own (`EmbeddingModel.for_collection`).

    The recipe that scores highest on the choosing half is recommended if it beats the default,
    ``spectral``, by more than noise there (about two standard errors, over groups) and is not
    worse on the other half; else the default.

    Parameters
    ----------
    corpus
        A file or a table (or anything else that `deltavec.read_corpus` takes and that can be read
        several times).
    group_column
        The column that says which group a document belongs to. All pairs of documents are
        compared; those of one group belong together.
    pairs
        Instead of groups: a file, a frame or a list of (id, id, label) with label 1 for documents
        that belong together and 0 for others. A table has the columns ``label``, ``id_a`` and
        ``id_b``, or ``label``, ``text_a`` and ``text_b``.
    id_column
        The column that holds the ids which pairs name; the rows, from 0 on, by default.
    column, format, encoding, delimiter
        As for `deltavec.read_corpus`; the encoding is that of a file of pairs too.
    vectors
        Word vectors, or their file, for the paper's recipes; by default they are trained on the
        corpus (ppmi).
    budget
        How long to go on: ``"90s"``, ``"10m"``, ``"1h"``, or seconds. No recipe is begun after
        that. The default is always measured.
    documents
        How many documents to compare, in both parts together, where there are groups.
    seed
        The seed of the draw of documents and of the split.
    tokenizer, threads, max_memory
        As for `deltavec.fit`.
    on_stage
        Called with a few words when each stage begins.
    on_progress
        Called with the fraction of the work that is done.
    on_trial
        Called after each recipe.

    Returns
    -------
    Tuning
        All trials, and the recipe to use: ``deltavec.fit(corpus, recipe=tuning.recipe)``.

    Examples
    --------
    >>> tuned = dv.tune("news.csv", column="text", group_column="year", budget=5)  # doctest: +SKIP
    >>> dv.fit("news.csv", recipe=tuned.recipe)  # doctest: +SKIP
    """
    begun = time.perf_counter()
    deadline = begun + parse_budget(budget)
    stage, reach = on_stage or ignore, on_progress or ignore
    if (group_column is None) == (pairs is None):
        got = "neither" if pairs is None else "both"
        raise InputError(f"expected group_column or pairs, got {got}")
    if id_column is not None and pairs is None:
        raise InputError("id_column is for pairs; leave it out with group_column")
    require_whole("documents", documents, 8)
    require_whole("seed", seed, 0)
    source = read_corpus(
        corpus, column=column, format=format, encoding=encoding, delimiter=delimiter
    )
    require_reiterable(source)
    watched = source.watched(reach)
    name = None if vectors is None else "given in memory"
    if isinstance(vectors, str | os.PathLike):
        name = Path(vectors).name
        stage(f"loading {name}")
        vectors = load_vectors(vectors)
    stage("reading labels")
    if group_column is not None:
        split = split_groups(watched, group_column, documents, seed)
    else:
        listed = read_pairs(pairs, by_id=id_column is not None, seed=seed, encoding=encoding)
        split = split_pairs(listed, document_texts(listed, watched, id_column), seed)
    options: dict[str, Any] = {"tokenizer": tokenizer, "threads": threads, "max_memory": max_memory}
    if vectors is not None:
        fit(source, vectors, "unit-sum", **options)  # refuses vectors that know no word
    stage("comparing recipes")
    comparison = Comparison(source, split, options, vectors, deadline, on_trial or ignore)
    default = at_exponents(DEFAULT)[0]
    model = comparison.attempt(default)
    assert model is not None  # the default is always tried
    others = other_candidates(model.statistics, vectors_given=vectors is not None)
    for done, candidate in enumerate(others, 2):
        comparison.attempt(candidate)
        reach(done / (1 + len(others)))
    best = combine({trial.recipe: trial.choosing for trial in comparison.trials})
    for candidate in at_exponents(best) if best else []:
        comparison.attempt(candidate)
    recommended, reason = choose(comparison.trials)
    return Tuning(
        trials=tuple(comparison.trials),
        recommended=recommended,
        reason=reason,
        untried=tuple(comparison.untried),
        unit=split.unit,
        sizes={"choosing": split.choosing.sizes, "held_back": split.held_back.sizes},
        vectors=name,
        notes=split.notes,
        seconds=time.perf_counter() - begun,
    )


@dataclass
class Comparison:
    """Recipes tried one after the other on both parts, until the deadline."""

    corpus: Corpus
    split: Split
    options: dict[str, Any]
    vectors: WordVectors | None
    deadline: float
    on_trial: Callable[[Trial], None]
    trials: list[Trial] = field(default_factory=list)
    untried: list[Untried] = field(default_factory=list)
    default: list[JackknifedAuc] = field(default_factory=list)

    def attempt(self, candidate: Candidate) -> EmbeddingModel | None:
        """Fit and measure a recipe if there is time; the first is the default and always tried."""
        begun = time.perf_counter()
        if self.trials and begun > self.deadline:
            self.untried.append(Untried(candidate.name, "no time left in the budget"))
            return None
        try:
            model = self._fit(candidate.recipe)
        except CorpusError as error:
            if not self.trials:
                raise
            self.untried.append(Untried(candidate.name, str(error)))
            return None
        parts, threads = self.split[:2], self.options["threads"]
        cosines = []
        for half in parts:
            vectors = model.for_collection(half.texts, threads=threads).embed(
                half.texts, threads=threads
            )
            cosines.append(half.pairs.cosines(vectors, threads))
        areas = [jackknife_auc(own, half.pairs) for own, half in zip(cosines, parts, strict=True)]
        self.default = self.default or areas
        best = best_threshold(cosines[0], parts[0].pairs.positive)
        positive = parts[1].pairs.positive
        trial = Trial(
            candidate.name,
            candidate.recipe,
            areas[0].whole,
            areas[1].whole,
            Gain.between(areas[0], self.default[0]),
            Gain.between(areas[1], self.default[1]),
            time.perf_counter() - begun,
            at_thresholds(cosines[1], positive),
            at_thresholds(cosines[1], positive, [best])[0],
        )
        self.trials.append(trial)
        self.on_trial(trial)
        return model

    def _fit(self, recipe: Recipe) -> EmbeddingModel:
        with warnings.catch_warnings():
            # The model that is chosen is fitted again, and warns then.
            warnings.simplefilter("ignore", SmallModelWarning)
            warnings.simplefilter("ignore", LowCoverageWarning)
            if not recipe.needs_vectors:
                return fit(self.corpus, recipe=recipe, **self.options)
            self.vectors = self.vectors or train_vectors(self.corpus, **self.options)
            return fit(self.corpus, self.vectors, recipe, **self.options)


def parse_budget(budget: str | float) -> float:
    """The seconds of a budget such as ``90s``, ``10m`` or ``1h``, or of a number.

    Examples
    --------
    >>> parse_budget("1.5m")
    90.0
    """
    seconds: Any = budget
    if isinstance(budget, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh])", budget.strip().lower())
        seconds = float(match[1]) * UNITS[match[2]] if match else None
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 < seconds < math.inf:
        raise InputError(
            "budget must be a time above 0 such as '90s', '10m' or '1h', or a number of seconds, "
            f"got {budget!r}"
        )
    return float(seconds)
