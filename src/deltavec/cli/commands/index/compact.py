"""``deltavec index compact``: the documents of a collection in one file."""

from __future__ import annotations

from deltavec.cli import options
from deltavec.cli.printing import counted, duration, print_result, size
from deltavec.cli.progress import stages

EXAMPLES = ("deltavec index compact reviews.idx",)


def compact(collection: options.Collection, as_json: options.AsJson = False) -> None:
    """Merge the document files of a collection.

    Seldom needed: every change merges small files, and removed documents are never kept. An
    interrupted command changes nothing.
    """
    with stages("opening the collection") as work:
        from deltavec.collection import open_collection

        before = open_collection(collection, verify=False)
        work.begin("joining files")
        after = before.compact()
    files = len(before.description.segments), len(after.description.segments)
    sizes = before.info()["document_bytes"], after.info()["document_bytes"]
    facts = {
        "files": f"{counted(files[0], 'file')} of documents before, {files[1]:,} now",
        "size": f"{size(sizes[0])} before, {size(sizes[1])} now",
        "time": duration(work.seconds),
        "saved": str(collection),
    }
    record = {
        "collection": collection,
        "files_before": files[0],
        "files": files[1],
        "document_bytes_before": sizes[0],
        **after.info(),
        "seconds": work.seconds,
    }
    print_result(as_json, record, facts)
