"""Near-duplicates beside MinHash, SimHash and semhash: planted copies, natural pairs, scale.

    python benchmarks/duplicates.py planted DATA -o planted.json
    python benchmarks/duplicates.py scale DATA/reviews.parquet -o scale.json
    python benchmarks/duplicates.py read DATA -o pairs.jsonl   (with texts: not to be published)

``planted``: up to 5,000 documents of each corpus in the folder and 40 copies for each kind of edit.
Words are dropped, replaced by words of other documents, misspelled, or all of these; text is
appended, cut, re-cased, or its sentences are shuffled. A pair that was not planted is right if it
shares half of the word trigrams of the shorter text (characters in scripts without spaces). Texts
with the same words count as one. MinHash (datasketch) has 128 permutations of runs of five
characters, and every candidate is checked; SimHash has 64 bits; semhash gets deltavec's vectors.
CPU time is that of one thread and includes all that a method needs but reading; the fit of vectors
for semhash is left out.

``natural`` in the result: on samples of 1,500 documents, are the pairs found those of a comparison
of all pairs?

``scale``: pieces of 40 words of the reviews, 50,000, 200,000 and 800,000 of them, one in a hundred
a copy with a tenth of its words dropped.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from measuring import publish, surroundings
from pyarrow import compute as pc
from pyarrow import parquet

import deltavec as dv
from deltavec.core.text.tokenize import words
from deltavec.search import shingle_kernels as kernels
from deltavec.search.shingles import Shingles, index_prefixes, text_pairs

UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
PARTS = re.compile(rf"[{UNSPACED}]\s*|[^\s{UNSPACED}]+\s*|\s+")
MUST = ("same", "case", "drop.05", "drop.1", "drop.15", "replace.05", "replace.1", "replace.15")
MUST += ("append.2", "append.4", "shuffle", "cut.75")
HARD = ("drop.2", "drop.3", "replace.2", "replace.3", "typos.1", "typos.2", "typos.3")
HARD += ("mixed.1", "mixed.2")
COPIES, DOCUMENTS, SAMPLE = 40, 5_000, 1_500
Pairs = set[tuple[int, int]]


def column(path: Path, name: str = "text", **values: str) -> list[str]:
    table = parquet.read_table(path)
    for key, value in values.items():
        table = table.filter(pc.equal(table[key], value))
    return table[name].to_pylist()


def beir(path: Path) -> list[str]:
    rows = map(json.loads, (path / "corpus.jsonl").open())
    return [" ".join(filter(None, (row.get("title"), row.get("text")))) for row in rows]


def corpora(data: Path) -> dict[str, Callable[[], list[str]]]:
    judged = data / "judged"
    news, sib = judged / "reuters21578/documents.parquet", judged / "sib200/documents.parquet"
    questions = data / "duplicate_questions.parquet"
    return {
        "german articles": lambda: column(judged / "german_10kgnad_test/documents.parquet"),
        "newsgroups": lambda: column(data / "newsgroups.parquet"),
        "reuters": lambda: column(news),
        "reuters titles": lambda: column(news, "title"),
        "reviews": lambda: column(data / "reviews.parquet"),
        "ohsumed": lambda: column(judged / "ohsumed/documents.parquet"),
        "questions": lambda: column(questions, "text_a") + column(questions, "text_b"),
        "chinese headlines": lambda: column(judged / "chinese_thucnews_titles/documents.parquet"),
        "chinese paragraphs": lambda: beir(judged / "drcd"),
        "medline": lambda: beir(judged / "medline"),
        "npl": lambda: beir(judged / "npl"),
        "cacm": lambda: beir(judged / "cacm"),
        "thai": lambda: column(sib, lang="tha_Thai"),
        "japanese": lambda: column(sib, lang="jpn_Jpan"),
        "russian": lambda: column(sib, lang="rus_Cyrl"),
    }


def misspell(part: str, rng: random.Random) -> str:
    word = part.rstrip()
    blank, letter = part[len(word) :], rng.choice("abcdefghijklmnopqrstuvwxyz")
    if len(word) < 2:
        return (letter if word.isascii() else rng.choice("的一是在不了有和人这")) + blank
    at = rng.randrange(len(word) - 1)
    swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    others = word[:at] + word[at + 1 :], word[:at] + letter + word[at:]
    return rng.choice([swapped, *others, word[:at] + letter + word[at + 1 :]]) + blank


def edit(text: str, kind: str, others: list[str], rng: random.Random) -> str:
    name, _, digits = kind.partition(".")
    share, parts = float(f".{digits or 0}"), PARTS.findall(text)
    joint = "" if re.search(f"[{UNSPACED}]", text) else " "
    if name == "case":
        upper = rng.random() < 0.5
        return re.sub(r"[^\w\s]", "" if upper else " ", text.upper() if upper else text.lower())
    if name == "shuffle":
        sentences = [one for one in re.split(r"(?<=[.!?。！？\n])\s*", text) if one.strip()]
        if len(sentences) < 2 and not joint:
            sentences = re.split(r"(?<=[,;，；、 ])(?=\S)", text)
        rng.shuffle(sentences)
        return joint.join(sentences)
    count = min(len(parts), max(1, round(len(parts) * share)))
    if name == "cut":
        return "".join(parts[:count])
    if name == "append":
        more: list[str] = []
        while len(more) < count:
            more += PARTS.findall(rng.choice(others))
        return text + joint + "".join(more[:count])
    changed, result = set(rng.sample(range(len(parts)), 0 if name == "same" else count)), []
    for place, part in enumerate(parts):
        how = name if place in changed else "keep"
        how = rng.choice(["drop", "replace", "typos", "insert"]) if how == "mixed" else how
        if how in ("keep", "insert"):
            result.append(part)
        if how in ("replace", "insert"):
            result.append(rng.choice(PARTS.findall(rng.choice(others)) or [part]))
        if how == "typos":
            result.append(misspell(part, rng))
    return "".join(result)


class Planted:
    """Documents and copies; which pairs are right."""

    def __init__(self, name: str, texts: list[str]) -> None:
        rng = random.Random(f"{name} 1")
        texts = [text for text in texts if text and text.strip()]
        texts = rng.sample(texts, DOCUMENTS) if len(texts) > DOCUMENTS else texts
        kinds = MUST + HARD
        long = [row for row, text in enumerate(texts) if len(PARTS.findall(text)) >= 5]
        self.documents, self.originals = list(texts), len(texts)
        self.truth: dict[tuple[int, int], str] = {}
        copies = min(COPIES, len(long) // len(kinds)) * len(kinds)
        for number, place in enumerate(rng.sample(long, copies)):
            kind = kinds[number % len(kinds)]
            self.truth[place, len(self.documents)] = kind
            self.documents.append(edit(texts[place], kind, texts, rng))
        self.trigrams: dict[int, set[tuple[str, ...]]] = {}
        self.firsts = Shingles.of([self.documents]).firsts.tolist()

    def runs(self, row: int) -> set[tuple[str, ...]]:
        """The word trigrams of a document."""
        if row not in self.trigrams:
            listed = words(self.documents[row])
            found = {tuple(listed[at : at + 3]) for at in range(max(1, len(listed) - 2))}
            self.trigrams[row] = found
        return self.trigrams[row]

    def is_right(self, pair: tuple[int, int]) -> bool:
        """Whether a pair was planted, or shares text."""
        a, b = map(self.runs, pair)
        return pair in self.truth or len(a & b) >= 0.5 * min(len(a), len(b))

    def judge(self, pairs: Pairs) -> dict[str, Any]:
        """Precision and recall of pairs; of texts with the same words the first stands for all."""
        named = {
            (min(a, b), max(a, b)) for a, b in (map(self.firsts.__getitem__, p) for p in pairs)
        }
        found = {(a, b) for a, b in named if a != b}
        found |= {(a, b) for a, b in self.truth if {(a, b), (self.firsts[a], b)} & pairs}
        found |= {
            pair
            for pair in self.truth
            if tuple(sorted(map(self.firsts.__getitem__, pair))) in found
        }
        precision = sum(map(self.is_right, found)) / max(1, len(found))
        by_kind = {
            kind: float(np.mean([pair in found for pair, own in self.truth.items() if own == kind]))
            for kind in MUST + HARD
        }
        recall = float(np.mean([pair in found for pair in self.truth]))
        must = [pair for pair, kind in self.truth.items() if kind in MUST]
        return {
            "precision": round(precision, 4),
            "recall": round(recall, 4),
            "recall_must": round(float(np.mean([pair in found for pair in must])), 4),
            "f1": round(2 * precision * recall / max(1e-9, precision + recall), 4),
            "not_planted": sum(b < self.originals for _, b in found),
            "recall_by_kind": {kind: round(share, 3) for kind, share in by_kind.items()},
        }


Run = tuple[str, float, Callable[[], Pairs]]  # threshold, seconds before it, and the rest


def with_deltavec(documents: list[str]) -> Iterator[Run]:
    def found(threshold: float) -> Pairs:
        pairs = dv.duplicates(documents, threshold, threads=1).pairs
        return set(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))

    for threshold in (0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7):
        yield f"{threshold}", 0.0, lambda t=threshold: found(t)


def characters(text: str) -> set[bytes]:
    text = re.sub(r"\s+", " ", text.lower())
    return {text[at : at + 5].encode() for at in range(max(1, len(text) - 4))}


def with_minhash(documents: list[str]) -> Iterator[Run]:
    from datasketch import MinHash, MinHashLSH

    begin, sketches = time.process_time(), []
    for text in documents:
        sketches.append(MinHash(num_perm=128))
        sketches[-1].update_batch([*characters(text)])
    before = time.process_time() - begin

    def found(threshold: float) -> Pairs:
        index, pairs = MinHashLSH(threshold=threshold, num_perm=128), set()
        for row, sketch in enumerate(sketches):
            near = index.query(sketch)
            pairs |= {(b, row) for b in near if sketches[b].jaccard(sketch) >= threshold}
            index.insert(row, sketch)
        return pairs

    for threshold in (0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7):
        yield f"{threshold}", before, lambda t=threshold: found(t)


def with_simhash(documents: list[str]) -> Iterator[Run]:
    import hashlib

    begin, codes = time.process_time(), np.zeros(len(documents), np.uint64)
    for row, text in enumerate(documents):
        digests = b"".join(hashlib.blake2b(x, digest_size=8).digest() for x in characters(text))
        bits = np.unpackbits(np.frombuffer(digests, np.uint8).reshape(-1, 8), axis=1)
        codes[row] = np.packbits(bits.mean(axis=0) > 0.5).view(np.uint64)[0]
    before = time.process_time() - begin

    def found(most: int) -> Pairs:
        pairs: Pairs = set()
        for row in range(len(codes) - 1):
            near = np.bitwise_count(codes[row + 1 :] ^ codes[row]) <= most
            pairs |= {(row, row + 1 + int(b)) for b in np.flatnonzero(near)}
        return pairs

    for most in (3, 6, 10, 12, 14):
        yield f"{most} bits", before, lambda t=most: found(t)


def with_semhash(documents: list[str]) -> Iterator[Run]:
    from semhash import SemHash

    model = dv.fit(documents).for_collection(documents)
    vectors = model.embed(documents)
    rows = {text: row for row, text in reversed([*enumerate(documents)])}

    class Given:
        def encode(self, inputs: Any, **_: Any) -> Any:
            return vectors[[rows[text] for text in inputs]]

    def found(threshold: float) -> Pairs:
        index = SemHash.from_records(records=documents, model=Given())
        result = index.self_deduplicate(threshold=threshold)
        pairs: Pairs = set()
        for one in result.filtered:
            for other, _ in one.duplicates:
                a, b = sorted((rows[one.record], rows[other]))
                pairs.add((a, b))
        seen: dict[str, int] = {}
        for row, text in enumerate(documents):
            if text in seen:
                pairs.add((seen[text], row))
            seen.setdefault(text, row)
        return {pair for pair in pairs if pair[0] < pair[1]}

    for threshold in (0.8, 0.85, 0.9, 0.95, 0.98):
        yield f"{threshold}", 0.0, lambda t=threshold: found(t)


METHODS = {
    "deltavec": with_deltavec,
    "minhash": with_minhash,
    "simhash": with_simhash,
    "semhash": with_semhash,
}


def is_exact(documents: list[str], threshold: float = 0.5) -> dict[str, int]:
    """Pairs found by prefixes, and by a comparison of all texts that share any shingle."""
    shingles = Shingles.of([documents], 1)
    found = {
        pair
        for part in text_pairs(shingles, threshold, threads=1)
        for pair in zip(part.a.tolist(), part.b.tolist(), strict=True)
    }
    weights = shingles.weights()
    texts = shingles.texts(weights, 0.5)
    alone = (shingles.words < 5) | (shingles.firsts < np.arange(len(shingles)))
    texts.cuts[:], texts.rests[:] = np.where(alone, np.inf, -1), 0
    room = 1_000_000
    rows, shares = np.empty((2, room), np.int64), np.empty((2, room), np.float32)
    every = kernels.TextPairs(*rows, *shares)
    index = index_prefixes(texts, 1)
    count = kernels.pairs_of_texts(0, len(shingles), texts, index, threshold, every)
    expected = set(zip(rows[0][:count].tolist(), rows[1][:count].tolist(), strict=True))
    return {"pairs": len(expected), "missed": len(expected - found), "wrong": len(found - expected)}


def run_planted(data: Path) -> dict[str, Any]:
    dv.duplicates(["a b c d e f > g", "漢字"])  # compiled
    report: dict[str, Any] = {}
    for name, read in corpora(data).items():
        planted = Planted(name, read())
        documents = planted.documents
        count = len(documents)
        report[name] = {"documents": count, "copies": len(planted.truth)}
        report[name]["natural"] = is_exact(documents[:SAMPLE])
        for method, runs in METHODS.items():
            results = {}
            for threshold, before, work in runs(documents):
                begin = time.process_time()
                found = work()
                seconds = round(before + time.process_time() - begin, 3)
                results[threshold] = planted.judge(found) | {"cpu_seconds": seconds}
            report[name][method] = results
            best = max(results, key=lambda one: results[one]["f1"])
            print(name, method, best, results[best]["f1"], results[best]["cpu_seconds"], flush=True)
    summary: dict[str, Any] = {}
    for method in METHODS:
        thresholds = next(iter(report.values()))[method]
        for threshold in thresholds:
            own = [report[name][method][threshold] for name in report]
            f1 = [one["f1"] for one in own]
            summary[f"{method} {threshold}"] = {
                "mean_f1": round(float(np.mean(f1)), 4),
                "worst_f1": min(f1),
                "worst_precision": min(one["precision"] for one in own),
                "worst_recall_must": min(one["recall_must"] for one in own),
                "cpu_seconds": round(sum(one["cpu_seconds"] for one in own), 2),
            }
    return {"summary": summary, "corpora": report}


def run_scale(path: Path) -> dict[str, Any]:
    rng, pieces = random.Random(3), []
    for text in column(path):
        listed = text.split()
        pieces += [" ".join(listed[at : at + 40]) for at in range(0, len(listed) - 20, 40)]
    rng.shuffle(pieces)
    dv.duplicates(pieces[:1000])  # compiled
    rows = []
    for count in (50_000, 200_000, 800_000):
        texts = pieces[: count - count // 100]
        if len(texts) < count - count // 100:
            break
        copies = rng.sample(range(len(texts)), count // 100)
        for row in copies:
            texts.append(" ".join(word for word in texts[row].split() if rng.random() >= 0.1))
        begin, wall = time.process_time(), time.perf_counter()
        found = dv.duplicates(texts)
        seconds = time.process_time() - begin
        pairs = set(zip(found.pairs.a.tolist(), found.pairs.b.tolist(), strict=True))
        recall = np.mean([(row, count - count // 100 + n) in pairs for n, row in enumerate(copies)])
        rows.append(
            {
                "documents": count,
                "cpu_seconds": round(seconds, 1),
                "seconds": round(time.perf_counter() - wall, 1),
                "pairs": len(found),
                "removed": len(found.removed),
                "recall_of_copies": round(float(recall), 4),
            }
        )
        print(rows[-1], flush=True)
    exponents = [
        float(np.log(b["cpu_seconds"] / a["cpu_seconds"]) / np.log(b["documents"] / a["documents"]))
        for a, b in pairwise(rows)
    ]
    return {"runs": rows, "exponents": [round(one, 3) for one in exponents]}


def write_pairs_to_read(data: Path, output: Path, each: int = 14) -> None:
    """Some pairs of distinct texts that nobody planted, of each corpus, with their texts."""
    rng = random.Random(5)
    with output.open("w") as file:
        for name, read in corpora(data).items():
            texts = [text for text in read() if text and text.strip()]
            found = dv.duplicates(texts)
            rows = found.rows
            for at in sorted(rng.sample(range(len(rows.a)), min(each, len(rows.a)))):
                a, b = texts[rows.a[at]], texts[rows.b[at]]
                line = {"corpus": name, "shared": float(rows.shared[at]), "a": a, "b": b}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
            gone = len(found.removed)
            print(
                name, len(texts), "documents", gone, "go", len(rows.a), "distinct pairs", flush=True
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["planted", "scale", "read"])
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    if asked.what == "read":
        write_pairs_to_read(asked.data, asked.output)
    else:
        run = run_planted if asked.what == "planted" else run_scale
        about = surroundings(("semhash", "datasketch", "numpy", "numba"))
        publish({**about, **run(asked.data)}, asked.output)
