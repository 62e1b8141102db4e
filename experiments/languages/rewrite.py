"""Whether it helps to write the same word in one way: texts are rewritten before the fit.

    python rewrite.py documents.parquet

For each way of rewriting, the languages of SIB-200 in which it changes the largest share of what
stands between blanks, and the precision at 10 there as it is and rewritten (see `measure.py`).
"""

from __future__ import annotations

import re
import sys
import unicodedata
import warnings

import pyarrow.parquet as pq
from measure import of_model, resampled, spread

ARABIC_MARKS = re.compile("[\u064b-\u0652\u0670\u0640]")
UNSEEN = re.compile("[\u00ad\u200b\u200c\u200d\u2060]")
APOSTROPHES = re.compile(r"(?<=\w)['\u2019\u02bc](?=\w)")  # between letters
MOST_CONCERNED = 3
WAYS = {
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "no Arabic vowel marks, tatweel": lambda text: ARABIC_MARKS.sub("", text),
    "no soft hyphens, ZWNJ, ZWJ": lambda text: UNSEEN.sub("", text),
    "final sigma": lambda text: text.replace("ς", "σ"),
    "sharp s": lambda text: text.replace("ß", "ss"),
    "Turkish dots": lambda text: text.replace("İ", "i").replace("I", "ı"),
    "apostrophes join": lambda text: APOSTROPHES.sub("\u02bc", text),
    "NFKC": lambda text: unicodedata.normalize("NFKC", text),
}
OF_ONE_LANGUAGE = {"final sigma": "ell_Grek", "sharp s": "deu_Latn", "Turkish dots": "tur_Latn"}


def changed(texts, way):
    """The share of what stands between blanks that is written in another way afterwards."""
    pairs = [pair for text in texts for pair in zip(text.split(), way(text).split(), strict=False)]
    return sum(before != after for before, after in pairs) / len(pairs)


def main() -> None:
    warnings.simplefilter("ignore")
    frame = pq.read_table(sys.argv[1]).to_pandas()
    languages = dict(iter(frame[frame.label.notna()].groupby("lang")))
    for title, way in WAYS.items():
        shares = {name: changed(own.text, way) for name, own in languages.items()}
        most = sorted(shares, key=lambda name: -shares[name])[:MOST_CONCERNED]
        for name in [OF_ONE_LANGUAGE[title]] if title in OF_ONE_LANGUAGE else most:
            texts, labels = languages[name].text.tolist(), languages[name].label.to_numpy()
            rewritten = [way(text) for text in texts]
            for units in ("words", "auto"):
                before, draws = resampled(of_model(texts, units), labels)
                after, other_draws = resampled(of_model(rewritten, units), labels)
                error = spread(other_draws - draws)
                print(title, name, f"{shares[name]:.3f}", units, before, after, error, flush=True)


if __name__ == "__main__":
    main()
