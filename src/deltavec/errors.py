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
    LowCoverageWarning (a UserWarning)      of a text little is known: vectors of it say little
    CacheWarning (a UserWarning)            compiled code cannot be kept
    LockWarning (a UserWarning)             a folder is written to without a lock
    OtherTokenizerWarning (a UserWarning)   a model's tokenizer has another version than at its fit
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

OWN = ("deltavec", "contextlib")  # packages that a warning is never about


class DeltavecError(Exception):
    """The root: everything deltavec raises on purpose.

    Examples
    --------
    >>> try:
    ...     dv.load("missing.dv")
    ... except dv.DeltavecError as error:
    ...     print(type(error).__name__)
    ModelError
    """


class InputError(DeltavecError, ValueError):
    """What was given cannot be used; the message says what was expected, and what to do.

    Examples
    --------
    >>> dv.fit(["a room"], units="letters")
    Traceback (most recent call last):
    deltavec.errors.InputError: units must be ...
    """


class CorpusError(InputError):
    """Documents, or the files they come from, cannot be used.

    Examples
    --------
    >>> dv.read_corpus("missing.csv")
    Traceback (most recent call last):
    deltavec.errors.CorpusError: ...
    """


class VectorsError(InputError):
    """Word vectors, or the file they come from, cannot be used.

    Examples
    --------
    >>> dv.load_vectors("news.csv")
    Traceback (most recent call last):
    deltavec.errors.VectorsError: ...
    """


class ModelError(InputError):
    """A model folder is missing, damaged or of another format version.

    Examples
    --------
    >>> dv.load("news.csv")
    Traceback (most recent call last):
    deltavec.errors.ModelError: ...
    """


class RecipeError(InputError):
    """The recipe does not exist, or its parameters are out of range.

    Examples
    --------
    >>> dv.Recipe(weighting="bm25")
    Traceback (most recent call last):
    deltavec.errors.RecipeError: ...
    """


class MissingDependencyError(DeltavecError, ImportError):
    """A feature needs an extra that is not installed.

    Examples
    --------
    >>> dv.fit(texts, tokenizer="missing:tokenize")
    Traceback (most recent call last):
    deltavec.errors.MissingDependencyError: ...
    """


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Turn an import that fails into an error that says what needs it and how to get it."""
    try:
        yield
    except ImportError:
        raise MissingDependencyError(f"{what}: pip install 'deltavec[{extra}]'") from None


def warn(message: str, category: type[UserWarning]) -> None:
    """Warn at the line that called deltavec, however deep inside of it the reason was found."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in OWN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class SmallModelWarning(UserWarning):
    """The corpus gives a smaller model than was asked for; the message says by how much and why.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", dv.SmallModelWarning)
    ...     model = dv.fit(["a room by the sea", "a quiet room"])
    """


class LowCoverageWarning(UserWarning):
    """Of a text little is known; the message says what was seen, and what to do.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", dv.LowCoverageWarning)
    ...     vectors = model.embed(["words that no story has"])
    """


class CacheWarning(UserWarning):
    """Compiled code cannot be kept: every process compiles it again.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", dv.CacheWarning)
    ...     vectors = model.embed(["storm"])
    """


class LockWarning(UserWarning):
    """A folder is written to without a lock, which its file system does not have.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", dv.LockWarning)
    ...     news = dv.build_collection(texts, "locked.idx")
    """


class OtherTokenizerWarning(UserWarning):
    """The tokenizer that a model names has another version than the model was fitted with.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", dv.OtherTokenizerWarning)
    ...     model = dv.load("news.dv", trust=True)
    """
