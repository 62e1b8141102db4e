"""Classify with few labels: python classify.py tickets.csv (a column label, mostly empty)."""

import sys

import pyarrow.csv
from sklearn.linear_model import LogisticRegression

import deltavec as dv


def main(file: str) -> None:
    table = pyarrow.csv.read_csv(file)
    texts, labels = table["text"].to_pylist(), table["label"].to_pylist()
    vectors = dv.fit(texts).for_collection(texts).embed(texts)  # learns from all texts
    known = [row for row, label in enumerate(labels) if label]
    classifier = LogisticRegression(C=10, max_iter=1000)
    classifier.fit(vectors[known], [labels[row] for row in known])
    for text, label, guess in zip(texts, labels, classifier.predict(vectors), strict=True):
        if not label:
            print(f"{guess}\t{text[:70]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
