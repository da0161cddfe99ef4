from dataclasses import replace

import pytest

from tools.mutate.mutants import choose, find, plant_error, shares

CASES = {  # statement: kind, mutated statement
    "y = 2 * x": ("factor 2", "y = x"),
    "y = (a + b) / 2": ("factor 2", "y = (a + b)"),
    "y = a * b": ("factor 2", "y = (2 * a * b)"),
    "y = f(-x)": ("sign", "y = f(x)"),
    "y = a / b": ("sign", "y = -(a / b)"),
    "y = torch.sqrt(a + b)": ("missing root", "y = (a + b)"),
    "y = x.sum(0).sqrt()": ("missing root", "y = x.sum(0)"),
    "y = x.rsqrt()": ("missing root", "y = (1 / (x))"),
    "y = x**0.5": ("missing root", "y = x"),
    "y = (x - m) ** 2": ("missing square", "y = (x - m)"),
    "y = (x - m).square().sum()": ("missing square", "y = (x - m).sum()"),
    "y = x[: n + 1]": ("off by one", "y = x[: n]"),
    "y = x[1:]": ("off by one", "y = x[2:]"),
    "y = range(n)": ("off by one", "y = range((n) - 1)"),
    "y = n // k": ("off by one", "y = (n // k + 1)"),
    "y = x.mean(0)": ("wrong axis", "y = x.mean(1)"),
    "y = x.sum(dim=-1)": ("wrong axis", "y = x.sum(dim=0)"),
    "y = torch.stack(rows, 1)": ("wrong axis", "y = torch.stack(rows, 0)"),
    "y = x.T @ z": ("wrong axis", "y = x @ z"),
    "y = x.var(0, correction=1)": ("n for n - 1", "y = x.var(0, correction=0)"),
    "y = x.std(0)": ("n for n - 1", "y = x.std(0, correction=0)"),
    "y = s / (n - 1)": ("n for n - 1", "y = s / (n)"),
    "y = f(a, b)": ("swapped", "y = f(b, a)"),
    "y = a - b * c": ("swapped", "y = (b * c) - a"),
    "y = (a + b) / c": ("swapped", "y = (c) / (a + b)"),
    "y = a + b": ("operator", "y = a - b"),
    "y = a * (b)": ("operator", "y = a / (b)"),
    "y -= b": ("operator", "y += b"),
    "LEAST = 0.2": ("constant", "LEAST = 0.6"),
    "MOST = 5": ("constant", "MOST = 15"),
    "y = x > 0.25": ("constant", "y = x > 0.75"),
    "y = a <= b": ("comparison", "y = a >= b"),
    "y = log(k / delta)": ("union bound", "y = log(1 / delta)"),
    "y = p * k": ("union bound", "y = p"),
    "y = delta / k": ("union bound", "y = delta"),
    "y = 1 - (1 - q) ** k": ("union bound", "y = 1 - (1 - q)"),
    "y = (a - b).abs().max()": ("dropped function", "y = (a - b).max()"),
    "y = torch.exp(a - b)": ("dropped function", "y = (a - b)"),
    "y = x.clamp(min=0)": ("dropped function", "y = x"),
    "y = max(0, x)": ("dropped function", "y = x"),
    "y = max(x, 4)": ("constant", "y = max(x, 5)"),
    "y = x.max()": ("max for min", "y = x.min()"),
    "y = x.mean(0) ": ("max for min", "y = x.sum(0) "),
    "y = 'é' + f(a -  # why\n    b)": ("operator", "y = 'é' + f(a +  # why\n    b)"),
}


def mutants_of(text, folder):
    file = folder / "part.py"
    file.write_text(text, encoding="utf-8")
    return file, find(file, folder, "part")


@pytest.mark.parametrize("before", CASES)
def test_every_kind_changes_what_it_should_and_nothing_else(before, tmp_path):
    kind, after = CASES[before]
    frame = "'''2 * x in words'''\n\n{}\n# 2 * x\n"
    file, found = mutants_of(frame.format(before), tmp_path)
    texts = [plant_error(m, file.read_bytes()).decode() for m in found if m.kind == kind]
    assert frame.format(after) in texts


