import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from deltavec.core import threads
from deltavec.core.arrays import offsets_of
from deltavec.core.threads import (
    CancelledError,
    cancellable,
    one_blas_thread,
    ordered_map,
    parallel_map,
    stop_if_cancelled,
)
from deltavec.errors import InputError


class HaltError(Exception):
    """What a source of items may raise."""


def test_threads_default_to_the_cores_at_hand(monkeypatch):
    assert threads.thread_count(None) >= 1
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    assert threads.thread_count(None) == os.cpu_count()


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", True])
def test_threads_are_a_whole_number_from_one(count):
    with pytest.raises(InputError, match="threads must be a whole number from 1 on"):
        threads.thread_count(count)


def test_shares_are_of_about_the_same_size():
    begins = offsets_of([10, 10, 10, 100, 10, 10])
    assert threads.equal_shares(begins, 3) == [(0, 4), (4, 6)]
    assert threads.equal_shares(offsets_of([1, 1, 1, 1]), 2) == [(0, 2), (2, 4)]


def test_every_document_is_in_one_share():
    rng = np.random.default_rng(0)
    for size in range(1, 30):
        begins = offsets_of(rng.integers(0, 50, size))
        shares = threads.equal_shares(begins, 4)
        assert [document for share in shares for document in range(*share)] == list(range(size))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_any_number_of_threads_gives_the_results_in_the_order_of_the_items(count):
    assert list(parallel_map(lambda number: number**2, range(7), count)) == [
        number**2 for number in range(7)
    ]


def test_one_thread_works_in_the_callers():
    assert (
        list(parallel_map(lambda _: threading.get_ident(), range(2), 1))
        == [threading.get_ident()] * 2
    )


def test_no_items_give_nothing():
    assert list(parallel_map(str, [], 2)) == list(ordered_map(str, [], 2)) == []


def test_no_more_items_are_held_than_threads_and_those_ahead():
    taken = []

    def items():
        for number in range(100):
            taken.append(number)
            yield number

    results = ordered_map(lambda number: number, items(), 2, ahead=3)
    assert next(results) == 0
    assert len(taken) == 5
    results.close()


def test_several_workers_hand_on_in_the_order_of_the_items():
    def late(number):
        time.sleep(0.01 * (3 - number % 3))
        return number

    assert list(ordered_map(late, range(9), 3)) == list(range(9))


def test_what_came_before_an_error_is_handed_on_before_it():
    def broken():
        yield from range(3)
        raise ValueError("broken off")

    handed_on = ordered_map(lambda number: number, broken(), 2, ahead=3)
    assert [next(handed_on) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="broken off"):
        next(handed_on)


def test_work_behind_is_done_in_order_and_finished_when_something_fails():
    done = []

    def work(number):
        done.append(number)
        return number * number

    assert list(ordered_map(work, range(5))) == [0, 1, 4, 9, 16]
    done.clear()

    def items():
        yield from range(3)
        raise HaltError

    with pytest.raises(HaltError):
        list(ordered_map(work, items()))
    assert done == [0, 1, 2]


def pool_sizes():
    """How many threads each pool of BLAS and OpenMP has."""
    return [library["num_threads"] for library in ThreadpoolController().info()]


def test_products_take_one_thread_until_the_last_user_has_left():
    before = pool_sizes()
    with one_blas_thread():
        with one_blas_thread():
            assert set(pool_sizes()) <= {1}
        assert set(pool_sizes()) <= {1}
    assert pool_sizes() == before


def test_any_thread_limits_products_whoever_did_before():
    def pool_sizes():  # OpenMP's are each thread's own
        pools = ThreadpoolController().select(user_api="blas")
        return [library["num_threads"] for library in pools.info()]

    before = pool_sizes()
    with one_blas_thread():
        pass

    def limited():
        with one_blas_thread():
            return pool_sizes()

    with ThreadPoolExecutor(1) as other:
        assert set(other.submit(limited).result()) <= {1}
        entered = one_blas_thread()
        other.submit(entered.__enter__).result()
        with one_blas_thread():
            other.submit(entered.__exit__, None, None, None).result()
            assert set(pool_sizes()) <= {1}
        assert pool_sizes() == before


def test_a_limit_is_lifted_after_an_error():
    before = pool_sizes()
    with pytest.raises(HaltError), one_blas_thread():
        raise HaltError
    assert pool_sizes() == before


def test_work_ends_where_it_asks_and_is_not_wanted():
    stop_if_cancelled()
    with cancellable(lambda: True):
        stop_if_cancelled()
        with cancellable(lambda: False), pytest.raises(CancelledError):
            stop_if_cancelled()
        stop_if_cancelled()
