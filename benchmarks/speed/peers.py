"""What is measured side by side: ours and the peers, each as its own documentation would have it.

Each function sets one up, and returns what turns the documents into vectors; imports stand inside,
since each runs in a process of its own. What is text for all of them is a list of Python strings.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Given(NamedTuple):
    """What a contestant gets.

    Attributes
    ----------
    texts : list of str
        The documents to embed.
    training : list of str
        Documents to fit on, if it has to be fitted.
    model : Path
        A folder with a model of deltavec: its words and rows are everybody's who takes a table.
    models : Path
        The folder of models that were unpacked.
    threads : int
        For ours; the others use the cores that the process has.
    seen_words : int
        How many words of the table occur in the text: they come first.
    """

    texts: list[str]
    training: list[str]
    model: Path
    models: Path
    threads: int
    seen_words: int


Run = Callable[[], Any]


def deltavec_column(given: Given) -> Run:
    """Ours, from an Arrow column: what a file or a DataFrame holds."""
    import pyarrow as pa

    import deltavec as dv

    model = dv.load(given.model)
    column = pa.array(given.texts, pa.large_string())
    return lambda: model.embed(column, threads=given.threads)


def deltavec_list(given: Given) -> Run:
    """Ours, from the same list of strings as the peers."""
    import deltavec as dv

    model = dv.load(given.model)
    return lambda: model.embed(given.texts, threads=given.threads)


def deltavec_spectral(given: Given) -> Run:
    """Ours with the default recipe, learned from these documents: 300 dimensions."""
    import pyarrow as pa

    import deltavec as dv

    model = dv.fit(given.training, threads=given.threads)
    column = pa.array(given.texts, pa.large_string())
    return lambda: model.embed(column, threads=given.threads)


def regex_dict_scipy(given: Given) -> Run:
    """What people write: ``re.findall``, a dict, a sparse matrix times the table, unit rows."""
    from scipy import sparse

    import deltavec as dv

    model = dv.load(given.model)
    ids = {word: number for number, word in enumerate(model.vocabulary.words)}
    rows = np.array(model.folded.rows)
    find = re.compile(r"\w+").findall

    def run() -> np.ndarray:
        begins, columns = [0], []
        for text in given.texts:
            columns += [ids[word] for word in find(text.lower()) if word in ids]
            begins.append(len(columns))
        values = np.ones(len(columns), np.float32)
        counts = sparse.csr_matrix((values, columns, begins), (len(given.texts), len(rows)))
        counts.sum_duplicates()
        sums = counts @ rows
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)

    return run


def scikit_learn_tfidf(given: Given) -> Run:
    """``TfidfVectorizer.transform``: sparse rows, no word vectors."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(min_df=2).fit(given.training)
    return lambda: vectorizer.transform(given.texts)


def scikit_learn_lsa(given: Given) -> Run:
    """``TfidfVectorizer``, ``TruncatedSVD`` and ``Normalizer``: 100 dimensions."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    steps = TfidfVectorizer(min_df=2), TruncatedSVD(100, random_state=0), Normalizer(copy=False)
    pipeline = make_pipeline(*steps).fit(given.training)
    return lambda: pipeline.transform(given.texts)


def model2vec_potion(given: Given) -> Run:
    """``StaticModel.encode`` with potion-base-8M and its defaults: 256 dimensions."""
    from model2vec import StaticModel

    model = StaticModel.from_pretrained(required(given.models / "potion-base-8M"))
    return lambda: model.encode(given.texts)


def wordllama(given: Given) -> Run:
    """``WordLlama.embed`` with its default model: 256 dimensions."""
    from wordllama import WordLlama

    model = WordLlama.load(disable_download=True)
    return lambda: model.embed(given.texts)


def fasttext_sentences(given: Given) -> Run:
    """``get_sentence_vector``, a line each, from vectors of one epoch: 100 dimensions."""
    import fasttext

    lines = [" ".join(text.split()) for text in given.training]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(lines))
        file.flush()
        model = fasttext.train_unsupervised(
            file.name, dim=100, epoch=1, thread=given.threads, verbose=0
        )
    asked = lines[: len(given.texts)]
    return lambda: np.stack([model.get_sentence_vector(line) for line in asked])


def bm25s_tokens(given: Given) -> Run:
    """``bm25s.tokenize`` alone: the words of each document as numbers, no vectors."""
    import bm25s

    return lambda: bm25s.tokenize(given.texts, show_progress=False)


def tokenizers_alone(given: Given) -> Run:
    """``encode_batch_fast`` with potion-base-8M's own tokenizer, on all cores: no vectors."""
    from tokenizers import Tokenizer

    folder = required(given.models / "potion-base-8M")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return lambda: tokenizer.encode_batch_fast(given.texts, add_special_tokens=False)


