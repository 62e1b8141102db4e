"""The public face: what `import deltavec` offers, and what it costs."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import deltavec

HEAVY = ("gensim", "numba", "pyarrow", "scipy", "sklearn")


def names_after(statement: str) -> set[str]:
    """The top-level modules a fresh process has loaded after the statement."""
    program = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_public_names_are_sorted_and_unique():
    assert list(deltavec.__all__) == sorted(set(deltavec.__all__))


def test_the_stub_has_the_types_of_every_public_name():
    stub = Path(deltavec.__file__).with_suffix(".pyi").read_text("utf-8")
    assert sorted(re.findall(r"^from .* import (\w+) as \1$", stub, re.MULTILINE)) == sorted(
        deltavec.__all__
    )


@pytest.mark.parametrize("name", deltavec.__all__)
def test_every_public_name_resolves(name):
    assert getattr(deltavec, name) is not None


def test_dir_lists_every_public_name():
    assert set(deltavec.__all__) <= set(dir(deltavec))


def test_importing_the_package_loads_nothing_heavy():
    assert names_after("import deltavec").isdisjoint(HEAVY)


def test_errors_can_be_imported_without_loading_anything_heavy():
    assert names_after("from deltavec import DeltavecError").isdisjoint(HEAVY)


def test_embedding_a_few_documents_loads_no_dataframes(tmp_path):
    vectors = deltavec.WordVectors(["sea", "view"], [[1.0, 0.0], [0.0, 1.0]])
    deltavec.fit(["sea view", "sea"], vectors, "idf-sum").save(tmp_path / "model.dv")
    program = f"import deltavec as dv; dv.load({str(tmp_path / 'model.dv')!r}).embed(['the sea'])"
    assert names_after(program).isdisjoint({"pandas", "polars", "sklearn"})


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="no_such_name"):
        deltavec.no_such_name  # noqa: B018


def test_the_version_is_that_of_the_installed_package():
    assert deltavec.__version__ == version("deltavec")
