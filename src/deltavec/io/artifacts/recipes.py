"""A recipe as a small JSON file: written by ``deltavec tune``, read by ``deltavec fit``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from deltavec.core.recipes import DEFAULTS, Recipe
from deltavec.errors import RecipeError
from deltavec.io.artifacts.atomic import replacing
from deltavec.version import __version__

FORMAT = "deltavec recipe"
VERSION = 1
LONGEST = 1 << 20  # bytes; a real one has about a thousand


class StoredRecipe(NamedTuple):
    """A recipe, and the word vectors it was chosen with.

    Attributes
    ----------
    recipe : Recipe
        The recipe.
    vectors : str or None
        What the vectors are called; None if none were given.
    """

    recipe: Recipe
    vectors: str | None


def save_recipe(
    recipe: Recipe,
    path: Path,
    *,
    vectors: str | None = None,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write a recipe to a file.

    Parameters
    ----------
    recipe
        The recipe.
    path
        The file; one that is there is replaced.
    vectors
        What the word vectors are called that it needs; None if it needs none that are given.
    about
        Where it comes from, for people to read.
    """
    entries = {
        "format": FORMAT,
        "format_version": VERSION,
        "library_version": __version__,
        "name": recipe.name,
        "recipe": recipe.entries,
        "vectors": vectors,
        "about": dict(about or {}),
    }
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(entries, indent=2, allow_nan=False) + "\n", "utf-8")


def load_recipe(path: Path) -> StoredRecipe:
    """The recipe in a file; an entry of the recipe that is not there has its default."""
    try:
        return stored(parsed(path))
    except RecipeError as error:
        raise RecipeError(f"{path}: {error}") from None


def parsed(path: Path) -> dict[str, Any]:
    """The JSON object in a file."""
    with path.open("rb") as file:
        data = file.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise RecipeError(f"expected at most {LONGEST:,} bytes: this is not a recipe")
    try:
        entries = json.loads(data.decode())
    except (ValueError, RecursionError):
        raise RecipeError("expected JSON, as deltavec tune writes it") from None
    if not isinstance(entries, dict) or entries.get("format") != FORMAT:
        raise RecipeError(f'expected a JSON object with "format": "{FORMAT}"')
    version = entries.get("format_version")
    if version != VERSION:
        raise RecipeError(
            f"expected version {VERSION} of the format, got {version!r:.60}: upgrade deltavec"
        )
    return entries


def stored(entries: Mapping[str, Any]) -> StoredRecipe:
    """What the entries say, every value looked at."""
    parameters, vectors = entries.get("recipe"), entries.get("vectors")
    if not isinstance(parameters, dict):
        raise RecipeError(f'expected an object under "recipe", got {parameters!r:.60}')
    if vectors is not None and not isinstance(vectors, str):
        raise RecipeError(f'expected a name or null under "vectors", got {vectors!r:.60}')
    for name in parameters:
        if name not in DEFAULTS:
            raise RecipeError(f"a recipe has no {name!r:.60}; it has {', '.join(DEFAULTS)}")
    return StoredRecipe(Recipe.stored(parameters), vectors)
