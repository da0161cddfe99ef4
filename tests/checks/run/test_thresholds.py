"""Constants of the checkup, with a case on each side of each of them."""

from math import nan, sqrt

import pytest
import torch
from torch import nn

from gnomon.checks import find_explosion
from gnomon.checks.network.reach import untrained_parameter_findings
from gnomon.checks.network.saturation import saturation_findings
from gnomon.checks.run.step_size import learning_rate_findings
from gnomon.training import SGD


def kinds(falls, **known):
    return [f.kind for f in learning_rate_findings(falls, lr=0.1, steps=30, **known)]


@pytest.mark.parametrize(
    ("falls", "known", "found"),
    [
        ({0.1: 1.0, 1.0: 0.19}, {}, ["learning-rate-too-large"]),  # a fifth of what a smaller rate brings
        ({0.1: 1.0, 1.0: 0.21}, {}, []),
        ({0.1: 0.41, 1.0: 0.01}, {}, ["learning-rate-too-large"]),  # a tenth of the first loss, 4, must be saved
        ({0.1: 0.39, 1.0: 0.01}, {}, []),
        ({0.1: 1.0, 1.0: 0.1}, {"fall_in_whole_run": 0.99}, ["learning-rate-too-large"]),
        ({0.1: 1.0, 1.0: 0.1}, {"fall_in_whole_run": 1.01}, []),  # it only began badly
        ({0.1: 0.01, 1.0: -0.41}, {"fall_in_whole_run": -0.41}, ["learning-rate-too-large"]),
        ({0.1: 0.01, 1.0: -0.39}, {"fall_in_whole_run": -0.41}, []),
        ({0.1: 0.01, 1.0: -0.41}, {"fall_in_whole_run": -0.39}, []),
        ({0.1: -0.01, 1.0: -0.41}, {"fall_in_whole_run": -0.41}, []),
        ({1.0: nan}, {}, ["learning-rate-too-large"]),
        ({1.0: 0.019, 10.0: 1.0}, {}, ["learning-rate-too-small"]),  # without a whole run a fiftieth
        ({1.0: 0.021, 10.0: 1.0}, {}, []),
        ({1.0: 0.039, 10.0: 1.0}, {"fall_in_whole_run": 0.45}, ["learning-rate-too-small"]),  # with one a twenty-fifth
        ({1.0: 0.041, 10.0: 1.0}, {"fall_in_whole_run": 0.45}, []),
        ({1.0: 0.039, 10.0: 1.0}, {"fall_in_whole_run": 0.55}, []),  # patience brings half of it
        ({1.0: 0.001, 10.0: 0.41}, {}, ["learning-rate-too-small"]),
        ({1.0: 0.001, 10.0: 0.39}, {}, []),
        ({1.0: 0.001, 10.0: 0.01, 100.0: 0.39}, {}, ["learning-rate-too-small"]),  # small, and larger with every rate
        ({1.0: 0.001, 10.0: 0.40, 100.0: 0.39}, {}, []),
        ({1.0: 0.001, 10.0: 0.01, 100.0: 0.39}, {"fall_in_whole_run": 0.39}, ["learning-rate-too-small"]),
        ({1.0: 0.001, 10.0: 0.01, 100.0: 0.39}, {"fall_in_whole_run": 0.41}, []),
        ({1.0: 1e-9, 10.0: 1e-8, 100.0: 5e-7}, {}, ["learning-rate-too-small"]),  # rounding is 1e-7 of the loss
        ({1.0: 1e-9, 10.0: 1e-8, 100.0: 3e-7}, {}, []),
    ],
)
def test_learning_rates_are_judged_on_one_side_of_each_threshold_only(falls, known, found):
    assert kinds(falls, start=4.0, **known) == found


def test_the_advised_rate_is_the_one_that_did_best():
    (large,) = learning_rate_findings({0.01: 0.9, 0.1: 1.0, 1.0: 0.0}, start=1.0, lr=0.5, steps=30)
    assert "lr=0.05 or less" in large.fix
    (small,) = learning_rate_findings({1.0: 1e-3, 10.0: 0.9, 100.0: 0.5}, start=1.0, lr=0.5, steps=30)
    assert "lr=5." in small.fix


