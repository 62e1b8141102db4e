"""``deltavec similar-pairs``: pairs of documents about the same, by cosine."""

from __future__ import annotations

from pathlib import Path

import typer

from deltavec.cli.failures import require_usage
from deltavec.cli.inputs import open_collection
from deltavec.cli.outputs import require_file
from deltavec.cli.printing import plural, print_next
from deltavec.cli.progress import stages


def similar_pairs(
    collection: Path,
    *,
    output: Path,
    threshold: float = 0.95,
    threads: int | None = None,
    trust: bool = False,
) -> None:
    """Write all pairs of documents with a high cosine similarity.

    They need not share any text: to remove copies, use `deltavec duplicates`.

    Parameters
    ----------
    output : PAIRS.parquet, -o
        The pairs: a, b, score.
    threshold : COSINE, -t
        Least cosine similarity, above 0.

    Examples
    --------
    deltavec similar-pairs reviews.idx --threshold 0.98 -o pairs.parquet
    """
    expected = f"expected a cosine above 0, up to 1, got {threshold:g}"
    require_usage(0 < threshold <= 1, "'--threshold' / '-t'", expected)
    require_file(output, [".parquet"])
    with stages("opening the collection") as work:
        from deltavec.search import write_similar_pairs

        opened = open_collection(collection, trust)
        work.begin("comparing all pairs")
        count = write_similar_pairs(
            output,
            opened.index.vectors,
            threshold,
            ids=opened.ids,
            threads=threads,
            on_progress=work.reach,
        )
    typer.echo(f"{plural(count, 'pair')} at or above {threshold:g}\n\nsaved {output}")
    print_next("duplicates", collection)
