"""Errors are planted into functions of the running process, wherever its garbage collector keeps them."""

import gc
import importlib.util
import sys

from tools.mutate.mutants import find
from tools.mutate.plant import is_default, plant


def test_functions_that_the_garbage_collector_has_frozen_are_changed(tmp_path, monkeypatch):
    """`conftest.py` freezes all that pytest has collected, the package with it."""
    file = tmp_path / "areas.py"
    file.write_text("def area(a, b):\n    return a * b\n")
    spec = importlib.util.spec_from_file_location("areas_of_a_test", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    product, *_ = (mutant for mutant in find(file, tmp_path, "part") if mutant.after == "/")
    gc.freeze()
    try:
        plant(product, tmp_path)
    finally:
        gc.freeze()
    assert module.area(6.0, 2.0) == 3.0


def test_defaults_are_in_the_head_of_a_function_or_in_a_class(tmp_path):
    lines = (
        "LEVEL = 3",
        "class A:",
        "    steps: int = 5",
        "    def f(self, k=7):",
        "        return 9",
        "def g(",
        "    x=8,",
        "):",
        "    return 6",
    )
    (tmp_path / "part.py").write_text("\n".join(lines) + "\n")
    found = {m.before: is_default(m, tmp_path) for m in find(tmp_path / "part.py", tmp_path, "part")}
    assert found == {"3": False, "5": True, "7": True, "9": False, "8": True, "6": False}
