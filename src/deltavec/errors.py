"""What can go wrong, as types a caller can catch.

::

    DeltavecError
    ├── InputError (also a ValueError)      what was given cannot be used
    │   ├── CorpusError                     documents, or the files they come from
    │   ├── VectorsError                    word vectors, or the files they come from
    │   ├── ModelError                      a model folder
    │   └── RecipeError                     the recipe asked for
    └── MissingDependencyError (also an ImportError)   an extra that is not installed

    SmallModelWarning (a UserWarning)       the corpus gives a smaller model than was asked for
"""

from __future__ import annotations


class DeltavecError(Exception):
    """The root: everything deltavec raises on purpose."""


class InputError(DeltavecError, ValueError):
    """What was given cannot be used; the message says what was expected, and what to do."""


class CorpusError(InputError):
    """Documents, or the files they come from, cannot be used."""


class VectorsError(InputError):
    """Word vectors, or the file they come from, cannot be used."""


class ModelError(InputError):
    """A model folder is missing, damaged or of another format version."""


class RecipeError(InputError):
    """The recipe does not exist, or its parameters are out of range."""


class MissingDependencyError(DeltavecError, ImportError):
    """A feature needs an extra that is not installed."""


class SmallModelWarning(UserWarning):
    """The corpus gives a smaller model than was asked for; the message says by how much and why."""
