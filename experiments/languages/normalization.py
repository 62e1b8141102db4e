"""What the normalization ``folded`` gains and loses, in one language of each script and others.

    python normalization.py sib200/documents.parquet results/normalization.json

For each language: the precision at 10 (see `measure.py`) with and without it, by words and by the
default units; first on the sentences as they are, then, in those that are written in several ways,
on a corpus of which every second sentence is written in the other way: what comes from another
keyboard, program or time.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
import warnings
from pathlib import Path

import pyarrow.parquet as pq
from measure import of_vectors, resampled, spread

import deltavec as dv

# The first of each script is added to these.
CONCERNED = [
    "arb_Arab",
    "arz_Arab",
    "pes_Arab",
    "urd_Arab",
    "kas_Arab",
    "knc_Arab",
    "uig_Arab",
    "mni_Beng",
    "kas_Deva",
    "hin_Deva",
    "fon_Latn",
    "vie_Latn",
    "deu_Latn",
    "tur_Latn",
    "fra_Latn",
    "ell_Grek",
    "heb_Hebr",
    "ydd_Hebr",
    "kor_Hang",
    "jpn_Jpan",
    "zho_Hans",
    "tha_Thai",
    "lao_Laoo",
    "khm_Khmr",
    "sin_Sinh",
    "mya_Mymr",
    "rus_Cyrl",
    "eng_Latn",
    "yor_Latn",
]
VOWELS = re.compile("[\u064b-\u0652\u0670]")
WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
OTHER_WAYS = {
    "decomposed": (
        lambda text: unicodedata.normalize("NFD", text),
        ["vie_Latn", "fra_Latn", "yor_Latn"],
    ),
    "full width": (lambda text: text.translate(WIDE), ["eng_Latn", "zho_Hans"]),
    "no vowel marks": (lambda text: VOWELS.sub("", text), ["knc_Arab"]),
    "capitals": (str.upper, ["deu_Latn", "ell_Grek", "tur_Latn"]),
    "soft hyphens": (
        lambda text: re.sub(r"(\w{4})(?=\w{3})", "\\1\u00ad", text),
        ["deu_Latn"],
    ),
}


def measured(texts, labels):
    """Precision with and without, by units, and the error of what it gains."""
    found = {}
    for units in ("words", "auto"):
        draws = {}
        for way in ("none", "folded"):
            model = dv.fit(texts, units=units, normalization=way, threads=1)
            precision, draws[way] = resampled(of_vectors(model.embed(texts, threads=1)), labels)
            found[f"{units}, {way}"] = round(float(precision), 4)
        found[f"{units}, error of gain"] = spread(draws["folded"] - draws["none"])
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    frame = pq.read_table(sys.argv[1]).to_pandas()
    languages = dict(iter(frame[frame.label.notna()].groupby("lang")))
    output = Path(sys.argv[2])
    done = json.loads(output.read_text()) if output.exists() else {}
    firsts = {name[4:]: name for name in sorted(languages, reverse=True)}
    tasks = [("as it is", str, name) for name in sorted({*CONCERNED, *firsts.values()})]
    tasks += [(way, change, name) for way, (change, names) in OTHER_WAYS.items() for name in names]
    for way, change, name in tasks:
        if name in done.setdefault(way, {}):
            continue
        texts = [
            change(text) if place % 2 else text
            for place, text in enumerate(languages[name].text.tolist())
        ]
        done[way][name] = measured(texts, languages[name].label.to_numpy())
        output.write_text(json.dumps(done, indent=1, sort_keys=True) + "\n")
        print(way, name, done[way][name], flush=True)


if __name__ == "__main__":
    main()
