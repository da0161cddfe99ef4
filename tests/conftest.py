"""One apparatus for every test: shapes checked, seeds fixed, one thread per worker unless told.

The default dtype stays what torch gives it: the package must not depend on it, so tests ask for float64 where they
need it. Under ``torch.use_deterministic_algorithms`` torch also fills uninitialized memory with NaN, so that a read
before a write is seen.
"""

import doctest
import inspect
import os
import random
from pathlib import Path

import hypothesis
import numpy
import pytest
import torch
from jaxtyping import install_import_hook

from tests.browser import browser  # noqa: F401
from tests.house import shapes
from tests.house.tree import ROOT, SOURCE

install_import_hook(shapes.checked(SOURCE), shapes.CHECKER)

if "PYTEST_XDIST_WORKER" in os.environ and "OMP_NUM_THREADS" not in os.environ:
    torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)

# Same examples on every run, and no deadline: the machine may be busy.
hypothesis.settings.register_profile("house", derandomize=True, deadline=None, max_examples=100)
hypothesis.settings.load_profile("house")

_from_module = doctest.DocTestFinder._from_module


def _from_module_unwrapped(finder, module, value):
    return _from_module(finder, module, inspect.unwrap(value) if inspect.isfunction(value) else value)


# doctest asks whose globals a function has, and a checked function is a wrapper with foreign ones: without this the
# examples of all checked functions would be passed over in silence.
doctest.DocTestFinder._from_module = _from_module_unwrapped


@pytest.fixture(autouse=True)
def seeds():
    """The same random state before every test, whatever ran before; and torch's default dtype after it."""
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    yield
    assert torch.get_default_dtype() is torch.float32, "the test, or the package, changed the default dtype"
    assert torch.is_grad_enabled(), "the test, or the package, left gradients turned off"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of large reference data beside the project; tests that need it are skipped where it is absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder 'shared' with reference data is not beside the project")
    return folder
