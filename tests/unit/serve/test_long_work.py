"""Long explanations: bounded by their words, and never on all workers at once."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from deltavec.serve.app import create_app
from deltavec.serve.errors import RequestError
from deltavec.serve.explorer import LONG_WORK, Explorer
from deltavec.serve.limits import Limits
from served import ask, small_collection


def test_an_explanation_is_bounded_by_pairs_of_words(tmp_path: Path) -> None:
    app = create_app(small_collection(tmp_path), limits=Limits(explained_pairs=3))
    texts = {"text_a": "quiet sea room", "text_b": "quiet room"}
    refused = ask(app, "POST", "/explain", body=texts)
    assert refused.status == 422
    assert "6 pairs of different words, and 3 can be compared" in refused.error["message"]
    assert ask(app, "POST", "/explain", body={**texts, "text_a": "sea"}).status == 200


def test_one_worker_is_left_for_other_requests() -> None:
    explorer = Explorer(None, None, Limits(workers=3), "test")  # type: ignore[arg-type]
    with explorer.long_work(LONG_WORK), explorer.long_work(LONG_WORK):
        with pytest.raises(RequestError, match="other long texts") as caught:
            explorer.long_work(LONG_WORK).__enter__()
        assert caught.value.status == 503
        with explorer.long_work(LONG_WORK - 1):
            pass
    with explorer.long_work(LONG_WORK):
        pass
