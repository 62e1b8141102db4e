"""What people type into the search of the site leads to the right page, in a real browser."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from support.browser import Browser, running_browser

ROOT = Path(__file__).parents[2]
QUERIES = json.loads(Path(__file__).with_name("site_queries.json").read_text("utf-8"))
MISSES = 2  # of 30 queries


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as `make docs` builds them; built here if they are not."""
    built = ROOT / "docs" / "_build" / "html"
    if not (built / "searchindex.js").is_file():
        built = tmp_path_factory.mktemp("site")
        command = [sys.executable, "-m", "sphinx", "--quiet", str(ROOT / "docs"), str(built)]
        subprocess.run(command, check=True, cwd=ROOT)
    return built


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


def found(window: Browser, site: Path, query: str) -> list[str]:
    """The pages that a query finds, best first."""
    window.visit("about:blank")
    window.visit(f"{(site / 'search.html').as_uri()}?q={quote(query)}")
    window.until("document.querySelector('#search-results .search-summary')?.innerText.length > 0")
    window.until("!document.querySelector('#search-progress')?.innerText.includes('...')")
    links = window.evaluate(
        "[...document.querySelectorAll('#search-results li a')].map(a => a.pathname)"
    )
    pages = [Path(link).relative_to(site).with_suffix("").as_posix() for link in links]
    return list(dict.fromkeys(pages))


def test_common_queries_lead_to_the_right_page(window: Browser, site: Path) -> None:
    assert len(QUERIES) == 30
    missed = {}
    for query, right in QUERIES.items():
        first = found(window, site, query)[:3]
        if not {*first} & {*right}:
            missed[query] = first
    assert len(missed) <= MISSES, missed


def test_decision_records_are_not_found(window: Browser, site: Path) -> None:
    assert not any("decisions/0" in page for page in found(window, site, "decision"))
