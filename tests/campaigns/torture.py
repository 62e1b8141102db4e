"""All campaigns, one after the other, for so many minutes: ``make torture MINUTES=10``.

Prints for each how many tries there were and how many failed; what failed is kept beside the
figures, which are written to ``torture/figures.json``. Ends with 1 if anything failed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from campaigns import fuzz, kills
from campaigns.readers import READERS

KILLS = "kills"


def main() -> int:
    """Run the campaigns that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--tries", type=int, default=100_000, help="at most, for each reader")
    parser.add_argument("--kills", type=int, default=500, help="at most")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", action="append", choices=[*READERS, KILLS])
    parser.add_argument("--output", type=Path, default=Path("torture"))
    given = parser.parse_args()
    chosen = given.only or [*READERS, KILLS]
    given.output.mkdir(exist_ok=True)
    share = 60 * given.minutes / len(chosen)
    figures: dict[str, Any] = {}
    failed = 0
    for name in chosen:
        until = time.monotonic() + share
        if name == KILLS:
            killed = kills.campaign(given.kills, given.seed, until=until)
            figures[name], bad, tries = asdict(killed), killed.failed, killed.kills
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
