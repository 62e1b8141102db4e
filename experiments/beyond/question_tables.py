"""The tables of the open questions: differences from the default, in thousandths."""

from __future__ import annotations

from comparison_tables import BOOTSTRAPPED, OTHERS, REVIEWS
from corpora import CORPORA, KINDS, PARTS
from markdown_tables import change, share, table
from outcomes import RESULTS, kept
from problems import difference, estimate

EXPONENT = "0.75"
ALONE = ", its kind alone"
NOT_YET = "(Not run yet.)"


def gathered(prefix: str) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Scores by problem from the files of all corpora; variant before problem is turned round."""
    found: dict = {}
    for corpus in (*CORPORA, "fresh"):
        if not (RESULTS / f"{prefix}-{corpus}.json").exists():
            continue
        for one, inner in kept(f"{prefix}-{corpus}").items():
            for other, value in inner.items():
                if prefix == "parameters":
                    problem = other + (ALONE if corpus in KINDS else "")
                    found.setdefault(problem, {})[one] = value
                else:
                    found.setdefault(one, {})[other] = value
    return found


def parameter_table(names: list[str], exponents: tuple[str, ...] = (EXPONENT,)) -> str:
    """What each choice changes on every problem."""
    found = gathered("parameters")
    rows = []
    for problem in (*REVIEWS, *(review + ALONE for review in REVIEWS), *OTHERS):
        if problem not in found:
            continue
        bootstrap = problem in BOOTSTRAPPED
        default = found[problem]["default"][EXPONENT]
        cells = [
            change(difference(found[problem][name][exponent], default, bootstrap))
            if name in found[problem]
            else "-"
            for name in names
            for exponent in exponents
        ]
        rows.append([problem, share(estimate(default, bootstrap).mean), *cells])
    head = [name if len(exponents) == 1 else f"e={e}" for name in names for e in exponents]
    return table(["problem", "default", *head], rows)


def length_table() -> str:
    rows = []
    for title, found in gathered("lengths").items():
        bootstrap = any(title.startswith(name) for name in BOOTSTRAPPED)
        rows.append(
            [
                title,
                share(found["spread of lengths"][0], 2),
                share(estimate(found["0"], bootstrap).mean),
                *(change(difference(found[c], found["0"], bootstrap)) for c in ("0.5", "1")),
            ]
        )
    return table(["collection", "spread", "one lambda", "half way", "each its own"], rows)


def centre_table() -> str:
    rows = []
    for problem, found in gathered("centres").items():
        bootstrap = problem in BOOTSTRAPPED
        base = found["0"]
        cells = [change(difference(found[pull], base, bootstrap)) for pull in found if pull != "0"]
        rows.append([problem, share(estimate(base, bootstrap).mean), *cells])
    head = ["problem", "own centre", "c=20", "c=50", "c=100", "c=200", "corpus' centre"]
    return table(head, rows) if rows else NOT_YET


def adaptation_table() -> str:
    ways = ("c=0.5", "c=1", "c=0.5, one share", "c=0.5, each its own", "reliability", "flat")
    rows = []
    for problem, found in gathered("adaptation").items():
        bootstrap = problem in BOOTSTRAPPED
        base = found["default"]
        cells = [change(difference(found[way], base, bootstrap)) for way in ways]
        rows.append([problem, share(estimate(base, bootstrap).mean), *cells])
    return table(["problem", "default", *ways], rows) if rows else NOT_YET


def transfer_table() -> str:
    """What was learned elsewhere, against the target's own fit and sparse tf-idf."""
    ways = (
        "tf-idf",
        "tf-idf2",
        "target idf",
        "whitened again",
        "exact unknown",
        "exact 0.25",
        "exact 0.5",
        "exact 0.75",
    )
    rows = []
    outcome = kept("transfer")
    for problem in (*REVIEWS, *OTHERS):
        bootstrap = problem in BOOTSTRAPPED
        for source, found in outcome.get(problem, {}).items():
            if "transferred" not in found:
                continue
            base = found["transferred"]
            own = own_fit(outcome[problem])
            rows.append(
                [
                    f"{source} → {problem}",
                    f"{100 * found['unknown words'][0]:.1f}%",
                    "-" if own is None else share(estimate(own, bootstrap).mean),
                    share(estimate(base, bootstrap).mean),
                    *(change(difference(found[way], base, bootstrap)) for way in ways),
                ]
            )
    head = ["transfer", "unknown", "own fit", "transferred", *ways]
    return table(head, rows) if rows else NOT_YET


def own_fit(by_source: dict[str, dict[str, list[float]]]) -> list[float] | None:
    """The scores of the target's own fit."""
    return next((found["own fit"] for found in by_source.values() if "own fit" in found), None)


def own_exact_table() -> str:
    """The exact-match channel beside a fit of the same corpus."""
    rows = []
    for problem, by_source in kept("transfer").items():
        for source, found in by_source.items():
            if "own fit" in found:
                ways = [name for name in found if name.startswith("own fit, ")]
                base, bootstrap = found["own fit"], problem in BOOTSTRAPPED
                cells = [change(difference(found[way], base, bootstrap)) for way in ways]
                rows.append(
                    [
                        f"{problem} (fitted on {source})",
                        share(estimate(base, bootstrap).mean),
                        *cells,
                    ]
                )
    return table(["problem", "own fit", "exact .25", "exact .5", "exact .75"], rows)


