import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from deltavec.core.fitting import fit
from deltavec.core.vectors import WordVectors
from deltavec.errors import CorpusError, DeltavecError, InputError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.output.embed_to_file import embed_to_file, read_ahead
from deltavec.io.output.shards import EmbeddedRows, in_shards
from support.processes import Process
from support.small_disks import run_on_small_disk

# too many documents for kernels that are plain Python
pytestmark = pytest.mark.compiled

# for programs that import this file, and the sources that this process has
HERE = Path(__file__).parent
IMPORTABLE = os.pathsep.join([str(HERE), str(HERE.parents[2]), os.environ.get("PYTHONPATH", "")])

WORDS = [f"word{number}" for number in range(50)]


def small_model(seed=0):
    matrix = np.random.default_rng(seed).standard_normal((len(WORDS), 8)).astype(np.float32)
    corpus = [" ".join(WORDS[start : start + 5]) for start in range(45)]
    return fit(corpus, WordVectors(WORDS, matrix), "idf-delta")


@pytest.fixture(scope="module")
def model():
    return small_model()


def documents_of(count):
    """Documents of about 4 KB, every seventh of them without a known word."""
    return [
        "nothing known"
        if number % 7 == 0
        else " ".join(WORDS[(number * 31 + step * step) % 50] for step in range(600))
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """A corpus of several chunks, with a column beside the documents."""
    texts = documents_of(9000)
    path = tmp_path_factory.mktemp("corpus") / "big.parquet"
    pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), path)
    assert len(list(read_corpus(path))) >= 4
    return path


class HaltError(Exception):
    """What a test raises to end a run halfway."""


def stopped_after(documents):
    def stop(progress):
        if progress.documents >= documents:
            raise HaltError

    return stop


def embeddings(table):
    return np.stack(table.column("embedding").to_numpy())


# what is written


def test_parquet_holds_the_columns_kept_and_the_vectors(model, tmp_path):
    texts = documents_of(20)
    table = pa.table({"id": range(20), "text": texts, "note": [None, *"abcdefghijklmnopqrs"]})
    written = embed_to_file(model, table, tmp_path / "out.parquet", keep=["note", "id"])
    out = pq.read_table(tmp_path / "out.parquet")
    assert out.schema.names == ["note", "id", "embedding"]
    assert out.schema.field("embedding").type == pa.list_(pa.float32(), 8)
    assert out.select(["note", "id"]).equals(table.select(["note", "id"]))
    np.testing.assert_array_equal(embeddings(out), model.embed(texts))
    assert written.path == tmp_path / "out.parquet"
    assert (written.documents, written.zero_rows, written.resumed_documents) == (20, 3, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]


def test_npy_holds_the_vectors_in_the_order_of_the_documents(model, tmp_path):
    texts = documents_of(50)
    embed_to_file(model, texts, tmp_path / "out.npy", shard_documents=7)
    out = np.load(tmp_path / "out.npy")
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, model.embed(texts))


def test_arrow_holds_the_columns_kept_and_the_vectors(model, tmp_path):
    texts = documents_of(100)
    embed_to_file(model, pa.table({"text": texts}), tmp_path / "out.arrow", keep=["text"])
    with pa.memory_map(str(tmp_path / "out.arrow")) as file:
        table = pa.ipc.open_file(file).read_all()
        assert table.column("text").to_pylist() == texts
        np.testing.assert_array_equal(embeddings(table), model.embed(texts))


