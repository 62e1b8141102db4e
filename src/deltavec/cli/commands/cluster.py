"""``deltavec cluster`` and ``map``: topics of a collection, and a picture of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deltavec.cli import printing
from deltavec.cli.inputs import open_collection, require_file
from deltavec.cli.printing import table
from deltavec.cli.progress import stages
from deltavec.errors import InputError, needing

if TYPE_CHECKING:
    from deltavec.collection.topics.clusters import Clusters
    from deltavec.server.map_view import MapView


def cluster(
    collection: Path,
    *,
    n: int | None = None,
    levels: int = 1,
    output: Path | None = None,
    per_document: int = 1,
    words: int = 5,
    seed: int = 0,
    trust: bool = False,
    as_json: bool = False,
) -> None:
    """Find topics: clusters of similar documents, with names.

    Without -n the number of groups is the largest that is stable: groups learned from each half
    of the documents agree. Words name a group if many of its documents contain
    them, other documents do not, and their vectors are close to its centroid.

    Parameters
    ----------
    n : N >= 1, -n
        Number of groups.
        Default: as many as are stable
    levels : N 1..3
        2 or 3: also merge groups.
    output : FILE, -o
        Write each document's group to a .csv, .tsv, .jsonl or .parquet file.
    per_document : N >= 1
        Groups to write per document, nearest first.
    words : N >= 1
        Number of words that name a group.

    Examples
    --------
    deltavec cluster reviews.idx
    deltavec cluster reviews.idx -n 4 -o clusters.csv
    deltavec cluster reviews.idx --levels 2 --per-document 3 -o topics.parquet
    """
    if output is not None:
        from deltavec.io.output.tables import WRITERS

        require_file(output, WRITERS)
    with stages("opening the collection") as work:
        from deltavec.collection.topics.clusters import topic_table
        from deltavec.io.output.tables import writing_table

        opened = open_collection(collection, trust)
        work.begin("clustering")
        found = opened.cluster(n, levels=levels, seed=seed, words=words)
        if output is not None:
            work.begin("writing")
            table = topic_table(opened, found, per_document)
            with writing_table(output, table.schema) as write:
                write(table)
    if as_json:
        record: dict[str, Any] = {"collection": collection, "output": output}
        record["reason"] = found.reason
        record["documents_without_vector"] = opened.description.zero_rows
        record["levels"] = [records(level) for level in wider_levels(found)]
        printing.print_json({**record, "clusters": records(found)})
        return
    print_clusters(found)
    if n is None:
        printing.console().print(f"\n{len(found)} clusters: {found.reason}")
    if opened.description.zero_rows:
        typer.echo(
            f"\n{opened.description.zero_rows:,} documents have no word in the vocabulary "
            "and were left out."
        )
    if output is not None:
        typer.echo(f"\nsaved {output}")
    printing.print_next("map", collection, "-o", collection.with_suffix(".html"))


def wider_levels(found: Clusters) -> list[Clusters]:
    """The levels above the finest groups."""
    return [] if found.wider is None else [found.wider, *wider_levels(found.wider)]


def records(found: Clusters) -> list[dict[str, Any]]:
    """The groups as plain objects."""
    columns: dict[str, Any] = {
        "cluster": range(len(found)),
        "documents": found.sizes,
        "words": found.names,
        "central_id": found.central_ids,
        "cohesion": found.cohesion,
    }
    if found.wider is not None:
        columns["parent"] = found.parents
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def print_clusters(found: Clusters) -> None:
    """Print a line for each group, below the wider group that holds it."""
    shown = table([">#", ">documents", ">cosine", "words", "central id"])
    chain = [found, *wider_levels(found)]
    outer: list[str] = []
    for depth, level, number in in_tree(chain):
        outer[depth:] = [str(number)]
        shown.add_row(
            ".".join(outer),
            f"{level.sizes[number]:,}",
            f"{level.cohesion[number]:.2f}",
            printing.plain("  " * depth + ", ".join(level.names[number]), 60),
            printing.plain(level.central_ids[number], 24),
            style="bold" if depth < len(chain) - 1 else "",
        )
    printing.console().print(shown)


def in_tree(chain: list[Clusters], within: int | None = None) -> list[tuple[int, Clusters, int]]:
    """Depth, level and number of each group; groups follow the wider group that holds them."""
    if not chain:
        return []
    *finer, top = chain
    rows = []
    for number in range(len(top)):
        if within is None or top.parents[number] == within:
            rows.append((0, top, number))
            rows += [(depth + 1, level, one) for depth, level, one in in_tree(finer, number)]
    return rows


SUFFIXES = (".html", ".png", ".svg")


def map(
    collection: Path,
    *,
    output: Path | None = None,
    color_by: str | None = None,
    dark: bool = False,
    again: bool = False,
    threads: int | None = None,
    trust: bool = False,
    as_json: bool = False,
) -> None:
    """Draw a map of a collection (t-SNE).

    Similar documents are close. The map is computed once and stored with the collection; `deltavec
    serve` shows the same map. With -o it is written to a file: an interactive page that needs no
    server, or a picture.

    Parameters
    ----------
    output : FILE, -o
        Write the map to an offline .html page, or a .png or .svg picture.
    color_by : COLUMN
        Column that colors a picture; pages have all.
        Default: clusters
    dark
        A picture on a dark background.
    again
        Compute the map again.

    Examples
    --------
    deltavec map reviews.idx -o map.html
    deltavec map reviews.idx -o map.png --color-by rating
    """
    if output is not None:
        require_file(output, SUFFIXES)
        with needing("serve", "a file of the map needs pydantic and starlette"):
            import starlette  # noqa: F401
    with stages("opening the collection") as work:
        opened = open_collection(collection, trust)
        if color_by is not None and color_by not in ("cluster", *opened.columns):
            known = ", ".join(("cluster", *opened.columns))
            raise InputError(f"expected one of {known} to color by, got {color_by!r}")
        if opened.map is None or again:
            opened = opened.with_map(threads=threads, on_stage=work.begin, on_progress=work.reach)
        if output is not None:
            from deltavec.server.map_view import MapView

            map_view = MapView.of(opened, on_stage=work.begin)
            work.begin("writing")
            write(map_view, output, collection.resolve().stem, color_by, dark)
        info = opened.info()
    record = {"collection": collection, "map": info["map"], "output": output}
    facts = {"map": printing.collection_facts(info)["map"]}
    then = ("serve", collection, "--open")
    printing.print_result(as_json, record, facts, work, saved=output or collection, then=then)


def write(map_view: MapView, output: Path, name: str, color_by: str | None, dark: bool) -> None:
    """Write the map in the format that the file's ending names."""
    if output.suffix.lower() == ".html":
        from deltavec.io.artifacts.atomic import replacing
        from deltavec.server.page.offline import map_page

        with replacing(output) as temporary:
            temporary.write_text(map_page(map_view, name), encoding="utf-8")
        return
    from deltavec.server.page.offline import save_picture

    usual = "cluster" if map_view.clusters else None
    save_picture(map_view, output, by=color_by or usual, dark=dark)
