"""How hypothesis searches, and which tests run without the JIT.

``default``   the same moderate set of examples every time: a red run can be repeated
``thorough``  many random examples: ``HYPOTHESIS_PROFILE=thorough make test``
``nojit``     few examples, for runs with ``NUMBA_DISABLE_JIT=1``, where kernels are plain Python
"""

import os

import pytest
from hypothesis import HealthCheck, settings

from deltavec.core.jit import BUDGET

BUDGET.load_compiler()  # kernels from the first text on; the NumPy fallback has tests of its own

JIT_IS_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}

# No deadlines: the first example of a test pays for compiling a kernel.
settings.register_profile("default", deadline=None, max_examples=60, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000, print_blob=True)
settings.register_profile(
    "nojit",
    deadline=None,
    max_examples=5,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "nojit" if JIT_IS_OFF else "default"))


def pytest_configure(config: pytest.Config) -> None:
    if JIT_IS_OFF:
        # Hashing wraps around on purpose: machine code says nothing, a numpy scalar warns.
        config.addinivalue_line(
            "filterwarnings", "ignore:overflow encountered in scalar:RuntimeWarning"
        )


COUNTED = {"core", "hybrid"}  # folders all of whose tests run without the JIT too


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what counts lines without the JIT: tests of core, hybrid search and kernels.

    Other files say ``pytestmark = pytest.mark.nojit`` themselves.
    """
    for item in items:
        if COUNTED & {*item.path.parts} or item.path.stem.endswith("kernels"):
            item.add_marker("nojit")
