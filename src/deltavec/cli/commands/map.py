"""``deltavec map``: the map of a collection, drawn, and written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deltavec.cli.inputs import open_collection
from deltavec.cli.outputs import require_file
from deltavec.cli.printing import collection_facts, print_result
from deltavec.cli.progress import stages
from deltavec.errors import InputError, needing

if TYPE_CHECKING:
    from deltavec.server.map_view import MapView

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
    facts = {"map": collection_facts(info)["map"]}
    then = ("serve", collection, "--open")
    print_result(as_json, record, facts, work, saved=output or collection, then=then)


def write(map_view: MapView, output: Path, name: str, color_by: str | None, dark: bool) -> None:
    """Write the map in the format that the file's ending names."""
    if output.suffix.lower() == ".html":
        from deltavec.io.artifacts.atomic import replacing
        from deltavec.server.page.offline import map_page

        with replacing(output) as temporary:
            temporary.write_text(map_page(map_view, name), encoding="utf-8")
        return
    from deltavec.server.page.picture import save_picture

    usual = "cluster" if map_view.clusters else None
    save_picture(map_view, output, by=color_by or usual, dark=dark)
