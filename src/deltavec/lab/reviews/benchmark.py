"""The paper's review benchmark: documents of one location should be closer than others.

(Schmidt, sections 4 and 5.) A document is k reviews of one location, and a problem is all pairs of
documents for one k. The score of a method is the area under the ROC curve of its cosines.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from deltavec.core.text.batches import require_reiterable
from deltavec.evaluation.groups import groups_of
from deltavec.io.corpus.corpus import read_corpus
from deltavec.lab.experiment import Documents, Task, prepare, run
from deltavec.lab.results import Results
from deltavec.lab.reviews.methods import ReviewBackground, lsa_rows, methods, review_documents
from deltavec.lab.reviews.sample import choose_locations
from deltavec.lab.reviews.settings import ReviewSettings


def review_benchmark(corpus: Any, *, column: str | None = None, **options: Any) -> Results:
    """The score of each method on documents of k reviews, for each k.

    Parameters
    ----------
    corpus
        A file of reviews, or what `deltavec.read_corpus` takes or gives, one review a row. Word
        counts and vectors come from all of it.
    column
        The column that holds the text.
    **options
        The options of `deltavec.lab.experiment.prepare`, and the fields of
        `deltavec.lab.reviews.settings.ReviewSettings`; ``group_column`` must be given.

    Returns
    -------
    Results
        One problem for each k.
    """
    source = read_corpus(corpus, column=column)
    require_reiterable(source)
    given = prepare(ReviewSettings, **options)
    settings, progress = given.settings, given.progress
    watched = source.watched(progress.reach)
    progress.stage("reading locations")
    groups = groups_of(watched, settings.group_column, settings.kind_column)
    sample = choose_locations(groups, settings)
    for note in sample.notes:
        progress.notice(note)
    each, seed = settings.documents_per_location, settings.seed
    rows = {k: sample.documents(k, each, seed) for k in settings.ks}
    needed = [*(drawn.reshape(-1) for drawn in rows.values()), lsa_rows(groups.documents, settings)]
    kept = np.unique(np.concatenate(needed))
    background = ReviewBackground(given, watched, groups.digest, kept, "reviews")

    def documents(k: int) -> Documents:
        words, labels = background.words, sample.labels(each)
        return review_documents(words, words.positions(rows[k]), labels, given.threads)

    tasks = [Task(str(k), partial(documents, k), methods(background, k)) for k in settings.ks]
    return run(
        "reviews",
        "ROC AUC",
        tasks,
        background,
        data={
            "name": Path(source.name).name,
            "sha256": groups.digest,
            "reviews": groups.documents,
            "locations": len(groups.groups),
        },
        settings={"kinds": dict(sample.kinds), "notes": list(sample.notes)},
    )
