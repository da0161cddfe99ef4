"""Bounds that hold with a stated probability: they may fail at most that often, and the column "reached" shows how tight.

For each repetition the share of the bound that the truth reaches is recorded; its quantile at the stated level is 1 for
a bound that could not be smaller.
"""

import numpy as np
import torch
from torch import Tensor, nn

from evaluation.levels.statement import Statement
from gnomon.attribution import shortcuts
from gnomon.bounds import generalization_gap
from gnomon.bounds.capacity import linear_rademacher, min_norm_bound, vc_bound
from gnomon.bounds.pacbayes.inequalities import (
    bernstein_upper_bound,
    catoni_bound,
    mcallester_bound,
    quadratic_bound,
    seeger_bound,
)
from gnomon.bounds.stability import ridge_stability
from gnomon.robustness.certificates import smoothed_radius

Held = tuple[float, float | None]

DELTA = 0.2
"""Risk of each bound: large enough that a bound that fails too often is seen in a few hundred repetitions."""


def _normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def _of_risk(bound: object, seed: int) -> Held:
    """A fixed classifier that errs in 30 % of 100 examples: no posterior, so that KL = 0."""
    risk, n = 0.3, 100
    seen = float(np.random.default_rng(seed).binomial(n, risk)) / n
    stated = bound(seen, 0.0, n, DELTA)  # type: ignore[operator]
    return risk <= stated, (risk - seen) / (stated - seen)


def _seeger(seed: int) -> Held:
    return _of_risk(seeger_bound, seed)


def _mcallester(seed: int) -> Held:
    return _of_risk(mcallester_bound, seed)


def _quadratic(seed: int) -> Held:
    return _of_risk(quadratic_bound, seed)


def _catoni(seed: int) -> Held:
    return _of_risk(catoni_bound, seed)


def _bernstein(seed: int) -> Held:
    seen = np.random.default_rng(seed).random(200) < 0.3
    stated = bernstein_upper_bound(float(seen.mean()), float(seen.var(ddof=1)), 200, DELTA)
    return stated >= 0.3, (0.3 - float(seen.mean())) / (stated - float(seen.mean()))


def _hoeffding(seed: int) -> Held:
    """A classifier that errs on half of all examples, the worst case of Hoeffding's inequality."""
    generator = torch.Generator().manual_seed(seed)
    net = nn.Linear(1, 2, bias=False).double()
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[1.0], [-1.0]]))
    x = torch.randn(220, 1, generator=generator).double()
    y = torch.randint(2, (220,), generator=generator)
    found = generalization_gap(net, (x[:20], y[:20]), (x[20:], y[20:]), confidence=1 - DELTA)
    wrong = float(((x[20:, 0] > 0).long() == y[20:]).double().mean())
    assert found.certain is not None
    return abs(wrong - 0.5) <= found.certain, abs(wrong - 0.5) / found.certain


def _vc(seed: int) -> Held:
    """Thresholds on a line, n + 1 ways to split n points: the largest gap is the Kolmogorov-Smirnov distance."""
    n = 200
    x = np.sort(np.random.default_rng(seed).random(n))
    steps = np.arange(n + 1) / n
    gap = float(max(np.abs(steps[1:] - x).max(), np.abs(steps[:-1] - x).max()))
    return gap <= vc_bound(n, n + 1, DELTA), gap / vc_bound(n, n + 1, DELTA)


def _rademacher(seed: int) -> Held:
    """Linear functions of unit vectors with random signs as labels: the risk of the loss (1 - y f) / 2 is 1/2 for all."""
    n = 60
    x = nn.functional.normalize(_normal(seed, n, 3), dim=1)
    signs = torch.randint(2, (n,), generator=torch.Generator().manual_seed(seed)).double() * 2 - 1
    gap = float((signs @ x).norm()) / n / 2  # the largest of 1/2 - empirical risk over |w| <= 1
    stated = linear_rademacher(x, 0.5, draws=200, seed=seed).gap(DELTA)
    return gap <= stated, gap / stated


