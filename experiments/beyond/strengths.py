"""The constants of measured strengths, varied around their defaults.

    python strengths.py DATA CORPUS ... --cache CACHE

n0, n1: documents that the spectrum and the corpus count for. most: documents of the corpus that
count at the most. e: the power of a direction's covariance that is its strength. estimated: the
sampling error of the covariances says how much they count, and not n0, n1 and most. n0=inf is the
recipe with guessed strengths, but for the halves of the collection; guessed is that without them.
"""

from __future__ import annotations

import warnings

from asking import asked
from basis import Strengths, basis_of, compared, documents_in, for_documents, texts_of
from compare import DRAWS
from corpora import corpus_named
from outcomes import keep
from problems import problems

VARIATIONS = (
    Strengths(),
    *(Strengths(n0=n0) for n0 in (300, 3_000, 10_000)),
    *(Strengths(n1=n1) for n1 in (300, 3_000, 10_000)),
    *(Strengths(most=most) for most in (2_000, 20_000)),
    *(Strengths(e=e) for e in (0.4, 0.6, 0.75)),
    Strengths(n0=3_000, n1=3_000),
    Strengths(estimated=True),
)


def main() -> None:
    arguments = asked(__doc__)
    warnings.simplefilter("ignore")
    for name in arguments.corpora:
        corpus = corpus_named(name, arguments.data)
        basis = basis_of(corpus, arguments.cache)
        signals = {constants: basis.signal(constants) for constants in VARIATIONS}
        share = basis.share(Strengths(estimated=True))
        found: dict[str, dict[str, list[float]]] = {}
        for problem in problems(corpus, draws=DRAWS):
            for draw in problem.draws:
                documents = documents_in(basis, texts_of(corpus, draw))
                vectors = {"guessed": compared(basis, documents)} | {
                    constants.name: compared(
                        basis, documents, for_documents(signal, documents, constants)
                    )
                    for constants, signal in signals.items()
                }
                for way, embedded in vectors.items():
                    scores = found.setdefault(way, {}).setdefault(problem.name, [])
                    scores += draw.scores(embedded)
        keep(f"strengths-{name}", found)
        print(f"{name}: {basis.found.documents:,} documents, share {share:.3f}", flush=True)


if __name__ == "__main__":
    main()