def gensim_doc2vec(given: Given) -> Run:
    """``simple_preprocess`` and ``Doc2Vec.infer_vector`` with its defaults: 100 dimensions."""
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument
    from gensim.utils import simple_preprocess

    tagged = [
        TaggedDocument(simple_preprocess(text), [number])
        for number, text in enumerate(given.training[:2000])
    ]
    model = Doc2Vec(tagged, vector_size=100, min_count=2, workers=given.threads)
    return lambda: np.stack([model.infer_vector(simple_preprocess(text)) for text in given.texts])


def spacy_vectors(given: Given) -> Run:
    """A blank English pipeline over our table: ``nlp.pipe`` and ``doc.vector``."""
    import spacy
    from spacy.vectors import Vectors

    import deltavec as dv

    model = dv.load(given.model)
    nlp = spacy.blank("en")
    words = model.vocabulary.words[: given.seen_words]
    for word in words:
        nlp.vocab.strings.add(word)
    rows = np.array(model.folded.rows[: given.seen_words])
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=rows, keys=words, attr="LOWER")
    return lambda: np.stack([document.vector for document in nlp.pipe(given.texts)])


def sentence_transformers_minilm(given: Given) -> Run:
    """``SentenceTransformer.encode`` with all-MiniLM-L6-v2 and its defaults: 384 dimensions."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(given.threads)
    model = SentenceTransformer(str(required(given.models / "all-MiniLM-L6-v2")), device="cpu")
    return lambda: model.encode(given.texts, show_progress_bar=False)


def required(folder: Path) -> Path:
    """The folder, if it is there."""
    if not folder.is_dir():
        raise FileNotFoundError(f"the model {folder.name} is not there")
    return folder


CONTESTANTS: dict[str, Callable[[Given], Run]] = {
    "deltavec": deltavec_column,
    "deltavec, list of strings": deltavec_list,
    "deltavec spectral": deltavec_spectral,
    "regex + dict + scipy": regex_dict_scipy,
    "scikit-learn TfidfVectorizer": scikit_learn_tfidf,
    "scikit-learn LSA": scikit_learn_lsa,
    "model2vec potion-base-8M": model2vec_potion,
    "wordllama": wordllama,
    "fastText sentence vectors": fasttext_sentences,
    "bm25s, words alone": bm25s_tokens,
    "tokenizers, pieces alone": tokenizers_alone,
    "gensim doc2vec": gensim_doc2vec,
    "spaCy Doc.vector": spacy_vectors,
    "sentence-transformers MiniLM": sentence_transformers_minilm,
}

# What must be installed or unpacked for a contestant, as `set_up.py` names it.
NEEDS = {
    "model2vec potion-base-8M": ("model2vec", "potion-base-8M"),
    "wordllama": ("wordllama",),
    "fastText sentence vectors": ("fasttext-numpy2-wheel",),
    "bm25s, words alone": ("bm25s",),
    "tokenizers, pieces alone": ("tokenizers", "potion-base-8M"),
    "spaCy Doc.vector": ("spacy",),
    "sentence-transformers MiniLM": ("torch", "sentence-transformers", "all-MiniLM-L6-v2"),
}