def _kernel(x: Tensor, z: Tensor) -> Tensor:
    return torch.exp(-torch.cdist(x, z).square())


def _min_norm(seed: int) -> Held:
    x = nn.functional.normalize(_normal(seed, 1060, 3), dim=1)
    y = x[:, 0].sign()
    k = _kernel(x[:60], x[:60])
    found = min_norm_bound(k, y[:60], delta=DELTA, test=(_kernel(x[60:], x[:60]), y[60:]))
    assert found.measured is not None
    return float(found.measured.value) <= found.value, float(found.measured.value) / found.value


def _stability(seed: int) -> Held:
    x = _normal(seed, 1060, 2)
    y = x[:, 0].clamp(-1, 1)
    k = _kernel(x[:60], x[:60])
    bound = ridge_stability(k, y[:60], decay=0.5, confidence=1 - DELTA, test=(_kernel(x[60:], x[:60]), y[60:])).bound
    assert bound.measured is not None
    return float(bound.measured.value) <= bound.value, float(bound.measured.value) / bound.value


def _smoothing(seed: int) -> Held:
    """The vote of a half-plane under noise changes exactly at its boundary, at distance 0.3."""
    net = nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[1.0], [-1.0]]))
    data = torch.tensor([[0.3]]), torch.tensor([0])
    radius = float(smoothed_radius(net, data, sigma=0.5, draws=500, confidence=1 - DELTA, seed=seed).radii)
    return radius <= 0.3, radius / 0.3


def _shortcuts(seed: int) -> Held:
    """Labels that no feature gives by itself: the level bounds the chance that one is named."""
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.randn(120, 5, generator=generator), torch.randint(2, (120,), generator=generator)
    net = nn.Linear(5, 2)
    nn.init.normal_(net.weight, generator=generator)
    found = shortcuts(net, (x, y), level=DELTA, seed=seed)
    return not (found.named or found.offered), None


LOOSE = "holds for any law and any learner"
BOUNDS = (
    Statement("bounds.seeger_bound", "risk 0.3, KL 0", "bound", 1 - DELTA, _seeger, 1000, 300),
    Statement("bounds.mcallester_bound", "risk 0.3, KL 0", "bound", 1 - DELTA, _mcallester, 1000, 300),
    Statement("bounds.quadratic_bound", "risk 0.3, KL 0", "bound", 1 - DELTA, _quadratic, 1000, 300),
    Statement("bounds.catoni_bound", "risk 0.3, KL 0", "bound", 1 - DELTA, _catoni, 1000, 300),
    Statement("bounds.bernstein_upper_bound", "0 or 1 with mean 0.3", "bound", 1 - DELTA, _bernstein, 1000, 500),
    Statement("bounds.generalization_gap (Hoeffding)", "half of the answers wrong", "bound", 1 - DELTA, _hoeffding, 1000, 50),
    Statement("bounds.vc_bound", "thresholds on a line", "bound", 1 - DELTA, _vc, 1000, 500, LOOSE),
    Statement("bounds.Rademacher.gap", "unit vectors, random labels", "bound", 1 - DELTA, _rademacher, 1000, 200, LOOSE),
    Statement("bounds.min_norm_bound", "sign of one coordinate", "bound", 1 - DELTA, _min_norm, 300, 30, LOOSE),
    Statement("bounds.ridge_stability", "a clipped coordinate", "bound", 1 - DELTA, _stability, 300, 30, LOOSE),
    Statement("robustness.smoothed_radius", "a half-plane at distance 0.3", "bound", 1 - DELTA, _smoothing, 1000, 150),
    Statement("attribution.shortcuts", "labels unrelated to the inputs", "bound", 1 - DELTA, _shortcuts, 300, 10, "Bonferroni over all features"),
)  # fmt: skip
