"""What the command line asks of its process before a command begins, and when it has ended."""

import gc
import os

import pytest

from deltavec.cli import application, main


@pytest.fixture(autouse=True)
def process_as_before(monkeypatch):
    for name in ("MIMALLOC_PURGE_DELAY", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "")  # whatever is set later is taken back with it
        monkeypatch.delenv(name)
    threshold = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*threshold)


@pytest.mark.parametrize("given", [None, "2"])
def test_a_process_has_one_blas_thread_unless_it_is_told_otherwise(monkeypatch, given):
    if given:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", given)
    seen = []
    monkeypatch.setattr(
        application, "app", lambda prog_name: seen.append(os.environ["OPENBLAS_NUM_THREADS"])
    )
    main()
    assert seen == [given or "1"]


def test_what_is_left_at_the_end_is_not_looked_through_for_garbage(monkeypatch):
    def app(prog_name):
        assert gc.get_threshold()[0] == 50_000
        raise SystemExit(1)

    monkeypatch.setattr(application, "app", app)
    before = gc.get_freeze_count()
    with pytest.raises(SystemExit, match="1"):
        main()
    assert gc.get_freeze_count() > before
