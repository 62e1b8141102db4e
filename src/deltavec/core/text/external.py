"""Third-party tokenizers by name: a model stores the name and the version.

``jieba``, ``sudachi`` and ``spacy:ja`` (any language that spaCy knows) are libraries; any other
function is named ``module:function``. What they give is lower-cased, and what holds no letter or
number is left out. A name is resolved, and code imported, only where the user names it or says that
a model is trusted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import Any

from deltavec.core.text.rules import TABLES
from deltavec.errors import InputError, MissingDependencyError, ModelError

STORED = "call:"  # before the name in a model's description
Function = Callable[[str], Iterable[str]]
ONE_AT_A_TIME = threading.RLock()  # third-party tokenizers may not be thread-safe


@dataclass(frozen=True)
class NamedTokenizer:
    """A tokenizer function, known by its name.

    Parameters
    ----------
    name
        ``jieba``, ``sudachi``, ``spacy:ja`` or ``module:function``.
    version
        That of the package it came from; empty if it is in none.
    function
        The function; None if it belongs to a loaded model that is not trusted.
    """

    name: str
    version: str
    function: Function | None = field(default=None, repr=False, compare=False)

    def __call__(self, text: str) -> Iterable[str]:
        """The words of a text; calls of several threads are serialized."""
        function = self.imported()
        with ONE_AT_A_TIME:
            found = function(text)
            return list(found) if isinstance(found, Iterator) else found

    def imported(self) -> Function:
        """The function, if it was imported.

        Raises
        ------
        ModelError
            If it belongs to a model that was loaded and is not trusted.
        """
        if self.function is None:
            raise ModelError(
                f"the tokenizer of this model is {self}, third-party code that is not imported on "
                "load: load the model with trust=True (--trust) if you trust it, or pass lists of "
                "words"
            )
        return self.function

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle is code already: what was resolved is resolved again.
        return (NamedTokenizer if self.function is None else named_tokenizer), (
            self.name,
            self.version,
        )

    @property
    def stored(self) -> str:
        """How a model's description names it."""
        return f"{STORED}{self.name}@{self.version}"

    @classmethod
    def unresolved(cls, stored: str) -> NamedTokenizer:
        """What a description names, nothing of it imported."""
        name, _, seen = stored.removeprefix(STORED).rpartition("@")
        if not is_name(name):
            raise ModelError(f"expected the name of a tokenizer, got {name!r:.60}")
        return cls(name, seen)


def is_name(name: str) -> bool:
    """Whether this names a third-party tokenizer: a library, or ``module:function``."""
    module, colon, function = name.partition(":")
    if name in LIBRARIES and name != "spacy":
        return True
    dotted = all(part.isidentifier() for part in module.split("."))
    return bool(colon) and module not in TABLES and dotted and bool(function)


def named_tokenizer(name: str, seen: str | None = None) -> NamedTokenizer:
    """The tokenizer of this name, imported, with the version that was seen before, if any.

    Raises
    ------
    MissingDependencyError
        If the module is not installed, with how to get it.
    InputError
        If it has no such function.
    """
    module, _, rest = name.partition(":")
    imported, made = LIBRARIES.get(module, (module, function_of))
    try:
        import_module(imported)
    except ImportError as error:
        missing = (getattr(error, "name", None) or imported).partition(".")[0]
        raise MissingDependencyError(
            f"the tokenizer {name!r} needs the module {missing!r}, which is not here: install it "
            f"(pip install {PACKAGES.get(missing, missing)}), or put it on the path of Python"
        ) from None
    found = version_of(imported) if seen is None else seen
    return NamedTokenizer(name, found, made(module, rest))


def version_of(module: str) -> str:
    """The version of the package that a module came in; empty if it came in none."""
    top = module.partition(".")[0]
    try:
        return version(packages_distributions().get(top, [top])[0])
    except PackageNotFoundError:
        return ""


def function_of(module: str, path: str) -> Function:
    """The function of a module, or of something in it."""
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise InputError(f"tokenizer {module}:{path}: {module} has no function {path!r}")
    return found  # type: ignore[no-any-return]


def clean(words: Iterable[str]) -> list[str]:
    """The words, lower-cased, without punctuation and blanks."""
    return [word.lower() for word in words if any(map(str.isalnum, word))]


def from_jieba(module: str, rest: str) -> Function:
    """The segmenter for Chinese."""
    cut = import_module(module).lcut
    return lambda text: clean(cut(text))


def from_sudachi(module: str, rest: str) -> Function:
    """The analyzer for Japanese; it needs a dictionary, such as sudachidict_core."""
    analyzer = import_module("sudachipy").Dictionary().create()
    return lambda text: clean(part.surface() for part in analyzer.tokenize(text))


def from_spacy(module: str, language: str) -> Function:
    """The tokenizer of spaCy for a language; no trained pipeline is needed."""
    make_doc = import_module("spacy").blank(language).make_doc
    return lambda text: clean(token.text for token in make_doc(text))


LIBRARIES: dict[str, tuple[str, Callable[[str, str], Function]]] = {
    "jieba": ("jieba", from_jieba),
    "sudachi": ("sudachipy", from_sudachi),
    "spacy": ("spacy", from_spacy),
}
PACKAGES = {"sudachipy": "sudachipy sudachidict_core"}
