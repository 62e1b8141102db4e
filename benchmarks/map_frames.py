"""How many frames a second the explorer's map shows while it is dragged, by the page's own clock.

    python benchmarks/map_frames.py COLLECTION.idx -o benchmarks/results/map_frames.json

The collection is served, opened in Chromium without a window, and the map is dragged for some
seconds from afar and zoomed in, in light. A frame is a callback of requestAnimationFrame; there are
at most 60 a second. Needs Chromium, and what the tests need.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import ROOT, publish, surroundings

sys.path.insert(0, str(ROOT / "tests"))

import deltavec as dv
from deltavec.server.app import create_app
from support.browser import Browser, running_browser
from support.served import on_a_socket

RECORD = """
window.recorded = [];
(function record(now) {
  if (!window.recorded) return;
  window.recorded.push(now);
  requestAnimationFrame(record);
})(performance.now());
"""
MIDDLE = """
(() => { const box = document.querySelector("#map canvas, canvas").getBoundingClientRect();
return [box.left + box.width / 2, box.top + box.height / 2]; })()
"""


def dragged(browser: Browser, seconds: float) -> dict[str, float]:
    """The frames of a drag in a circle."""
    x, y = browser.evaluate(MIDDLE)
    mouse = {"button": "left", "clickCount": 1}
    browser.move(x, y)
    browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **mouse)
    browser.evaluate(RECORD)
    until = time.monotonic() + seconds
    for turn in itertools.count():
        if time.monotonic() > until:
            break
        place = {"x": x + 120 * math.sin(turn / 12), "y": y + 90 * math.sin(turn / 17)}
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", buttons=1, **place)
    frames = json.loads(browser.evaluate("JSON.stringify(window.recorded)"))
    browser.evaluate("window.recorded = null")
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, **mouse)
    gaps = sorted(after - before for before, after in itertools.pairwise(frames))
    return {
        "frames_per_second": round(1000 * len(gaps) / (frames[-1] - frames[0]), 1),
        "median_milliseconds": round(statistics.median(gaps), 1),
        "milliseconds_of_the_slowest_in_twenty": round(gaps[int(0.95 * len(gaps))], 1),
        "moves": turn,
    }


def measured(folder: Path, seconds: float, picture: Path | None) -> dict[str, Any]:
    collection = dv.open_collection(folder)
    app = create_app(collection, name=folder.stem)
    with (
        tempfile.TemporaryDirectory() as profile,
        on_a_socket(app) as address,
        running_browser(Path(profile)) as browser,
    ):
        browser.sized(1280, 800)
        browser.prefer("light")
        browser.visit(address)
        browser.until("document.body.classList.contains('ready')")
        browser.settle()
        if picture:
            picture.write_bytes(browser.picture())
        report = {"documents": len(collection), "from_afar": dragged(browser, seconds)}
        x, y = browser.evaluate(MIDDLE)
        for _ in range(8):
            browser.scroll(x, y, -200)
        browser.settle()
        return report | {"zoomed_in": dragged(browser, seconds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collection", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--picture", type=Path, help="where the page is kept as a PNG file")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    report = measured(options.collection, options.seconds, options.picture)
    publish({**report, **surroundings(["numpy", "fastapi"])}, options.output)


if __name__ == "__main__":
    main()
