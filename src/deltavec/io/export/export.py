r"""A model as a static table: what other libraries average, and scale to unit length.

Where nothing is taken off a word's share of the document, which is so for all forms but delta, the
offset goes into the rows, as shares add up to 1:

.. math:: c = \sum_{i \in V_d} \frac{n_i}{N} \mathrm{row}_i - \mathrm{offset}
          = \frac{1}{N} \sum_{i \in V_d} n_i (\mathrm{row}_i - \mathrm{offset})

The ``tokenizer.json`` has our rules for words. The tokenizers library has its own version of
Unicode (see ``core/text/unicode14.txt`` for ours), so the patterns name every range of our table. A
document is then tokenized as by `deltavec.core.text.tokenize`, but for one thing: pieces of that
library cannot overlap, and two neighbors of a script without spaces are a unit of ours beside each
of the two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.arguments import require_one_of
from deltavec.core.arrays import blocks
from deltavec.core.model import EmbeddingModel
from deltavec.core.text import rules
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError, ModelError
from deltavec.io.artifacts.manifest import Artifact, names, problems_of
from deltavec.io.artifacts.tensors import layout, write_tensors
from deltavec.io.vectors.load import Matrix, write_safetensors, write_text
from deltavec.version import __version__

UNKNOWN = "[UNK]"
# Its lower case has two code points, so that it stays as it is: hidden while others are lowered.
KEPT, HIDDEN = "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}", "\ue000"
ASCII = 128
INSTEAD = "export a table of its rows instead (word2vec or safetensors)"
MOST_PAIRS = 0.01


def require_word_level(model: EmbeddingModel) -> None:
    """Refuse a model whose units no pattern finds."""
    if not isinstance(model.tokenizer, str):
        raise ModelError(
            f"this model's words are found by code ({model.tokenizer_name}), which a "
            f"tokenizer.json cannot hold: {INSTEAD}, or fit with tokenizer='words'"
        )
    if rules.is_folded(model.tokenizer):
        raise ModelError(
            "this model's texts are written in one way first (normalization 'folded'), which no "
            f"tokenizer.json does: {INSTEAD}, or fit with normalization='none'"
        )
    units = rules.units_of(model.tokenizer)
    if units.gram:
        raise ModelError(
            f"this model counts {units.name}, runs of characters that overlap, and the pieces of a "
            f"tokenizer.json cannot: {INSTEAD}, or fit with units='words'"
        )
    share = share_of_pairs(model)
    if share > MOST_PAIRS:
        raise ModelError(
            f"{share:.1%} of what this model counts are pairs of neighbors in a script without "
            f"spaces, which overlap, and the pieces of a tokenizer.json cannot: {INSTEAD}"
        )


def share_of_pairs(model: EmbeddingModel) -> float:
    """The share of the known words of the fitting corpus that a ``tokenizer.json`` does not find.

    These are pairs of neighbors in a script without spaces.
    """
    if model.tokenizer != "words":
        return 0.0
    counts = model.statistics.token_counts
    pairs = [
        number
        for number, word in enumerate(model.vocabulary.words)
        if not word.isascii() and rules.are_unspaced(word).sum() > 1
    ]
    return float(counts[pairs].sum() / max(counts.sum(), 1))


def word_level_tokenizer(name: str, words: Sequence[str]) -> dict[str, Any]:
    """What a ``tokenizer.json`` holds for the rule of this name and these words.

    The id of a word is its place plus one; 0 is that of all unknown ones.
    """
    shifts = shifts_of(name)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": lower_case(shifts) if shifts.max() > 0 else None,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": word_pattern(shifts)},
            "behavior": "Removed",
            "invert": True,  # what is not matched is removed
        },
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: place for place, word in enumerate([unknown(words), *words])},
            "unk_token": unknown(words),
        },
    }


def unknown(words: Sequence[str]) -> str:
    """A name for unknown words that is none of the words."""
    name, known = UNKNOWN, set(words)
    while name in known:
        name = f"[{name}]"
    return name


def shifts_of(name: str) -> npt.NDArray[np.int32]:
    """For each code point its shift to lower case, or what it is instead."""
    table = rules.rule(name)
    shifts: npt.NDArray[np.int32] = table.pages[table.page_of].reshape(-1)
    return shifts


def word_pattern(shifts: npt.NDArray[np.int32]) -> str:
    """The pattern of a word: of a script without spaces, a character and its marks."""
    spaced = f"[{ranges((shifts != rules.SEPARATOR) & (shifts != rules.UNSPACED))}]+"
    if not (shifts == rules.UNSPACED).any():
        return spaced
    return f"[{ranges(shifts == rules.UNSPACED)}][{ranges(shifts == rules.MARK)}]*|{spaced}"


def lower_case(shifts: npt.NDArray[np.int32]) -> dict[str, Any]:
    """Lower case, code point by code point, of what our table knows.

    What it does not know goes first: of a letter that came to Unicode later, the lower case may be
    one that we know.
    """
    others = shifts == rules.SEPARATOR
    others[:ASCII] = False  # no capitals, and many
    steps = [
        {"type": "Replace", "pattern": {"Regex": f"[{ranges(others)}]"}, "content": " "},
        {"type": "Replace", "pattern": {"String": KEPT}, "content": HIDDEN},
        {"type": "Lowercase"},
        {"type": "Replace", "pattern": {"String": HIDDEN}, "content": KEPT},
    ]
    return {"type": "Sequence", "normalizers": steps}


def ranges(chosen: npt.NDArray[np.bool_]) -> str:
    """The chosen code points, as the inside of a class in a pattern."""
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
    firsts, ends = edges[::2].tolist(), edges[1::2].tolist()
    return "".join(
        f"\\x{{{first:X}}}-\\x{{{end - 1:X}}}" for first, end in zip(firsts, ends, strict=True)
    )


MODEL2VEC = """\
Each row is what one word adds. The vector of a text is the mean of the rows of its known words,
scaled to length 1; a text without any is a row of zeros. Nothing of deltavec is needed to use it.