@pytest.mark.parametrize(
    ("part", "low", "high"), [(nn.Tanh(), -1.0, 1.0), (nn.Sigmoid(), 0.0, 1.0), (nn.Softsign(), -1.0, 1.0)]
)
@pytest.mark.parametrize("side", [0, 1])
def test_a_unit_is_saturated_within_half_a_percent_of_its_range(part, low, high, side):
    """60 % of the outputs at 0.4 % of the range from an end are too many, at 0.6 % from it they are not."""
    inverse = {nn.Tanh: torch.atanh, nn.Sigmoid: torch.logit, nn.Softsign: lambda v: v / (1 - v.abs())}[type(part)]
    for inside, saturated in ((0.004, True), (0.006, False)):
        share = inside if side == 0 else 1 - inside
        value = inverse(torch.tensor(low + share * (high - low)).double())
        x = torch.zeros(100, 1).double()
        x[:60] = value
        net = nn.Sequential(part, nn.Linear(1, 1).double())
        assert bool(saturation_findings(net, x)) == saturated
        x[48:] = 0
        assert not saturation_findings(net, x)  # less than half of them


@pytest.mark.parametrize(("factor", "steps"), [(1100.0, 2), (900.0, 0)])
def test_outputs_explode_when_they_are_a_thousand_times_as_large(factor, steps):
    """One weight, and a loss with gradient -1: the rate decides how large the output is after one step."""
    net = nn.Sequential(nn.Linear(1, 1, bias=False))
    nn.init.ones_(net[0].weight)
    x = torch.ones(8, 1)

    def loss(f, y):
        return -f.mean() if float(f.detach().mean()) < 2 else 0 * f.mean()  # one step only

    found = find_explosion(net, (x, x), loss=loss, optimizer=SGD(factor - 1), steps=5)
    assert found.step == steps and (not steps or found.growth == pytest.approx(factor) and found.layer == "0")


class Frozen(nn.Module):
    """A frozen layer beside a trained one."""

    def __init__(self, layer):
        super().__init__()
        self.layer, self.head = layer.requires_grad_(False), nn.Linear(2, 1)


def frozen_fresh(layer):
    found = untrained_parameter_findings(Frozen(layer), {"head.weight", "head.bias"})
    return [f.kind for f in found] == ["frozen-at-random"]


def uniform(shape, bound):
    """Numbers spread evenly over [-bound, bound], in random order."""
    size = torch.Size(shape).numel()
    values = bound * (2 * (torch.arange(size) + 1.0) / size - 1)
    return values[torch.randperm(size)].reshape(shape)


@pytest.mark.parametrize(
    ("make", "bounds"),
    [
        (lambda: nn.Linear(30, 50), (30**-0.5, sqrt(6 / 80), sqrt(6 / 30))),
        (lambda: nn.Conv2d(8, 32, 3), (72**-0.5, sqrt(6 / (72 + 288)), sqrt(6 / 72))),
    ],
)
def test_fresh_weights_are_known_by_the_bounds_of_torch_xavier_and_kaiming(make, bounds):
    for init in (lambda w: None, nn.init.xavier_uniform_, lambda w: nn.init.kaiming_uniform_(w)):
        layer = make()
        init(layer.weight)
        assert frozen_fresh(layer)
    for bound in bounds:
        for factor, fresh in ((1.0, True), (0.8, False), (1.2, False)):
            layer = make()
            layer.weight.data = uniform(layer.weight.shape, factor * bound)
            assert frozen_fresh(layer) == fresh


def test_fresh_weights_have_the_law_of_kolmogorov():
    """A distance of 1.9 / sqrt(n) from the uniform law is chance, of 2 / sqrt(n) it is training."""
    layer, n = nn.Linear(100, 100), 10_000
    for c, fresh in ((1.9, True), (2.0, False)):
        u = (1 - c / 100) * torch.arange(n) / n  # all but one are below 1 - c / sqrt(n)
        u[-1] = 1.0
        layer.weight.data = (0.1 * (2 * u - 1)).reshape(100, 100)
        assert frozen_fresh(layer) == fresh
    embedding = nn.Embedding(50, 20)
    assert frozen_fresh(embedding)
    embedding.weight.data *= 1.3
    assert not frozen_fresh(embedding)
