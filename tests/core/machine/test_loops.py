"""Whether loops are kept is told by the types they are called with; compiling them is announced once."""

import importlib.util

import pytest
from numba import njit

from gnomon.core.machine import loops, progress

SOURCE = """
from gnomon.core.machine.loops import compile_on_first_use

@compile_on_first_use
def twice(x):
    return 2 * x
"""


def loaded(path):
    """The loop of a file, as a process that has compiled nothing yet sees it."""
    spec = importlib.util.spec_from_file_location("some_loops", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice


def test_a_loop_on_disk_is_kept_for_its_types_until_its_file_changes(tmp_path):
    path = tmp_path / "some_loops.py"
    path.write_text(SOURCE)
    assert not loops.is_compiled(loaded(path)) and not loops.is_compiled(loaded(path), 3)
    assert loaded(path)(3) == 6
    again = loaded(path)
    assert loops.is_compiled(again) and loops.is_compiled(again, 4) and not loops.is_compiled(again, 4.0)
    assert not again.overloads  # told without loading it
    path.write_text(SOURCE + "# changed")
    assert not loops.is_compiled(loaded(path), 3)


@pytest.mark.parametrize("watched", [True, False])
def test_compiling_is_announced_in_one_line_if_somebody_sees_it(monkeypatch, capsys, watched):
    monkeypatch.setattr(progress, "is_terminal", lambda: watched)
    monkeypatch.setattr(loops.ANNOUNCER, "said", False)
    space = {}
    exec("def once(x):\n    return x\n\ndef twice(x):\n    return 2 * x", space)  # not in a file: never kept
    njit(space["once"])(1)  # of another package
    assert capsys.readouterr().err == ""
    assert loops.compile_on_first_use(space["once"])(1) == 1 and loops.compile_on_first_use(space["twice"])(2) == 4
    assert capsys.readouterr().err.splitlines() == [loops.ANNOUNCEMENT] * watched
