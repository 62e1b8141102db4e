from deltavec.core.vocabulary import Vocabulary
from deltavec.lab.words import TokenIds


def test_counting_leaves_the_words_in_their_order():
    vocabulary = Vocabulary.of(["a", "b", "c"])
    words = TokenIds.of(["c a c b", "", "b b"], vocabulary, "words")
    before = words.ids.tolist()
    assert words.counts(3).toarray().tolist() == [[1, 1, 2], [0, 0, 0], [0, 2, 0]]
    assert words.ids.tolist() == before == [2, 0, 2, 1, 1, 1]
    assert words.of_document(2).tolist() == [1, 1]
