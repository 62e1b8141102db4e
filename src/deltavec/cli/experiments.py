"""Options that the commands of ``deltavec evaluate`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deltavec.cli.vectors import Method

Vectors = Annotated[
    Path | None,
    typer.Option(
        "--vectors",
        "-v",
        metavar="FILE",
        show_default=False,
        help="Word vectors. Without, they are trained on the texts.",
    ),
]
VectorsMethod = Annotated[
    Method | None,
    typer.Option(show_default="ppmi", help="How to train them; the paper's were word2vec's."),
]
Skip = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        show_default=False,
        help="Baselines to leave out: doc2vec, tf-idf, lsa, with commas between.",
    ),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:FUNCTION",
        show_default=False,
        help="A function of your own, from a list of texts to a matrix, as one more column.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="For all random draws.")]


def names(text: str) -> list[str]:
    """The names in a text with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def trained_by(vectors: Path | None, method: Method | None) -> str:
    """How word vectors are trained; to say so for vectors that are given is a mistake."""
    if vectors is not None and method is not None:
        raise typer.BadParameter("not with --vectors", param_hint="'--vectors-method'")
    return (method or Method.ppmi).value
