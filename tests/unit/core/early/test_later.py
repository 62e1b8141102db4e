"""Kernels are compiled when they are called, and a process rents until it pays to buy."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deltavec.core.early.later import PRICE, RENT, Later, Rent
from deltavec.core.fitting import fit
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError

MODULE = """
from deltavec.core.kernels import compiled

@compiled
def twice(number):
    "Two times the number."
    return 2 * number

@compiled
def odd(number):
    return twice(number) + 1
"""
RENTED = """
import sys
from deltavec.core.early.later import PRICE, RENT
import deltavec as dv
vectors = dv.WordVectors(["sea", "room"], [[1, 0], [0, 1]])
assert "numba" not in sys.modules
assert RENT.is_worth(PRICE - 1) and not RENT.is_worth(2) and RENT.is_worth(1)
RENT.buy()
assert "numba" in sys.modules
assert not RENT.is_worth(0)
"""


def test_the_first_call_puts_what_was_compiled_in_place_of_all_kernels(tmp_path: Path) -> None:
    path = tmp_path / "kernels_of_a_test.py"
    path.write_text(MODULE)
    described = importlib.util.spec_from_file_location("kernels_of_a_test", path)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    odd, twice = module.odd, module.twice
    assert isinstance(odd, Later)
    assert twice.__doc__ == "Two times the number."
    assert odd(3) == 7
    assert not isinstance(module.odd, Later)
    assert not isinstance(module.twice, Later)
    assert twice(4) == 8  # whoever has the old one may call it
    assert twice.compiled() is module.twice


def test_a_rent_ends_when_it_has_added_up_to_the_price() -> None:
    done = subprocess.run([sys.executable, "-c", RENTED], capture_output=True, text=True)
    assert done.stderr == ""


def test_who_has_the_compiler_rents_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rent = Rent()
    rent.buy()
    assert not rent.is_worth(1)
    assert rent.paid == 0
    monkeypatch.delitem(sys.modules, "numba")
    assert rent.is_worth(PRICE)
    assert not rent.is_worth(1)


def test_the_compiler_is_loaded_meanwhile_if_there_is_enough_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rent, bought = Rent(), threading.Event()
    monkeypatch.setattr(rent, "buy", bought.set)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    rent.buy_meanwhile(PRICE)
    assert not bought.is_set()
    rent.buy_meanwhile(PRICE + 1)
    assert bought.wait(60)
    bought.clear()
    monkeypatch.setitem(sys.modules, "numba", threading)  # it is there
    rent.buy_meanwhile(PRICE + 1)
    assert not bought.is_set()


def test_a_vocabulary_is_a_dictionary_before_the_compiler_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "numba")
    vocabulary = Vocabulary.of(["the", "room"])
    assert vocabulary.ids(["room", "pool", "the"]).tolist() == [1, -1, 0]
    assert "table" not in vocabulary.__dict__
    with pytest.raises(InputError, match="distinct, got 'the' twice"):
        Vocabulary.of(["the", "room", "the"])


def test_a_few_documents_go_by_it_as_long_as_that_is_less_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = fit(["sea room", "room"], WordVectors(["sea", "room"], [[1, 0], [0, 1]]), "idf-sum")
    by_kernels = model.embed_and_count(["Sea, and a room", ""])
    monkeypatch.delitem(sys.modules, "numba")
    paid = RENT.paid
    without = model.embed_and_count(["Sea, and a room", ""])
    assert RENT.paid > paid
    assert without.vectors.tobytes() == by_kernels.vectors.tobytes()
    assert without.counts == by_kernels.counts
