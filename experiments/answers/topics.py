"""Clusters against labels: deltavec, LSA and potion with k-means, and the number that is chosen.

python topics.py DATA POTION OUT.json

POTION is a folder with a model of model2vec. Normalized mutual information at the number of labels
(those of at least 20 documents) is the mean of three seeds; errors are those of the difference.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from model2vec import StaticModel
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

import deltavec as dv

DATA, POTION, OUT = map(Path, sys.argv[1:])
SEEDS = (0, 1, 2)
FEWEST = 20


def corpora():
    """Texts and labels by name; rows without a label, or with a rare one, are left out."""
    read = pd.read_parquet
    judged = DATA / "judged"
    groups = read(DATA / "newsgroups.parquet").rename(columns={"group": "label"})
    reuters = read(judged / "reuters21578/documents.parquet")
    sib = read(judged / "sib200/documents.parquet")
    tables = {
        "newsgroups": groups,
        "reuters": reuters,
        "reuters titles": reuters.assign(text=reuters.title),
        "ohsumed": read(judged / "ohsumed/documents.parquet"),
        "10kGNAD": read(judged / "german_10kgnad_test/documents.parquet"),
        "Chinese headlines": read(judged / "chinese_thucnews_titles/documents.parquet"),
        "SIB English": sib[sib.lang == "eng_Latn"],
        "SIB Spanish": sib[sib.lang == "spa_Latn"],
    }
    for name, table in tables.items():
        table = table.dropna(subset=["label", "text"])
        kept = table[table.groupby("label").label.transform("size") >= FEWEST]
        yield name, kept.text.tolist(), kept.label.to_numpy()


def nmi(labels, vectors, seeds=SEEDS):
    count = len(set(labels))
    found = [KMeans(count, n_init=1, random_state=seed).fit(vectors).labels_ for seed in seeds]
    return [normalized_mutual_info_score(labels, one) for one in found]


def compare(texts, labels):
    potion = StaticModel.from_pretrained(str(POTION))
    counts = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(texts)
    lsa = normalize(TruncatedSVD(100, random_state=0).fit_transform(counts))
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        collection = dv.build_collection(dv.fit(texts), texts, Path(folder) / "x.idx")
        built = time.process_time() - begin
        chosen = collection.cluster()
        count = len(set(labels))
        ours = [collection.cluster(count, seed=seed).labels for seed in SEEDS]
    scores = {
        "deltavec": [normalized_mutual_info_score(labels, one) for one in ours],
        "LSA": nmi(labels, lsa),
        "potion": nmi(labels, normalize(potion.encode(texts))),
    }
    return {
        "documents": len(texts),
        "labels": count,
        "chosen": len(chosen),
        "reason": chosen.reason,
        "cpu_seconds": round(built, 1),
        **{name: round(float(np.mean(values)), 3) for name, values in scores.items()},
        "errors": {
            name: round(float(np.std(np.subtract(scores["deltavec"], values), ddof=1) / 3**0.5), 3)
            for name, values in scores.items()
            if name != "deltavec"
        },
    }


if __name__ == "__main__":
    versions = {name: version(name) for name in ("deltavec", "scikit-learn", "model2vec")}
    results = {"versions": versions}
    for name, texts, labels in corpora():
        results[name] = compare(texts, labels)
        print(name, results[name], flush=True)
        OUT.write_text(json.dumps(results, indent=1) + "\n")
