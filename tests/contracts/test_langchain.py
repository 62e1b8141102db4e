"""Models in LangChain's own store."""

import asyncio

import pytest

import deltavec as dv
from support.adapted import QUERY, TEXTS, best_first, small_model

pytest.importorskip("langchain_core", reason="an extra: pip install 'deltavec[langchain]'")


def test_the_store_finds_the_nearest_texts_with_their_cosines():
    from langchain_core.vectorstores import InMemoryVectorStore

    model = small_model()
    store = InMemoryVectorStore.from_texts(TEXTS, dv.adapters.LangChainEmbeddings(model))
    found = store.similarity_search_with_score(QUERY, k=4)
    expected = best_first(model)
    assert [document.page_content for document, _ in found] == [text for text, _ in expected]
    assert [score for _, score in found] == pytest.approx([c for _, c in expected], abs=1e-6)


def test_a_retriever_asks_without_waiting(tmp_path):
    from langchain_core.vectorstores import InMemoryVectorStore

    model = small_model()
    model.save(tmp_path / "m.dv")
    store = InMemoryVectorStore(dv.adapters.LangChainEmbeddings(tmp_path / "m.dv"))
    store.add_texts(TEXTS)
    found = asyncio.run(store.as_retriever(search_kwargs={"k": 1}).ainvoke(QUERY))
    assert found[0].page_content == best_first(model)[0][0]
