"""A real browser, told what to do over a pipe: Chromium's own protocol, and nothing else."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

REQUIRE = "DELTAVEC_REQUIRE_BROWSER"
NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60  # seconds that the browser may take for an answer

FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",  # it runs as root in containers, where there is no other user
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)

CODES = {
    "Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
    "ArrowDown": 40, "/": 191, "?": 191, "+": 187, "-": 189,
}  # fmt: skip

# The browser reads its commands from 3 and answers on 4.
LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)


def found_browser() -> str:
    """The browser's path; without one the test is skipped, or fails where it must not be."""
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    missing()


def missing() -> NoReturn:
    """Skip, or fail if a browser is required."""
    sentence = "there is no Chromium: apt-get install chromium"
    if os.environ.get(REQUIRE):
        pytest.fail(f"{sentence} ({REQUIRE} is set)")
    pytest.skip(sentence)


class Browser:
    """A browser with one page open.

    Attributes
    ----------
    events : list of dict
        All that the browser has told without being asked.
    """

    def __init__(self, requests: int, answers: int) -> None:
        self.requests, self.answers = requests, answers
        self.number = 0
        self.unread = b""
        self.events: list[dict[str, Any]] = []
        self.session: str | None = None

    def open_page(self) -> None:
        """Open an empty page and listen to what happens in it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """What the browser answers."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.requests, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next_message()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def show(self, path: Path) -> None:
        """Load a file, and wait until all of it is there."""
        self.visit(path.as_uri())

    def visit(self, address: str) -> None:
        """Load a page, and wait until all of it is there."""
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def wait_for(self, method: str) -> None:
        """Read on until the browser has told of this event."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.next_message())

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until an expression in the page is true."""
        watching = (
            "new Promise((resolve, reject) => { const end = Date.now() + 1000 * "
            f"{PATIENCE / 2}; (function look() {{ if ({condition}) resolve(true); "
            "else if (Date.now() > end) reject(new Error('never')); "
            "else setTimeout(look, 10); })(); })"
        )
        found = self.call("Runtime.evaluate", expression=watching, awaitPromise=True)
        assert "exceptionDetails" not in found, f"{condition}: {found}"

    def settle(self) -> None:
        """Wait for a few frames: what was to be laid out and drawn by now is."""
        self.evaluate(
            "window.settled = 0; (function next() "
            "{ if (++window.settled < 4) requestAnimationFrame(next); })()"
        )
        self.until("window.settled === 4")

    def write(self, text: str) -> None:
        """Type a text where the focus is."""
        for character in text:
            self.call("Input.insertText", text=character)

    def press(self, key: str) -> None:
        """Press and release a key, by the name that the page's events have for it."""
        code = CODES.get(key, ord(key[0].upper()))
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                **({"text": text} if text and kind == "keyDown" else {}),
            )

    def move(self, x: float, y: float) -> None:
        """Move the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        """Click at a place."""
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def scroll(self, x: float, y: float, by: float) -> None:
        """Turn the wheel at a place."""
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by)

    def sized(self, width: int, height: int, scale: float = 1) -> None:
        """Give the window a size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=scale, mobile=width < 500,
        )  # fmt: skip

    def prefer(self, scheme: str) -> None:
        """Let the system prefer light or dark."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def picture(self) -> bytes:
        """What the window shows, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def happened(self, method: str) -> list[dict[str, Any]]:
        """What was told of events of one kind."""
        return [event["params"] for event in self.events if event.get("method") == method]

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings in the console."""
        logged = [event["entry"]["text"] for event in self.happened("Log.entryAdded")]
        printed = [str(event["args"]) for event in self.happened("Runtime.consoleAPICalled")]
        thrown = [
            str(event["exceptionDetails"]) for event in self.happened("Runtime.exceptionThrown")
        ]
        return logged + printed + thrown

    @property
    def addresses(self) -> list[str]:
        """What the page asked for, its own address first."""
        return [event["request"]["url"] for event in self.happened("Network.requestWillBeSent")]

    def next_message(self) -> dict[str, Any]:
        """The next message of the browser."""
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.answers], [], [], PATIENCE)
            assert ready, f"the browser said nothing for {PATIENCE} seconds"
            piece = os.read(self.answers, 1 << 16)
            assert piece, "the browser is gone"
            self.unread += piece
        message, _, self.unread = self.unread.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


@contextlib.contextmanager
def running_browser(profile: Path) -> Iterator[Browser]:
    """A browser with a page open, gone at the end."""
    path = found_browser()
    (their_input, our_output), (our_input, their_output) = high_pipe(), high_pipe()
    ends = (str(their_input), str(their_output))
    process = subprocess.Popen(
        [sys.executable, "-c", LAUNCH, *ends, path, *FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(their_input, their_output),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(their_input)
    os.close(their_output)
    browser = Browser(our_output, our_input)
    try:
        browser.open_page()
        yield browser
        browser.session = None
        browser.call("Browser.close")
        process.wait(PATIENCE)
    finally:
        os.close(our_output)
        os.close(our_input)
        if process.poll() is None:
            process.kill()
        process.wait()


def high_pipe() -> tuple[int, int]:
    """Both ends of a pipe, by numbers that are not in the browser's way."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high[0], high[1]
