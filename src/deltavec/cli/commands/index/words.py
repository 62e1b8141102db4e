"""``deltavec index words``: the inverted index of a collection."""

from __future__ import annotations

from deltavec.cli import options
from deltavec.cli.printing import duration, print_result, words_line
from deltavec.cli.progress import Passes, stages

EXAMPLES = ("deltavec index words reviews.idx",)


def words(
    collection: options.Collection,
    stems: options.Stems = True,
    threads: options.Threads = None,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Build the inverted index of a collection, for keyword search.

    For a collection built with --no-words. An existing inverted index is built again. An
    interrupted command changes nothing.
    """
    with stages("opening the collection") as work:
        from deltavec.collection import open_collection

        before = open_collection(collection, verify=False, trust=trust)
        passes = Passes(work)
        passes.begin("listing words")
        after = before.with_words(stems=stems, threads=threads, on_progress=passes.progress)
        info = after.info()
    took = duration(work.seconds)
    facts = {"words": words_line(info), "time": took, "saved": str(collection)}
    print_result(as_json, {"collection": collection, **info, "seconds": work.seconds}, facts)
