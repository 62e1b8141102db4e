"""Write the tables into README.md and the guide, and draw the plot, from ``results``.

A table stands between ``<!-- NAME -->`` and ``<!-- end NAME -->`` and is replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quality_plot import bars, drawn

HERE = Path(__file__).parent
GUIDES = HERE.parents[1] / "docs" / "guides"
KINDS = ("hotel", "restaurant", "attraction")
FORUMS = ("askubuntu", "meta_stackexchange", "english_stackexchange")
REVIEWS = tuple(f"{kind} k={k}" for kind in KINDS for k in (1, 4, 12))
OTHERS = ("newsgroups k=1", "newsgroups k=4", *FORUMS, "lee")
SMALL = ("hotel k=1", "restaurant k=1", "attraction k=1", "newsgroups k=1", *FORUMS, "lee")
SINGLE = tuple(f"{kind} k=1" for kind in KINDS)
GROUPS = {
    **{f"reviews k={k}": tuple(f"{kind} k={k}" for kind in KINDS) for k in (1, 4, 12)},
    "newsgroups": ("newsgroups k=1", "newsgroups k=4"),
    "questions": FORUMS,
    "Lee": ("lee",),
}
METHODS = (
    "unit-sum, word2vec",
    "idf-delta-pca, word2vec",
    "idf-delta-pca, ppmi",
    "best of the paper's 18, word2vec",
    "best of the paper's 18, ppmi",
    "sparse tf-idf",
    "sparse tf-idf, idf squared",
    "LSA 300",
    "doc2vec",
    "doc2vec, component removed",
    "potion-base-8M",
    "potion-base-8M, component removed",
    "MiniLM",
    "MiniLM, component removed",
    "guessed strengths, as fitted",
    "guessed strengths",
    "spectral, as fitted",
    "spectral",
)

# Names on the plot of search, and where they are in the result files.
JUDGED = ("cranfield", "cacm", "medline", "npl")
ENGINES = {
    "deltavec": "deltavec hybrid",
    "BM25 (bm25s, Snowball)": "bm25s, Snowball",
    "LanceDB hybrid": "LanceDB hybrid",
    "tantivy": "tantivy",
}
EMBEDDERS = {
    "MiniLM": "MiniLM",
    "sparse tf-idf": "tf-idf",
    "potion-base-8M": "potion",
    "LSA 300": "LSA",
}

Scores = dict[str, dict[str, list[float]]]


def share(value: float) -> str:
    """A score with three digits, without its leading zero."""
    return f"{value:.3f}".replace("0.", ".", 1)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    lines = [head, ["---", *("--:" for _ in head[1:])], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def score_table(scores: Scores, problems: Sequence[str]) -> str:
    """Scores with their standard errors in units of the last digit."""
    rows = []
    for method in METHODS:
        found = scores.get(method, {})
        if not any(problem in found for problem in problems):
            continue
        cells = [
            f"{share(found[problem][0])} ({round(1000 * (found[problem][1] or 0))})"
            if problem in found
            else "-"
            for problem in problems
        ]
        rows.append([f"**{method}**" if method == "spectral" else method, *cells])
    return table(["method", *problems], rows)


def mean(found: dict[str, list[float]], problems: Sequence[str]) -> float | None:
    """The mean score over problems; None if one was not run."""
    if not all(problem in found for problem in problems):
        return None
    return sum(found[problem][0] for problem in problems) / len(problems)


# What users read: the default recipe is the product.
SHOWN = {
    "spectral": "deltavec",
    "spectral, as fitted": "deltavec, as fitted",
    "guessed strengths": "without split-half",
    "guessed strengths, as fitted": "without split-half, as fitted",
}


def summary_table(scores: dict[str, Scores], speed: dict[str, Any]) -> str:
    """Quality and speed side by side; a star for fewer documents."""
    rows = []
    for method in METHODS:
        if method.startswith("best of") or method == "MiniLM, component removed":
            continue
        star = "*" if method == "MiniLM" else ""
        found = scores["small" if star else "own fit"][method]
        means = [mean(found, problems) for problems in GROUPS.values()]
        figures = speed.get(re.sub(", (component removed|as fitted)$", "", method), {})
        rate, fit, size = map(figures.get, ("documents_per_second", "fit_seconds", "bytes"))
        rows.append(
            [
                "**deltavec**" if method == "spectral" else SHOWN.get(method, method),
                *("-" if one is None else share(one) + star for one in means),
                "-" if rate is None else f"{float(f'{rate:.2g}'):,.0f}",
                "-" if fit is None else f"{fit:.0f} s",
                "-" if size is None else f"{size / 1e6:.0f} MB",
            ]
        )
    return table(["method", *GROUPS, "documents/s", "fit", "size"], rows)


def plots() -> dict[str, str]:
    """The plots of the benchmarks page, by their file names."""
    scores = json.loads((HERE / "results/comparison.json").read_text("utf-8"))["scores"]
    speed = json.loads((HERE / "results/speed.json").read_text("utf-8"))["methods"]
    quality = {
        method: mean(scores["small" if method == "MiniLM" else "own fit"][method], SINGLE)
        for method in speed
    }
    results = HERE.parents[1] / "benchmarks" / "results"
    engines = json.loads((results / "retrieval_peers.json").read_text("utf-8"))
    embedders = json.loads((results / "retrieval_embedders.json").read_text("utf-8"))
    search = {
        **{name: [engines[one][key]["nDCG@10"] for one in JUDGED] for name, key in ENGINES.items()},
        **{name: [embedders[one][key] for one in JUDGED] for name, key in EMBEDDERS.items()},
    }
    means = {name: sum(values) / len(values) for name, values in search.items()}
    return {"quality.svg": drawn(speed, quality), "search.svg": bars(means)}


def main() -> None:
    scores = json.loads((HERE / "results/comparison.json").read_text("utf-8"))["scores"]
    speed = json.loads((HERE / "results/speed.json").read_text("utf-8"))["methods"]
    tables = {
        "summary": summary_table(scores, speed),
        "reviews": score_table(scores["own fit"], REVIEWS),
        "others": score_table(scores["own fit"], OTHERS),
        "mixed": score_table(scores["mixed file"], REVIEWS),
        "minilm": score_table(scores["small"], SMALL),
    }
    for path in (HERE / "README.md", GUIDES / "benchmarks.md"):
        page = path.read_text("utf-8")
        for name, made in tables.items():
            marks = f"<!-- {name} -->", f"<!-- end {name} -->"
            between = re.compile(re.escape(marks[0]) + ".*?" + re.escape(marks[1]), re.DOTALL)
            page = between.sub(
                lambda _, made=made, marks=marks: f"\n\n{made}\n\n".join(marks), page
            )
        path.write_text(page, "utf-8")
    for name, plot in plots().items():
        (GUIDES / name).write_text(plot, "utf-8")


if __name__ == "__main__":
    main()
