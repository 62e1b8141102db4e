"""What the demo found, for people."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from deltavec.cli.printing import console, duration, table
from deltavec.core.recipes import FORMS, RECIPES, WEIGHTINGS
from deltavec.lab.report.tables import decimals

COLUMNS = [f"{form}{removal}" for form in FORMS for removal in ("", "-pca")]
INDENT = (0, 0, 0, 2)


def print_outcome(outcome: dict[str, Any], kept: Path | None) -> None:
    """Print the outcome for people, and how to go on."""
    out = console()
    title = "Go on with your own text" if kept is None else f"Kept in {kept}: go on with"
    for part in (*agreement_section(outcome), *neighbors_section(outcome), heading(title)):
        out.print(part)
    for command in next_commands(kept):
        out.print(f"  {command}", markup=False, soft_wrap=True)  # whole, to be copied


def agreement_section(outcome: dict[str, Any]) -> list[RenderableType]:
    """What was trained and fitted, and the agreement of each recipe with people."""
    vectors = outcome["vectors"]
    return [
        heading("News stories, and what people say of them"),
        Text(
            f"{outcome['documents']} short stories from Australian news. People rated how "
            f"similar {outcome['judged']} of them are, all {outcome['pairs']:,} pairs (Lee, "
            "Pincombe and Welsh, 2005). From these stories alone, judged ones included: "
            f"vectors for {vectors['words']:,} words (ppmi, {vectors['dimensions']} dimensions), "
            "one model for each recipe of the paper, and one of our own. "
            f"All in {duration(outcome['seconds'])}."
        ),
        heading("Agreement with people"),
        Text("Correlation (Pearson) of the cosine of two stories with people's judgement:\n"),
        agreement_table(outcome["agreement"]),
        Text(""),
        comparison_table(outcome),
    ]


def agreement_table(agreements: dict[str, float]) -> Table:
    """Weightings down, forms across, the best in bold."""
    best = max(agreements[name] for name in RECIPES)

    def cell(score: float | None) -> Text:
        shown = "" if score is None else decimals(score, 3)
        return Text(shown, "bold green" if score == best else "")

    rows = [
        [weighting, *(cell(agreements.get(f"{weighting}-{form}")) for form in COLUMNS)]
        for weighting in WEIGHTINGS
    ]
    return table(["weight", *(f">{form}" for form in COLUMNS)], rows)


def comparison_table(outcome: dict[str, Any]) -> Table:
    """The figures to compare with each other, ours and published ones."""
    agreements, chosen = outcome["agreement"], outcome["recipe"]
    best = max(RECIPES, key=agreements.__getitem__)
    ours = {
        "unit-sum, the plain average of word vectors": agreements["unit-sum"],
        f"{best}, the best of the paper's {len(RECIPES)}": agreements[best],
        f"{chosen}, the default, which needs no word vectors": agreements[chosen],
    }
    figures = Table.grid(padding=(0, 3))
    for name, score in ours.items():
        figures.add_row(name, decimals(score, 3))
    for name, score in outcome["published"].items():
        figures.add_row(f"published: {name}", f"about {decimals(score, 3).removesuffix('0')}")
    return figures


def neighbors_section(outcome: dict[str, Any]) -> list[RenderableType]:
    """One story, its nearest neighbors, and the word pairs behind them."""
    story = Text(beginning(outcome["story"], 300), style="italic")
    parts: list[RenderableType] = [
        heading("The nearest stories, and why"),
        Text(f"By {outcome['recipe']}, for the first of the stories that people judged:\n"),
        Padding(story, INDENT, expand=False),
    ]
    for neighbor in outcome["neighbors"]:
        pairs = [(pair["word_a"], pair["word_b"]) for pair in neighbor["pairs"]]
        words = ", ".join(a if a == b else f"{a} ~ {b}" for a, b in pairs)
        score = f"cosine {neighbor['cosine']:.2f}, people {neighbor['people']:.2f}"
        why = Text.assemble((score, "bold"), (f"  because of  {words}", "cyan"))
        lines = (Text(beginning(neighbor["story"], 140)), why)
        parts += [Text(""), *(Padding(line, INDENT, expand=False) for line in lines)]
    return parts


def next_commands(kept: Path | None) -> list[str]:
    """Commands to try next, on the files that were kept or on your own."""
    if kept is None:
        return [
            "deltavec fit reviews.csv --column text -o reviews.dv",
            "deltavec embed reviews.dv reviews.csv -o reviews.parquet",
            'deltavec explain reviews.dv "a quiet room" "no noise at night"',
            "deltavec demo -o lee-news    # keeps these stories and a model to try on",
        ]
    text, model, rows = (
        shlex.quote(str(kept / f"news.{kind}")) for kind in ("txt", "dv", "parquet")
    )
    return [
        f"deltavec embed {model} {text} -o {rows}",
        f'deltavec explain {model} "bin Laden in Afghanistan" "al Qaeda fighters"',
        f"deltavec info {model}",
    ]


def heading(title: str) -> Text:
    """A line that opens a part."""
    return Text(f"\n{title}\n", style="bold")


def beginning(story: str, longest: int) -> str:
    """How a story begins, cut at a word."""
    return story if len(story) <= longest else story[:longest].rsplit(" ", 1)[0] + " …"
