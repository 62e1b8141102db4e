"""Whether a word that comes again should count less: BM25, and 1 + log tf.

    python saturation.py DATA CORPUS ... --cache CACHE

Shares of words are made of f(n) instead of n, the documents seen from their own mean; the model is
that of compare.py. Its strengths were measured with plain counts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from asking import asked
from compare import DRAWS
from corpora import corpus_named
from methods import Comparison
from outcomes import keep
from problems import counts_of, problems
from scipy import sparse

from deltavec.lab.baselines import scaled_rows

Counts = npt.NDArray[np.float64]
SATURATED: dict[str, Callable[[Counts], Counts]] = {
    "n": lambda n: n,
    "n / (n + 1.2)": lambda n: n / (n + 1.2),
    "n / (n + 5)": lambda n: n / (n + 5),
    "1 + log n": lambda n: 1 + np.log(n),
    "1": np.ones_like,
}


def main() -> None:
    arguments = asked(__doc__)
    for name in arguments.corpora:
        corpus = corpus_named(name, arguments.data)
        comparison = Comparison(corpus, arguments.cache)
        places = comparison.model.vocabulary.ids(corpus.words.vocabulary.words)
        columns = np.flatnonzero(places >= 0)
        found: dict[str, dict[str, list[float]]] = {}
        for problem in problems(corpus, draws=DRAWS):
            for draw in problem.draws:
                model = comparison.model.for_collection(comparison.documents(draw))
                rows = model.folded.rows[places[columns]]
                counts = counts_of(corpus, draw)[:, columns].astype(np.float64).tocsr()
                for how, saturate in SATURATED.items():
                    changed = sparse.csr_matrix(
                        (saturate(counts.data), counts.indices, counts.indptr), counts.shape
                    )
                    total = np.maximum(changed.sum(axis=1), 1e-9)
                    means = np.asarray((changed @ rows) / np.asarray(total).reshape(-1, 1))
                    known = np.diff(counts.indptr) > 0
                    vectors = scaled_rows((means - means[known].mean(axis=0)) * known[:, None])
                    scores = found.setdefault(how, {}).setdefault(problem.name, [])
                    scores += draw.scores(vectors)
        keep(f"saturation-{name}", found)
        print(name, flush=True)


if __name__ == "__main__":
    main()
