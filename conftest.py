"""One apparatus for every test: shapes checked, seeds fixed, one thread per worker unless told.

The default dtype stays what torch gives it: the package must not depend on it, so tests ask for float64 where they
need it. Under ``torch.use_deterministic_algorithms`` torch also fills uninitialized memory with NaN, so that a read
before a write is seen.

This file is beside ``src`` and ``tests`` because its fixtures must reach the examples of the docstrings as well: those
of a ``conftest.py`` are for the tests below its folder only.
"""

import doctest
import gc
import inspect
import os
import random
import resource
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import hypothesis
import numpy
import pytest
import torch
from jaxtyping import install_import_hook

from tests.browser import browser  # noqa: F401
from tests.core.results.seen import plot_faults, results_made
from tests.house import shapes
from tests.house.tree import ROOT, SOURCE, modules

install_import_hook(shapes.checked(SOURCE), shapes.CHECKER)

if "PYTEST_XDIST_WORKER" in os.environ and "OMP_NUM_THREADS" not in os.environ:
    torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
os.environ.setdefault("GNOMON_BACKGROUND_COMPILATION", "off")  # which engine computes a kernel must not depend on time

# Same examples on every run, and no deadline: the machine may be busy.
hypothesis.settings.register_profile("house", derandomize=True, deadline=None, max_examples=100)
hypothesis.settings.load_profile("house")

_from_module = doctest.DocTestFinder._from_module


def _from_module_unwrapped(finder, module, value):
    return _from_module(finder, module, inspect.unwrap(value) if inspect.isfunction(value) else value)


# doctest asks whose globals a function has, and a checked function is a wrapper with foreign ones: without this the
# examples of all checked functions would be passed over in silence.
doctest.DocTestFinder._from_module = _from_module_unwrapped


MODULE_OF_FILE = {path: name for name, path in modules(SOURCE).items()}


def pytest_addoption(parser):
    """Options to see whether a test depends on the random seed, or on the tests before it."""
    group = parser.getgroup("gnomon")
    group.addoption("--torch-seed", type=int, default=0, metavar="N", help="random seed before every test (default: 0)")
    group.addoption("--shuffle", type=int, default=None, metavar="N", help="run tests in a random order, drawn with N")


def pytest_collectstart(collector):
    """Import a source file by its dotted name before pytest collects its examples.

    pytest imports the file after its parent packages, and these import most files already: a second copy of the
    module would be made, with classes and functions of its own. An import error is left to pytest, which reports it.
    """
    if (name := MODULE_OF_FILE.get(getattr(collector, "path", None))) is not None:
        with suppress(Exception):
            import_module(name)


def pytest_collection_modifyitems(config, items):
    """Shuffle the tests for ``--shuffle``; all workers of pytest-xdist draw the same order."""
    if config.option.shuffle is not None:
        random.Random(config.option.shuffle).shuffle(items)


def pytest_collection_finish(session):
    """Excludes the tests themselves from garbage collection, which would visit millions of objects again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def seeds(request):
    """The same random state before every test, whatever ran before; and torch's default dtype after it."""
    seed = request.config.option.torch_seed
    random.seed(seed)
    numpy.random.seed(seed)
    torch.default_generator.manual_seed(seed)  # torch.manual_seed formats stack traces, which takes milliseconds
    yield
    assert torch.get_default_dtype() is torch.float32, "the test, or the package, changed the default dtype"
    assert torch.is_grad_enabled(), "the test, or the package, left gradients turned off"


@pytest.fixture(autouse=True)
def plots_of_examples(request):
    """Every result that an example of a docstring makes has plots with labeled axes."""
    if not isinstance(request.node, pytest.DoctestItem):
        yield
        return
    with results_made() as made:
        yield
        for result in made:
            assert plot_faults(result) == [], type(result).__name__


@pytest.fixture
def full_disk():
    """No file can grow beyond 4096 bytes: a write fails in the middle, as on a disk that becomes full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of large reference data beside the project; tests that need it are skipped where it is absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder 'shared' with reference data is not beside the project")
    return folder


def pytest_terminal_summary(terminalreporter):
    """Lists claims of the atlas that were not as stated at one seed, which alone fails no test."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    lines = [text for report in reports for key, text in getattr(report, "user_properties", ()) if key == "atlas"]
    for line in dict.fromkeys(lines):
        terminalreporter.write_line(f"atlas: {line}")
