"""Fit and embed of 10 million to a billion words: time, memory, pairs of words, what is spilled.

    python benchmarks/large.py reviews.parquet -o benchmarks/results/large.json

The text is made from a column of documents. A made document has a parent, drawn at random: it is
as long, half of its words are drawn from the parent's, and half from all words of all documents,
each in the order of the draws. So words, their shares and what goes with what stay as they are;
pairs of words go on being new as they do not where a text is repeated; and no word is new, so that
the vocabulary ends at the words of the source, most of which are rare there.

Fit and embed are a process each. Memory is what they took for themselves at the most (`RssAnon`)
and with the pages of mapped files, which the system takes back when it needs them (`VmHWM`).
Processor time says more than seconds do where others use the machine too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from large_plot import drawn
from measuring import publish, surroundings

import deltavec as dv
from deltavec.core.learning.cooccurrence import list_token_ids
from deltavec.core.learning.kernels import document_ends
from deltavec.core.learning.vocabulary_builder import word_counts

RULE = "words"
WORDS_AT_ONCE = 10_000_000
SECONDS_BETWEEN_LOOKS = 0.2

FIT = """
import json, sys, time
import deltavec as dv
from deltavec.core.learning import spectral
from deltavec.core import arrays

begun, stages, seen = [time.perf_counter(), time.process_time()], [], {"spilled_bytes": 0}

def told(name):
    stages.append([name, time.perf_counter() - begun[0], time.process_time() - begun[1]])

def report_full_disk(size, tell=arrays.report_full_disk):
    seen["spilled_bytes"] += size
    return tell(size)

def count_pairs(*arguments, count=spectral.count_pairs):
    pairs, folds = count(*arguments)
    seen["pairs"] = sum(len(block.columns) for block in pairs.blocks)
    seen["pairs_of_folds"] = sum(len(block.columns) for block in folds.pairs.blocks)
    return pairs, folds

arrays.report_full_disk, spectral.count_pairs = report_full_disk, count_pairs
model = dv.fit(dv.read_corpus(sys.argv[1], column="text"), on_stage=told)
told("end")
model.save(sys.argv[2])
found = {"stages": stages, "vocabulary": len(model.vocabulary), **seen}
"""

EMBED = """
import json, sys, time
import deltavec as dv
from deltavec.io.output.embed_to_file import embed_to_file

model = dv.load(sys.argv[2])
model.embed(["the sea"] * 100)
begun = [time.perf_counter(), time.process_time()]
embed_to_file(model, dv.read_corpus(sys.argv[1], column="text"), sys.argv[3])
end = [time.perf_counter() - begun[0], time.process_time() - begun[1]]
found = {"stages": [["embedding", 0, 0], ["end", *end]]}
"""

PEAK = """
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({**found, "peak_bytes": 1024 * int(status["VmHWM"].split()[0])}))
"""


class Source:
    """Words of real documents, to make others of."""

    def __init__(self, path: Path, column: str) -> None:
        corpus = dv.read_corpus(path, column=column)
        vocabulary, _ = word_counts(corpus, RULE).frequent(1)
        self.ids = list_token_ids(corpus, vocabulary, RULE)
        self.spelled = pa.array(vocabulary.words, pa.string())
        ends = document_ends(self.ids)
        begins = np.concatenate([[0], ends[:-1] + 1])
        filled = ends > begins
        self.begins, self.lengths = begins[filled], (ends - begins)[filled]
        self.all = self.ids[self.ids >= 0]

    def texts(self, words: int, rng: np.random.Generator) -> pa.Array:
        """Documents of about so many words in all."""
        documents = max(1, round(words / self.lengths.mean()))
        parents = rng.integers(len(self.begins), size=documents)
        lengths = self.lengths[parents]
        of_word = np.repeat(np.arange(documents), lengths)
        places = (rng.random(len(of_word)) * lengths[of_word]).astype(np.int64)
        drawn = self.ids[self.begins[parents][of_word] + places]
        anywhere = self.all[rng.integers(len(self.all), size=len(drawn))]
        ids = np.where(rng.random(len(drawn)) < 0.5, drawn, anywhere)
        return joined(self.spelled, ids, lengths)


def joined(
    spelled: pa.Array, ids: npt.NDArray[np.int32], lengths: npt.NDArray[np.int64]
) -> pa.Array:
    """Documents of words given by number."""
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pc.binary_join(pa.ListArray.from_arrays(ends, spelled.take(pa.array(ids))), " ")


def write_text(source: Source, words: int, path: Path) -> int:
    """Write about so many words; how many documents they are."""
    rng = np.random.default_rng(words)
    schema = pa.schema([("text", pa.string())])
    documents = 0
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, words, WORDS_AT_ONCE):
            texts = source.texts(min(WORDS_AT_ONCE, words - first), rng)
            documents += len(texts)
            writer.write_table(pa.table([texts], schema=schema), row_group_size=65_536)
    return documents


def anonymous_bytes(pid: int) -> int:
    """What a process has taken for itself, mapped files left out."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    lines = (line.split() for line in status.splitlines() if line.startswith("RssAnon"))
    return max((1024 * int(line[1]) for line in lines), default=0)


