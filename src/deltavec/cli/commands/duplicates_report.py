"""What ``deltavec duplicates`` found: as text for people, as records for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from deltavec.cli.printing import console, counted, plain, print_json
from deltavec.search import Duplicates

if TYPE_CHECKING:
    from deltavec.collection import Collection
    from deltavec.collection.duplicates.overlap import Overlap
    from deltavec.collection.duplicates.report import Step

MEMBERS = 5  # of a group that are shown


def as_record(found: Duplicates | Overlap, *, listed: bool) -> dict[str, object]:
    """What was found as plain objects: groups and pairs, or matches, unless a file holds them."""
    if not isinstance(found, Duplicates):
        about = {"threshold": found.threshold, "others": found.documents, "found": len(found)}
        return about | ({"matches": found.table.to_pylist()} if listed else {})
    record: dict[str, object] = {
        "threshold": found.threshold,
        "pairs_found": found.count,
        "documents_removed": len(found.removed),
        "groups": [
            {"representative": str(one), "ids": group.tolist()}
            for one, group in zip(found.representatives, found.groups, strict=True)
        ],
        "output": found.output,
    }
    if found.output is None:
        a, b, score = (column.tolist() for column in found.pairs)
        record["pairs"] = [
            {"a": one, "b": other, "score": cosine}
            for one, other, cosine in zip(a, b, score, strict=True)
        ]
    return record


def print_found(collection: Collection, found: Duplicates | Overlap, most: int) -> None:
    """Print the largest groups, or the best matches."""
    if isinstance(found, Duplicates):
        print_groups(collection, found, most)
    else:
        print_elsewhere(collection, found, most)


def print_groups(collection: Collection, found: Duplicates, most: int) -> None:
    """Print the largest groups, and the beginnings of some of their documents."""
    from rich.text import Text

    out = console()
    pairs = counted(found.count, "pair")
    out.print(f"{pairs} at or above {found.threshold:g}, in {counted(len(found.groups), 'group')}")
    shown = zip(found.representatives[:most], found.groups[:most], strict=True)
    for representative, group in shown:
        out.print()
        out.print(Text(f"{counted(len(group), 'document')}", "bold"))
        members = [representative, *(one for one in group if one != representative)][:MEMBERS]
        print_texts(collection, [str(one) for one in members])
        if len(group) > MEMBERS:
            out.print(f"  and {len(group) - MEMBERS:,} more")
    if len(found.groups) > most:
        out.print(f"\nand {counted(len(found.groups) - most, 'group')} more")


def print_elsewhere(collection: Collection, found: Overlap, most: int) -> None:
    """Print how many documents are elsewhere too, and some of them, the most alike first."""
    from rich.text import Text

    out = console()
    out.print(
        f"{counted(len(found), 'document')} of {len(collection):,} at or above "
        f"{found.threshold:g} among {counted(found.documents, 'other')}"
    )
    for row in found.table.sort_by([("score", "descending")]).slice(0, most).to_pylist():
        out.print(Text.assemble(f"\n{row['score']:.3f}  like ", plain(row["match"], 24)))
        print_texts(collection, [row["id"]])
    if len(found) > most:
        out.print(f"\nand {len(found) - most:,} more")


def print_texts(collection: Collection, ids: list[str]) -> None:
    """Print the beginnings of documents."""
    table = collection.documents(ids)
    for id, text in zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True):
        print_beginning(id, text)


def print_beginning(id: str, text: str) -> None:
    """Print an id and the beginning of a text in a line."""
    from rich.text import Text

    from deltavec.cli.results import shortened

    out = console()
    line = Text.assemble("  ", plain(id, 24), "  ", shortened(text, 200))
    line.truncate(max(out.width, 20), overflow="ellipsis")
    out.print(line, soft_wrap=True)


def print_steps(steps: list[Step], as_json: bool, about: Mapping[str, object]) -> None:
    """Print what each threshold finds, and the pair that it only just takes in."""
    if as_json:
        rows = [
            {**step._asdict(), "example": step.example and step.example._asdict()} for step in steps
        ]
        print_json({**about, "thresholds": rows})
        return
    out = console()
    what = "matches" if about["against"] is not None else "pairs"
    for step in steps:
        out.print(
            f"[bold]{step.threshold:<6g}[/bold] {step.pairs:,} {what}, "
            f"{counted(step.removed, 'document')} would go"
        )
        if step.example is None:
            continue
        example = step.example
        out.print(f"  only just, at {example.score:.3f}:")
        print_beginning(example.a, example.text_a)
        print_beginning(example.b, example.text_b)
