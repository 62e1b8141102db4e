"""Models on disk: a folder of two files, ``model.safetensors`` and ``model.json``; never a pickle.

Nothing that is read is trusted: sizes are checked against the file before anything is mapped, and
values against the ranges of a fitted model before anything is computed from them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from deltavec.core.arrays import blocks
from deltavec.core.forms import EmbeddingTable
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import DEFAULTS, Recipe
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.external import STORED, NamedTokenizer, named_tokenizer
from deltavec.core.text.rules import rule
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError, ModelError, OtherTokenizerWarning, RecipeError, warn
from deltavec.io.artifacts import manifest, tensors
from deltavec.io.artifacts.atomic import on_disk, replacing
from deltavec.io.remote import address_of, fetch, uploading
from deltavec.version import __version__

MANIFEST, TENSORS = FILES = ("model.json", "model.safetensors")
MODEL_OF_COLLECTION = "model.dv"  # in the folder of a collection
MODEL_FOLDER = manifest.Artifact("model", 1, MANIFEST, manifest.names(FILES), ModelError)

SMALLEST_RATIO = 1e-9
MEASURED = ("signal", "deflation")
LARGEST_NUMBER = 1e9  # weights are below a hundred; sums of such numbers cannot overflow

RECIPE: dict[str, type[Any]] = {
    name: int if default is None else type(default) for name, default in DEFAULTS.items()
}
# The entries of a manifest: their types, and the ranges of numbers.
ENTRIES: dict[str, tuple[type[Any], float, float]] = {
    "recipe": (dict, 0, 0),
    "reason": (str, 0, 0),
    "tokenizer": (str, 0, 0),
    "notes": (dict, 0, 0),
    "documents": (int, 1, manifest.LARGEST_COUNT),
    "unknown_documents": (int, 0, manifest.LARGEST_COUNT),
    "tokens": (int, 1, manifest.LARGEST_COUNT),
    "offset_norm": (float, 0, LARGEST_NUMBER),
    "length_ratio": (float, SMALLEST_RATIO, LARGEST_NUMBER),
    "words": (int, 1, manifest.LARGEST_COUNT),
    "word_bytes": (int, 0, manifest.LARGEST_COUNT),
    "dimensions": (int, 1, manifest.LARGEST_COUNT),
    "components_removed": (int, 0, manifest.LARGEST_COUNT),
    "measured_dimensions": (int, 0, manifest.LARGEST_COUNT),
    "tensor_bytes": (int, 0, manifest.LARGEST_COUNT),
    "tensor_sha256": (str, 0, 0),
}


def save(model: EmbeddingModel, folder: str | PathLike[str]) -> None:
    """Write a model to a folder, in one atomic step.

    The files are written to a folder beside it (``.deltavec-*.part``), flushed to disk, and
    renamed. An existing model is replaced when the new one is complete; processes that have loaded
    it keep it.

    Parameters
    ----------
    model
        What `deltavec.fit` gave. Its tokenizer must be a name.
    folder
        The path; by convention it ends in ``.dv``. Parent folders are created. Or an address such
        as ``s3://bucket/reviews.dv``, to which the files are copied, not in one step.

    Raises
    ------
    ModelError
        If the tokenizer is a callable, the folder is something else than a deltavec model, or it
        cannot be written.
    """
    if not isinstance(model.tokenizer, str | NamedTokenizer):
        raise ModelError(
            "a model with a tokenizer of your own cannot be saved, as files hold no code: name it "
            "(tokenizer='module:function'), or fit with 'whitespace' on the words it finds"
        )
    if address := address_of(folder):
        with uploading(address) as local:
            save(model, local)
        return
    target = Path(folder)
    replacement = MODEL_FOLDER.replacing(target)
    with manifest.problems_of(target, ModelError):
        arrays, entries = arrays_of(model), manifest_entries(model)
        require_valid(entries)
        require_valid_arrays(arrays, entries, rows=True)
        with replacement as fresh:
            with (fresh / TENSORS).open("wb") as file:
                tensors.write_tensors(file, model_layout(entries), arrays)
            entries["tensor_sha256"] = on_disk(fresh / TENSORS).sha256
            MODEL_FOLDER.write_manifest(fresh, entries)


def load(
    folder: str | PathLike[str], *, verify: bool = True, trust: bool = False
) -> EmbeddingModel:
    """The model in a folder, as it was saved, bit for bit.

    The table is mapped into memory, not copied: processes that load the same folder share it, and
    pages are read as they are needed.

    Parameters
    ----------
    folder
        What `EmbeddingModel.save` wrote; or its address, from which it is copied.
    verify
        Whether to read the whole table once, to see that no bit of it has changed and that every
        number is finite. Without it a large model opens at once, and only sizes, the small arrays
        and the description are looked at.
    trust
        Whether to import the tokenizer that the model names, if that is third-party code
        (``module:function``). Without, nothing is imported: such a model takes lists of words,
        and refuses strings.

    Warns
    -----
    OtherTokenizerWarning
        If that tokenizer has another version than at the fit.

    Raises
    ------
    ModelError
        If the folder is missing, damaged, not a deltavec model, or written by a newer version.
    MissingDependencyError
        If the tokenizer is trusted and not installed.

    Examples
    --------
    >>> dv.load("news.dv")
    EmbeddingModel(spectral, 63 words, 63 dimensions, fitted on 12 documents)
    """
    path = fetch(address) if (address := address_of(folder)) else Path(folder)
    inner = path / MODEL_OF_COLLECTION
    if not (path / MANIFEST).exists() and (inner / MANIFEST).is_file():
        raise ModelError(f"{path}: a collection, expected a model; use its own: {inner}")
    model = MODEL_FOLDER.read_whole(path, partial(read, verify=verify))
    if trust and isinstance(model.tokenizer, NamedTokenizer):
        return replace(model, tokenizer=trusted(model.tokenizer))
    return model


def trusted(named: NamedTokenizer) -> NamedTokenizer:
    """The tokenizer that a model names, imported; the version seen at the fit stays its own."""
    here = named_tokenizer(named.name)
    if here.version != named.version:
        warn(
            f"the model was fitted with {named}, and {here} is here: it may tokenize in "
            "another way; fit the model anew, or install that version",
            OtherTokenizerWarning,
        )
    return replace(named, function=here.function)


def read(folder: Path, *, verify: bool) -> EmbeddingModel:
    """The model in a folder that is not replaced meanwhile."""
    entries = MODEL_FOLDER.read_manifest(folder)
    with manifest.problems_of(folder / MANIFEST, ModelError):
        require_valid(entries)
        recipe = stored_recipe(entries)
        tokenizer = stored_tokenizer(entries["tokenizer"])
    with MODEL_FOLDER.opened(folder / TENSORS) as file:
        arrays = tensors.mapped_tensors(file, model_layout(entries))
        if verify:
            manifest.require_unchanged(file, entries["tensor_sha256"])
        require_valid_arrays(arrays, entries, rows=verify)
        vocabulary = Vocabulary(arrays["words"], arrays["word_offsets"])
    return EmbeddingModel(
        recipe=recipe,
        reason=entries["reason"],
        vocabulary=vocabulary,
        statistics=CorpusStatistics(
            arrays["token_counts"],
            arrays["document_counts"],
            **{name: entries[name] for name in ("documents", "tokens", "unknown_documents")},
        ),
        table=EmbeddingTable(
            **{name: arrays[name] for name in EmbeddingTable.arrays() if name in arrays},
            offset_norm=entries["offset_norm"],
            length_ratio=entries["length_ratio"],
        ),
        tokenizer=tokenizer,
        notes=entries["notes"],
    )


def stored_tokenizer(name: str) -> str | NamedTokenizer:
    """The tokenizer: a rule, or third-party code by its name, which is not imported.

    The name of a rule that this version has not heard of is refused.
    """
    if name.startswith(STORED):
        return NamedTokenizer.unresolved(name)
    try:
        rule(name)
        return name
    except InputError:
        unknown = f"its tokenizer is the rule {name!r:.60}, which this deltavec does not know"
        raise ModelError(f"{unknown}: upgrade deltavec") from None


def arrays_of(model: EmbeddingModel) -> tensors.Arrays:
    """All arrays of a model, under the names they have in the file."""
    folded = {name: getattr(model.table, name) for name in EmbeddingTable.arrays()}
    return {
        **{name: array for name, array in folded.items() if name not in MEASURED or len(array)},
        "token_counts": model.statistics.token_counts,
        "document_counts": model.statistics.document_counts,
        "words": model.vocabulary.data,
        "word_offsets": model.vocabulary.offsets,
    }


def require_valid_arrays(arrays: tensors.Arrays, entries: Mapping[str, Any], *, rows: bool) -> None:
    """Refuse arrays that no fitted model has; the table itself is read only if ``rows``."""
    tensors.require_words(arrays)
    token_counts, document_counts = arrays["token_counts"], arrays["document_counts"]
    # float64: exact, as tokens are below 2 ** 53, where a sum of int64 could wrap around
    if token_counts.min() < 0 or token_counts.sum(dtype=np.float64) > entries["tokens"]:
        raise ModelError("token_counts must be from 0 on, and no more than tokens in sum")
    most = np.minimum(token_counts, entries["documents"])
    if ((document_counts < 0) | (document_counts > most)).any():
        raise ModelError("document_counts must be from 0 to documents, and to token_counts")
    bounds = {
        "penalties": (0.0, 1.0),
        "norms": (0.0, LARGEST_NUMBER),
        "spectrum": (0.0, 1.0),
        "components": (-2.0, 2.0),  # of length 1, but for rounding
        **dict.fromkeys(
            ("offset", "offset_coordinates", "coordinates"), (-LARGEST_NUMBER, LARGEST_NUMBER)
        ),
        **({"rows": (-LARGEST_NUMBER, LARGEST_NUMBER)} if rows else {}),
        **{name: (-LARGEST_NUMBER, LARGEST_NUMBER) for name in MEASURED if name in arrays},
    }
    for name, (smallest, largest) in bounds.items():
        require_within(name, arrays[name], smallest, largest)


def require_within(name: str, array: Any, smallest: float, largest: float) -> None:
    """Refuse an array with NaN in it, or a number outside this range."""
    for block in blocks(len(array)):
        # NaN is neither above nor below, and a minimum or maximum with one is NaN.
        low, high = array[block].min(initial=0.0), array[block].max(initial=0.0)
        if not (low >= smallest and high <= largest):
            raise ModelError(f"{name} must be finite and from {smallest:g} to {largest:g}")


def model_layout(entries: Mapping[str, Any]) -> tensors.Layout:
    """The layout of a model's file of arrays, by the sizes in its manifest."""
    words, dimensions = entries["words"], entries["dimensions"]
    removed, measured = entries["components_removed"], entries["measured_dimensions"]
    covariances = {name: ("F64", (measured, measured)) for name in MEASURED if measured}
    shapes = {
        "token_counts": ("I64", (words,)),
        "document_counts": ("I64", (words,)),
        "word_offsets": ("I64", (words + 1,)),
        "penalties": ("F64", (words,)),
        "offset": ("F64", (dimensions,)),
        "spectrum": ("F64", (dimensions,)),
        "components": ("F64", (removed, dimensions)),
        "offset_coordinates": ("F64", (removed,)),
        **covariances,
        "rows": ("F32", (words, dimensions)),
        "norms": ("F32", (words,)),
        "coordinates": ("F32", (words, removed)),
        "words": ("U8", (entries["word_bytes"],)),
    }
    return tensors.layout("deltavec model", shapes, aligned="rows")


