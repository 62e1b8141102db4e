"""Put the peers of ``make bench`` into the environment that runs this; say which cannot be had.

    .venv-bench/bin/python benchmarks/set_up.py

A peer that cannot be installed does not stop the others: its reason goes to ``absent.json`` in
the environment, and from there into the results. What is there already is not fetched again.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

from models import MODELS, fetched, last_line

HERE = Path(__file__).parent
ENVIRONMENT = Path(sys.prefix)
PACKAGES = ("model2vec", "bm25s", "faiss-cpu", "gensim", "hnswlib", "usearch")


def pinned(requirements: str) -> dict[str, str]:
    """The version of each package in a list of ``name==version`` lines."""
    return dict(re.findall(r"^([\w.-]+)==([\w.+]+)$", requirements, re.MULTILINE))


def installed(requirement: str) -> str | None:
    """Why a package cannot be installed; None when it is there."""
    command = [
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "install"),
        *("-c", str(HERE / "requirements.txt"), requirement),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return last_line(answer.stderr) if answer.returncode else None


def unpacked(name: str) -> str | None:
    """Why a model cannot be had; None when it is there."""
    models = ENVIRONMENT / "models"
    models.mkdir(exist_ok=True)
    try:
        fetched(name, models)
    except (OSError, ValueError) as error:
        return str(error)
    return None


def set_up() -> dict[str, str]:
    """Install everything; what is absent, and why."""
    versions = pinned((HERE / "requirements.txt").read_text("utf-8"))
    reasons = {}
    for name in PACKAGES:
        print(f"Installing {name} {versions[name]} ...", flush=True)
        reasons[name] = installed(f"{name}=={versions[name]}")
    for name in MODELS:
        print(f"Fetching {name} ...", flush=True)
        reasons[name] = unpacked(name)
    return {name: reason for name, reason in reasons.items() if reason}


def fingerprint() -> str:
    """A name for what the set-up is made from."""
    sources = (HERE / "requirements.txt", HERE / "set_up.py", HERE / "models.py")
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


def main() -> None:
    if sys.prefix == sys.base_prefix:
        sys.exit("run this in an environment of its own: make bench")
    stamp = ENVIRONMENT / ".installed-peers"
    if stamp.exists() and stamp.read_text("utf-8") == fingerprint():
        return
    absent = set_up()
    (ENVIRONMENT / "absent.json").write_text(json.dumps(absent, indent=2) + "\n", "utf-8")
    for name, reason in absent.items():
        print(f"absent: {name}: {reason}", file=sys.stderr)
    if not absent:  # otherwise the next run tries again
        stamp.write_text(fingerprint(), "utf-8")


if __name__ == "__main__":
    main()
