"""``--recipe FILE.json``: a recipe that ``deltavec tune`` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deltavec.errors import RecipeError

if TYPE_CHECKING:
    from deltavec.core.recipes import Recipe


def recipe_in_file(path: Path, vectors: Path | None) -> Recipe:
    """The recipe in a file, if the word vectors are given that it needs, and no others."""
    from deltavec.io.recipe_files import load_recipe

    stored = load_recipe(path)
    if stored.vectors is not None and vectors is None:
        raise RecipeError(
            f"{path}: the recipe was chosen with the word vectors {stored.vectors}: "
            "give them with --vectors"
        )
    if stored.recipe.form == "spectral" and vectors is not None:
        raise RecipeError(f"{path}: spectral learns its own word vectors: leave --vectors out")
    return stored.recipe
