"""Models in Haystack's own store and pipelines."""

import pytest

import deltavec as dv
from support.adapted import QUERY, TEXTS, best_first, small_model

haystack = pytest.importorskip("haystack", reason="make test-peers has it")


def test_a_pipeline_finds_the_nearest_texts_with_their_cosines(tmp_path):
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    model = small_model()
    model.save(tmp_path / "m.dv")
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    documents = [haystack.Document(content=text) for text in TEXTS]
    embedded = dv.adapters.HaystackDocumentEmbedder(model).run(documents=documents)["documents"]
    assert [document.embedding for document in documents] == [None] * len(TEXTS)
    store.write_documents(embedded)
    pipeline = haystack.Pipeline()
    pipeline.add_component("query", dv.adapters.HaystackTextEmbedder(str(tmp_path / "m.dv")))
    pipeline.add_component("found", InMemoryEmbeddingRetriever(store))
    pipeline.connect("query.embedding", "found.query_embedding")
    found = pipeline.run({"query": {"text": QUERY}})["found"]["documents"]
    expected = best_first(model)
    assert [document.content for document in found] == [text for text, _ in expected]
    assert [document.score for document in found] == pytest.approx(
        [cosine for _, cosine in expected], abs=1e-6
    )


def test_a_pipeline_in_a_file_names_the_folder(tmp_path):
    model = small_model()
    model.save(tmp_path / "m.dv")
    pipeline = haystack.Pipeline()
    pipeline.add_component("query", dv.adapters.HaystackTextEmbedder(str(tmp_path / "m.dv")))
    ours = ["deltavec.adapters.haystack"]
    again = haystack.Pipeline.loads(pipeline.dumps(), allowed_modules=ours)
    vector = again.run({"query": {"text": QUERY}})["query"]["embedding"]
    assert vector == model.embed([QUERY])[0].tolist()
    with pytest.raises(dv.InputError, match="names the folder of its model"):
        dv.adapters.HaystackTextEmbedder(model).to_dict()


def test_fields_of_meta_go_before_the_content():
    model = small_model()
    embedder = dv.adapters.HaystackDocumentEmbedder(model, meta_fields_to_embed=["title", "none"])
    document = haystack.Document(content="at night", meta={"title": "the sea", "none": None})
    found = embedder.run(documents=[document])["documents"][0]
    assert found.embedding == model.embed(["the sea at night"])[0].tolist()


def test_a_text_is_not_a_list():
    with pytest.raises(TypeError, match="expected a string, got list"):
        dv.adapters.HaystackTextEmbedder(small_model()).run(text=["sea"])