def test_a_folder_holds_one_dataset_of_parquet_files(model, tmp_path):
    texts = documents_of(20)
    target = tmp_path / "vectors"
    for texts in (documents_of(20), documents_of(15)):  # the second takes the place of the first
        embed_to_file(model, texts, f"{target}/", shard_documents=8)
        table = pyarrow.dataset.dataset(target).to_table()
        np.testing.assert_array_equal(embeddings(table), model.embed(texts))
    assert sorted(path.name for path in target.glob("part-*")) == [
        "part-000000.parquet",
        "part-000001.parquet",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["vectors"]


@pytest.mark.parametrize("name", ["out.parquet", "out.npy", "out/"])
def test_a_corpus_without_documents_makes_an_output_without_rows(model, tmp_path, name):
    written = embed_to_file(model, [], f"{tmp_path}/{name}")
    assert (written.documents, written.zero_rows) == (0, 0)
    if name == "out.npy":
        assert np.load(tmp_path / name).shape == (0, 8)
    else:
        table = pyarrow.dataset.dataset(tmp_path / name).to_table()
        assert table.num_rows == 0
        assert table.schema.field("embedding").type == pa.list_(pa.float32(), 8)


def test_the_texts_themselves_can_be_kept_with_their_nulls(model, tmp_path):
    table = pa.table({"text": ["word1", None, ""]})
    written = embed_to_file(model, table, tmp_path / "out.parquet", keep=["text"])
    assert pq.read_table(tmp_path / "out.parquet").column("text").to_pylist() == ["word1", None, ""]
    assert written.zero_rows == 2


def test_standard_kinds_of_corpora_all_give_the_same_vectors(model, tmp_path):
    texts = documents_of(30)
    (tmp_path / "a.txt").write_text("\n".join(texts))
    for source in (texts, iter(texts), tmp_path / "a.txt", pa.array(texts)):
        embed_to_file(model, source, tmp_path / "out.npy", threads=1)
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), model.embed(texts))


def test_progress_counts_documents_and_ends_with_the_whole_corpus(model, big, tmp_path):
    seen = []
    embed_to_file(model, big, tmp_path / "out.npy", on_progress=seen.append)
    assert len(seen) >= 4
    assert seen == sorted(seen)
    assert seen[-1] == (9000, 1.0)


# refused before any work


@pytest.mark.parametrize("name", ["out.csv", "out", "out.parquet.gz"])
def test_a_wrong_suffix_is_refused_with_the_right_ones(model, tmp_path, name):
    with pytest.raises(InputError, match=r"must end in \.parquet, \.arrow, \.npy, or be .*got"):
        embed_to_file(model, ["a"], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_work_is_refused_before_any_document_is_read(model, tmp_path):
    def untouched():
        pytest.fail("a document was read")
        yield "never"

    other = tmp_path / "mine"
    other.mkdir()
    (other / "photo.png").touch()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part-000000.parquet").touch()  # not ours: no manifest beside it
    partial = tmp_path / "a.npy.partial"
    partial.mkdir()
    (partial / "thesis.txt").touch()
    refused = {
        ("missing/out.npy", ()): "make the folder first",
        ("mine", ()): r"holds other files, such as photo\.png",
        ("parts/", ()): r"holds other files, such as part-000000",
        ("a.npy", ()): r"files that are not deltavec's, such as thesis\.txt",
        ("out.npy", ("id",)): r"write \.parquet",
        ("out.parquet", ("id",)): "no column 'id'",
        ("out.parquet", ("embedding",)): "cannot be kept",
        ("out.parquet", "text"): "must be a list of columns",
        ("out.parquet", ("text", "text")): "kept once",
    }
    for (name, keep), message in refused.items():
        with pytest.raises(InputError, match=message):
            embed_to_file(model, untouched(), f"{tmp_path}/{name}", keep=keep)
    with pytest.raises(InputError, match="shard_documents must be a whole number"):
        embed_to_file(model, untouched(), tmp_path / "out.npy", shard_documents=0)
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "parts", "a.npy.partial"}
    assert (partial / "thesis.txt").exists()


def test_a_corpus_is_never_replaced_by_its_own_vectors(model, tmp_path):
    embed_to_file(model, documents_of(3), f"{tmp_path}/set/", keep=["text"])
    for source, output in (
        (tmp_path / "set", "set/"),
        (tmp_path / "set", "set/part-000000.parquet"),
    ):
        with pytest.raises(InputError, match="would replace the corpus"):
            embed_to_file(model, source, f"{tmp_path}/{output}")


def test_a_column_that_parquet_cannot_hold_is_refused(model, tmp_path):
    odd = pa.array([(1, 2, 3)], pa.month_day_nano_interval())
    table = pa.table({"text": ["word1"], "odd": odd})
    with pytest.raises(InputError, match="column 'odd' of type month_day_nano_interval"):
        embed_to_file(model, table, tmp_path / "out.parquet", keep=["odd"])


# stopped and resumed