def ran(code: str, *arguments: Path) -> dict[str, Any]:
    """Run a child, and look at its memory meanwhile."""
    child = subprocess.Popen(
        [sys.executable, "-c", code + PEAK, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    most = [0]

    def look() -> None:
        while child.poll() is None:
            most[0] = max(most[0], anonymous_bytes(child.pid))
            time.sleep(SECONDS_BETWEEN_LOOKS)

    looking = threading.Thread(target=look)
    looking.start()
    output, _ = child.communicate()
    looking.join()
    if child.returncode:
        raise RuntimeError(f"a child ended with {child.returncode}")
    found = json.loads(output.splitlines()[-1])
    stages = found.pop("stages")
    return {
        "seconds": round(stages[-1][1], 1),
        "processor_seconds": round(stages[-1][2], 1),
        "seconds_by_stage": {a[0]: round(b[1] - a[1], 1) for a, b in pairwise(stages)},
        "processor_seconds_by_stage": {a[0]: round(b[2] - a[2], 1) for a, b in pairwise(stages)},
        "own_gigabytes": round(most[0] / 1e9, 2),
        "peak_gigabytes": round(found.pop("peak_bytes") / 1e9, 2),
        **found,
    }


def measured(source: Source, words: int, folder: Path) -> dict[str, Any]:
    """A fit and an embedding of about so many words."""
    corpus, model, vectors = (folder / name for name in ("text.parquet", "model.dv", "v.parquet"))
    documents = write_text(source, words, corpus)
    found: dict[str, Any] = {
        "words": words,
        "documents": documents,
        "corpus_gigabytes": round(corpus.stat().st_size / 1e9, 2),
        "load_before": round(os.getloadavg()[0], 1),
        "fit": ran(FIT, corpus, model),
        "embed": ran(EMBED, corpus, model, vectors),
        "load_after": round(os.getloadavg()[0], 1),
    }
    for path in (corpus, vectors):
        path.unlink()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="a file of documents to make text of")
    parser.add_argument("--column", default="text")
    parser.add_argument("--words", type=float, nargs="+", default=[1e7, 1e8, 1e9])
    parser.add_argument("--folder", type=Path, help="where there is room for 20 bytes a word")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    source = Source(arguments.source, arguments.column)
    about = surroundings(["numpy", "numba", "pyarrow"])
    runs = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for words in arguments.words:
            runs.append(measured(source, int(words), Path(folder)))
            report = {**about, "runs": runs}
            publish(report, arguments.output)  # each time: the next one may take long
            if arguments.output:
                arguments.output.with_suffix(".svg").write_text(drawn(report))


if __name__ == "__main__":
    main()
