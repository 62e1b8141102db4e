"""The page that goes with an exported model: what it is, and how it is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltavec.core.model import EmbeddingModel
from deltavec.version import __version__

if TYPE_CHECKING:
    from deltavec.io.export.export import Exported

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
TABLE_FILES = {
    "word2vec": "vectors.txt",
    "safetensors": "vectors.safetensors",
    "npy": "vectors.npy",
}


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
