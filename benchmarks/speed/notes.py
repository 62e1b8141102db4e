"""How each section was measured: what a reader must know to judge it."""

from __future__ import annotations

NOTES = {
    "peers": (
        "Each runs in a process of its own, kept to the same cores, and they take turns; setting "
        "up, loading and one run to warm up are not timed. BLAS, torch and tokenizers get as many "
        "threads as there are cores; the regular expressions, scikit-learn's vectorizer, spaCy and "
        "doc2vec's inference use one whatever they get. All read a list of Python strings; ours "
        "also reads an Arrow column, which is what a file or a DataFrame holds, and is the row "
        "that ratios are taken of. Slow peers get the first documents of the sample, and their "
        "rate is per word of those. model2vec reads the first 512 tokens of a document and MiniLM "
        "the first 256; all words count all the same, in their favour. spaCy is a blank English "
        "pipeline over our table, for which nothing has to be downloaded."
    ),
    "roofline": (
        "Embedding must find each word (b) and add the rows of each document's distinct words (c). "
        "The bound is the rate of doing one after the other, 1 / (1/b + 1/c). (b) is our own scan; "
        "(c) has the ids and shares listed beforehand, adds eight rows at a time in float32, and "
        "neither counts, nor scales to unit length, nor carries over to float64. (a) is what "
        "copying the text alone would take. Ours is the public `embed`, everything included."
    ),
    "threads": "More threads than cores are there to show that they do no harm.",
    "lengths": "The same text, cut at spaces into documents of so many words each.",
    "vocabulary": (
        "The most frequent words of the text, up to all that occur twice; larger tables hold words "
        "that the text never uses, as a pretrained one does."
    ),
    "dimensions": "The table holds the words that occur at least twice in the text.",
    "scripts": (
        "Half of the running words are spelled in another script, an eighth each in Cyrillic, with "
        "accents, in CJK ideographs, and with accents and an emoji behind; the table holds those "
        "words."
    ),
    "fit": "Counting is what `fit` does first; both read the same documents.",
    "growth": (
        "`deltavec embed`, Parquet to Parquet, in a process of its own; larger corpora are the "
        "same text over and over, and lie in the system's file cache. Start-up is part of every "
        "time and rate in the table, and drops out of the rate between the two largest corpora, "
        "which is what is compared with the rate in memory. The exponent is fitted to "
        "the sizes from 300,000 documents on, start-up (the time for one document) taken off; "
        "what other choices give stands below. "
        "Peak memory is that of the process, mapped files included."
    ),
    "training": (
        "From text to vectors: vocabulary, pairs of words and factorisation for ppmi; gensim's "
        "word2vec is CBOW with its defaults, from a file that was parted into words beforehand, "
        "and runs once. The ratio is for a corpus of this size and no other. `spectral` is the "
        "whole fit of that recipe. Peak memory is that of the process."
    ),
    "cold": (
        "Whole processes, Python's own start included, except for the import. The first embedding "
        "finds an empty cache and compiles; the second process finds it filled. The model is small."
    ),
}
