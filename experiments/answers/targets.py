"""Targets against spectral alone, with clean folds: no judged text is in the teacher's sample.

python targets.py DATA VECTORS OUT.json [PROBLEM ...]

VECTORS has `vec_NAME.npz` files of a teacher: texts, vectors, names and words (single words).
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.stats import spearmanr

import deltavec as dv
from deltavec.evaluation.pairs import measured
from deltavec.lab.judged import read_judged

warnings.simplefilter("ignore")
WEIGHTS = (0.4, 0.5, 0.6, 1.0)
DATA, VECTORS, OUT = map(Path, sys.argv[1:4])
FORUMS = ("askubuntu", "english_stackexchange", "meta_stackexchange")


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)


class Taught:
    """What the teacher gave for texts and for single words."""

    def __init__(self, name):
        kept = np.load(VECTORS / f"vec_{name}.npz", allow_pickle=True)
        self.of = dict(zip(kept["texts"].tolist(), kept["vectors"], strict=True))
        self.word = dict(zip(kept["names"].tolist(), kept["words"], strict=True))
        self.zero = np.zeros(kept["vectors"].shape[1], np.float32)
        self.queries = kept.get("queries", None)

    def __call__(self, words):
        """The vectors of single words; the mean for one that was not asked for."""
        known = np.mean(list(self.word.values()), axis=0)
        return np.array([self.word.get(word, known) for word in words])

    def vectors(self, texts):
        """The vectors of texts."""
        return np.array([self.of[text] for text in texts])


def auc(pos, neg):
    return float((pos[:, None] > neg).mean() + 0.5 * (pos[:, None] == neg).mean())


def fits(corpus, sample, taught):
    """Models by name: spectral, and joined at each weight; the time of the last fit."""
    begin = time.process_time()
    base = dv.fit(corpus, threads=1).for_collection(corpus)
    spent = time.process_time() - begin
    made = {"spectral": base}
    for weight in WEIGHTS:
        begin = time.process_time()
        given = sample, taught.vectors(sample)
        made[f"{weight}"] = dv.fit(corpus, targets=given, teacher=taught, weight=weight, threads=1)
        made[f"{weight}"] = made[f"{weight}"].for_collection(corpus)
    return made, [round(spent, 1), round(time.process_time() - begin, 1)]


def questions(forum):
    data = pd.read_parquet(DATA / "duplicate_questions.parquet")
    data = data[data.forum == forum]
    a, b, label = data.text_a.tolist(), data.text_b.tolist(), data.label.to_numpy()
    corpus = sorted({*a, *b})
    at = {text: n for n, text in enumerate(corpus)}
    i, j = (np.array([at[text] for text in side]) for side in (a, b))
    graph = sparse.coo_matrix((np.ones(len(i)), (i, j)), (len(corpus),) * 2)
    part = connected_components(graph, directed=False)[1]
    if np.bincount(part).max() > 0.3 * len(corpus):
        part = np.arange(len(corpus))
    fold = np.random.default_rng(0).permutation(part.max() + 1)[part[i]] % 5
    taught, scores, times = Taught(forum), {}, []
    for number in range(5):
        judged = np.flatnonzero(fold == number)
        banned = {*i[judged].tolist(), *j[judged].tolist()}
        sample = [text for text in corpus if at[text] not in banned]
        assert not {corpus[n] for n in banned} & {*sample}
        made, times = fits(corpus, sample, taught)
        made |= {"teacher": None}
        for name, model in made.items():
            A, B = (
                (unit(taught.vectors(s)) if model is None else model.embed(s))
                for s in ([a[k] for k in judged], [b[k] for k in judged])
            )
            scores.setdefault(name, []).append(np.c_[(A * B).sum(axis=1), label[judged]])
    found = {}
    for name, parts in scores.items():
        every = np.concatenate(parts)
        found[name] = auc(every[every[:, 1] == 1, 0], every[every[:, 1] == 0, 0])
    return found, times


def sts(_):
    data = pd.read_parquet(DATA / "judged/sts/documents.parquet")
    a, b = data.text_a.tolist(), data.text_b.tolist()
    corpus = sorted({*a, *b})
    at = {text: n for n, text in enumerate(corpus)}
    i, j = (np.array([at[text] for text in side]) for side in (a, b))
    graph = sparse.coo_matrix((np.ones(len(i)), (i, j)), (len(corpus),) * 2)
    part = connected_components(graph, directed=False)[1]
    test = np.random.default_rng(0).permutation(part.max() + 1)[part] % 3 == 0
    rng = np.random.default_rng(1)
    free = rng.permutation(np.flatnonzero(~test))[:2000]
    sample = [corpus[n] for n in free]
    judged = np.flatnonzero(test[i])
    assert not {*free.tolist()} & {*i[judged].tolist(), *j[judged].tolist()}
    taught = Taught("sts")
    made, times = fits(corpus, sample, taught)
    found = {}
    for name, model in {**made, "teacher": None}.items():
        A, B = (
            (taught.vectors(s) if model is None else model.embed(s))
            for s in ([a[k] for k in judged], [b[k] for k in judged])
        )
        cosine, score = (A * B).sum(axis=1), data.score.to_numpy()[judged]
        subset = data.subset.to_numpy()[judged]
        parts = [spearmanr(cosine[subset == s], score[subset == s])[0] for s in np.unique(subset)]
        found[name] = float(np.mean(parts))
    return found, times


def cranfield(_):
    judged = read_judged(DATA / "judged/cranfield")
    taught = Taught("cranfield")
    known = [text for text in judged.texts if text.strip() in taught.of]
    sample = [known[n] for n in np.random.default_rng(0).permutation(len(known))[:1000]]
    taught.of |= {text: taught.of[text.strip()] for text in known}
    made, times = fits(judged.texts, sample, taught)
    found = {}
    for name, model in made.items():
        S = model.embed(list(judged.queries.values())) @ model.embed(judged.texts).T
        ranked = [[judged.ids[n] for n in np.argsort(-row, kind="stable")[:10]] for row in S]
        values = [
            measured(r, g).ndcg_10 for r, g in zip(ranked, judged.grades.values(), strict=True)
        ]
        found[name] = float(np.mean(values))
    return found, times


def groups(name):
    taught = Taught(name)
    if name == "newsgroups":
        data = pd.read_parquet(DATA / "newsgroups.parquet").rename(columns={"group": "label"})
    else:
        folder = {"reuters": "reuters21578"}.get(name, name)
        data = pd.read_parquet(DATA / f"judged/{folder}/documents.parquet")
    data = data[data.label.notna() & data.text.str.contains(r"\w")].drop_duplicates("text")
    seen = [text for text in data.text if text in taught.of][:2500]
    sample = seen[:2000] if name == "newsgroups" else seen[:1000]
    rest = data[~data.text.isin(sample)].sample(1500, random_state=0)
    corpus = data.text.tolist()
    if name == "newsgroups":
        corpus = data.text.sample(8000, random_state=1).tolist()
    corpus = list(dict.fromkeys([*corpus, *sample, *rest.text]))
    made, times = fits(corpus, sample, taught)
    y, found = rest.label.to_numpy(), {}
    same = y[:, None] == y
    upper = np.triu_indices(len(y), 1)
    for model_name, model in made.items():
        U = model.embed(rest.text.tolist())
        S = U @ U.T
        from sklearn.metrics import roc_auc_score

        found[model_name] = float(roc_auc_score(same[upper], S[upper]))
        np.fill_diagonal(S, -9)
        top = np.argsort(-S, axis=1)[:, :10]
        found[f"{model_name} P@10"] = float((y[top] == y[:, None]).mean())
    return found, times


PROBLEMS = {**dict.fromkeys(FORUMS, questions), "sts": sts, "cranfield": cranfield,
            "newsgroups": groups, "reuters": groups, "ohsumed": groups}  # fmt: skip
results = json.loads(OUT.read_text()) if OUT.exists() else {"version": dv.__version__}
for problem in sys.argv[4:] or PROBLEMS:
    found, times = PROBLEMS[problem](problem)
    results[problem] = {name: round(value, 4) for name, value in found.items()}
    results[problem]["cpu seconds, spectral and joined"] = times
    print(problem, results[problem], flush=True)
    OUT.write_text(json.dumps(results, indent=1))
