"""HTML and scripts in texts, ids, columns, names and addresses, looked at in a real browser.

Every page that shows such things is opened: the explorer, what it says when something is wrong, the
answers of the API as a browser would show them, and what notebooks are given. The browser is told
to pass over the policy that forbids scripts of others, so that nothing but the page itself keeps
them from running. It fails if one runs, if an element comes to be that could run one, or if the
page asks anybody else for anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from urllib.parse import quote

import pyarrow as pa

import deltavec as dv
from deltavec.server.app import create_app
from support.browser import Browser, running_browser
from support.explorer_page import CARDS, QUIET, READY
from support.served import on_a_socket

RUN = "window.ran=1"
HOSTILE = [
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg/onload={RUN}>",
    f'"><img src=x onerror={RUN}>',
    f"'><img src=x onerror='{RUN}'>",
    f"</title></textarea></style></script><script>{RUN}</script>",
    '<iframe srcdoc="<script>parent.ran=1</script>"></iframe>',
    f"<details open ontoggle={RUN}>x</details>",
    f"<input autofocus onfocus={RUN}>",
    f'<a href="javascript:{RUN}">x</a>',
    f"javascript:{RUN}",
    "${window.ran=1}",
    "{{constructor.constructor('window.ran=1')()}}",
    f"&lt;img src=x onerror={RUN}&gt;",
    f"<math><mtext></p><style><!--</style><img title='--><img src=x onerror={RUN}>'>",
    "<base href=//evil.example/>",
    f'<meta http-equiv=refresh content="0;url=javascript:{RUN}">',
    "<link rel=stylesheet href=//evil.example/x.css>",
    f"<object data=javascript:{RUN}></object>",
    f"\u2028{RUN}//",
    f"]]><script>{RUN}</script><!--",
    f"\\\";{RUN}//",
]  # fmt: skip
PLACED = (
    "[...document.querySelectorAll('script:not([src]), iframe, object, base, meta[http-equiv], "
    '[onerror], [onload], [ontoggle], [onfocus], a[href^="javascript:"], link[href*=evil]\')]'
    ".map(one => one.outerHTML.slice(0, 200))"
)


@dataclass
class Looked:
    """How it went."""

    collections: int = 0
    pages: int = 0
    failures: list[str] = field(default_factory=list)


def campaign(seed: int, until: float) -> Looked:
    """Look at pages with other collections behind them, as long as there is time."""
    outcome = Looked()
    with TemporaryDirectory(prefix="pages-") as scratch:
        folder = Path(scratch)
        with running_browser(folder / "profile") as browser:
            while time.monotonic() < until:
                own = folder / str(outcome.collections)
                own.mkdir()
                found = look(browser, own, seed + outcome.collections)
                outcome.pages += found.pages
                outcome.failures += found.failures
                outcome.collections += 1
    return outcome


def hostile_collection(folder: Path, rng: Random) -> dv.Collection:
    """Documents with something hostile in every place that there is."""

    def some(number: int, *words: str) -> str:
        return " ".join([*words, rng.choice(HOSTILE), str(number)])

    count = 2 * len(HOSTILE)
    columns = [f"{rng.choice(HOSTILE)} column {number}" for number in range(3)]
    table = pa.table(
        {
            "id": [f"{HOSTILE[number % len(HOSTILE)]}{number}" for number in range(count)],
            "text": [
                f"quiet sea {HOSTILE[n % len(HOSTILE)]} {some(n, 'room')}" for n in range(count)
            ],
            columns[0]: [some(number % 3) for number in range(count)],
            columns[1]: [number % 7 for number in range(count)],
            columns[2]: [[some(number)] for number in range(count)],
        }
    )
    model = dv.fit(table["text"].to_pylist(), recipe="spectral", units="words")
    return dv.build_collection(model, table, folder / "hostile.idx", id_column="id", keep=columns)


def look(browser: Browser, folder: Path, seed: int) -> Looked:
    """Look at every page with a hostile collection behind it."""
    outcome, rng = Looked(1), Random(seed)
    collection = hostile_collection(folder, rng)
    browser.call("Page.setBypassCSP", enabled=True)
    browser.sized(1280, 800)

    def check(what: str, address: str) -> None:
        outcome.pages += 1
        if browser.evaluate("window.ran") is not None:
            outcome.failures.append(f"{what}: a script ran")
        if browser.happened("Page.javascriptDialogOpening"):
            outcome.failures.append(f"{what}: a dialog opened")
        outcome.failures.extend(f"{what}: {one}" for one in browser.evaluate(PLACED))
        others = [
            one for one in browser.addresses if not one.startswith((address, "file:", "data:"))
        ]
        outcome.failures.extend(f"{what}: asked for {one}" for one in others)

    app = create_app(collection, name=rng.choice(HOSTILE))
    with on_a_socket(app) as address:
        explorer(browser, address, rng, check)
        for path in (
            f"/search?query={quote(rng.choice(HOSTILE))}&filter={quote('<b>')}",
            f"/documents?id={quote(collection.ids[3].as_py())}",
            "/map",
            "/docs",
        ):
            visited(browser, address + path)
            browser.settle()
            check(path.partition("?")[0], address)
    texts = collection.documents(list(range(4))).column("text").to_pylist()
    vectors = collection.index.vectors
    for shown in (
        collection.model.explain(*texts[:2]),
        dv.Index(vectors, collection.ids.to_pylist()).search(vectors[:3], k=9),
        collection.duplicates(),
    ):
        page = folder / "notebook.html"
        page.write_text(f"<!doctype html><meta charset=utf-8>{shown._repr_html_()}", "utf-8")
        visited(browser, page.as_uri())
        browser.settle()
        check(type(shown).__name__, page.as_uri())
    return outcome


def visited(browser: Browser, address: str) -> None:
    """Load a page anew, whatever was shown before."""
    browser.visit("about:blank")
    browser.visit(address)


def explorer(
    browser: Browser, address: str, rng: Random, check: Callable[[str, str], None]
) -> None:
    """Do on the explorer's page what a reader would."""
    visited(browser, address)
    browser.until(READY)
    check("the start", address)
    for number in range(1, browser.evaluate("document.getElementById('color-by').length")):
        browser.evaluate(
            f"(one => {{ one.selectedIndex = {number}; one.dispatchEvent(new Event('change')); }})"
            "(document.getElementById('color-by'))"
        )
        browser.settle()
        check("colors", address)
    for query in ("quiet sea", rng.choice(HOSTILE), *rng.sample(HOSTILE, 2)):
        visited(browser, f"{address}/#query={quote(query)}&filter=")
        browser.until(f"{READY} && {QUIET}")
        check("results", address)
    visited(browser, f"{address}/#query=quiet%20sea")
    browser.until(f"{READY} && {QUIET} && {CARDS} > 0")
    browser.evaluate("document.querySelector('#results footer button').click()")
    browser.until("document.querySelector('#why[open]') !== null")
    browser.settle()
    check("why", address)
    browser.press("Escape")
    for _ in range(3):
        browser.press("ArrowDown")
    browser.press("o")
    browser.settle()
    check("a whole text", address)
    browser.press("Enter")
    browser.settle()
    check("documents like one", address)
    visited(browser, f"{address}/#filter={quote(rng.choice(HOSTILE))}")
    browser.until(READY)
    browser.evaluate("document.getElementById('filter').focus()")
    browser.settle()
    check("a filter that is none", address)
    # And it would have been seen: here such markup runs, once it is there.
    browser.evaluate(f"document.body.insertAdjacentHTML('beforeend', `{HOSTILE[1]}`)")
    browser.until("window.ran === 1")
