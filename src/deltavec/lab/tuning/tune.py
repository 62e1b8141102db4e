"""Compare recipes on a user's own labelled documents, and recommend one."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from deltavec.core.arguments import require_whole
from deltavec.core.learning.cooccurrence import DEFAULT_MEMORY
from deltavec.core.learning.corpora import LocalCorpus
from deltavec.core.text.batches import Tokenizer, require_reiterable
from deltavec.core.vectors import WordVectors
from deltavec.errors import InputError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.vectors.load import load_vectors
from deltavec.lab.tuning.budget import Clock, seconds_of
from deltavec.lab.tuning.candidates import steps
from deltavec.lab.tuning.comparison import Comparison
from deltavec.lab.tuning.labels import listed_pairs, texts_of
from deltavec.lab.tuning.models import SpectralModels, VectorModels
from deltavec.lab.tuning.results import Trial, Tuning, verdict
from deltavec.lab.tuning.split import Half, split_groups, split_pairs

DOCUMENTS = 3_000


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
    documents: int = DOCUMENTS,
    seed: int = 0,
    tokenizer: Tokenizer = "words",
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    on_stage: Callable[[str], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> Tuning:
    """The recipe that suits labelled documents, chosen on one half of them, measured on the other.

    Every recipe is fitted on the whole corpus, without labels. Its score is the area under the ROC
    curve of cosines: do documents that belong together lie closer than those that do not? Each
    half is embedded as a collection of its own (`EmbeddingModel.for_collection`).

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
        How long to go on: ``"90s"``, ``"10m"``, ``"1h"``, or seconds. A recipe that would take
        longer is not begun; the default is always measured.
    documents
        How many documents to compare, in both halves together, where there are groups.
    seed
        Where random numbers begin: documents that are drawn, and the halves.
    tokenizer, threads, max_memory
        As for `deltavec.fit`.
    on_stage
        Called with a few words when each stage begins.
    on_progress
        Called with the share of the work that is done.
    on_trial
        Called after each recipe.

    Returns
    -------
    Tuning
        All trials, and the recipe to use: ``deltavec.fit(corpus, recipe=tuning.recipe)``.
    """
    clock = Clock(seconds_of(budget))
    require_labels(group_column, pairs, id_column)
    require_whole("documents", documents, 8)
    require_whole("seed", seed, 0)
    begin = on_stage or ignore
    source = read_corpus(
        corpus, column=column, format=format, encoding=encoding, delimiter=delimiter
    )
    learning = LocalCorpus(
        require_reiterable(source),
        tokenizer=tokenizer,
        units_open=tokenizer == "words",
        threads=threads,
        max_memory=max_memory,
    )
    watched = source if on_progress is None else source.watched(on_progress)
    given = loaded(vectors, begin)
    begin("reading labels")
    if group_column is not None:
        halves = split_groups(watched, group_column, documents, seed)
    else:
        by_id = id_column is not None
        listed = listed_pairs(pairs, by_id=by_id, seed=seed, encoding=encoding)
        halves = split_pairs(listed, texts_of(listed, watched, id_column), seed)
    begin("reading words")
    from_vectors = VectorModels(learning, given)
    with closing(SpectralModels(replace(learning, corpus=watched))) as spectral:
        begin("comparing recipes")
        comparison = Comparison(
            halves, spectral, from_vectors, clock, on_progress or ignore, on_trial or ignore
        )
        comparison.go_through(steps(spectral.words.statistics, vectors_given=given is not None))
    chosen = verdict(comparison.trials)
    return Tuning(
        trials=tuple(comparison.trials),
        recommended=chosen.trial,
        reason=chosen.reason,
        untried=tuple(comparison.untried),
        unit=halves.unit,
        sizes={"choosing": sizes_of(halves.choosing), "held_back": sizes_of(halves.held_back)},
        vectors=vectors_name(vectors),
        notes=halves.notes,
        seconds=clock.elapsed,
    )


def require_labels(group_column: str | None, pairs: Any, id_column: str | None) -> None:
    """Refuse what does not say in exactly one way which documents belong together."""
    if (group_column is None) == (pairs is None):
        given = "neither" if pairs is None else "both"
        raise InputError(f"expected group_column or pairs, got {given}")
    if id_column is not None and pairs is None:
        raise InputError("id_column is for pairs; leave it out with group_column")


def loaded(
    vectors: WordVectors | str | os.PathLike[str] | None, begin: Callable[[str], None]
) -> WordVectors | None:
    """The word vectors, read if they are in a file."""
    if vectors is None or isinstance(vectors, WordVectors):
        return vectors
    begin(f"loading {Path(vectors).name}")
    return load_vectors(vectors)


def vectors_name(vectors: object) -> str | None:
    """What word vectors are called; of a path only the name."""
    if vectors is None:
        return None
    return Path(vectors).name if isinstance(vectors, str | os.PathLike) else "given in memory"


def sizes_of(half: Half) -> dict[str, int]:
    """How much is compared in a half."""
    return {
        "groups": half.groups,
        "documents": len(half.texts),
        "pairs": len(half.pairs.positive),
        "positive_pairs": int(half.pairs.positive.sum()),
    }


def ignore(_: Any) -> None:
    """Tell nobody."""
