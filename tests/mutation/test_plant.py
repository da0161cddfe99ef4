"""Errors are planted into functions of the running process, wherever its garbage collector keeps them."""

import gc
import importlib.util
import sys

from tools.mutate.mutants import find
from tools.mutate.plant import class_attribute, is_default, plant
from tools.mutate.reach import Reach
from tools.mutate.results import Results
from tools.mutate.shadow import Shadow
from tools.mutate.stages import Stages


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


def test_attributes_of_classes_are_connected_with_the_tests_that_read_them(tmp_path):
    lines = (
        "LEVEL = 3",
        "class Step:",
        "    key, share = 'a', 0.5",
        "    size: int = 7",
        "    sizes = (4, 9)",
        "    def run(self):",
        "        limit = 11",
        "        return limit",
    )
    file = tmp_path / "src" / "toy" / "part" / "steps.py"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(lines) + "\n")
    mutants = {m.before: m for m in find(file, tmp_path, "part")}
    found = {before: class_attribute(m, tmp_path) for before, m in mutants.items()}
    assert found == {"3": None, "0.5": "share", "7": "size", "4": "sizes", "9": "sizes", "11": None}
    (tmp_path / "tests" / "part").mkdir(parents=True)
    (tmp_path / "tests" / "part" / "test_all.py").write_text("assert step.share == 0.5\n")
    (tmp_path / "tests" / "part" / "test_more.py").write_text("assert step.shared == 1 or step.size\n")
    reach = Reach({"tests/part/test_all.py::test_a": 0.1, "tests/part/test_more.py::test_b": 0.1}, {})
    stages = Stages(tmp_path, "toy", reach, Results(tmp_path / "none", {}), Shadow(tmp_path, tmp_path / "copy"))
    read = {before: sorted(stages._tests_that_read_attribute(m)) for before, m in mutants.items()}
    tests = sorted(reach.seconds)
    assert read == {"3": [], "0.5": tests[:1], "7": tests[1:], "4": [], "9": [], "11": []}
