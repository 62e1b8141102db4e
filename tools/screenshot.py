"""The pictures of the explorer in the README: a real page, in a real browser, of a real collection.

    python tools/screenshot.py      writes explorer.png and why.png, light and dark, to docs/static

The collection is Lee's 350 news stories, which come with gensim. Needs Chromium, and what the tests
need.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import deltavec as dv  # noqa: E402
from deltavec.lab.stories import lee_documents  # noqa: E402
from deltavec.server.app import create_app  # noqa: E402
from support.browser import Browser, running_browser  # noqa: E402
from support.served import lee_collection, on_a_socket  # noqa: E402

QUERY = "storm and flooding in new south wales"
MOST_BYTES = 300_000


def collection(folder: Path) -> dv.Collection:
    stories = lee_documents().stories
    (folder / "news.txt").write_text("".join(f"{story}\n" for story in stories), encoding="utf-8")
    dv.fit(stories).save(folder / "news.dv")
    lee_collection(folder / "news.txt", folder / "news.dv", folder / "lee.idx", ["words"])
    return dv.open_collection(folder / "lee.idx")


def show(browser: Browser, address: str, scheme: str, width: int, height: int) -> None:
    browser.sized(width, height)
    browser.prefer(scheme)
    browser.visit("about:blank")
    browser.visit(f"{address}/#query={QUERY.replace(' ', '+')}")
    browser.until("document.body.classList.contains('ready')")
    browser.until("document.querySelectorAll('#results article').length === 20")
    browser.press("ArrowDown")
    browser.until("document.activeElement.matches('article')")
    browser.settle()


def pictures(browser: Browser, address: str, scheme: str) -> dict[str, bytes]:
    ending = "" if scheme == "light" else f"-{scheme}"
    show(browser, address, scheme, 1280, 800)
    found = {f"explorer{ending}.png": browser.picture()}
    show(browser, address, scheme, 980, 608)
    browser.press("w")
    browser.until("document.querySelector('#why[open] .shares .sum') !== null")
    browser.settle()
    return found | {f"why{ending}.png": browser.picture()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs/static")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        app = create_app(collection(folder), name="lee news")
        with on_a_socket(app) as address, running_browser(folder / "profile") as browser:
            found = pictures(browser, address, "light") | pictures(browser, address, "dark")
    for file, picture in found.items():
        if len(picture) > MOST_BYTES:
            sys.exit(f"{file} has {len(picture):,} bytes; expected at most {MOST_BYTES:,}")
        (arguments.output / file).write_bytes(picture)
        print(f"{arguments.output / file}: {len(picture):,} bytes")


if __name__ == "__main__":
    main()
