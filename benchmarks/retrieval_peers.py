"""Search engines on judged collections, beside hybrid search: bm25s, tantivy, LanceDB.

Two environments. First `python retrieval_peers.py vectors JUDGED FOLDER` with deltavec writes
texts and vectors; then `python retrieval_peers.py rank FOLDER OUT.json` in an environment with
`pip install bm25s PyStemmer tantivy lancedb`. LanceDB ranks by its own full-text search and by our
vectors, joined by its reciprocal rank fusion.

`python retrieval_peers.py embedders FOLDER OUT.json` ranks the same collections by cosine with
tf-idf, LSA, potion-base-8M and MiniLM (their folders in POTION and MINILM), in an environment with
scikit-learn, model2vec and sentence-transformers.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

SETS = ("cranfield", "cacm", "medline", "npl", "xquad_german")
LANGUAGES = {"xquad_german": "german"}


def write_vectors(judged: Path, folder: Path) -> None:
    """Write texts, queries, judgments and our own rankings."""
    import deltavec as dv
    from deltavec.lab.judged import read_judged

    for name in SETS:
        found = read_judged(judged / name)
        queries = list(found.queries.values())
        model = dv.fit(found.texts, threads=1)
        with tempfile.TemporaryDirectory() as scratch:
            built = dv.build_collection(model, found.texts, Path(scratch) / "c.idx", threads=1)
            parsed = [built.query(query, 100) for query in queries]
            ours = [built.best([query])[0].numbers.tolist() for query in parsed]
            U, V = built.index.vectors, built.model.embed(queries)
        place = {id: number for number, id in enumerate(found.ids)}
        grades = [{place[id]: g for id, g in one.items()} for one in found.grades.values()]
        np.savez(folder / f"{name}.npz", documents=np.asarray(U), queries=V)
        kept = {"texts": found.texts, "queries": queries, "grades": grades, "deltavec": ours}
        (folder / f"{name}.json").write_text(json.dumps(kept))


def ndcg(ranked: list[int], grades: dict[str, int]) -> float:
    """nDCG@10 of a ranking."""
    gains = [grades.get(str(row), 0) / math.log2(n + 2) for n, row in enumerate(ranked[:10])]
    best = sorted(grades.values(), reverse=True)[:10]
    return sum(gains) / sum(g / math.log2(n + 2) for n, g in enumerate(best))


def by_bm25s(kept: dict, language: str) -> list[list[int]]:
    """bm25s in its default variant, with Snowball's stems and stop words."""
    import bm25s
    import Stemmer

    stop = {"english": "en", "german": "de"}[language]
    options = {"stopwords": stop, "stemmer": Stemmer.Stemmer(language), "show_progress": False}
    index = bm25s.BM25()
    index.index(bm25s.tokenize(kept["texts"], **options), show_progress=False)
    tokens = bm25s.tokenize(kept["queries"], return_ids=False, **options)
    none = np.zeros(len(kept["texts"]))
    scores = [index.get_scores(words) if words else none for words in tokens]
    return [np.argsort(-line, kind="stable")[:10].tolist() for line in scores]


def by_tantivy(kept: dict, language: str) -> list[list[int]]:
    """Rank by tantivy with its stemmer of English (its default tokenizer for other languages)."""
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_unsigned_field("row", stored=True)
    schema.add_text_field("text", tokenizer_name="en_stem" if language == "english" else "default")
    index = tantivy.Index(schema.build())
    writer = index.writer()
    for row, text in enumerate(kept["texts"]):
        writer.add_document(tantivy.Document(row=row, text=text))
    writer.commit()
    index.reload()
    searcher, found = index.searcher(), []
    for query in kept["queries"]:
        parsed = index.parse_query(" ".join(re.findall(r"\w+", query.lower())), ["text"])
        hits = searcher.search(parsed, 10).hits
        found.append([searcher.doc(address)["row"][0] for _, address in hits])
    return found


def by_lancedb(kept: dict, language: str, vectors: dict) -> list[list[int]]:
    """LanceDB's hybrid search over its full-text index and our vectors."""
    import lancedb

    with tempfile.TemporaryDirectory() as scratch:
        pairs = zip(kept["texts"], vectors["documents"].tolist(), strict=True)
        rows = [{"row": n, "text": text, "vector": one} for n, (text, one) in enumerate(pairs)]
        table = lancedb.connect(scratch).create_table("t", rows)
        stemmed = {"language": language.capitalize(), "stem": True, "remove_stop_words": True}
        table.create_fts_index("text", **stemmed)
        found = []
        for query, vector in zip(kept["queries"], vectors["queries"], strict=True):
            text = " ".join(re.findall(r"\w+", query))
            hits = table.search(query_type="hybrid").vector(vector.tolist()).text(text).limit(10)
            found.append([hit["row"] for hit in hits.to_list()])
    return found


