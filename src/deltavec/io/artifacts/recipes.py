"""A recipe as a small JSON file: written by ``deltavec tune``, read by ``deltavec fit``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from deltavec.core.recipes import DEFAULTS, Recipe
from deltavec.errors import RecipeError
from deltavec.io.artifacts.atomic import replacing
from deltavec.io.artifacts.manifest import LONGEST, problems_of
from deltavec.version import __version__

FORMAT = "deltavec recipe"
VERSION = 1


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
        The file; an existing one is replaced.
    vectors
        The name of the word vectors that it needs; None if it needs none.
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
    """The recipe in a file; missing parameters have their defaults."""
    with problems_of(path, RecipeError):
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
        version, parameters, vectors = map(entries.get, ("format_version", "recipe", "vectors"))
        if version != VERSION:
            raise RecipeError(
                f"expected version {VERSION} of the format, got {version!r:.60}: upgrade deltavec"
            )
        if not isinstance(parameters, dict):
            raise RecipeError(f'expected an object under "recipe", got {parameters!r:.60}')
        if vectors is not None and not isinstance(vectors, str):
            raise RecipeError(f'expected a name or null under "vectors", got {vectors!r:.60}')
        for name in parameters:
            if name not in DEFAULTS:
                raise RecipeError(f"a recipe has no {name!r:.60}; it has {', '.join(DEFAULTS)}")
        return StoredRecipe(Recipe.stored(parameters), vectors)