LEFT_OUT = [
    "'''a + 2 * b'''",
    "x: Array[2 * 3] = f()",
    "def f(x: Array[2 * 3]) -> Array[2 * 3]: ...",
    "raise ValueError(f(a - b))",
    "assert a < b",
    "text = f'{a - b}'",
    "__all__ = ['a'] + parts",
    "if TYPE_CHECKING:\n    a = b * c",
    "class Net(Module):\n    def plots(self):\n        return 2 * self.scale",
    "class Net(Protocol):\n    def f(self):\n        return 2 * self.scale",
    "BYTES = 256 * 2**20",
    "tile = max(1, room // size)",
    "y = x.reshape(4, -1)",
    "y = x[0]",
    "eps = 1e-12",
    "y = [0.0] * n",
    "y = largest_size_up_to(sizes, 0.5 * context.seconds / each)",
    "if 2 * cost > left_seconds:\n    y = x",
    "EXAMPLE_COUNTS = (8, 16, 32)",
    "shown = repr(x)[:80]",
    "bar.advance(int(1000 * share) - bar.done)",
]


@pytest.mark.parametrize("text", LEFT_OUT)
def test_text_types_plots_and_memory_are_left_alone(text, tmp_path):
    assert mutants_of(text, tmp_path)[1] == []


def test_the_maximum_of_two_numbers_has_no_axis(tmp_path):
    _, found = mutants_of("y = max(a, 1.0)\n", tmp_path)
    assert "wrong axis" not in {m.kind for m in found}


LOSES_SIGN = {
    "y = (a - b).abs()": True,
    "y = (a - b) ** 2": True,
    "y = float((a - b).flatten(1).mean(1).norm())": True,
    "y = torch.linalg.norm(a - b)": True,
    "y = abs(float(a - b))": True,
    "y = (a - b) ** 3": False,
    "y = 2 ** (a - b)": False,
    "y = (a - b).max().abs()": False,  # the largest difference is another one
    "y = (a - b).clamp_min(0).square()": False,
    "y = c.norm(a - b)": False,
    "y = ((a - b) + c).abs()": False,
}


@pytest.mark.parametrize("text", LOSES_SIGN)
def test_differences_whose_sign_is_lost_are_not_swapped(text, tmp_path):
    _, found = mutants_of(f"{text}\n", tmp_path)
    swapped = [m for m in found if m.kind == "swapped" and m.before == "a - b"]
    assert (swapped == []) == LOSES_SIGN[text]


def test_an_identity_survives_changes_elsewhere_in_the_file(tmp_path):
    _, before = mutants_of("y = a * b\nz = a - b\n", tmp_path)
    _, after = mutants_of("import torch\n\nz = a - b\n", tmp_path)
    assert {m.id for m in after} == {m.id for m in before if m.text == "z = a - b"}


def test_a_seed_chooses_the_same_mutants_and_a_larger_count_keeps_them(tmp_path):
    _, found = mutants_of("".join(f"y{i} = a{i} * b{i} + c{i}.sum(0)\n" for i in range(30)), tmp_path)
    few, more = (choose(found, shares(found, n), 0, tmp_path) for n in (5, 10))
    assert len(few) == 5 and set(few) < set(more)
    assert choose(found, shares(found, 5), 1, tmp_path) != few
    assert len({m.line for m in more}) == 10 and len({m.kind for m in few}) > 2


def test_subpackages_share_equally_or_by_lines(tmp_path):
    _, found = mutants_of("".join(f"y{i} = a{i} < b\n" for i in range(8)), tmp_path)
    both = [replace(m, package="a") for m in found[:2]] + [replace(m, package="b") for m in found[2:]]
    assert shares(both, 8) == {"a": 4, "b": 4}
    assert shares(both, 8, by_lines=True) == {"a": 2, "b": 6}
