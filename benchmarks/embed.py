"""Embedding real text: deltavec against the plain Python way, on the same text in the same run.

    python benchmarks/embed.py reviews.parquet -o benchmarks/results/embed.json

The plain way is what people write: ``re.findall``, a dict from words to ids, a sparse matrix of
counts times the table of weighted vectors, rows scaled to unit length. Both know every word that
occurs at least twice; the word vectors are random, since speed does not depend on them.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from measuring import publish, surroundings, timed
from scipy import sparse

import deltavec as dv
from deltavec.core.discovery import learned_vocabulary
from deltavec.core.texts import as_chunked


def plain_embed(texts: list[str], ids: dict[str, int], rows: np.ndarray) -> np.ndarray:
    find = re.compile(r"\w+").findall
    begins, columns = [0], []
    for text in texts:
        columns += [ids[word] for word in find(text.lower()) if word in ids]
        begins.append(len(columns))
    values = np.ones(len(columns), np.float32)
    counts = sparse.csr_matrix((values, columns, begins), (len(texts), len(rows)))
    counts.sum_duplicates()
    sums = counts @ rows
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)


def measured(corpus: dv.Corpus, dimensions: int, documents: int, repeats: int) -> dict[str, Any]:
    texts = [text for chunk in corpus for text in chunk.to_pylist()][:documents]
    vocabulary = learned_vocabulary(as_chunked(texts), "words", 2)
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((len(vocabulary), dimensions), dtype=np.float32)
    model = dv.fit(texts, dv.WordVectors(vocabulary.words, matrix), "idf-sum")
    column = pa.array(texts, pa.large_string())
    model.embed(column[:100])  # compiled, or fetched from the cache
    tokens = model.statistics.tokens
    ours = {
        threads: timed(lambda t=threads: model.embed(column, threads=t), repeats)
        for threads in (1, 2)
    }
    ids = {word: number for number, word in enumerate(model.vocabulary.words)}
    plain = timed(lambda: plain_embed(texts, ids, model.folded.rows), max(3, repeats // 2))
    difference = float(np.abs(ours[2].result - plain.result).max())
    rates = {
        "deltavec_1_thread": tokens / ours[1].median / 1e6,
        "deltavec_2_threads": tokens / ours[2].median / 1e6,
        "regex_dict_scipy": tokens / plain.median / 1e6,
    }
    return {
        "documents": len(texts),
        "tokens": tokens,
        "words": len(vocabulary),
        "dimensions": dimensions,
        "million_tokens_per_second": {name: round(rate, 2) for name, rate in rates.items()},
        "times_regex_dict_scipy": round(rates["deltavec_2_threads"] / rates["regex_dict_scipy"], 1),
        "seconds": {
            "deltavec_1_thread": ours[1].seconds,
            "deltavec_2_threads": ours[2].seconds,
            "regex_dict_scipy": plain.seconds,
        },
        "largest_difference": difference,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", help="a file that deltavec reads")
    parser.add_argument("--column", default="text")
    parser.add_argument("--dimensions", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--documents", type=int, default=60_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    corpus = dv.read_corpus(arguments.corpus, column=arguments.column)
    runs = [
        measured(corpus, dimensions, arguments.documents, arguments.repeats)
        for dimensions in arguments.dimensions
    ]
    publish({**surroundings(["numba", "numpy", "scipy"]), "embed": runs}, arguments.output)


if __name__ == "__main__":
    main()
