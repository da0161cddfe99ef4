"""What a forked process does: run tests in a copy of the project and write down what happened."""

import importlib
import json
import os
import resource
import sys
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["preload", "run_tests"]

MEMORY_BYTES = 10 * 2**30  # a mutant that asks for more fails instead of taking the machine down
PRELOADED = (
    "torch torch.fx torch.func torch.nn.utils.parametrize torch.utils.data torch.distributions"
    " torch._dynamo sympy zarr xdist torch.fx.experimental.proxy_tensor"
    " numpy scipy.stats scipy.special scipy.optimize scipy.sparse.linalg scipy.linalg scipy.integrate scipy.signal"
    " scipy.spatial sklearn.datasets sklearn.linear_model sklearn.neighbors sklearn.cluster sklearn.kernel_ridge"
    " sklearn.gaussian_process sklearn.decomposition sklearn.utils.estimator_checks sklearn.model_selection"
    " numba llvmlite.ir matplotlib matplotlib.figure matplotlib.backends.backend_agg pytest hypothesis"
    " hypothesis.strategies jaxtyping beartype beartype.claw rich.console typer doctest pandas networkx"
)


def preload() -> None:
    """Imports the libraries that tests need, so that forked processes have them already; never the package itself."""
    for name in PRELOADED.split():
        try:
            importlib.import_module(name)
        except ImportError:
            pass  # optional


class Recorder:
    """A pytest plugin that keeps seconds and failures of each file."""

    def __init__(self, order: list[str], until: list[str] | None = None) -> None:
        self.until = until
        self.order = {path: place for place, path in enumerate(order)}
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Runs the files in the order asked for, which is not the order of collection."""
        items.sort(key=lambda item: self.order.get(item.nodeid.partition("::")[0], len(self.order)))
        if self.until is not None:
            last = max((i for i, item in enumerate(items) if item.nodeid in self.until), default=-1)
            del items[last + 1 :]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Adds one phase of a test."""
        file = report.nodeid.partition("::")[0]
        self.seconds[file] = self.seconds.get(file, 0.0) + report.duration
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        """Notes a file that cannot be imported."""
        if report.failed:
            self.failed.append(report.nodeid)


def arguments(paths: list[str]) -> list[str]:
    """Paths in the order of a whole run: tests, then examples.

    Collecting the examples of a file imports it and sets it as an attribute of its package, where it hides a function
    of the same name from tests that are imported later.
    """
    tests = [path for path in paths if path.startswith("tests/")]
    return [*tests, *(path for path in paths if path not in tests)]


def run_tests(
    project: Path,
    package: str,
    paths: list[str],
    *,
    deselected: list[str],
    until: list[str] | None,
    log: Path,
    report: Path,
    clean: bool,
) -> NoReturn:
    """Runs pytest on paths of a copy of the project and ends the process.

    ``clean`` runs fill the compiled caches and go on after a failure; ``until`` names the last tests that are run.
    """
    code = 1
    try:
        _enter(project, log, clean=clean)
        import pytest

        recorder, begun = Recorder(paths, until), time.perf_counter()
        options = ["-q", "--tb=short", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={project}"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # libraries are imported before pytest starts
        options += [f"--deselect={test}" for test in deselected] + ([] if clean else ["-x"])
        status = int(pytest.main([*options, *arguments(paths)], plugins=[recorder]))
        imported = getattr(sys.modules.get(package), "__file__", None)
        result = {
            "status": status,
            "seconds": recorder.seconds,
            "failed": recorder.failed,
            "total": time.perf_counter() - begun,
            "foreign": imported is not None and not str(imported).startswith(str(project)),
        }
        report.write_text(json.dumps(result))
        code = 0
    except BaseException:  # the process must end here, whatever happens
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _enter(project: Path, log: Path, *, clean: bool) -> None:
    os.setsid()
    os.chdir(project)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    origin = Path(__file__).resolve().parents[2]
    foreign = {str(origin), str(origin / "src"), "", str(Path.cwd())}
    sys.path[:] = [str(project / "src"), str(project), *(entry for entry in sys.path if entry not in foreign)]
    for name in [name for name in sys.modules if name.partition(".")[0] in {"tools", "tests"}]:
        del sys.modules[name]
    os.environ["PYTHONPATH"] = str(project / "src")
    sys.argv = ["pytest"]
    if not clean:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        _keep_numba_caches()


def _keep_numba_caches() -> None:
    """Lets numba read its kept machine code, and write none."""
    if "numba" in sys.modules:
        caching = importlib.import_module("numba.core.caching")
        caching.IndexDataCacheFile.save = lambda self, key, data: None
