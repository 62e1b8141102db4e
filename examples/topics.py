"""Name the topics of a file and draw its map: python topics.py reviews.csv map.html."""

import subprocess
import sys

import deltavec as dv


def main(file: str, output: str) -> None:
    reviews = dv.build_collection(file, f"{file}.idx")
    found = reviews.cluster()  # as many topics as are stable
    for size, words, example in zip(found.sizes, found.names, found.central_ids, strict=True):
        print(f"{size:6,}  {', '.join(words)}  (for example {example})")
    subprocess.run(["deltavec", "map", f"{file}.idx", "-o", output], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