CHILD = """
import sys
from test_embed_to_file import small_model
from deltavec.io.output.embed_to_file import embed_to_file

corpus, output, when, *keep = sys.argv[1:]

def wait():
    print("waiting", flush=True)
    sys.stdin.read()

chunks = []

def progress(seen):
    chunks.append(seen)
    if when == "chunk" and len(chunks) == 3:
        wait()

def notice(sentence):
    if when == "assembly" and sentence.startswith("putting"):
        wait()

embed_to_file(
    small_model(), corpus, output, keep=keep,
    on_progress=progress, on_notice=notice, shard_documents=500,
)
"""


def killed_halfway(corpus, output, when, keep=()):
    """Embed in another process, which is killed where it has been told to wait."""
    environment = {**os.environ, "PYTHONPATH": IMPORTABLE}
    arguments = [sys.executable, "-c", CHILD, str(corpus), str(output), when, *keep]
    with Process(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as child:
        assert child.stdout.readline() == b"waiting\n"
        child.kill()
    assert child.returncode == -signal.SIGKILL


def content(path):
    """The bytes of a file, or of the files in a folder."""
    if path.is_file():
        return path.read_bytes()
    return {part.name: part.read_bytes() for part in sorted(path.glob("*.parquet"))}


@pytest.mark.parametrize(
    ("name", "when", "keep"),
    [
        ("out.parquet", "chunk", ["id", "text"]),
        ("out.parquet", "chunk", []),
        ("out.parquet", "assembly", []),
        ("out.npy", "chunk", []),
        ("out.npy", "assembly", []),
        ("out/", "chunk", ["id"]),
        ("out.parquet", "assembly", ["id"]),
    ],
)
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(model, big, tmp_path, name, when, keep):
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    whole.mkdir()
    halves.mkdir()
    embed_to_file(model, big, f"{whole}/{name}", keep=keep, shard_documents=500)
    killed_halfway(big, f"{halves}/{name}", when, keep)
    assert not (halves / name).exists()
    embedded_before = []
    written = embed_to_file(
        model,
        big,
        f"{halves}/{name}",
        keep=keep,
        shard_documents=500,
        on_progress=lambda progress: embedded_before.append(progress.documents),
    )
    assert written.resumed_documents >= 500
    assert written.documents == 9000
    assert written.zero_rows == sum(number % 7 == 0 for number in range(9000))
    assert (written.resumed_documents == 9000) == (when == "assembly")
    assert all(count > written.resumed_documents for count in embedded_before)
    assert content(halves / name) == content(whole / name)
    assert [path.name for path in halves.iterdir()] == [Path(name).name]


def test_a_run_stopped_by_an_error_or_by_ctrl_c_leaves_work_to_go_on_from(model, big, tmp_path):
    output = tmp_path / "out.npy"

    def interrupt(progress):
        if progress.documents > 5000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed_to_file(model, big, output, shard_documents=500, on_progress=interrupt)
    notices = []
    written = embed_to_file(model, big, output, shard_documents=500, on_notice=notices.append)
    assert 500 <= written.resumed_documents <= 5000
    assert notices[0].startswith(f"going on after {written.resumed_documents:,} documents")
    np.testing.assert_array_equal(np.load(output), model.embed(read_corpus(big)))


def stopped_halfway(model, corpus, output, **options):
    with pytest.raises(HaltError):
        embed_to_file(
            model, corpus, output, shard_documents=500, on_progress=stopped_after(5000), **options
        )


def test_work_with_another_model_corpus_or_choice_of_columns_is_never_mixed_in(
    model, big, tmp_path
):
    output = tmp_path / "out.parquet"
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(big.read_bytes())
    changes = {
        "model": lambda: (small_model(seed=1), big, ()),
        "corpus": lambda: (model, copy, ()),
        "keep": lambda: (model, big, ("id",)),
    }
    for what, changed in changes.items():
        stopped_halfway(model, big, output)
        notices = []
        other, corpus, keep = changed()
        written = embed_to_file(
            other, corpus, output, keep=keep, shard_documents=500, on_notice=notices.append
        )
        assert notices[0].startswith("starting over: ")
        assert notices[0].endswith(f"it was made with another {what}")
        assert written.resumed_documents == 0
        expected = other.embed(read_corpus(corpus))
        np.testing.assert_array_equal(embeddings(pq.read_table(output)), expected)


def test_work_on_documents_that_cannot_be_recognized_is_not_resumed(model, tmp_path):
    texts = documents_of(9000)
    stopped_halfway(model, texts, tmp_path / "out.npy")
    notices = []
    written = embed_to_file(model, texts, tmp_path / "out.npy", on_notice=notices.append)
    assert written.resumed_documents == 0
    assert notices[0].endswith("whether the documents are still the same cannot be told")


@pytest.mark.parametrize("damage", ["cut", "other columns"])
def test_a_damaged_shard_and_what_follows_it_are_written_again(model, big, tmp_path, damage):
    output = tmp_path / "out.parquet"
    stopped_halfway(model, big, output, keep=["id"])
    second = tmp_path / "out.parquet.partial" / "part-000001.arrow"
    if damage == "cut":
        second.write_bytes(second.read_bytes()[:-8])
    else:
        pq.write_table(pa.table({"x": [1]}), second)
    written = embed_to_file(model, big, output, keep=["id"], shard_documents=500)
    assert written.resumed_documents == 500
    expected = model.embed(read_corpus(big))
    np.testing.assert_array_equal(embeddings(pq.read_table(output)), expected)


def test_unfinished_work_of_an_earlier_format_is_replaced_with_a_word(model, big, tmp_path):
    output, partial = tmp_path / "out.npy", tmp_path / "out.npy.partial"
    stopped_halfway(model, big, output)
    manifest = json.loads((partial / "_deltavec.json").read_text())
    (partial / "_deltavec.json").write_text(json.dumps(manifest | {"format": 0}))
    (partial / "part-000000.arrow").write_bytes(b"vectors")
    notices = []
    written = embed_to_file(model, big, output, shard_documents=500, on_notice=notices.append)
    assert notices[0].endswith("it was made with another format")
    assert written.resumed_documents == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.npy"]


def test_a_damaged_manifest_means_starting_over(model, big, tmp_path):
    output = tmp_path / "out.npy"
    stopped_halfway(model, big, output)
    (tmp_path / "out.npy.partial" / "_deltavec.json").write_text("{")
    assert embed_to_file(model, big, output).resumed_documents == 0


def test_the_old_output_stays_until_the_new_one_is_whole(model, big, tmp_path):
    output = tmp_path / "out.npy"
    output.write_bytes(b"yesterday's")
    stopped_halfway(model, big, output)
    assert output.read_bytes() == b"yesterday's"
    embed_to_file(model, big, output)
    assert len(np.load(output)) == 9000


def test_a_corpus_that_breaks_off_says_so_and_keeps_what_is_done(model, tmp_path):
    lines = [json.dumps({"text": text}) for text in documents_of(9000)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([*lines, "broken"]))
    with pytest.raises(CorpusError, match="line 9001"):
        embed_to_file(model, path, tmp_path / "out.npy", shard_documents=500)
    assert len(list((tmp_path / "out.npy.partial").glob("part-*.arrow"))) >= 10
    assert not (tmp_path / "out.npy").exists()


def test_a_corpus_shorter_than_the_work_done_on_it_is_an_error(model, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(documents_of(9000)))
    stopped_halfway(model, path, tmp_path / "out.npy")
    before = path.stat()
    path.write_text(path.read_text().replace("\n", " "))  # same size, one document
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(CorpusError, match=r"ends .* documents before the vectors already written"):
        embed_to_file(model, path, tmp_path / "out.npy", shard_documents=500)


# a disk that refuses


FULL = """
import sys
from pathlib import Path
import numpy as np
from test_embed_to_file import small_model
from deltavec.errors import DeltavecError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.output.embed_to_file import embed_to_file

corpus, disk = sys.argv[1:]
filler = Path(disk, "filler")
filler.write_bytes(bytes(700_000))
model = small_model()
try:
    embed_to_file(model, corpus, disk + "/out.npy", shard_documents=500)
except DeltavecError as error:
    print(error)
filler.unlink()
written = embed_to_file(model, corpus, disk + "/out.npy", shard_documents=500)
print(written.resumed_documents)
print(np.array_equal(np.load(disk + "/out.npy"), model.embed(read_corpus(corpus))))
"""


def test_a_full_disk_is_one_clear_error_and_the_next_run_goes_on(big, tmp_path):
    ran = run_on_small_disk(tmp_path, "1000k", FULL, str(big), str(tmp_path), PYTHONPATH=IMPORTABLE)
    message, resumed, equal = ran.stdout.splitlines()
    assert "cannot write" in message
    assert "No space left on device; make room" in message
    assert int(resumed) > 0
    assert int(resumed) % 500 == 0
    assert equal == "True"


def test_a_limit_on_file_sizes_is_the_same_error_in_a_process_of_its_own(big, tmp_path):
    script = (
        "import resource, sys\n"
        "from test_embed_to_file import small_model\n"
        "from deltavec.errors import DeltavecError\n"
        "from deltavec.io.output.embed_to_file import embed_to_file\n"
        "model = small_model()\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    embed_to_file(model, sys.argv[1], sys.argv[2], shard_documents=500)\n"
        "except DeltavecError as error:\n"
        "    sys.exit(str(error))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(big), str(tmp_path / "out.npy")],
        env={**os.environ, "PYTHONPATH": IMPORTABLE},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith("cannot write ")
    assert "File too large; make room" in ran.stderr
    kept = len(list((tmp_path / "out.npy.partial").glob("part-*.arrow")))
    assert 0 < kept < 18
    written = embed_to_file(small_model(), big, tmp_path / "out.npy", shard_documents=500)
    assert written.resumed_documents == 500 * kept


def test_a_folder_one_may_not_write_is_one_clear_error(model, tmp_path):
    (tmp_path / "out.npy.partial").touch()  # a file where the folder should go
    with pytest.raises(DeltavecError, match=r"cannot write .*see that the folder can be written"):
        embed_to_file(model, ["a"], tmp_path / "out.npy")


# two runs, and what others put there


def test_a_second_run_to_the_same_output_is_refused_at_its_start(model, big, tmp_path):
    output, refused = tmp_path / "out.npy", []

    def second(_progress):
        if not refused:
            with pytest.raises(InputError, match="another process is writing to it") as caught:
                embed_to_file(small_model(seed=1), ["word1"], output)
            refused.append(caught.value)

    embed_to_file(model, big, output, shard_documents=500, on_progress=second)
    assert len(refused) == 1
    np.testing.assert_array_equal(np.load(output), model.embed(read_corpus(big)))
    assert [path.name for path in tmp_path.iterdir()] == ["out.npy"]


def test_shards_that_another_run_left_in_the_folder_are_not_used(model, big, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    stopped_halfway(model, big, f"{tmp_path}/out/")
    stopped_halfway(small_model(seed=1), big, f"{other}/out/")
    mine, theirs = (folder / "out.partial" for folder in (tmp_path, other))
    shard = sorted(mine.glob("part-*"))[1]
    shard.write_bytes((theirs / shard.name).read_bytes())
    written = embed_to_file(model, big, f"{tmp_path}/out/", shard_documents=500)
    assert written.resumed_documents == 500
    found = pyarrow.dataset.dataset(tmp_path / "out").to_table()
    np.testing.assert_array_equal(embeddings(found), model.embed(read_corpus(big)))


@pytest.mark.parametrize(
    ("name", "keep", "files"), [("out.npy", (), 6), ("out.parquet", ("text",), 6)]
)
def test_a_kill_at_any_step_of_the_clean_up_leaves_what_the_next_run_accepts(
    model, tmp_path, monkeypatch, name, keep, files
):
    texts, output = documents_of(40), tmp_path / name
    real, left = Path.unlink, [0]

    def unlink(path, missing_ok=False):
        if path.name.startswith(("part-", "_deltavec")):
            if left[0] == 0:
                raise HaltError
            left[0] -= 1
        real(path, missing_ok=missing_ok)

    for steps in range(files):
        left[0] = steps
        with monkeypatch.context() as context:
            context.setattr(Path, "unlink", unlink)
            with pytest.raises(HaltError):
                embed_to_file(model, texts, output, keep=keep, shard_documents=8)
        embed_to_file(model, texts, output, keep=keep, shard_documents=8)
        assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_link_in_the_place_of_unfinished_work_is_not_followed(model, tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    (tmp_path / "out.npy.partial").symlink_to(victim)
    with pytest.raises(InputError, match=r"out\.npy\.partial is a link"):
        embed_to_file(model, ["word1"], tmp_path / "out.npy")
    assert list(victim.iterdir()) == []


@pytest.mark.parametrize("name", ["assembled", "part-000000.arrow.tmp", "_deltavec.json"])
def test_a_link_among_unfinished_work_is_not_followed(model, big, tmp_path, name):
    victim, output = tmp_path / "victim", tmp_path / "out.npy"
    victim.write_text("precious")
    stopped_halfway(model, big, output)
    planted = tmp_path / "out.npy.partial" / name
    planted.unlink(missing_ok=True)
    planted.symlink_to(victim)
    with pytest.raises(InputError, match="is not a file of this user"):
        embed_to_file(model, big, output, shard_documents=500)
    assert victim.read_text() == "precious"


def test_a_folder_that_takes_the_place_of_ours_is_not_written_to(model, big, tmp_path):
    output, elsewhere = tmp_path / "out.npy", tmp_path / "elsewhere"
    elsewhere.mkdir()
    partial = tmp_path / "out.npy.partial"

    def exchange(_progress):
        if not partial.is_symlink():
            partial.rename(tmp_path / "moved")
            partial.symlink_to(elsewhere)

    with pytest.raises(InputError, match="not the folder that was here when the work began"):
        embed_to_file(model, big, output, shard_documents=500, on_progress=exchange)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="only root may give files away")
def test_unfinished_work_of_another_user_is_refused(model, big, tmp_path):
    output = tmp_path / "out.npy"
    stopped_halfway(model, big, output)
    os.chown(tmp_path / "out.npy.partial", 12345, 12345)
    with pytest.raises(InputError, match="belongs to another user"):
        embed_to_file(model, big, output)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_unfinished_work_is_ours_alone_and_what_is_finished_has_the_usual_modes(
    model, big, tmp_path
):
    (tmp_path / "usual").mkdir()
    seen = set()
    for name in ("out.npy", "out/"):
        partial = tmp_path / f"{Path(name).name}.partial"
        embed_to_file(
            model, big, f"{tmp_path}/{name}",
            on_progress=lambda _, partial=partial: seen.add(partial.stat().st_mode & 0o777),
        )  # fmt: skip
    assert seen == {0o700}
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert (tmp_path / "out.npy").stat().st_mode & 0o777 == big.stat().st_mode & 0o777


# shards and threads


@pytest.mark.parametrize("batch", [1, 2, 7, 100])
def test_where_a_shard_ends_depends_on_the_documents_alone(batch):
    sizes = np.array([3, 0, 9, 1, 1, 1, 1, 12, 2, 2, 2, 2, 2], np.int64)
    kept = pa.record_batch({"id": np.arange(len(sizes))})
    rows = EmbeddedRows(kept, sizes, np.zeros((len(sizes), 2), np.float32))
    batches = [rows.part(i, min(i + batch, len(sizes))) for i in range(0, len(sizes), batch)]
    groups = list(in_shards(batches, documents=4, text_bytes=10))
    ids = [[i for part in group for i in part.kept.column(0).to_pylist()] for group in groups]
    # full at 12 bytes; at 4 documents; at 12 bytes; at 4 documents; the rest
    assert ids == [[0, 1, 2], [3, 4, 5, 6], [7], [8, 9, 10, 11], [12]]


def test_read_ahead_keeps_the_order_and_hands_on_errors():
    def items():
        yield from range(10)
        raise ValueError("no more")

    seen = []
    with pytest.raises(ValueError, match="no more"), read_ahead(items()) as ahead:
        seen.extend(ahead)
    assert seen == list(range(10))


def test_read_ahead_takes_no_more_than_its_depth_and_stops_when_left():
    taken, closed = [], threading.Event()

    def items():
        try:
            for number in range(1000):
                taken.append(number)
                yield number
        finally:
            closed.set()

    with read_ahead(items(), depth=2) as ahead:
        assert [next(ahead), next(ahead)] == [0, 1]
    assert closed.wait(timeout=30)
    assert len(taken) <= 6


def test_leaving_does_not_wait_for_a_reader_that_waits_for_ever():
    release = threading.Event()

    def items():
        yield 1
        release.wait()

    with read_ahead(items()) as ahead:
        assert next(ahead) == 1
    release.set()


def test_a_tokenizer_of_ones_own_is_called_by_one_thread_at_a_time(big, tmp_path):
    busy = threading.Lock()

    def tokenizer(text):
        assert busy.acquire(blocking=False)
        time.sleep(0.0001)
        busy.release()
        return text.split()[:9]

    vectors = WordVectors(["word1", "word2"], np.eye(2, dtype=np.float32))
    model = fit(documents_of(30), vectors, "idf-sum", tokenizer=tokenizer)
    embed_to_file(model, big, tmp_path / "out.npy", threads=2)
