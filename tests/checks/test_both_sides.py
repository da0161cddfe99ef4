"""Limits of checks with a case on each side, and numbers that are known in closed form."""

import pytest
import torch
from torch import nn

from gnomon.checks import find_leaks, residual_network_ode_gap, suspect_labels
from gnomon.checks.data.suspects import FLOOR_CONFIDENCE
from gnomon.checks.network.places import padding_findings


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Scaled(nn.Module):
    """The residual block h + a h."""

    def __init__(self, a):
        super().__init__()
        self.a = a

    def forward(self, h):
        return h + self.a * h


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_blocks_that_change_nothing_have_no_gap(start):
    found = residual_network_ode_gap(nn.Sequential(Scaled(0.0), Scaled(0.0)), torch.full((1, 2), start))
    assert (found.gap, found.steps, found.changes) == (0.0, (0.0, 0.0), (0.0,))


class LastState(nn.Module):
    """Adds the tokens of a sequence up, halving the sum at every token, as a recurrent network reads padding."""

    def __init__(self):
        super().__init__()
        self.unused = nn.GRU(1, 1)

    def forward(self, x):
        state = torch.zeros(len(x))
        for column in x.T.float():
            state = state / 2 + column
        return state[:, None]


@pytest.mark.parametrize(("padded", "found"), [(19, False), (20, True)])
def test_a_fifth_of_padding_matters(padded, found):
    x = torch.randint(1, 9, (10, 10), generator=torch.Generator().manual_seed(0))
    x[:, -1] = 0
    x[:9, -2] = 0
    x[0, -3] = 0 if padded == 20 else 1
    assert bool(padding_findings(LastState(), x)) is found


@pytest.mark.parametrize("n", [150, 201])
def test_the_share_of_wrong_labels_is_of_the_half_with_the_clearest_votes(n):
    """Without any contradiction the interval of Clopper and Pearson ends at 1 - (alpha / 2)^(1 / half)."""
    y = torch.arange(n) % 2
    found = suspect_labels((0.1 * drawn(n, 3) + 5 * y[:, None], y))
    assert (found.floor, found.interval.low, found.accuracy) == (0.0, 0.0, 1.0)
    assert found.interval.high == pytest.approx(1 - ((1 - FLOOR_CONFIDENCE) / 2) ** (1 / (n // 2)))


@pytest.mark.parametrize(("copies", "counted"), [(2, True), (1, False)])
def test_a_hundredth_of_copies_is_tested(copies, counted):
    """Of 200 test examples two may be copies; all ways to mark ``copies`` of 1,000 + 200 examples are equally likely."""
    x = drawn(1200, 8)
    x[1000 : 1000 + copies] = x[:copies]
    found = find_leaks(x[:1000], x[1000:])
    chance = (200 / 1200) * (199 / 1199) if counted else 1.0
    assert found.exact == copies and found.p_exact == pytest.approx(chance)