```python
from model2vec import StaticModel  # 0.10 or newer: earlier ones cut texts after 512 words

vectors = StaticModel.from_pretrained("{name}").encode(texts)

from sentence_transformers import SentenceTransformer

vectors = SentenceTransformer("{name}", device="cpu"){float32}.encode(texts)
```
"""
TABLE = """\
`{file}` has a row for each word: what the word adds. The vector of a text is the mean of the rows
of its known words, scaled to length 1. Words are what deltavec's rule `{tokenizer}` finds.
"""
TABLE_FILES = {"word2vec": "vectors.txt", "safetensors": "vectors.safetensors"}


def card(model: EmbeddingModel, exported: Exported) -> str:
    """The page, in Markdown; its head is what model hubs read."""
    if exported.format == "model2vec":
        # As float16 torch divides a row of zeros by zero.
        float32 = ".float()" if exported.dtype == "float16" else ""
        how = MODEL2VEC.format(name=exported.folder.name, float32=float32)
    else:
        file = TABLE_FILES[exported.format]
        how = TABLE.format(file=file, tokenizer=model.tokenizer_name)
    notes = [
        f"- recipe {model.recipe.name}, fitted on {model.statistics.documents:,} documents",
        f"- {exported.words:,} words, {exported.dimensions} dimensions, {exported.dtype}",
        f"- written by deltavec {__version__}; fingerprint {model.fingerprint}",
    ]
    if exported.largest_error:
        notes.append(f"- a row differs from the model's by at most {exported.largest_error:.1e}")
    if exported.not_found:
        notes.append(
            f"- {exported.not_found:.2%} of the words counted at the fit are pairs of neighbors "
            "in a script without spaces, which this tokenizer does not find"
        )
    head = "---\nlibrary_name: model2vec\ntags: [embeddings, static-embeddings]\n---\n"
    return f"{head}\n# A deltavec model as {exported.format}\n\n{how}\n" + "\n".join(notes) + "\n"


CONFIG, CARD = "config.json", "README.md"
FILES = (
    *(CONFIG, CARD, "model.safetensors", "tokenizer.json", "modules.json"),
    *TABLE_FILES.values(),
)
EXPORT_FOLDER = Artifact("export", 1, CONFIG, names(FILES), ModelError)
DTYPES = {"float32": "F32", "float16": "F16"}
# The largest number of a float16 table: far from the end of its range (65,504), as a thousand rows
# are added up before they are divided, and leaving three digits to what is a 500,000th of it.
LARGEST_HALF = 32.0
MODULES = [
    {"idx": place, "name": f"{place}", "path": path, "type": f"sentence_transformers.models.{kind}"}
    for place, (path, kind) in enumerate([(".", "StaticEmbedding"), ("1_Normalize", "Normalize")])
]


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes
    ----------
    folder : Path
        Where to.
    format, dtype : str
        In which format, and the type of its numbers.
    words, dimensions : int
        The size of the table.
    largest_error : float
        What the type of the numbers cost: the largest distance between a row and what was written,
        over the length of the row.
    not_found : float
        The share of the known words of the fitting corpus that the exported tokenizer does not find
        (pairs of neighbors in a script without spaces); texts without such pairs are tokenized as
        ours are. 0 for a table without tokenizer.

    Examples
    --------
    >>> model.export("vectors", "safetensors").words
    63
    """

    folder: Path
    format: str
    dtype: str
    words: int
    dimensions: int
    largest_error: float
    not_found: float