def manifest_entries(model: EmbeddingModel) -> dict[str, Any]:
    """The manifest of a model; the checksum of its arrays is still empty."""
    removed, dimensions = model.table.components.shape
    entries = {
        "recipe": {name: RECIPE[name](value or 0) for name, value in model.recipe.entries.items()},
        "reason": model.reason,
        "tokenizer": getattr(model.tokenizer, "stored", model.tokenizer),
        "notes": dict(model.notes),
        "documents": int(model.statistics.documents),
        "unknown_documents": int(model.statistics.unknown_documents),
        "tokens": int(model.statistics.tokens),
        "offset_norm": float(model.table.offset_norm),
        "length_ratio": float(model.table.length_ratio),
        "words": len(model.vocabulary),
        "dimensions": dimensions,
        "components_removed": removed,
        "word_bytes": len(model.vocabulary.data),
        "measured_dimensions": len(model.table.signal),
    }
    return {**entries, "tensor_bytes": model_layout(entries).size, "tensor_sha256": ""}


def require_valid(entries: Mapping[str, Any]) -> None:
    """Refuse entries that are missing, unknown, of the wrong type or out of range."""
    manifest.require_types(entries, {name: kind for name, (kind, _, _) in ENTRIES.items()})
    # A recipe may have been stored before it had all its parameters.
    manifest.require_types(
        {name: kind() for name, kind in RECIPE.items()} | entries["recipe"], RECIPE
    )
    for key, value in entries["notes"].items():
        if type(value) is not str:
            raise ModelError(f"the note {key!r:.60} must be a string, got {value!r:.60}")
    ranges = {name: (low, high) for name, (kind, low, high) in ENTRIES.items() if high}
    for name, whole in (
        ("unknown_documents", "documents"),
        ("components_removed", "dimensions"),
        ("measured_dimensions", "dimensions"),
    ):
        ranges[name] = (0, entries[whole])
    manifest.require_ranges(entries, ranges)
    expected = model_layout(entries).size
    if entries["tensor_bytes"] != expected:
        raise ModelError(f"tensor_bytes must be {expected}, got {entries['tensor_bytes']!r:.60}")


