r"""A question that came up: the centre of few documents, drawn towards the corpus' centre.

.. math:: b = \frac{n\, \bar y + c\, b_0}{n + c}

with n documents that are compared, :math:`\bar y` their mean, :math:`b_0 = \sum_i p_i T_i`. c = 0
is their own mean, c = 100 what `for_collection` does. The length always comes from the documents.
"""

from __future__ import annotations

from asking import asked
from corpora import corpus_named
from outcomes import keep
from problems import problems
from spectral_variants import Parameters, drawn_sums, factorisations, shared_centre, weighed

PULLS = (0.0, 20.0, 50.0, 100.0, 200.0, 1e9)
EXPONENT = 0.75


def main() -> None:
    arguments = asked(__doc__)
    for name in arguments.corpora:
        corpus = corpus_named(name, arguments.data)
        _, found = next(iter(factorisations(corpus, [Parameters()], arguments.cache)))
        outcome: dict[str, dict[str, list[float]]] = {}
        for problem in problems(corpus):
            scores: dict[str, list[float]] = {f"{pull:g}": [] for pull in PULLS}
            for draw in problem.draws:
                sums = drawn_sums(corpus, draw, found)
                for pull in PULLS:
                    centre = shared_centre(sums, found, pull)
                    vectors = weighed(sums, found.strengths(EXPONENT), found.mean_length, centre)
                    scores[f"{pull:g}"] += draw.scores(vectors)
            outcome[problem.name] = scores
        keep(f"centres-{name}", outcome)
        print(name, flush=True)


if __name__ == "__main__":
    main()
