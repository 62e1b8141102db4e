"""``deltavec explore``: from a file to a search page, in one command."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from deltavec.cli import options
from deltavec.cli.commands.index import split_names
from deltavec.cli.commands.serve import LogFormat, ServerOptions, require_extra, run_server
from deltavec.cli.failures import notice
from deltavec.cli.inputs import open_corpus, require_rereadable
from deltavec.cli.printing import plural
from deltavec.cli.progress import stages

if TYPE_CHECKING:
    from deltavec.io.corpus.corpus import Corpus

RESERVED = ("id", "text")  # columns that every collection has


def explore(
    corpus: str,
    *,
    output: Path | None = None,
    id_column: str | None = None,
    keep: list[str] | None = None,
    files: options.CorpusOptions = options.CorpusOptions(),
    port: int = 0,
    browser: bool = True,
    threads: int | None = None,
    as_json: bool = False,
) -> None:
    """Search and explore a file in your browser.

    Learns a model from the documents, builds a collection and serves it. The collection is kept in
    your cache folder and used again until the file changes. A collection (.idx) is served as it is.

    Parameters
    ----------
    output : REVIEWS.idx, -o
        Keep the collection in this folder, not in the cache.
    keep : COLUMNS
        Columns to show and to filter by: rating,city.
        Default: all
    port : N 0..65535
        The port; 0: a free one.
    browser : --open/--no-open
        Open the page in your browser.

    Examples
    --------
    deltavec explore reviews.csv
    deltavec explore reviews.parquet --column review --id-column id -o reviews.idx
    """
    require_extra()
    folder = Path(corpus)
    if not (folder / "collection.json").is_file():
        require_rereadable(corpus)
        folder = find_or_build(corpus, files, output, id_column, keep, threads)
    server = ServerOptions(port=port, log=LogFormat.none)
    name = folder.resolve().stem if output else Path(corpus).stem
    run_server(folder, name, server, trust=False, as_json=as_json, browser=browser)


def find_or_build(
    source: str,
    files: options.CorpusOptions,
    output: Path | None,
    id_column: str | None,
    keep: list[str] | None,
    threads: int | None,
) -> Path:
    """The folder of the collection of a corpus, which is built if it is missing or outdated."""
    with stages("opening") as work:
        from deltavec.collection import build_collection

        corpus = open_corpus(source, files)
        kept = split_names(keep, corpus) if keep else other_columns(corpus, id_column)
        fingerprint = " ".join([str(corpus.identity), str(id_column), *kept])
        folder = output or cached_folder(source, corpus.column)
        stamp = folder.with_suffix(".fingerprint")
        is_there = folder.is_dir() and stamp.is_file()
        if is_there and stamp.read_text("utf-8") == fingerprint:
            return folder
        built = build_collection(
            None, corpus, folder, id_column=id_column, keep=kept, threads=threads,
            on_progress=work.report, on_stage=work.begin,
        )  # fmt: skip
        stamp.write_text(fingerprint, "utf-8")
    notice(f"{plural(len(built), 'document')} in {folder}")
    return folder


def other_columns(corpus: Corpus, id_column: str | None) -> list[str]:
    """The columns beside the text and the ids."""
    return [name for name in corpus.columns if name not in (corpus.column, id_column, *RESERVED)]


def cached_folder(source: str, column: str) -> Path:
    """The folder in the user's cache for the collection of a corpus."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256(f"{Path(source).absolute()} {column}".encode()).hexdigest()[:12]
    parent = home / "deltavec" / "explore"
    parent.mkdir(parents=True, exist_ok=True)
    return parent / f"{Path(source).stem or 'corpus'}-{digest}.idx"
