"""Vectors of texts by potion-base-8M or MiniLM; run in an environment that has them.

potion: model2vec (any version that reads the model folder). A text's vector is the mean of its
tokens' vectors, so what is kept is their sum and their number: a document of several texts adds
them up. No text is cut. MiniLM: sentence-transformers, texts cut at 256 word pieces as the model
says, kept at unit length.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

TEXTS_AT_ONCE = 2048


def potion(folder: Path, texts: list[str]) -> dict[str, np.ndarray]:
    """The sum of the tokens' vectors of each text, and how many there are."""
    from model2vec import StaticModel

    model = StaticModel.from_pretrained(str(folder))
    model.tokenizer.no_truncation()
    sums = np.zeros((len(texts), model.dim), np.float32)
    counts = np.zeros(len(texts), np.int64)
    for first in range(0, len(texts), TEXTS_AT_ONCE):
        tokens = model.tokenize(texts[first : first + TEXTS_AT_ONCE])
        for place, ids in enumerate(tokens, first):
            counts[place] = len(ids)
            if len(ids):
                sums[place] = model.embedding[np.asarray(ids)].sum(axis=0)
    probe = [text for text in texts if text.strip()][:20]
    expected = model.encode(probe, max_length=None)
    ours = np.stack([sums[texts.index(text)] for text in probe])
    ours /= np.linalg.norm(ours, axis=1, keepdims=True)
    assert np.allclose(ours, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-4)
    return {"sums": sums, "counts": counts}


def minilm(folder: Path, texts: list[str]) -> dict[str, np.ndarray]:
    """The unit vector of each text."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    vectors = model.encode(texts, batch_size=32, normalize_embeddings=True)
    return {"vectors": np.asarray(vectors, np.float32)}


def rate(embedder: str, folder: Path, texts: list[str]) -> float:
    """How many texts a second the embedder's own function takes, the median of three times."""
    if embedder == "potion":
        from model2vec import StaticModel

        encode = StaticModel.from_pretrained(str(folder)).encode
    else:
        from sentence_transformers import SentenceTransformer

        encode = SentenceTransformer(str(folder), device="cpu").encode
    encode(texts[:20])
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        encode(texts)
        seconds.append(time.perf_counter() - begun)
    return len(texts) / sorted(seconds)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("embedder", choices=("potion", "minilm"))
    parser.add_argument("model", type=Path, help="the folder of the model")
    parser.add_argument("texts", type=Path, help="what peer_texts.py wrote")
    parser.add_argument("output", type=Path, nargs="?")
    parser.add_argument("--speed", action="store_true", help="only measure the rate")
    arguments = parser.parse_args()
    given = json.loads(arguments.texts.read_text(encoding="utf-8"))
    if arguments.speed:
        print(rate(arguments.embedder, arguments.model, given["texts"]))
        return
    begun = time.perf_counter()
    embed = {"potion": potion, "minilm": minilm}[arguments.embedder]
    found = embed(arguments.model, given["texts"])
    seconds = time.perf_counter() - begun
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    np.savez(arguments.output, rows=np.array(given["rows"]), **found)
    print(f"{arguments.texts.name}: {len(given['texts']) / seconds:.0f} texts/s")


if __name__ == "__main__":
    main()
