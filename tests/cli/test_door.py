"""The command line as a program of its own: what it imports, what it tells, how it waits."""

import json
import os
import subprocess
import sys
import tomllib

import pytest

import gnomon
from tests.house.tree import ROOT

HEAVY = ("torch", "numpy", "scipy", "sklearn", "matplotlib", "numba")
SEEN = f"""
import atexit, sys
atexit.register(lambda: print("LOADED", [name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr))
from gnomon.cli import run
run()
"""


def program(*words, code=None, **environment):
    """A command in an interpreter of its own."""
    start = [sys.executable, "-c", code] if code else [sys.executable, "-m", "gnomon"]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "KMP_", "_GNOMON"))}
    return subprocess.run(
        [*start, *words], env=kept | environment, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize("words", [(), ("--help",), ("examine", "--help"), ("rank", "--help"), ("--version",)])
def test_help_is_given_without_torch(words):
    done = program(*words, code=SEEN)
    assert "LOADED []" in done.stderr, done.stderr
    assert ("gnomon" if words == ("--version",) else "Usage") in done.stdout


def test_importing_the_package_imports_nothing_heavy():
    code = f"import gnomon, sys; dir(gnomon); print([name for name in {HEAVY!r} if name in sys.modules])"
    assert program(code=code).stdout.strip() == "[]"


def test_completion_offers_public_names_alone():
    """Some editors and notebooks offer what the namespace holds, and do not ask ``dir``."""
    code = "import gnomon; print([n for n in vars(gnomon) if n[0] != '_' and n not in gnomon.__all__])"
    assert program(code=code).stdout.strip() == "[]"
    code = "import gnomon; print(set(dir(gnomon)) - set(gnomon.__all__))"
    assert program(code=code).stdout.strip() == "{'__version__'}"


def test_the_version_is_that_of_the_package():
    done = program("--version")
    assert done.stdout.strip() == f"gnomon {gnomon.__version__}" and done.returncode == 0


@pytest.mark.full
def test_the_module_is_the_command():
    done = program("examine", "nothing.py:build")
    assert done.returncode == 2 and "File not found: nothing.py." in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("typed, told", [("gnomon ex", "examine"), ("gnomon rank --bud", "--budget")])
def test_the_shell_completes_verbs_and_options(typed, told):
    words = {"_GNOMON_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    done = program(code=SEEN, **words)
    assert told in done.stdout.split() and "LOADED []" in done.stderr


def test_the_script_for_the_shell_is_that_of_the_command_however_it_is_called():
    """Typer is told not to look which shell this is, and takes it from the line."""
    untold = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    script = program("--show-completion", "bash", **untold).stdout
    assert "_GNOMON_COMPLETE=complete_bash $1" in script and "-F _gnomon_completion gnomon" in script
    assert {"--install-completion", "--show-completion"} <= set(program("--help").stdout.split())


WAIT = """
import sys
sys.argv[1:] = ["--help"]
from gnomon.cli import run
try:
    run()
except SystemExit:
    pass
import torch
"""


@pytest.mark.parametrize(
    "given, policy",
    [
        ({}, "PASSIVE"),
        pytest.param({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE", marks=pytest.mark.full),
        pytest.param({"KMP_BLOCKTIME": "200"}, None, marks=pytest.mark.full),
    ],
)
def test_waiting_threads_sleep_unless_told_otherwise(given, policy):
    """OpenMP itself tells how it waits, once torch has loaded it."""
    done = program(code=WAIT + "import os, json; print(json.dumps([os.environ.get(k) for k in "
                   "('OMP_WAIT_POLICY', 'KMP_BLOCKTIME')]))", OMP_DISPLAY_ENV="TRUE", **given)  # fmt: skip
    assert json.loads(done.stdout.splitlines()[-1]) == (
        ["PASSIVE", "0"] if not given else [given.get("OMP_WAIT_POLICY"), given.get("KMP_BLOCKTIME")]
    )
    if policy is not None and "OMP_WAIT_POLICY" in done.stderr:  # another OpenMP may have no such display
        assert f"OMP_WAIT_POLICY = '{policy}'" in done.stderr


def test_the_door_shows_the_public_names_and_only_them():
    names = dir(gnomon)
    assert set(names) == {*gnomon.__all__, "__version__"} and names == sorted(names)
    assert {"rank", "watch", "examine", "limit"} <= set(names) and "import_module" not in names
    for name in names:
        assert getattr(gnomon, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'attic'"):
        gnomon.attic  # noqa: B018
    assert set(gnomon._HOMES) < set(gnomon.__all__)


def test_extras_are_named_as_errors_name_them():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert extras["all"] == ["gnomon[zarr,dask,parquet,atlas]"] and {"zarr", "dask", "parquet"} <= extras.keys()
