"""How the default stands in each language that `measure.py` measured, beside the others.

    python choose.py results/sib200.json           a few lines: how it stands
    python choose.py results/sib200.json --table   the table of the guide

Thresholds were chosen on languages at even places of the list in alphabetical order (0, 2, 4 and
so on); those at odd places confirm them.
"""

import json
import sys
from pathlib import Path

import numpy as np

KINDS = ("words", "words+grams", "grams", "stems", "sparse", "sparse-2-4")
ROW = "| {name} | {once:.0%} | {default} | {own} ± {error} | {words} | {both} | {grams} | {tfidf} |"


def precision_of(languages, kind):
    """The precision of one kind, or of what the default takes, in each language."""
    named = [one["default"] if kind == "default" else kind for one in languages]
    return np.array([one["precision"][name] for one, name in zip(languages, named, strict=True)])


def compared(title, languages):
    """A line about some languages."""
    default = precision_of(languages, "default")
    lines = [f"{title}: {len(languages)} languages; default {default.mean():.4f}"]
    for kind in KINDS:
        other = precision_of(languages, kind)
        line = f"  {kind} {other.mean():.4f}; default at or above in {(default >= other).sum()}"
        if kind in languages[0]["error_of_gain"]:
            errors = np.array([one["error_of_gain"][kind] for one in languages])
            line += f", below by more than two errors in {(default < other - 2 * errors).sum()}"
        lines.append(line)
    return "\n".join(lines)


def row(name, one):
    """A row of the guide's table."""
    values = {kind: f"{value:.3f}"[1:] for kind, value in one["precision"].items()}
    return ROW.format(
        name=name,
        once=one["seen_once"],
        default=one["default"],
        own=values[one["default"]],
        error=f"{one['error'][one['default']]:.3f}"[1:],
        words=values["words"],
        both=values["words+grams"],
        grams=values["grams"],
        tfidf=values["sparse"],
    )


def main() -> None:
    measured = json.loads(Path(sys.argv[1]).read_text())
    if "--table" in sys.argv:
        print("\n".join(row(name, one) for name, one in sorted(measured.items())))
        return
    for place in ("even", "odd"):
        print(compared(place, [one for one in measured.values() if one["place"] == place]))
    print(compared("all", [*measured.values()]))


if __name__ == "__main__":
    main()
