"""The tables that the paper published, as results: what stands beside our own.

C. W. Schmidt, Improving a tf-idf weighted document vector embedding, arXiv 1902.09875.
"""

from __future__ import annotations

import csv
from importlib.resources import files

from deltavec.evaluation.results import Lengths, Problem, Results

# Table 2's forums hold 83.4 to 166.5 words a question on average (section 6). The paper does not
# give the others; the upper end is enough to tell that all of them are short.
LONGEST_FORUM_MEAN = 166.5

# Paired problems on which idf was ahead, for either other weight (section 5): the tables
# hold no columns of those.
IDF_AHEAD = 120

# The correlations with human judgement that M. D. Lee, B. Pincombe and M. Welsh (An empirical
# evaluation of models of text document similarity, CogSci 2005) report: the best of the models they
# tried, and one person with another.
LEE = {"LSA": 0.60, "people among themselves": 0.605}


def published(experiment: str) -> Results | None:
    """What the paper found in the same experiment; None if it has no such table."""
    if experiment == "reviews":
        return Results(
            experiment, "ROC AUC", table1(), {}, {"name": "the paper's Table 1"}, versions={}
        )
    if experiment == "duplicate-questions":
        return Results(
            experiment, "ROC AUC", table2(), {}, {"name": "the paper's Table 2"}, versions={}
        )
    return None


def table1() -> tuple[Problem, ...]:
    """Tables 1 and 3: documents of k reviews, their scores and lengths."""
    lengths = {
        row.pop("k"): Lengths(
            int(row["min_words"]), float(row["mean_words"]), int(row["max_words"])
        )
        for row in rows("table3_document_lengths.csv")
    }
    return tuple(
        Problem(name, scores(row), lengths[name])
        for row in rows("table1_tripadvisor_auc.csv")
        for name in [row.pop("k")]
    )


def table2() -> tuple[Problem, ...]:
    """Table 2: one forum a row."""
    bound = Lengths(0, LONGEST_FORUM_MEAN, 0)
    return tuple(
        Problem(name, scores(row), bound)
        for row in rows("table2_cqadupstack_auc.csv")
        for name in [row.pop("forum")]
    )


def scores(row: dict[str, str]) -> dict[str, float]:
    """The numbers of a row."""
    return {method: float(value) for method, value in row.items()}


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a file that comes with the package."""
    text = (files("deltavec.evaluation") / "published" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
