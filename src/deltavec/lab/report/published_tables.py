"""The tables that the paper published, as results, to compare with ours.

C. W. Schmidt, Improving a tf-idf weighted document vector embedding, arXiv 1902.09875.
"""

from __future__ import annotations

import csv
from importlib.resources import files

from deltavec.lab.results import Lengths, Problem, Results

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
    tables = {"reviews": table1, "duplicate-questions": table2}
    if experiment not in tables:
        return None
    return Results(experiment, "ROC AUC", tables[experiment](), {}, {}, versions={})


def table1() -> tuple[Problem, ...]:
    """Tables 1 and 3: documents of k reviews, their scores and lengths."""
    lengths = {
        k: Lengths(int(row["min_words"]), row["mean_words"], int(row["max_words"]))
        for k, row in rows("table3_document_lengths.csv").items()
    }
    scores = rows("table1_tripadvisor_auc.csv")
    return tuple(Problem(k, row, lengths[k]) for k, row in scores.items())


def table2() -> tuple[Problem, ...]:
    """Table 2: one forum a row."""
    bound = Lengths(0, LONGEST_FORUM_MEAN, 0)
    scores = rows("table2_cqadupstack_auc.csv")
    return tuple(Problem(forum, row, bound) for forum, row in scores.items())


def rows(name: str) -> dict[str, dict[str, float]]:
    """The numbers of a file that comes with the package, by the first column of each row."""
    text = (files("deltavec.lab.report") / "published" / name).read_text(encoding="utf-8")
    (_, *columns), *lines = csv.reader(text.splitlines())
    return {row: dict(zip(columns, map(float, numbers), strict=True)) for row, *numbers in lines}
