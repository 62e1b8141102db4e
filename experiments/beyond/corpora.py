"""The corpora of these experiments: their words, and what their documents belong to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

import deltavec as dv
from deltavec.lab.questions.files import table_forums
from deltavec.lab.questions.forums import Forum
from deltavec.lab.stories import LeeDocuments, lee_documents
from deltavec.lab.words import CorpusWords, read_words

KINDS = ("hotel", "restaurant", "attraction")
PARTS = ("comp", "rec", "sci", "talk")
FORUMS = ("askubuntu", "meta_stackexchange", "english_stackexchange")
# Sets of judged/ with one label a text; all texts are fitted, those with one label compared.
TOPICS = {"reuters": "reuters21578", "ohsumed": "ohsumed"}
LANGUAGES = ("eng_Latn", "fin_Latn", "zho_Hans", "arb_Arab", "swh_Latn", "hin_Deva")


@dataclass(frozen=True, eq=False)
class LabelledCorpus:
    """Documents, their words, and what is known of them.

    Attributes
    ----------
    name : str
        What the corpus is called.
    texts : list of str
        The documents.
    words : CorpusWords
        Every word of the corpus, the most frequent first, and the words of every document.
    groups : ndarray of str
        What each document belongs to: a location, a newsgroup, a forum. Empty for Lee.
    kinds : ndarray of str
        The kind of the location; empty elsewhere.
    forums : tuple of Forum
        The pairs of questions that were judged; their places count from the forum's first.
    lee : LeeDocuments or None
        What people said of Lee's stories; the judged ones come last.
    first : int
        Where the texts of a forum, or of a kind, begin among those of all.
    alike : ndarray of float64 or None
        How alike people found the texts of each pair; first all first texts, then all second ones.
    """

    name: str
    texts: list[str]
    words: CorpusWords
    groups: npt.NDArray[Any]
    kinds: npt.NDArray[Any]
    forums: tuple[Forum, ...] = ()
    lee: LeeDocuments | None = None
    first: int = 0
    alike: npt.NDArray[np.float64] | None = None

    @property
    def peer_name(self) -> str:
        """The corpus whose texts other embedders were given."""
        if self.name in KINDS:
            return "reviews"
        return "questions" if self.name in FORUMS else self.name


def of_texts(
    name: str, texts: list[str], groups: Any = None, kinds: Any = None, **others: Any
) -> LabelledCorpus:
    """The corpus of these texts."""
    words = read_words(dv.read_corpus(texts), np.arange(len(texts)), "words")
    nothing = np.full(len(texts), "")
    return LabelledCorpus(
        name,
        texts,
        words,
        nothing if groups is None else np.asarray(groups, str),
        nothing if kinds is None else np.asarray(kinds, str),
        **others,
    )


def reviews(folder: Path, kind: str | None = None) -> LabelledCorpus:
    """The reviews of all kinds, or of one."""
    table = pq.read_table(folder / "reviews.parquet")
    texts, groups, kinds = (table[name].to_pylist() for name in ("text", "location", "kind"))
    if kind is None:
        return of_texts("reviews", texts, groups, kinds)
    first, count = kinds.index(kind), kinds.count(kind)
    own = slice(first, first + count)
    if set(kinds[own]) != {kind}:
        raise ValueError(f"the reviews of kind {kind!r} are not in one piece")
    return of_texts(kind, texts[own], groups[own], kinds[own], first=first)


def newsgroups(folder: Path, part: str | None = None) -> LabelledCorpus:
    """The newsgroups, or those whose names begin with a part."""
    table = pq.read_table(folder / "newsgroups.parquet")
    texts, groups = table["text"].to_pylist(), table["group"].to_pylist()
    if part is None:
        return of_texts("newsgroups", texts, groups)
    own = [place for place, group in enumerate(groups) if group.startswith(f"{part}.")]
    return of_texts(part, [texts[place] for place in own], [groups[place] for place in own])


def questions(folder: Path, forum: str | None = None) -> LabelledCorpus:
    """The questions of all forums, or of one."""
    forums = tuple(table_forums(folder / "duplicate_questions.parquet"))
    first = 0
    if forum is not None:
        place = [found.name for found in forums].index(forum)
        first = sum(len(found.questions) for found in forums[:place])
        forums = (forums[place],)
    texts = [text for found in forums for text in found.questions]
    groups = [found.name for found in forums for _ in found.questions]
    return of_texts(forum or "questions", texts, groups, forums=forums, first=first)


def lee(folder: Path | None = None) -> LabelledCorpus:
    """Lee's news stories, from gensim's test data."""
    documents = lee_documents()
    return of_texts("lee", documents.stories, lee=documents)


def topics(folder: Path, name: str) -> LabelledCorpus:
    """News or abstracts with topics; those that have several, or none, are of no kind."""
    table = pq.read_table(folder / "judged" / TOPICS[name] / "documents.parquet")
    texts, labels = table["text"].to_pylist(), table["label"].to_pylist()
    kinds = ["" if label is None else name for label in labels]
    return of_texts(name, texts, [label or "" for label in labels], kinds)


def sentences(folder: Path, language: str) -> LabelledCorpus:
    """The sentences of SIB-200 in one language, with their topics."""
    table = pq.read_table(
        folder / "judged" / "sib200" / "documents.parquet", filters=[("lang", "=", language)]
    )
    texts, labels = table["text"].to_pylist(), table["label"].to_pylist()
    return of_texts(language, texts, labels, [language] * len(texts))


def scored_pairs(folder: Path) -> LabelledCorpus:
    """Pairs of sentences that people compared: all are fitted."""
    table = pq.read_table(folder / "judged" / "sts" / "documents.parquet")
    first, second = table["text_a"].to_pylist(), table["text_b"].to_pylist()
    return of_texts("sts", first + second, alike=table["score"].to_numpy())


# What is fitted as a whole: one kind of reviews, or one forum, is a corpus; "reviews" is the
# file as it is, all kinds.
CORPORA = (
    *KINDS,
    "reviews",
    "newsgroups",
    *PARTS,
    *FORUMS,
    "lee",
    *TOPICS,
    "sts",
    *LANGUAGES,
)


def corpus_named(name: str, folder: Path) -> LabelledCorpus:
    """A corpus by its name; one kind of reviews, or one forum, is a corpus too."""
    if name in KINDS:
        return reviews(folder, name)
    if name in PARTS:
        return newsgroups(folder, name)
    if name in FORUMS:
        return questions(folder, name)
    if name in TOPICS:
        return topics(folder, name)
    if name in LANGUAGES:
        return sentences(folder, name)
    if name == "sts":
        return scored_pairs(folder)
    makers = {
        "reviews": reviews,
        "newsgroups": newsgroups,
        "questions": questions,
        "lee": lee,
    }
    return makers[name](folder)
