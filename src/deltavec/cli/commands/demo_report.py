"""What the demo found, for people and for programs."""

from __future__ import annotations

import shlex
from pathlib import Path

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from deltavec.cli.commands.demo import STORY, Neighbor, Outcome
from deltavec.cli.printing import console, duration, empty_table
from deltavec.core.recipes import FORMS, RECIPES, WEIGHTINGS
from deltavec.lab.report.published_tables import LEE as PUBLISHED
from deltavec.lab.report.tables import decimals

COLUMNS = [f"{form}{removal}" for form in FORMS for removal in ("", "-pca")]
INDENT = (0, 0, 0, 2)


def as_record(outcome: Outcome) -> dict[str, object]:
    """The outcome as plain objects and lists."""
    documents = outcome.documents
    return {
        "documents": len(documents.stories),
        "judged": len(documents.judged),
        "pairs": documents.pairs,
        "vectors": {"words": len(outcome.vectors), "dimensions": outcome.vectors.dimensions},
        "agreement": {name: round(value, 4) for name, value in outcome.agreements.items()},
        "published": PUBLISHED,
        "recipe": outcome.model.recipe.name,
        "reason": outcome.model.reason,
        "story": documents.judged[STORY],
        "neighbors": [
            {
                "story": documents.judged[neighbor.story],
                "cosine": round(neighbor.cosine, 4),
                "people": round(neighbor.people, 4),
                "pairs": [pair._asdict() for pair in neighbor.pairs],
            }
            for neighbor in outcome.neighbors
        ],
        "seconds": round(outcome.seconds, 3),
    }


def print_outcome(outcome: Outcome, kept: Path | None) -> None:
    """Print the outcome for people, and how to go on."""
    out = console()
    title = "Go on with your own text" if kept is None else f"Kept in {kept}: go on with"
    for part in (*agreement_section(outcome), *neighbors_section(outcome), heading(title)):
        out.print(part)
    for command in next_commands(kept):
        out.print(f"  {command}", markup=False, soft_wrap=True)  # whole, to be copied


def agreement_section(outcome: Outcome) -> list[RenderableType]:
    """What was trained and fitted, and the agreement of each recipe with people."""
    documents, vectors = outcome.documents, outcome.vectors
    return [
        heading("News stories, and what people say of them"),
        Text(
            f"{len(documents.stories)} short stories from Australian news. People rated how "
            f"similar {len(documents.judged)} of them are, all {documents.pairs:,} pairs (Lee, "
            "Pincombe and Welsh, 2005). From these stories alone, judged ones included: "
            f"vectors for {len(vectors):,} words (ppmi, {vectors.dimensions} dimensions), one "
            "model for each recipe of the paper, and one of our own. "
            f"All in {duration(outcome.seconds)}."
        ),
        heading("Agreement with people"),
        Text("Correlation (Pearson) of the cosine of two stories with people's judgement:\n"),
        agreement_table(outcome.agreements),
        Text(""),
        comparison_table(outcome),
    ]


def agreement_table(agreements: dict[str, float]) -> Table:
    """Weightings down, forms across, the best in bold."""
    table = empty_table()
    table.add_column("weight")
    for form in COLUMNS:
        table.add_column(form, justify="right")
    best = digits(max(agreements[name] for name in RECIPES))
    for weighting in WEIGHTINGS:
        found = [agreements.get(f"{weighting}-{form}") for form in COLUMNS]
        cells = ["" if value is None else digits(value) for value in found]
        table.add_row(
            weighting, *(Text(cell, style="bold green" if cell == best else "") for cell in cells)
        )
    return table


def comparison_table(outcome: Outcome) -> Table:
    """The figures to compare with each other, ours and published ones."""
    agreements, chosen = outcome.agreements, outcome.model.recipe.name
    best = max(RECIPES, key=lambda name: agreements[name])
    figures = {
        "unit-sum, the plain average of word vectors": digits(agreements["unit-sum"]),
        f"{best}, the best of the paper's {len(RECIPES)}": digits(agreements[best]),
        f"{chosen}, the default, which needs no word vectors": digits(agreements[chosen]),
        **{
            f"published: {name}": f"about {digits(r).removesuffix('0')}"
            for name, r in PUBLISHED.items()
        },
    }
    table = Table.grid(padding=(0, 3))
    for name, figure in figures.items():
        table.add_row(name, figure)
    return table


def neighbors_section(outcome: Outcome) -> list[RenderableType]:
    """One story, its nearest neighbors, and the word pairs behind them."""
    judged = outcome.documents.judged
    parts: list[RenderableType] = [
        heading("The nearest stories, and why"),
        Text(f"By {outcome.model.recipe.name}, for the first of the stories that people judged:\n"),
        Padding(Text(beginning(judged[STORY], 300), style="italic"), INDENT, expand=False),
    ]
    for neighbor in outcome.neighbors:
        story = Text(beginning(judged[neighbor.story], 140))
        lines = (story, because(neighbor))
        parts += [Text(""), *(Padding(line, INDENT, expand=False) for line in lines)]
    return parts


def because(neighbor: Neighbor) -> Text:
    """The cosine of a neighbor, its human rating, and the word pairs behind it."""
    words = ", ".join(
        pair.word_a if pair.word_a == pair.word_b else f"{pair.word_a} ~ {pair.word_b}"
        for pair in neighbor.pairs
    )
    return Text.assemble(
        (f"cosine {neighbor.cosine:.2f}, people {neighbor.people:.2f}", "bold"),
        (f"  because of  {words}", "cyan"),
    )


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


def digits(value: float) -> str:
    """A correlation the way papers print it: .605."""
    return decimals(value, 3)
