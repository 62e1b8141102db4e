"""The explorer in a browser: what a reader does on its page, and sees there."""

from __future__ import annotations

from support.browser import Browser

READY = "document.body.classList.contains('ready')"
CARDS = "document.querySelectorAll('#results article').length"
QUIET = "document.getElementById('results').getAttribute('aria-busy') === 'false'"
TITLE = "document.getElementById('found-title').textContent"


def search(browser: Browser, text: str) -> None:
    browser.press("/")
    browser.write(text)
    browser.until(f"{asked('query')} === '{text}' && {QUIET} && {CARDS} > 0")


def asked(field: str) -> str:
    """What is asked for, as the address has it."""
    return f"new URLSearchParams(location.hash.slice(1)).get('{field}')"


def texts(browser: Browser, selector: str) -> list[str]:
    found = browser.evaluate(
        f"[...document.querySelectorAll('{selector}')].map(e => e.textContent)"
    )
    assert isinstance(found, list)
    return found
