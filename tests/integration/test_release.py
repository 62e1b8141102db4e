"""A release: sdist and wheel are built, installed into an environment of their own, and work."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import deltavec as dv
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


@pytest.mark.skipif(sys.platform == "win32", reason="folders of Unix")
def test_the_wheel_works_in_an_environment_of_its_own(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    (packages,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    # What it depends on comes from here; a path in a .pth file does not bring our own sources.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (tmp_path / "reviews.txt").write_text("\n".join(reviews()))
    program = (
        "import deltavec as dv; print(dv.__file__);"
        "news = dv.build_collection('reviews.txt', 'r.idx');"
        "print(dv.__version__, news.search('quiet bay')[0].id)"
    )
    where, found = run(python, "-c", program, cwd=tmp_path).splitlines()
    assert where.startswith(str(packages))
    assert found.startswith(dv.__version__)
    said = run(python, "-m", "deltavec", "--version", cwd=tmp_path)
    assert said == f"deltavec {dv.__version__}\n"


def test_the_release_is_described_in_the_changelog_and_the_citation() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## \[{re.escape(dv.__version__)}\] - \d{{4}}-\d\d-\d\d$", changes, re.M)
    assert "### Upgrading" in changes
    assert f"version: {dv.__version__}" in (ROOT / "CITATION.cff").read_text("utf-8")
