"""Models in LlamaIndex's own store."""

import asyncio

import pytest

import deltavec as dv
from support.adapted import QUERY, TEXTS, best_first, small_model

pytest.importorskip("llama_index.core", reason="make test-peers has it")


def test_the_index_finds_the_nearest_texts_with_their_cosines():
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import TextNode

    model = small_model()
    embedding = dv.adapters.LlamaIndexEmbedding(model)
    index = VectorStoreIndex([TextNode(text=text) for text in TEXTS], embed_model=embedding)
    expected = best_first(model)
    for found in (
        index.as_retriever(similarity_top_k=4).retrieve(QUERY),
        asyncio.run(index.as_retriever(similarity_top_k=4).aretrieve(QUERY)),
    ):
        assert [node.text for node in found] == [text for text, _ in expected]
        assert [node.score for node in found] == pytest.approx([c for _, c in expected], abs=1e-6)


def test_the_model_may_be_a_folder_and_says_its_name(tmp_path):
    model = small_model()
    model.save(tmp_path / "m.dv")
    embedding = dv.adapters.LlamaIndexEmbedding(tmp_path / "m.dv")
    assert model.fingerprint in embedding.to_dict()["model_name"]
    assert embedding.get_text_embedding("sea") == model.embed(["sea"])[0].tolist()
