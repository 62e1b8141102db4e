"""Does the variant with the default parameters equal `deltavec.fit`? Cosines on four corpora."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from corpora import corpus_named
from problems import problems
from spectral_variants import (
    CENTRE_DOCUMENTS,
    adopted,
    drawn_sums,
    factorisations,
    shared_centre,
    weighed,
)

import deltavec as dv


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    arguments = parser.parse_args()
    for name in ("lee", "english_stackexchange", "restaurant", "newsgroups"):
        corpus = corpus_named(name, arguments.data)
        model = dv.fit(corpus.texts, recipe="spectral")
        _, found = next(iter(factorisations(corpus, [adopted(corpus)], arguments.cache)))
        problem = list(problems(corpus))[-1]
        draw = problem.draws[0]
        texts = ["\n".join(corpus.texts[place] for place in places) for places in draw.places]
        theirs = model.for_collection(texts).embed(texts)
        sums = drawn_sums(corpus, draw, found)
        centre = shared_centre(sums, found, CENTRE_DOCUMENTS)
        ours = weighed(sums, found.strengths(), found.mean_length, centre)
        kept = np.linalg.norm(theirs, axis=1) > 0
        cosines = np.einsum("ij,ij->i", ours, theirs)[kept]
        print(f"{problem.name}: least cosine {cosines.min():.7f} over {kept.sum()} documents")
        assert cosines.min() > 1 - 1e-4, "the variant is not the recipe any more"


if __name__ == "__main__":
    main()
