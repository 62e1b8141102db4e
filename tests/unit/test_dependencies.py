"""What the package imports is what its metadata asks for."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import deltavec

PACKAGE = Path(deltavec.__file__).parent
PROJECT = PACKAGE.parents[1] / "pyproject.toml"
# Where the names differ.
DISTRIBUTIONS = {
    "pydantic_core": "pydantic",
    "Stemmer": "PyStemmer",
    "haystack": "haystack-ai",
    "qdrant_client": "qdrant-client",
    "langchain_core": "langchain-core",
    "llama_index": "llama-index-core",
    "sklearn": "scikit-learn",
}
# pyspark's mapInArrow refuses to work without pandas.
NEEDED_BY_OTHERS = {"pandas"}
BROUGHT_BY_USERS = {"spacy", "sudachipy"}  # tokenizers that a user names, and has


def test_what_is_imported_is_declared_and_the_other_way_round() -> None:
    imported = {
        DISTRIBUTIONS.get(name, name)
        for path in PACKAGE.rglob("*.py")
        for name in imports(ast.parse(path.read_text("utf-8")))
        if name not in sys.stdlib_module_names | {"deltavec"}
    }
    assert declared() | BROUGHT_BY_USERS == imported | NEEDED_BY_OTHERS


def imports(module: ast.Module) -> Iterator[str]:
    """The first parts of all names that a module imports, by statement or by function."""
    for node in ast.walk(module):
        match node:
            case ast.Import():
                yield from (alias.name.split(".")[0] for alias in node.names)
            case ast.ImportFrom(module=str(name)):
                yield name.split(".")[0]
            case ast.Call(
                func=ast.Name("import_module" | "find_spec"), args=[ast.Constant(str(name))]
            ):
                yield name.split(".")[0]


def declared() -> set[str]:
    """The names of the packages that the base and the extras ask for."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return {re.split(r"[<>=!~\[ ;]", one)[0] for group in groups for one in group}
