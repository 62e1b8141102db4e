"""The results in words: a table of what must show, then every section's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from speed.claims import CLAIMS, Claim, Results, ours, quotient, shown
from speed.notes import NOTES
from speed.tables import RECIPE

FIGURES = {
    "peers": "throughput",
    "roofline": "roofline",
    "threads": "threads",
    "lengths": "lengths",
    "vocabulary": "vocabulary",
    "dimensions": "dimensions",
    "growth": "growth",
}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def claim_row(claim: Claim, results: Results) -> list[str]:
    """A line of the table of what must show."""
    value = claim.read(results)
    if value is None:
        absent = claim.section == "peers" and "peers" in results
        reason = "absent, see below" if absent else "not measured"
        return [claim.what, claim.target, reason, "-"]
    verdict = "yes" if claim.holds(value) else "**no**"
    return [claim.what, claim.target, shown(value, claim.unit), verdict]


def claims(results: Results) -> str:
    """What must show."""
    return table(
        ("what", "must be", "measured", "holds"),
        (claim_row(claim, results) for claim in CLAIMS),
    )


def rate(value: float) -> str:
    """Million words a second, with three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def peers(section: Results, results: Results) -> str:
    """Ours and the peers; ratios are of ours with all cores, and 100 or the peer's dimensions."""
    rows = [
        (
            row["name"],
            f"{row['dimensions']:,}" if row["dimensions"] else "none",
            f"{row['documents']:,}",
            rate(row["million_words_per_second"]),
            times_of(row, ours(results)),
            times_of(row, ours(results, dimensions=row["dimensions"])),
        )
        for row in section["rates"]
    ]
    absent = [
        (name, "", "", f"absent: {reason}", "", "") for name, reason in section["absent"].items()
    ]
    header = (
        "", "dimensions", "documents", "million words/s",
        "ours, 100 dimensions, is", "ours, as many dimensions, is",
    )  # fmt: skip
    return table(header, [*rows, *absent]) + agreement(section.get("agreement_with_regex"))


def agreement(found: Results | None) -> str:
    """How far ours and the plain way agree, in a sentence."""
    if found is None:
        return ""
    return (
        "\nOurs and the regular expressions give the same vectors to within "
        f"{found['largest_difference_of_the_others']:.0e}, but for "
        f"{found['documents_apart']:,} documents that the two part into other words.\n"
    )


def times_of(row: Results, rate_of_ours: float | None) -> str:
    """How many times a peer's rate ours is; nothing for our own rows."""
    if row["name"].startswith("deltavec"):
        return ""
    value = quotient(rate_of_ours, row["million_words_per_second"])
    return "" if value is None else shown(value, "x")


def roofline(section: Results, _: Results) -> str:
    """The parts, the bound and ours, in million words a second."""
    parts = ("copy", "scan", "gather", "bound", "deltavec")
    rows = [
        (
            str(roof["dimensions"]),
            str(roof.get("length") or "as they are"),
            str(roof["threads"]),
            *(rate(roof["million_words_per_second"][part]) for part in parts),
            shown(roof["share_of_bound"], "%"),
        )
        for roof in section["rooflines"]
    ]
    names = ("(a) copy", "(b) scan + look-up", "(c) gather + add")
    header = ("dimensions", "words each", "threads", *names, "bound", "deltavec", "share")
    return table(header, rows)


def points(*columns: tuple[str, str]) -> Callable[[Results, Results], str]:
    """A table of a section's points: what they were measured at, and the rate."""

    def told(section: Results, _: Results) -> str:
        rows = [
            [
                *(cell(place[key]) for key, _ in columns),
                rate(place["million_words_per_second"]),
            ]
            for place in section["points"]
        ]
        return table([*(name for _, name in columns), "million words/s"], rows)

    return told


