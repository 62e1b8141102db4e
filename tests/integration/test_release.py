"""A release: sdist and wheel are built, installed into an environment of their own, and work."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import deltavec as dv
from support.browser import running_browser
from support.processes import Process
from support.typed import reviews

ROOT = Path(__file__).parents[2]


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run(
        [str(one) for one in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of this tree, and the wheel that is made from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    (source,) = folder.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(folder / "source", filter="data")
    (unpacked,) = (folder / "source").iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=unpacked)
    return folder


def test_the_wheel_holds_the_package_and_its_data_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.name == f"deltavec-{dv.__version__}-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} <= {
        "deltavec",
        f"deltavec-{dv.__version__}.dist-info",
    }
    for data in ("py.typed", "server/page/facets.js", "collection/topics/function_words.txt"):
        assert f"deltavec/{data}" in names


@pytest.fixture(scope="module")
def python(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment of its own in which the wheel is installed."""
    if sys.platform == "win32":
        pytest.skip("folders of Unix")
    (wheel,) = built.glob("*.whl")
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=False)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    # What it depends on comes from here; a path in a .pth file does not bring our own sources.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    return folder / "bin" / "python"


def test_the_wheel_works_in_an_environment_of_its_own(python: Path, tmp_path: Path) -> None:
    (tmp_path / "reviews.txt").write_text("\n".join(reviews()))
    program = (
        "import deltavec as dv; print(dv.__file__);"
        "news = dv.build_collection('reviews.txt', 'r.idx');"
        "print(dv.__version__, news.search('quiet bay')[0].id)"
    )
    where, found = run(python, "-c", program, cwd=tmp_path).splitlines()
    assert where.startswith(str(python.parents[1]))
    assert found.startswith(dv.__version__)
    said = run(python, "-m", "deltavec", "--version", cwd=tmp_path)
    assert said == f"deltavec {dv.__version__}\n"


def test_explore_from_the_wheel_answers_a_search_in_the_browser(
    python: Path, tmp_path: Path
) -> None:
    lines = ["rating,review", *(f'{i % 5},"{text}"' for i, text in enumerate(reviews()))]
    (tmp_path / "stays.csv").write_text("\n".join(lines) + "\n")
    command = [python, "-m", "deltavec", "explore", "stays.csv", "--no-open", "--json"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with (
        running_browser(tmp_path / "profile") as browser,
        Process(
            command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment
        ) as served,
    ):
        assert served.stdout is not None
        said = "".join(iter(served.stdout.readline, "}\n")) + "}"
        browser.visit(json.loads(said)["address"])
        browser.until("document.body.classList.contains('ready')")
        browser.evaluate("document.getElementById('query').focus()")
        browser.write("quiet bay")
        browser.press("Enter")
        browser.until("document.querySelectorAll('#results article').length > 0")
        first = browser.evaluate("document.querySelector('#results article').textContent")
        assert "quiet" in first
        assert browser.complaints == []
        served.send_signal(signal.SIGINT)


def test_the_release_is_described_in_the_changelog_and_the_citation() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## \[{re.escape(dv.__version__)}\] - \d{{4}}-\d\d-\d\d$", changes, re.M)
    assert "### Upgrading" in changes
    assert f"version: {dv.__version__}" in (ROOT / "CITATION.cff").read_text("utf-8")
