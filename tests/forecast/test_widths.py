"""Networks really trained follow the prediction, the better the wider they are, at the rates of theory.

What theory says, before any run. In the NTK parametrization, at fixed depth and with a smooth activation, the kernel
moves during training by O(1 / width) [huang2020dynamics, dyer2020asymptotics]: its first derivative in time is a sum over
units of terms that are odd in the last layer's weights, hence of mean zero. So

  - told from its own kernel, outputs coupled, a network deviates by width^(-1), for any smooth loss;
  - told from the kernel of infinite width it deviates by width^(-1/2), for its own kernel differs by that;
  - told from the mean over outputs of its own kernel, likewise width^(-1/2);
  - with outputs scaled by 1 / width and the step scaled up to match (mean field), the kernel moves by O(1): no decay.

The deviation is the largest over recorded steps of the Euclidean norm over all points and outputs, training and test,
divided by how far the outputs move. The next order is smaller by width^(-1/2), at most 1/8 at the smallest width: over a
range of log 16 it tilts a slope by 0.05. Slopes are one for each seed, and tested by Student's t at 99.9 %. One case is in
every run, with fewer widths and seeds.
"""

from functools import cache

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

import gnomon
from gnomon.data import sphere_points
from gnomon.dynamics import CrossEntropy, Squared
from gnomon.training import SGD
from tests.forecast.networks import Wide

SHORT = (64, 256, 1024), 5
LONG = (64, 128, 256, 512, 1024), 16
TILT = 0.05


def deviation(width, seed, loss, *, power=-0.5, **options):
    x, x_test = sphere_points(6, 3, seed=1), sphere_points(4, 3, seed=2)
    classes = isinstance(loss, CrossEntropy)
    y = torch.tensor([0, 1, 0, 1, 1, 0]) if classes else torch.tensor([1.0, -1.0, 0.5, 0.0, 1.0, -0.5]).double()
    net = Wide(width, outputs=2 if classes else 1, seed=seed, power=power)
    way = SGD(0.5 * width ** (-1 - 2 * power))
    run = gnomon.train(net, (x, y), test=(x_test, y[:4]), loss=loss, optimizer=way, steps=40, record=10, outputs=True)
    told = gnomon.predict(net, (x, y), test=(x_test, y[:4]), loss=loss, optimizer=way, times=run.times, **options)
    return relative(run, told)


def relative(run, told):
    measured, predicted = torch.cat([run.train, run.test], 1), torch.cat([told.train, told.test], 1)
    gap = (measured - predicted).square().sum((1, 2)).max().sqrt()
    return float(gap / (measured[-1] - measured[0]).norm())


@cache
def infinite_kernel():
    """That of `Wide`, which a plain module with the same law has; with the points in rows, training points first."""
    twin = nn.Sequential(
        nn.Linear(3, 64, bias=False), nn.Tanh(), nn.Linear(64, 64, bias=False), nn.Tanh(), nn.Linear(64, 1, bias=False)
    )
    points = torch.cat([sphere_points(6, 3, seed=1), sphere_points(4, 3, seed=2)])
    return gnomon.limit(twin, init=gnomon.InitializationLaw(1.0, 0.0), parametrization="ntk").ntk(points)


def infinite(width, seed):
    net, way, y = Wide(width, seed=seed), SGD(0.5), torch.tensor([1.0, -1.0, 0.5, 0.0, 1.0, -0.5]).double()
    x, x_test = sphere_points(6, 3, seed=1), sphere_points(4, 3, seed=2)
    run = gnomon.train(net, (x, y), test=(x_test, y[:4]), optimizer=way, steps=40, record=10, outputs=True)
    K = infinite_kernel()
    told = gnomon.predict(
        K[:6, :6], y[:, None], test=K[6:, :6], optimizer=way, times=run.times, f0=run.train[0], f0_test=run.test[0]
    )
    return relative(run, told)


CASES = {
    "squared loss, own kernel": (-1.0, lambda w, s: deviation(w, s, Squared())),
    "cross-entropy, own kernel": (-1.0, lambda w, s: deviation(w, s, CrossEntropy())),
    "cross-entropy, mean over outputs": (-0.5, lambda w, s: deviation(w, s, CrossEntropy(), outputs="trace")),
    "squared loss, infinite width": (-0.5, infinite),
    "mean field": (0.0, lambda w, s: deviation(w, s, Squared(), power=-1.0)),
}


@pytest.mark.parametrize(
    "case, scale",
    [("squared loss, own kernel", SHORT), *(pytest.param(case, LONG, marks=pytest.mark.full) for case in CASES)],
)
def test_the_deviation_falls_with_the_width_as_theory_says(case, scale):
    (rate, measure), (widths, seeds) = CASES[case], scale
    logs = np.log([[measure(width, seed) for seed in range(seeds)] for width in widths])
    slopes = np.polyfit(np.log(widths), logs, 1)[0]
    error = slopes.std(ddof=1) / seeds**0.5
    bound = stats.t.ppf(0.9995, seeds - 1) * error + TILT
    assert bound < 0.5, "too few seeds to tell one rate from the next"
    assert abs(slopes.mean() - rate) < bound, (slopes, np.exp(logs.mean(1)))
