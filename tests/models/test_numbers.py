"""Numbers of the literature on associative memories and linear regions, reproduced exactly or within their statistics."""

from itertools import product
from math import comb, erf, sqrt

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from gnomon.models import HopfieldNetwork
from gnomon.models.scan import linear_scan
from gnomon.robustness import maximal_regions


def flip(load):
    return (1 - erf(sqrt(1 / (2 * load)))) / 2


def test_flip_probabilities_have_their_printed_values():
    """hopfield-crosstalk: 0.000783, 0.003552 and 0.012674 at loads 0.10, 0.138 and 0.20."""
    assert [round(flip(load), 6) for load in (0.10, 0.138, 0.20)] == [0.000783, 0.003552, 0.012674]


def patterns(load, units, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(2, (round(load * units), units), generator=generator).float() * 2 - 1


@pytest.mark.parametrize("load", [0.16, 0.20])
def test_bits_flip_at_that_rate(load):
    """With n - 1 other patterns; 5 standard errors of a mean over dependent bits (patterns), and 1 / d of corrections."""
    units, rates = 400, []
    for seed in range(12):
        x = patterns(load, units, seed)
        rates.append(float((HopfieldNetwork(x).step(x) != x).double().mean()))
    expected = flip((round(load * units) - 1) / units)
    assert abs(np.mean(rates) - expected) < 5 * np.std(rates) / sqrt(12) + expected * 10 / units


@pytest.mark.full
def test_patterns_are_kept_below_the_capacity_and_lost_above():
    """hopfield-capacity-0138: overlaps at rest 0.989, 0.729 and 0.403 at n / d = 0.13, 0.16 and 0.20, d = 1,000."""
    for load, printed, spread in ((0.13, 0.989, 0.01), (0.16, 0.729, 0.1), (0.20, 0.403, 0.06)):
        x = patterns(load, 1000, 0)
        net, state = HopfieldNetwork(x), x.clone()
        for _ in range(40):
            state = net.step(state)
        assert abs(float((state * x).mean()) - printed) < spread  # of draws at this size; near 0.138 it is largest


def regions(normals, offsets):
    """Sign patterns of hyperplanes that some point has, by linear programs: an oracle."""
    count = 0
    for signs in product((-1.0, 1.0), repeat=len(offsets)):
        s = np.array(signs)
        rows = np.column_stack([-s[:, None] * normals, np.ones(len(s))])  # s (w.x + b) >= margin
        cost = np.zeros(normals.shape[1] + 1)
        cost[-1] = -1.0
        bounds = [(-1e4, 1e4)] * normals.shape[1] + [(None, 1.0)]
        count += linprog(cost, A_ub=rows, b_ub=s * offsets, bounds=bounds).x[-1] > 1e-9
    return count


@pytest.mark.parametrize(("n", "m", "number"), [(2, 3, 7), (2, 4, 11), (3, 5, 26)])
def test_hyperplanes_in_general_position_cut_space_into_zaslavskys_number(n, m, number):
    """zaslavsky-regions: also (2, 6) = 22 and (3, 6) = 42."""
    rng = np.random.default_rng(0)
    assert regions(rng.normal(size=(m, n)), rng.normal(size=m)) == number == maximal_regions(n, m)
    assert maximal_regions(2, 6) == 22 and maximal_regions(3, 6) == 42


def test_montufars_bound_has_its_printed_values():
    """montufar-regions: (m + 1) m^(L - 1) on a line, 44 for n = 2, m = 4, L = 2."""
    for m, depth in product((2, 3), (2, 3, 4, 5)):
        assert maximal_regions(1, m, depth) == (m + 1) * m ** (depth - 1)
    assert maximal_regions(2, 4, 2) == 44 == sum(comb(4, i) for i in range(3)) * (4 // 2) ** 2


@pytest.mark.parametrize("times", [1, 2, 7, 1024, 4096])
def test_the_prefix_scan_is_the_loop(times):
    """prefix-scan-parallelism: to 1e-10 in float64, for factors up to one."""
    generator = torch.Generator().manual_seed(times)
    a, b = (torch.rand(2, times, 3, dtype=torch.float64, generator=generator) for _ in range(2))
    state, states = torch.zeros(2, 3, dtype=torch.float64), []
    for t in range(times):
        state = a[:, t] * state + b[:, t]
        states.append(state)
    assert float((linear_scan(a, b) - torch.stack(states, 1)).abs().max()) < 1e-10
