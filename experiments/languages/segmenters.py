"""Dictionary segmenters beside characters and pairs: quality and cost, by their real libraries.

    python segmenters.py THUCNEWS.parquet SIB200.parquet results/segmenters.json

For each corpus: the precision at 10 of the same label (see `measure.py`) with the default, and with
each tokenizer by its name (`tokenizer="jieba"`); the processor time of the fit and of embedding all
texts once. jieba, sudachipy with sudachidict_core, and spacy with what its languages need
must be installed.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from measure import of_vectors, resampled, spread

import deltavec as dv

HEADLINES = 20_000
TOKENIZERS = {
    "zho_Hans": ("words", "jieba", "spacy:zh"),
    "zho_Hant": ("words", "jieba"),
    "jpn_Jpan": ("words", "sudachi", "spacy:ja"),
    "headlines": ("words", "jieba"),
}
PACKAGES = ("jieba", "sudachipy", "sudachidict_core", "spacy", "numpy", "numba")


def measured(texts, labels, tokenizer):
    """The precision, its draws, and what it cost."""
    # Dictionaries are loaded, kernels compiled.
    dv.fit(texts[:50], tokenizer=tokenizer, threads=1).embed(texts[:50], threads=1)
    begin = time.process_time()
    model = dv.fit(texts, tokenizer=tokenizer, threads=1)
    fitted = time.process_time()
    vectors = model.embed(texts, threads=1)
    embedded = time.process_time()
    precision, draws = resampled(of_vectors(vectors), labels)
    return draws, {
        "precision": round(float(precision), 4),
        "error": spread(draws),
        "words known": len(model.vocabulary),
        "seconds of fit": round(fitted - begin, 2),
        "seconds of embedding": round(embedded - fitted, 3),
        "megabytes a second": round(
            sum(len(text.encode()) for text in texts) / 1e6 / (embedded - fitted), 2
        ),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    headlines = pq.read_table(sys.argv[1]).to_pandas()
    sib = pq.read_table(sys.argv[2]).to_pandas()
    output = Path(sys.argv[3])
    result = {"versions": {name: version(name) for name in PACKAGES}}
    for corpus, tokenizers in TOKENIZERS.items():
        own = headlines.head(HEADLINES) if corpus == "headlines" else sib[sib.lang == corpus]
        own = own[own.label.notna()]
        texts, labels = own.text.tolist(), own.label.to_numpy()
        result[corpus] = {}
        before: np.ndarray | None = None
        for name in tokenizers:
            draws, result[corpus][name] = measured(texts, labels, name)
            if before is None:
                before = draws
            else:
                result[corpus][name]["error of difference"] = spread(draws - before)
            print(corpus, name, result[corpus][name], flush=True)
        output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
