"""What adapters embed with: a model in memory, or the folder of one."""

from __future__ import annotations

from os import PathLike
from typing import TypeAlias

from deltavec.core.model import EmbeddingModel
from deltavec.io.artifacts.model import load

Model: TypeAlias = EmbeddingModel | str | PathLike[str]


def as_model(model: Model) -> EmbeddingModel:
    """The model itself, or the one in a folder."""
    return model if isinstance(model, EmbeddingModel) else load(model)


def as_lists(model: EmbeddingModel, texts: list[str]) -> list[list[float]]:
    """The vectors of texts, as lists of numbers: as vector stores take them."""
    lists: list[list[float]] = model.embed(texts).tolist()
    return lists