def by_cosine(documents: Any, queries: Any) -> list[list[int]]:
    """The ten rows with the highest cosines; rows have unit length."""
    scores = queries @ documents.T
    dense = np.asarray(scores.todense() if hasattr(scores, "todense") else scores)
    return [np.argsort(-line, kind="stable")[:10].tolist() for line in dense]


def by_tfidf(kept: dict, _: str) -> list[list[int]]:
    """scikit-learn's tf-idf."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer()
    return by_cosine(vectorizer.fit_transform(kept["texts"]), vectorizer.transform(kept["queries"]))


def by_lsa(kept: dict, _: str) -> list[list[int]]:
    """scikit-learn's LSA with up to 300 dimensions."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    dimensions = min(300, len(kept["texts"]) - 1)
    lsa = make_pipeline(
        TfidfVectorizer(), TruncatedSVD(dimensions, random_state=0), Normalizer()
    ).fit(kept["texts"])
    return by_cosine(lsa.transform(kept["texts"]), lsa.transform(kept["queries"]))


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows scaled to unit length."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def by_potion(kept: dict, _: str) -> list[list[int]]:
    """model2vec's potion-base-8M."""
    from model2vec import StaticModel

    model = StaticModel.from_pretrained(os.environ["POTION"])
    return by_cosine(unit(model.encode(kept["texts"])), unit(model.encode(kept["queries"])))


def by_minilm(kept: dict, _: str) -> list[list[int]]:
    """sentence-transformers' all-MiniLM-L6-v2."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(os.environ["MINILM"], device="cpu")
    return by_cosine(unit(model.encode(kept["texts"])), unit(model.encode(kept["queries"])))


def embedders(folder: Path, out: Path) -> None:
    """Rank by cosine with each embedding, and write means."""
    engines = {"tf-idf": by_tfidf, "LSA": by_lsa, "potion": by_potion, "MiniLM": by_minilm}
    packages = ("scikit-learn", "model2vec", "sentence-transformers")
    results: dict = {"versions": {n: version(n) for n in packages}}
    for name in SETS[:4]:
        kept = json.loads((folder / f"{name}.json").read_text())
        results[name] = {}
        for engine, ranking in engines.items():
            scores = [ndcg(r, g) for r, g in zip(ranking(kept, ""), kept["grades"], strict=True)]
            results[name][engine] = round(float(np.mean(scores)), 4)
        print(name, results[name], flush=True)
        out.write_text(json.dumps(results, indent=1) + "\n")


def rank(folder: Path, out: Path) -> None:
    """Rank by every engine, and write means and gaps with their errors."""
    results: dict = {"versions": {n: version(n) for n in ("bm25s", "tantivy", "lancedb")}}
    for name in SETS:
        kept = json.loads((folder / f"{name}.json").read_text())
        vectors, language = dict(np.load(folder / f"{name}.npz")), LANGUAGES.get(name, "english")
        rankings = {"deltavec hybrid": kept["deltavec"]}
        rankings["bm25s, Snowball"] = by_bm25s(kept, language)
        rankings["tantivy"] = by_tantivy(kept, language)
        rankings["LanceDB hybrid"] = by_lancedb(kept, language, vectors)
        scores = {
            engine: np.array([ndcg(r, g) for r, g in zip(ranked, kept["grades"], strict=True)])
            for engine, ranked in rankings.items()
        }
        count = len(kept["queries"])
        drawn = np.random.default_rng(0).integers(0, count, (2000, count))
        ours = scores["deltavec hybrid"]
        results[name] = {
            engine: {
                "nDCG@10": round(float(own.mean()), 4),
                "behind": round(1000 * float((ours - own).mean()), 1),
                "error": round(1000 * float((ours - own)[drawn].mean(axis=1).std()), 1),
            }
            for engine, own in scores.items()
        }
        print(name, results[name], flush=True)
        out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    modes = {"vectors": write_vectors, "rank": rank, "embedders": embedders}
    modes[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
