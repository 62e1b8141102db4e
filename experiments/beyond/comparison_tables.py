"""The tables of the comparison: scores of every method, and speed beside them."""

from __future__ import annotations

from functools import cache
from typing import Any

from corpora import PARTS
from markdown_tables import change, share, table, with_error
from outcomes import RESULTS, kept
from problems import Estimate, difference, estimate

REVIEWS = tuple(
    f"{kind} k={k}" for kind in ("hotel", "restaurant", "attraction") for k in (1, 4, 12)
)
OTHERS = (
    "newsgroups k=1",
    "newsgroups k=4",
    "askubuntu",
    "meta_stackexchange",
    "english_stackexchange",
    "lee",
)
BOOTSTRAPPED = (
    "askubuntu",
    "meta_stackexchange",
    "english_stackexchange",
    "lee",
    "lee_others",
    "sts",
)
OURS = "spectral"
METHODS = (
    "unit-sum, word2vec",
    "idf-delta-pca, word2vec",
    "idf-delta-pca, ppmi",
    "tf-idf",
    "tf-idf2",
    "lsa",
    "doc2vec",
    "doc2vec, component removed",
    "potion-base-8M",
    "potion-base-8M, component removed",
    "spectral, as fitted",
    "spectral, centre of the corpus",
    "spectral, own centre",
    "spectral, guessed",
    "spectral, alone",
    OURS,
)
NAMES = {
    "tf-idf": "sparse tf-idf",
    "tf-idf2": "sparse tf-idf, idf squared",
    "lsa": "LSA 300",
    "spectral, as fitted": "guessed strengths, as fitted",
    "spectral, centre of the corpus": "guessed strengths, centre of the corpus",
    "spectral, own centre": "guessed strengths, own centre",
    "spectral, guessed": "guessed strengths",
    "spectral, alone": "spectral, as fitted",
    OURS: "**spectral**",
}
PAPER = tuple(
    f"{weighting}-{form}{removal}"
    for weighting in ("idf", "sif", "subsampling")
    for form in ("sum", "center", "delta")
    for removal in ("", "-pca")
)


@cache
def scores(prefix: str = "table") -> dict[str, dict[str, list[float]]]:
    """All scores by method and problem."""
    found: dict[str, dict[str, list[float]]] = {}
    for path in sorted(RESULTS.glob(f"{prefix}-*.json")):
        for method, by_problem in kept(path.stem).items():
            found.setdefault(method, {}).update(by_problem)
    return found


def score(method: str, problem: str, prefix: str = "table") -> Estimate | None:
    """The estimate of a method on a problem; None if it was not run."""
    found = scores(prefix).get(method, {}).get(problem)
    return None if found is None else estimate(found, problem in BOOTSTRAPPED)


def against_ours(method: str, problem: str, prefix: str = "table") -> Estimate | None:
    """How much higher ours scores than a method on the same resamplings."""
    theirs, ours = (scores(prefix).get(name, {}).get(problem) for name in (method, OURS))
    if theirs is None or ours is None:
        return None
    return difference(ours, theirs, problem in BOOTSTRAPPED)


def best_recipe(problem: str, method: str, prefix: str = "table") -> str:
    """The paper's recipe that does best on a problem: chosen with hindsight."""
    found = scores(prefix)
    names = [f"{name}, {method}" for name in PAPER if problem in found.get(f"{name}, {method}", {})]
    return max(names, key=lambda name: score(name, problem, prefix).mean, default="")


def score_table(problems: tuple[str, ...], prefix: str = "table") -> str:
    rows = []
    for method in METHODS:
        cells = [score(method, problem, prefix) for problem in problems]
        rows.append(
            [NAMES.get(method, method), *("-" if c is None else with_error(c) for c in cells)]
        )
        if method == "idf-delta-pca, ppmi":
            for vectors in ("word2vec", "ppmi"):
                best = [best_recipe(problem, vectors, prefix) for problem in problems]
                rows.append(
                    [
                        f"best of the paper's 18, {vectors}",
                        *(
                            with_error(score(name, problem, prefix)) if name else "-"
                            for name, problem in zip(best, problems, strict=True)
                        ),
                    ]
                )
    run = [row for row in rows if any(cell != "-" for cell in row[1:])]
    return table(["method", *problems], run)


def lead_table() -> str:
    """How far ours is ahead of each rival, in thousandths."""
    rivals = (
        "tf-idf",
        "tf-idf2",
        "lsa",
        "doc2vec",
        "doc2vec, component removed",
        "potion-base-8M",
        "potion-base-8M, component removed",
    )
    rows = []
    for problem in (*REVIEWS, *OTHERS):
        recipes = [best_recipe(problem, vectors) for vectors in ("word2vec", "ppmi")]
        cells = [against_ours(name, problem) for name in (*recipes, *rivals)]
        rows.append([problem, *("-" if cell is None else change(cell) for cell in cells)])
    head = ["best of 18, word2vec", "best of 18, ppmi", *(NAMES.get(name, name) for name in rivals)]
    return table(["spectral ahead of", *head], rows)


def small_table() -> str:
    """MiniLM and ours on the documents that MiniLM embedded."""
    problems = [name for name in (*REVIEWS, *OTHERS) if name in scores("small").get("MiniLM", {})]
    if not problems:
        return "(Not run yet.)"
    methods = (
        "tf-idf",
        "tf-idf2",
        "potion-base-8M",
        "potion-base-8M, component removed",
        "MiniLM",
        "MiniLM, component removed",
        OURS,
    )
    rows = [
        [
            NAMES.get(method, method),
            *("-" if (c := score(method, p, "small")) is None else with_error(c) for p in problems),
        ]
        for method in methods
    ]
    for rival in ("MiniLM", "MiniLM, component removed"):
        cells = [against_ours(rival, problem, "small") for problem in problems]
        rows.append(
            [
                f"spectral ahead of {rival}, thousandths",
                *("-" if c is None else change(c) for c in cells),
            ]
        )
    return table(["method", *problems], rows)


