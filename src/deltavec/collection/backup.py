"""A copy of a collection that may change meanwhile.

Files of a collection never change once they are named, so a copy has hard links to them where the
file system allows it, and takes no room of its own until the collection changes.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from deltavec.collection.manifest import COLLECTION_FOLDER, MODEL, load_manifest, save_manifest
from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import flush_to_disk

ATTEMPTS = 20


def backup(source: str | os.PathLike[str], output: str | os.PathLike[str]) -> bool:
    """Copy a collection as it is at one moment; whether by hard links.

    Parameters
    ----------
    source
        The folder of a collection; others may write to it meanwhile.
    output
        The folder to write; a collection that stands there is replaced.
    """
    folder, target = Path(source), Path(output)
    COLLECTION_FOLDER.require_replaceable(target)
    if folder.resolve() == target.resolve():
        raise InputError(f"{target}: expected another folder than that of the collection")
    for _ in range(ATTEMPTS):
        manifest, before = load_manifest(folder), folder.stat().st_ino
        # A file that is missing was replaced meanwhile; so was the folder, if it is another one.
        with suppress(FileNotFoundError), COLLECTION_FOLDER.replacing(target) as fresh:
            names = [file.name for file in manifest.files]
            names += [f"{MODEL}/{path.name}" for path in (folder / MODEL).iterdir()]
            (fresh / MODEL).mkdir()
            linked = min([link(folder / name, fresh / name) for name in names])
            save_manifest(fresh, manifest)
            if folder.stat().st_ino != before:
                raise FileNotFoundError
            return linked
    raise InputError(f"{folder}: it changes faster than it can be copied: try again")


def link(source: Path, target: Path) -> bool:
    """Give a file a second name, or copy it where that is not possible; whether it is a name."""
    try:
        target.hardlink_to(source)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)
        flush_to_disk(target)
        return False
    return True
