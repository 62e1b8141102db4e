"""The paper's review benchmark: documents of one location should lie closer than those of two.

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
from deltavec.lab.experiment import Given, Task, run
from deltavec.lab.results import Results
from deltavec.lab.reviews.methods import ReviewBackground, ReviewDocuments, lsa_rows, methods
from deltavec.lab.reviews.sample import chosen
from deltavec.lab.reviews.settings import ReviewSettings


def review_benchmark(
    corpus: Any,
    *,
    column: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    **options: Any,
) -> Results:
    """What each method scores on documents of k reviews, for each k.

    Parameters
    ----------
    corpus
        A file of reviews (or anything else that `deltavec.read_corpus` takes), one review a row.
        Word counts and vectors come from all of it.
    column, format, encoding, delimiter
        As for `deltavec.read_corpus`.
    **options
        What `deltavec.lab.experiment.Given.of` takes, and the fields of
        `deltavec.lab.reviews.settings.ReviewSettings`; ``group_column`` must be given.

    Returns
    -------
    Results
        One problem for each k.
    """
    source = read_corpus(
        corpus, column=column, format=format, encoding=encoding, delimiter=delimiter
    )
    require_reiterable(source)
    given = Given.of(ReviewSettings, **options)
    asked, progress = given.settings, given.progress
    watched = source.watched(progress.reach)
    progress.stage("reading locations")
    with given.clock.timed("locations"):
        groups = groups_of(watched, asked.group_column, asked.kind_column)
    each = asked.documents_per_location
    sample = chosen(
        groups,
        asked.locations,
        asked.reviews_needed,
        by_kind=asked.kind_column is not None,
        needed_for=f"{max(asked.ks)} for each of {each} documents",
    )
    for note in sample.notes:
        progress.notice(note)
    rows = {k: sample.documents(k, each, asked.seed) for k in asked.ks}
    needed = [*(drawn.reshape(-1) for drawn in rows.values()), lsa_rows(groups.documents, asked)]
    background = ReviewBackground(
        given, watched, groups.digest, np.unique(np.concatenate(needed)), "reviews"
    )
    drawn_from = {
        "data": groups.digest,
        "locations": [location.name for location in sample.locations],
        "documents_per_location": each,
        "seed": asked.seed,
        "tokenizer": asked.tokenizer,
    }

    def documents(k: int) -> ReviewDocuments:
        words = background.words
        return ReviewDocuments(words, words.places(rows[k]), sample.labels(each), given.threads)

    tasks = [
        Task(
            str(k),
            f"k{k:02}",
            drawn_from | {"k": k},
            partial(documents, k),
            methods(background, k),
        )
        for k in asked.ks
    ]
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
