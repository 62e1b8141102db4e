"""Write the reports of these experiments anew, from their results.

    python experiments/schmidt2019/render.py

Every folder gets ``report.md`` with its figures, and ``report.html``, which is not kept here.
"""

from __future__ import annotations

from pathlib import Path

from deltavec.lab.report.report import write_report
from deltavec.lab.results import Results

if __name__ == "__main__":
    for path in sorted(Path(__file__).parent.glob("*/results.json")):
        write_report(Results.from_json(path.read_text("utf-8")), path.parent)
        print(path.parent.name)
