"""Kernels of many outputs: the cost is stated after the first pass, time can be limited, and nothing of size k^2 is kept."""

import pytest
import torch
from torch import nn

import gnomon
from gnomon.core.errors import TimeLimitError
from gnomon.tangent import tiles

X = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))


def clock(*times):
    """A clock that shows these times, and then the last one."""
    left = list(times)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


@pytest.fixture
def lines(monkeypatch):
    """What is printed at a terminal, with a first pass that takes two seconds."""
    found = []
    monkeypatch.setattr(tiles, "is_terminal", lambda: True)
    monkeypatch.setattr(tiles, "progress_line", found.append)
    monkeypatch.setattr(tiles, "monotonic", clock(0.0, 2.0))
    return found


def test_the_cost_of_a_long_kernel_is_stated_once_after_the_first_pass(lines):
    """Twelve outputs in three rounds for each of three tiles, two seconds for the first round."""
    with tiles.Passes(3, 4, 12) as passes:
        for _ in range(12):
            passes.step()
    (line,) = lines
    assert line.startswith("The kernel of 12 outputs takes about 24 s, one backward pass for each output.")
    assert passes.done == passes.total == 12


@pytest.mark.parametrize("mode", ["trace", "diagonal", "full", "pseudo"])
def test_every_round_is_counted(mode, monkeypatch):
    made = []

    class Counted(tiles.Passes):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(tiles, "Passes", Counted)
    kernel = gnomon.ntk(nn.Linear(4, 60), X, outputs=mode, memory=2**18)
    wanted = {"trace": X @ X.T + 1, "pseudo": 60 * (X @ X.T + 1)}
    assert made[0].done == made[0].total and made[0].outputs == (1 if mode == "pseudo" else 60)
    assert mode not in wanted or torch.allclose(kernel, wanted[mode], atol=1e-4)


def test_short_kernels_and_kernels_of_one_combination_say_nothing(lines):
    gnomon.ntk(nn.Linear(4, 2), X)
    gnomon.ntk(nn.Linear(4, 6000), X, outputs="pseudo")
    assert lines == []


def test_a_kernel_of_many_outputs_needs_no_table_of_all_of_them():
    """Forty thousand unit vectors of this length would be six gigabytes."""
    k = 40_000
    with pytest.raises(TimeLimitError, match="tangent kernel"):
        gnomon.ntk(nn.Linear(4, k), X, memory=2**24, budget=1e-6)
    assert torch.allclose(gnomon.ntk(nn.Linear(4, 50), X), X @ X.T + 1, atol=1e-5)