def cell(value: Any) -> str:
    """A value for a table."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def growth(section: Results, _: Results) -> str:
    """Time and memory by size, then rates."""
    rows = [
        (
            f"{place['documents']:,}",
            rate(place["words"] / 1e6),
            f"{place['median_seconds']:.3g}",
            f"{place['peak_megabytes']:,.0f}",
            rate(place["million_words_per_second"]),
        )
        for place in section["points"]
    ]
    npy = section["npy"]
    header = ("documents", "million words", "seconds", "peak memory, MB", "million words/s")
    return table(header, rows) + (
        f"\nIn memory: {rate(section['in_memory_million_words_per_second'])} million words/s. "
        f"To .npy, {npy['documents']:,} documents: {rate(npy['million_words_per_second'])} "
        f"million words/s. Start-up, taken off for the exponent: "
        f"{section['start_up_seconds']:.2g} s. Exponents of other fits: {other_fits(section)}.\n"
    )


def other_fits(section: Results) -> str:
    """The exponents that other choices of sizes and start-up give."""
    found = section["exponents_of_other_fits"].items()
    return "; ".join(f"{fit}: {'-' if value is None else value}" for fit, value in found)


def training(section: Results, _: Results) -> str:
    """Seconds and memory of each training."""
    rows = [
        (
            one["name"],
            f"{one['median_seconds']:.3g}",
            str(len(one["seconds"])),
            f"{one['peak_megabytes']:,.0f}",
        )
        for one in section["trainings"]
    ]
    size = f"{section['documents']:,} documents, {section['words']:,} words.\n\n"
    return size + table(("", "seconds", "runs", "peak memory, MB"), rows)


def cold(section: Results, _: Results) -> str:
    """Seconds until something is there."""
    rows = [
        (name.replace("_", " "), f"{found['median_seconds']:.3g}")
        for name, found in section.items()
        if isinstance(found, dict) and "median_seconds" in found
    ]
    loaded = ", ".join(section["loaded_by_import"]) or "none of numba, scikit-learn, scipy, numpy"
    return table(("", "seconds"), rows) + f"\nLoaded by the import: {loaded}.\n"


def by_threads(section: Results, results: Results) -> str:
    """Rates, and what arithmetic alone gains from the same threads."""
    told = points(("dimensions", "dimensions"), ("threads", "threads"))(section, results)
    return told + "".join(
        f"\nArithmetic that shares nothing, run in turn with {dimensions} dimensions, got "
        + ", ".join(f"{gain:.3g} x as much done with {threads} threads" for threads, gain in more)
        + ".\n"
        for dimensions, gains in section["arithmetic_speed_up_beside_dimensions"].items()
        for more in [[found for found in gains.items() if found[0] != "1"]]
    )


SECTIONS: dict[str, tuple[str, Callable[[Results, Results], str]]] = {
    "peers": ("Beside peers", peers),
    "roofline": ("Beside the limit", roofline),
    "threads": ("Threads", by_threads),
    "lengths": (
        "Length of documents",
        points(("dimensions", "dimensions"), ("length", "words each"), ("threads", "threads")),
    ),
    "vocabulary": (
        "Size of the table",
        points(("table_words", "words"), ("coverage", "known share"), ("threads", "threads")),
    ),
    "dimensions": ("Dimensions", points(("dimensions", "dimensions"), ("threads", "threads"))),
    "scripts": ("Other scripts", points(("text", "text"), ("threads", "threads"))),
    "fit": ("Counting and embedding", points(("pass", "pass"), ("threads", "threads"))),
    "growth": ("From file to file", growth),
    "training": ("Training", training),
    "cold": ("Cold start", cold),
}


def measured_on(section: Results) -> str:
    """What a section was measured on, in a sentence."""
    about = section["measured"]
    machine = about["machine"]
    caches = ", ".join(f"{level} {size}" for level, size in machine["caches"].items())
    return (
        f"{about['text']} ({about['documents']:,} documents, {about['words']:,} words); "
        f"{machine['system']}, {machine['cores_used']} of {machine['cores']} cores, "
        f"{machine['memory_gigabytes']} GB{', ' + caches if caches else ''}; "
        f"Python {about['python']}, commit {about['commit']}."
    )


def versions(section: Results) -> str:
    """The versions of everybody."""
    named = section["measured"]["versions"].items()
    return ", ".join(f"{name} {version or 'absent'}" for name, version in named) + "."


def grouped_by_run(results: Results) -> dict[str, list[str]]:
    """The sections measured on the same thing, by what that was."""
    groups: dict[str, list[str]] = {}
    for name in SECTIONS:
        if name in results:
            groups.setdefault(measured_on(results[name]), []).append(name)
    return groups


INTRODUCTION = (
    "Written by `make bench` from what it measures; `make bench REVIEWS=file.parquet` measures on "
    "your text, without it on generated text. Rates are medians over several runs in turn, in "
    f"million words a second; recipe {RECIPE}; 100 dimensions and all cores where nothing else is "
    "said.\n"
)


def told(results: Results, figures: str = "") -> str:
    """The whole report in Markdown; ``figures`` leads to the folder of figures."""
    lines = ["# Speed and memory\n", INTRODUCTION]
    if results:
        if any(section["measured"]["quick"] for section in results.values()):
            lines += ["**A smoke run on little text: these rates mean nothing.**\n"]
        lines += [runs_told(results), versions(next(iter(results.values()))) + "\n"]
    else:
        lines += ["Not measured yet.\n"]
    lines += ["## What must show\n", claims(results)]
    for name, (title, tell) in SECTIONS.items():
        if name in results:
            lines += [f"## {title}\n", NOTES[name] + "\n", tell(results[name], results)]
            if name in FIGURES:
                lines += [f"![{title}]({figures}{FIGURES[name]}.svg)\n"]
    return "\n".join(lines)


def runs_told(results: Results) -> str:
    """What was measured on what; sections are named only if there was more than one run."""
    runs = grouped_by_run(results)
    return "".join(
        f"- {sentence}" + (f" ({', '.join(names)})" if len(runs) > 1 else "") + "\n"
        for sentence, names in runs.items()
    )
