"""Adapters without the libraries they are for."""

from importlib.util import find_spec

import pytest

import deltavec as dv


def test_an_unknown_adapter_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="no_such_name"):
        dv.adapters.no_such_name  # noqa: B018


def test_every_adapter_is_listed():
    assert list(dv.adapters.__all__) == sorted(dv.adapters.__all__)
    assert set(dv.adapters.__all__) <= set(dir(dv.adapters))


@pytest.mark.parametrize(
    ("name", "library", "extra"),
    [
        ("LangChainEmbeddings", "langchain_core", "langchain"),
        ("LlamaIndexEmbedding", "llama_index", "llama-index"),
        ("HaystackTextEmbedder", "haystack", "haystack"),
        ("HaystackDocumentEmbedder", "haystack", "haystack"),
    ],
)
def test_an_adapter_is_there_or_says_what_it_needs(name: str, library: str, extra: str) -> None:
    if find_spec(library):
        assert getattr(dv.adapters, name).__name__ == name
    else:
        with pytest.raises(dv.MissingDependencyError, match=rf"deltavec\[{extra}\]"):
            getattr(dv.adapters, name)