def window_table() -> str:
    """Wider windows on samples of a corpus."""
    rows = []
    for problem, by_size in kept("windows").items():
        for tokens, found in by_size.items():
            base = found["1"]
            cells = [change(difference(found[factor], base, False)) for factor in ("2", "4")]
            rows.append([problem, tokens, share(estimate(base, False).mean), *cells])
    return table(["problem", "words fitted on", "a quarter", "half", "a whole document"], rows)


def subword_table() -> str:
    rows = []
    outcome = kept("subwords")
    for problem in (*REVIEWS, *OTHERS):
        bootstrap = problem in BOOTSTRAPPED
        for source, found in outcome.get(problem, {}).items():
            base = found["nothing"]
            rows.append(
                [
                    f"{source} → {problem}",
                    f"{100 * found['unknown words'][0]:.1f}%",
                    share(estimate(base, bootstrap).mean),
                    *(change(difference(found[way], base, bootstrap)) for way in ("mean", "ridge")),
                    share(found["ridge, explained"][0], 2),
                ]
            )
    return table(["fit → problem", "unknown", "left out", "mean", "ridge", "ridge explains"], rows)


def variation_table(prefix: str, base: str) -> str:
    """What each way changes on every problem, from files that name ways before problems."""
    rows: list[list[str]] = []
    ways: list[str] = []
    for corpus in CORPORA:
        if not (RESULTS / f"{prefix}-{corpus}.json").exists():
            continue
        found = kept(f"{prefix}-{corpus}")
        ways = [way for way in found if way != base]
        for problem, scores in found[base].items():
            bootstrap = problem in BOOTSTRAPPED
            cells = [change(difference(found[way][problem], scores, bootstrap)) for way in ways]
            title = problem if corpus not in PARTS else problem.replace("newsgroups", corpus)
            title = f"mixed file: {title}" if corpus == "reviews" else title
            rows.append([title, share(estimate(scores, bootstrap).mean), *cells])
    return table(["problem", base, *ways], rows) if rows else NOT_YET


def few_table() -> str:
    """Measured strengths of small samples, against guessed ones."""
    rows: list[list[str]] = []
    ways: list[str] = []
    for corpus in CORPORA:
        if not (RESULTS / f"few-{corpus}.json").exists():
            continue
        for size, by_problem in kept(f"few-{corpus}").items():
            for problem, found in by_problem.items():
                base = found["guessed"]
                ways = [way for way in found if way != "guessed"]
                cells = [change(difference(found[way], base, False)) for way in ways]
                rows.append([problem, size, share(estimate(base, False).mean), *cells])
    return table(["problem", "documents", "guessed", *ways], rows) if rows else NOT_YET


def smoothing_table() -> str:
    """Groups of documents that were moved towards their neighbours."""
    rows: list[list[str]] = []
    ways: list[str] = []
    for corpus in CORPORA:
        if not (RESULTS / f"smoothing-{corpus}.json").exists():
            continue
        found = kept(f"smoothing-{corpus}")
        base, *ways = found
        for measure in ("nmi", "auc"):
            scores = found[base][measure]
            cells = [change(difference(found[way][measure], scores, False)) for way in ways]
            title = f"{corpus}, {measure.upper()}"
            rows.append([title, share(estimate(scores, False).mean), *cells])
    return table(["corpus", "as they are", *ways], rows) if rows else NOT_YET


def adapted_table() -> str:
    """What documents compared give alone, and with a model of other text."""
    rows = []
    for problem, found in kept("adapted").items():
        bootstrap = problem in BOOTSTRAPPED
        alone = found["alone"]
        sparse = max(("tf-idf", "tf-idf2"), key=lambda way: estimate(alone[way], bootstrap).mean)
        base = alone[sparse]
        for source, ways in found.items():
            if source in ("alone", "prior"):
                continue
            notes = found["prior"].get(source, [])
            lists = (ways["transferred"], alone["own"], ways.get("adapted"), ways.get("always"))
            rows.append(
                [
                    f"{source} → {problem}",
                    f"{share(estimate(base, bootstrap).mean)}{' (squared)' * (sparse != 'tf-idf')}",
                    *(
                        "-" if scores is None else change(difference(scores, base, bootstrap))
                        for scores in lists
                    ),
                    f"{notes.count('used')} of {len(notes)}" if notes else "-",
                ]
            )
    head = ["transfer", "better tf-idf", "transferred", "own", "adapted", "always", "prior used"]
    return table(head, rows) if rows else NOT_YET


TABLES = {
    "idf": lambda: parameter_table([f"idf_power={power:g}" for power in (0.5, 1.5, 2)]),
    "identity": lambda: parameter_table(
        [f"identity_share={share:g}" for share in (0, 0.5, 1.5, 2, 3)]
    ),
    "both": lambda: parameter_table(
        [f"idf_power=1.5, identity_share={share:g}" for share in (0.5, 1.5, 2)]
        + ["idf_power=2, identity_share=2"]
    ),
    "exponent": lambda: parameter_table(["default"], ("0.5", "1")),
    "checks": lambda: parameter_table(["window_factor=0.5", "window_factor=2", "dimensions=500"]),
    "lengths": length_table,
    "centres": centre_table,
    "adaptation": adaptation_table,
    "transfer": transfer_table,
    "own-exact": own_exact_table,
    "subwords": subword_table,
    "windows": window_table,
    "strengths": lambda: variation_table("strengths", "default"),
    "phrases": lambda: variation_table("phrases", "words"),
    "few": few_table,
    "smoothing": smoothing_table,
    "adapted": adapted_table,
}
