"""All campaigns, one after the other, for so many minutes: ``make torture MINUTES=10``.

Mutated files, killed commands, a server that is asked, attacked and changed, and pages with scripts
of others in all that they show.

Prints for each how many tries there were and how many failed; what failed is kept beside the
figures, which are written to ``torture/figures.json``. Ends with 1 if anything failed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from shutil import which
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from campaigns import fuzz, kills, pages
from campaigns.readers import READERS
from campaigns.soak import soak
from support.browser import NAMES

KILLS, SOAK, PAGES = "kills", "soak", "pages"


def main() -> int:
    """Run the campaigns that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--tries", type=int, default=100_000, help="at most, for each reader")
    parser.add_argument("--kills", type=int, default=500, help="at most")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", action="append", choices=[*READERS, KILLS, SOAK, PAGES])
    parser.add_argument("--pause", type=float, default=0.02, help="between requests of the soak")
    parser.add_argument("--output", type=Path, default=Path("torture"))
    given = parser.parse_args()
    chosen = given.only or [*READERS, KILLS, SOAK, *([PAGES] if any(map(which, NAMES)) else [])]
    given.output.mkdir(exist_ok=True)
    share = 60 * given.minutes / len(chosen)
    figures: dict[str, Any] = {}
    failed = 0
    for name in chosen:
        until = time.monotonic() + share
        if name == KILLS:
            killed = kills.campaign(given.kills, given.seed, until=until)
            figures[name], bad, tries = asdict(killed), killed.failed, killed.kills
        elif name == SOAK:
            with tempfile.TemporaryDirectory(prefix="soak-") as folder:
                soaked = soak(Path(folder), given.seed, seconds=share, pause=given.pause)
            figures[name], tries = soaked.figures(), soaked.requests + soaked.attacks
            bad = len(soaked.failures) + (not soaked.is_flat())
        elif name == PAGES:
            looked = pages.campaign(given.seed, until)
            figures[name], bad, tries = asdict(looked), len(looked.failures), looked.pages
        else:
            done = fuzz.campaign(name, given.tries, given.seed, given.output / "failures", until)
            figures[name], bad, tries = fuzz.summary(done), done.failed, done.tries
        failed += bad
        sys.stdout.write(f"{name:12} {tries:8,} tries {bad:6,} failures  (seed {given.seed})\n")
        sys.stdout.flush()
        said = {"python": platform.python_version(), "campaigns": figures}
        (given.output / "figures.json").write_text(json.dumps(said, indent=2) + "\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