def export(
    model: EmbeddingModel,
    folder: str | PathLike[str],
    format: str = "model2vec",
    *,
    dtype: str = "float32",
) -> Exported:
    """Write a model in the format of another library, atomically: see `EmbeddingModel.export`."""
    require_one_of("format", format, WRITERS)
    require_one_of("dtype", dtype, DTYPES)
    require_static(model)
    not_found = 0.0
    if format == "model2vec":
        require_word_level(model)
        not_found = share_of_pairs(model)
    if format == "word2vec" and dtype != "float32":
        raise InputError("word2vec's format has float32 only: leave dtype out, or choose another")
    target = Path(folder)
    EXPORT_FOLDER.require_replaceable(target)
    rows, error = stored_rows(static_rows(model), dtype)
    words, dimensions = rows.shape
    exported = Exported(target, format, dtype, words, dimensions, error, not_found)
    with problems_of(target, ModelError), EXPORT_FOLDER.replacing(target) as fresh:
        WRITERS[format](model, rows, fresh)
        write_json(fresh / CONFIG, config(model, exported), indent=2)
        (fresh / CARD).write_text(card(model, exported), "utf-8")
    return exported


def require_static(model: EmbeddingModel) -> None:
    """Refuse a model that is more than a table."""
    if model.table.penalties.any():
        raise ModelError(
            f"the recipe {model.recipe.name} takes something off each distinct word (form delta), "
            "which no average of rows does: fit a spectral model, or one of form center or sum"
        )


def static_rows(model: EmbeddingModel) -> npt.NDArray[np.float32]:
    """The rows less the offset: their mean over a document's known words is its vector's way."""
    rows = np.empty_like(model.table.rows)
    for block in blocks(len(rows)):
        rows[block] = model.table.rows[block] - model.table.offset
    return rows


def stored_rows(rows: npt.NDArray[np.float32], dtype: str) -> tuple[Matrix, float]:
    """The rows in this type and the largest error; float16 times a power of two."""
    if dtype == "float32":
        return rows, 0.0
    largest = float(np.abs(rows).max(initial=0.0))
    scale = np.float32(2.0 ** np.floor(np.log2(LARGEST_HALF / largest)) if largest else 1.0)
    written = np.empty(rows.shape, np.float16)
    error = 0.0
    for block in blocks(len(rows)):
        exact = rows[block] * scale
        written[block] = exact
        lengths = np.linalg.norm(exact, axis=1)
        distances = np.linalg.norm(exact - written[block], axis=1)
        error = max(error, float((distances[lengths > 0] / lengths[lengths > 0]).max(initial=0.0)))
    return written, error


def config(model: EmbeddingModel, exported: Exported) -> dict[str, Any]:
    """What the folder says it is; model2vec reads how to average from it."""
    return {
        "format": EXPORT_FOLDER.format,
        "library_version": __version__,
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "normalize": True,
        "max_length": None,
        "embedding_dtype": exported.dtype,
        "hidden_dim": exported.dimensions,
        "recipe": model.recipe.name,
        "fingerprint": model.fingerprint,
    }


def write_model2vec(model: EmbeddingModel, rows: Matrix, folder: Path) -> None:
    """Write what model2vec and sentence-transformers load."""
    kind = DTYPES[str(rows.dtype)]
    # A row of zeros for unknown words: where they are averaged too, the direction stays.
    padded = np.zeros((len(rows) + 1, rows.shape[1]), rows.dtype)
    padded[1:] = rows
    about = layout("pt", {"embeddings": (kind, padded.shape)}, aligned="embeddings")
    with (folder / "model.safetensors").open("wb") as file:
        write_tensors(file, about, {"embeddings": padded})
    tokenizer = word_level_tokenizer(str(model.tokenizer), model.vocabulary.words)
    write_json(folder / "tokenizer.json", tokenizer)
    write_json(folder / "modules.json", MODULES, indent=2)


def write_json(path: Path, content: Any, indent: int | None = None) -> None:
    """Write JSON in ASCII."""
    path.write_text(json.dumps(content, indent=indent) + "\n", "ascii")


def table_writer(
    write: Callable[[Vocabulary, Matrix, Path], None], name: str
) -> Callable[[EmbeddingModel, Matrix, Path], None]:
    """What writes words and rows to a file of this name."""
    return lambda model, rows, folder: write(model.vocabulary, rows, folder / name)


WRITERS: dict[str, Callable[[EmbeddingModel, Matrix, Path], None]] = {
    "model2vec": write_model2vec,
    "word2vec": table_writer(write_text, TABLE_FILES["word2vec"]),
    "safetensors": table_writer(write_safetensors, TABLE_FILES["safetensors"]),
}
