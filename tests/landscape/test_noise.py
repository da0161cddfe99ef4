"""The noise scale against its definition, point by point, and its interval against how often it covers."""

import json
from math import inf

import pytest
import torch
from scipy import stats
from torch import nn
from torch.nn import functional as F

from gnomon.core import InputError
from gnomon.core.results import Interval
from gnomon.landscape import gradient_noise, noise


def by_hand(module, x, y, loss):
    rows = []
    for i in range(len(y)):
        module.zero_grad()
        loss(module(x[i : i + 1]), y[i : i + 1]).backward()
        rows.append(torch.cat([p.grad.flatten().clone() for p in module.parameters()]))
    module.zero_grad()
    rows = torch.stack(rows)
    variance = rows.var(0).sum()
    return float(variance), float(rows.mean(0).square().sum() - variance / len(y))


class Turning(nn.Module):
    """A module whose way depends on its data: no batching of single points."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x):
        return self.inner(x) if float(x.sum()) > -1e9 else x


@pytest.mark.parametrize("make", [lambda: nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 3)), Turning])
def test_the_scale_is_its_definition(make, monkeypatch):
    module, x, y = make().double(), torch.randn(12, 3).double(), torch.randint(0, 3, (12,))
    variance, signal = by_hand(module, x, y, F.cross_entropy)
    result = gradient_noise(module, (x, y))
    assert result.variance == pytest.approx(variance, rel=1e-10) and result.signal == pytest.approx(signal, rel=1e-9)
    assert result.scale == (pytest.approx(variance / signal, rel=1e-9) if signal > 0 else inf)
    monkeypatch.setattr(noise, "MAX_GRADIENT_BYTES", 1)  # one point at a time
    again = gradient_noise(module, (x, y))
    assert again.scale == pytest.approx(result.scale) and again.interval.low == pytest.approx(result.interval.low)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_interval_is_that_of_the_jackknife(confidence):
    """Each point is really left out: the ends are x = |g| / s^(1/2) and Student's width, and 1 / B = x^2 - 1 / n."""
    n, net = 15, nn.Linear(3, 1).double()
    x = torch.randn(n, 3).double()
    y = x[:, :1] + 0.3 * torch.randn(n, 1).double()  # gradients with a common direction and some noise
    with torch.no_grad():
        pull = net(x) - y
    g = torch.cat([pull * x, pull], 1)

    def root(rows):
        return float((rows.mean(0).square().sum() / rows.var(0).sum()).sqrt())

    left = torch.tensor([root(torch.cat([g[:i], g[i + 1 :]])) for i in range(n)], dtype=torch.float64)
    error = float(((n - 1) * left.var(correction=0)).sqrt())
    width = stats.t.ppf((1 + confidence) / 2, n - 1) * error
    result = gradient_noise(net, (x, y), confidence=confidence)
    for end, at in ((result.interval.low, root(g) + width), (result.interval.high, root(g) - width)):
        inverse = max(at, 0.0) ** 2 - 1 / n
        assert end == (pytest.approx(1 / inverse, rel=1e-9) if inverse > 0 else inf)
    assert result.interval.low < result.scale < result.interval.high and result.interval.confidence == confidence


@pytest.mark.parametrize(
    "spread, mean",
    [([3.0], 1.0), *(pytest.param(*rare, marks=pytest.mark.full) for rare in (([3.0], 3.0), ([0.2, 1.0, 3.0], 0.7)))],
)
def test_the_interval_covers_at_least_as_often_as_it_says(spread, mean):
    """Gaussian gradients with known B; at 90 % at most 10 % of 600 samples of 60 are missed, and more than none."""
    spread, generator, misses = torch.tensor(spread).double(), torch.Generator().manual_seed(0), 0
    scale = float(spread.square().sum() / (len(spread) * mean**2))
    for _ in range(600):
        g = mean + spread * torch.randn(60, len(spread), generator=generator, dtype=torch.float64)
        center = g.mean(0)
        misses += (
            scale not in noise._estimate(g.square().sum(1), g @ center, float(center.square().sum()), 0.9).interval
        )
    assert 10 < misses < 60 + 3.3 * 7.35  # a binomial of deviation 7.35, at 99.9 %


def test_without_noise_the_scale_is_zero_and_without_signal_infinite():
    net = nn.Linear(1, 1, bias=False).double()
    nn.init.zeros_(net.weight)
    x = torch.ones(10, 1).double()
    assert gradient_noise(net, (x, x[:, 0])).scale == 0
    lost = gradient_noise(net, (x, torch.tensor([1.0, -1.0] * 5).double()))
    assert lost.scale == inf and lost.interval.high == inf and "cannot be distinguished from noise" in lost.verdict
    assert json.loads(json.dumps(lost.to_dict()))["scale"] == "inf" and lost.plots()[0].marks


def test_the_picture_has_equal_costs_at_the_noise_scale():
    result = noise.GradientNoise(20.0, Interval(15.0, 30.0, 0.95), 40.0, 2.0, 500)
    steps, examples, scale = result.plots()[0].marks
    middle = steps.x.index(20.0)
    assert steps.y[middle] == examples.y[middle] == 2 and scale.at == 20 and scale.vertical
    assert steps.y[0] > 60 > 1.1 > examples.y[0] - 1e-2
    lost = noise.GradientNoise(inf, Interval(15.0, inf, 0.95), 40.0, -2.0, 500).plots()[0].marks
    middle = lost[0].x.index(15.0)  # the smallest scale that fits the gradients
    assert lost[0].y[middle] == lost[1].y[middle] == 2 and lost[2].at == 15 and "lower end" in lost[2].name


def test_dict_inputs_and_eval_mode():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.9))

        def forward(self, a, scale):
            return self.inner(a) * scale

    module, x, y = Named().double(), torch.randn(8, 3).double(), torch.randn(8, 2).double()
    # (f - y)^2 / 2 with f = 2 (W x + b), without dropout: dl/db = 2 (f - y) and dl/dW = dl/db x^T
    with torch.no_grad():
        pull = 2 * (2 * module.inner[0](x) - y)
    rows = torch.cat([torch.einsum("na,nb->nab", pull, x).flatten(1), pull], 1)
    variance = float(rows.var(0).sum())
    signal = float(rows.mean(0).square().sum()) - variance / 8
    result = gradient_noise(module, ({"a": x, "scale": 2.0}, y))
    assert result.variance == pytest.approx(variance, rel=1e-12) and result.signal == pytest.approx(signal, rel=1e-10)
    assert module.training and module.inner[1].training


def test_arguments_out_of_range_are_refused():
    net, x = nn.Linear(1, 1), torch.ones(2, 1)
    with pytest.raises(InputError, match="at least 3 examples, but there are 2"):
        gradient_noise(net, (x, torch.zeros(2)))
    with pytest.raises(InputError, match="confidence must be a number above 0 and below 1, but it is 1.0"):
        gradient_noise(net, (x, torch.zeros(2)), confidence=1.0)