def stored_recipe(entries: Mapping[str, Any]) -> Recipe:
    """The recipe; its form is not 'auto'."""
    values = entries["recipe"].items()
    # A number that was left open is stored as 0.
    recipe = Recipe.stored({k: v or None if DEFAULTS[k] is None else v for k, v in values})
    if recipe.form == "auto":
        raise ModelError("the form of a fitted model is settled, got 'auto'")
    if entries["components_removed"] > recipe.n_components_removed:
        most, lacks = recipe.n_components_removed, entries["components_removed"]
        raise ModelError(f"the recipe removes {most} components, the table lacks {lacks}")
    return recipe


FORMAT = "deltavec recipe"
VERSION = 1


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


def load_recipe(path: Path) -> tuple[Recipe, str | None]:
    """The recipe in a file, and the name of the word vectors that it was chosen with, if any.

    Missing parameters have their defaults.
    """
    with manifest.problems_of(path, RecipeError):
        with path.open("rb") as file:
            data = file.read(manifest.LONGEST + 1)
        try:
            entries = json.loads(data.decode())
        except (ValueError, RecursionError):
            raise RecipeError("expected JSON, as deltavec tune writes it") from None
        if not isinstance(entries, dict) or entries.get("format") != FORMAT:
            raise RecipeError(f'expected a JSON object with "format": "{FORMAT}"')
        parameters: Any = entries.get("recipe")
        version, vectors = entries.get("format_version"), entries.get("vectors")
        if version != VERSION:
            raise RecipeError(f"expected version {VERSION}, got {version!r:.60}: upgrade deltavec")
        manifest.require_types({"recipe": parameters}, {"recipe": dict})
        if vectors is not None:
            manifest.require_types({"vectors": vectors}, {"vectors": str})
        if unknown := [name for name in parameters if name not in DEFAULTS]:
            raise RecipeError(f"a recipe has no {unknown[0]!r:.60}; it has {', '.join(DEFAULTS)}")
        return Recipe.stored(parameters), vectors