def review_means() -> dict[str, float]:
    """The mean score over the three kinds at k = 1, for the plot."""
    found = {}
    for method in (*METHODS, "MiniLM"):
        prefix = "small" if method == "MiniLM" else "table"
        cells = [
            score(method, f"{kind} k=1", prefix) for kind in ("hotel", "restaurant", "attraction")
        ]
        if all(cell is not None for cell in cells):
            found[method] = sum(cell.mean for cell in cells if cell) / len(cells)
    return found


def mean_of(method: str, problems: tuple[str, ...]) -> str:
    cells = [score(method, problem) for problem in problems]
    if any(cell is None for cell in cells):
        return "-"
    return share(sum(cell.mean for cell in cells if cell) / len(cells))


def summary_table() -> str:
    """Quality and speed side by side."""
    speed: dict[str, Any] = kept("speed")["methods"] if (RESULTS / "speed.json").exists() else {}
    groups = (
        *(
            tuple(f"{kind} k={k}" for kind in ("hotel", "restaurant", "attraction"))
            for k in (1, 4, 12)
        ),
        ("newsgroups k=1", "newsgroups k=4"),
        BOOTSTRAPPED[:3],
        ("lee",),
    )
    rows = []
    for method in (*METHODS, "MiniLM"):
        figures = speed.get(method.removesuffix(", component removed").removesuffix(", alone"), {})
        means = [mean_of(method, group) for group in groups]
        if method == "MiniLM":
            means = small_means(groups)
        rows.append([NAMES.get(method, method), *means, *spelled(figures)])
    head = ["method", "reviews k=1", "k=4", "k=12", "newsgroups", "questions", "Lee"]
    return table([*head, "documents/s", "fit", "size"], rows)


def part_table() -> str:
    """Groups of newsgroups, each fitted by itself: guessed strengths, and what measuring adds."""
    rows = []
    for part in PARTS:
        found = kept(f"part-{part}")
        for problem, guessed in found["spectral, guessed"].items():
            gains = (
                change(difference(found[name][problem], guessed, bootstrap=False))
                for name in ("spectral, alone", OURS)
            )
            rows.append(
                [f"{part} {problem.split()[-1]}", with_error(estimate(guessed, False)), *gains]
            )
    return table(["problem", "guessed strengths", "spectral, as fitted", "spectral"], rows)


def gain_table() -> str:
    """What measuring adds to guessed strengths, in thousandths."""
    rows = []
    for prefix, problems in (("table", (*REVIEWS, *OTHERS)), ("mixed", REVIEWS)):
        for problem in problems:
            start, end = (score(name, problem, prefix) for name in ("spectral, guessed", OURS))
            gain = against_ours("spectral, guessed", problem, prefix)
            if start and end and gain:
                place = problem if prefix == "table" else f"mixed file: {problem}"
                rows.append([place, with_error(start), with_error(end), change(gain)])
    return table(["problem", "guessed strengths", "spectral", "gain"], rows)


def prior_table() -> str:
    """What prior vectors add, and what the halves said of them."""
    rows = []
    for path in sorted(RESULTS.glob("prior-*.json")):
        found = kept(path.stem)
        note = found["note"].split(":")[0]
        for problem, with_them in found["spectral, prior"].items():
            ours = scores()[OURS][problem]
            boot = problem in BOOTSTRAPPED
            gain = change(difference(with_them, ours, boot))
            rows.append([problem, with_error(estimate(ours, boot)), note, gain])
    return table(["problem", "spectral", "prior vectors", "gain"], rows)


def saturation_table() -> str:
    """What other counts of a word's repeats add, in thousandths."""
    rows, names = [], []
    for path in sorted(RESULTS.glob("saturation-*.json")):
        found = kept(path.stem)
        names = [name for name in found if name != "n"]
        for problem, plain in found["n"].items():
            boot = problem in BOOTSTRAPPED
            gains = (change(difference(found[name][problem], plain, boot)) for name in names)
            rows.append([problem, with_error(estimate(plain, boot)), *gains])
    return table(["problem", "n", *names], rows)


def small_means(groups: tuple[tuple[str, ...], ...]) -> list[str]:
    """MiniLM's means, from the smaller problems."""
    found = []
    for group in groups:
        cells = [score("MiniLM", problem, "small") for problem in group]
        whole = all(cell is not None for cell in cells)
        found.append(share(sum(c.mean for c in cells if c) / len(cells)) + "*" if whole else "-")
    return found


def spelled(figures: dict[str, Any]) -> list[str]:
    """Rate, time of fitting and size in words."""
    rate, fit, size = (
        figures.get(name) for name in ("documents_per_second", "fit_seconds", "bytes")
    )
    return [
        "-" if rate is None else f"{float(f'{rate:.2g}'):,.0f}",
        "-" if fit is None else f"{fit:.0f} s",
        "-" if size is None else f"{size / 1e6:.0f} MB",
    ]


TABLES = {
    "summary": summary_table,
    "reviews": lambda: score_table(REVIEWS),
    "mixed": lambda: score_table(REVIEWS, "mixed"),
    "others": lambda: score_table(OTHERS),
    "lead": lead_table,
    "minilm": small_table,
    "gains": gain_table,
    "parts": part_table,
    "prior": prior_table,
    "saturation": saturation_table,
}
