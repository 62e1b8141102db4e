"""Search a file and see why: python search_csv.py reviews.csv "a quiet room by the sea"."""

import sys

import deltavec as dv


def main(file: str, query: str) -> None:
    reviews = dv.build_collection(file, f"{file}.idx")  # fits a model of this file first
    for hit in reviews.search(query, k=5):
        print(f"{hit.score:6.2f}  {hit.id}  {hit.text[:70]}")
        words = reviews.why(query, hit.id).words[:4]
        print("        " + ", ".join(f"{word.word} {word.share:.2f}" for word in words))


if __name__ == "__main__":
    main(*sys.argv[1:])
