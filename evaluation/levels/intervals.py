"""Intervals around a known truth: they must contain it as often as they say."""

from functools import cache
from itertools import product
from math import log

import numpy as np
import torch
from scipy.special import softmax
from scipy.stats import norm
from torch import Tensor, nn

from evaluation.levels.statement import Statement
from gnomon.bayes import laplace
from gnomon.bounds import generalization_gap, learning_curve, scaling_law
from gnomon.bounds.capacity import linear_rademacher
from gnomon.core.metrics import binomial_interval
from gnomon.decisions import best_temperature
from gnomon.decisions.calibration import calibration
from gnomon.discovery import TermLibrary, TermSelection, discover_ode
from gnomon.examination.fixes.prove import combine_seeds
from gnomon.examination.fixes.score import gain_interval
from gnomon.generative.instruments.ratio import RatioCalibration, jensen_shannon_lower_bound, ratio_calibration
from gnomon.lab.judges import at_most, distributed_as, mean_equals, rate_is
from gnomon.landscape import gradient_noise, local_entropy
from gnomon.linalg.diagonal import diagonal
from gnomon.linalg.lanczos import spectral_density
from gnomon.linalg.operator import DenseOperator
from gnomon.linalg.trace import automatic_trace, hutch_plus_plus, hutchinson
from gnomon.symmetry.errors import mean_error_interval
from gnomon.training.ablation import ablation

Covered = tuple[float, None]


def _normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


MATRIX = _normal(7, 30, 30) @ _normal(7, 30, 30).mT / 30
TRACE = float(MATRIX.diagonal().sum())


def _hutchinson(seed: int) -> Covered:
    return TRACE in hutchinson(DenseOperator(MATRIX), samples=40, seed=seed).interval, None


def _hutch_plus_plus(seed: int) -> Covered:
    return TRACE in hutch_plus_plus(DenseOperator(MATRIX), products=45, seed=seed).interval, None


def _automatic(seed: int) -> Covered:
    return TRACE in automatic_trace(DenseOperator(MATRIX), products=45, seed=seed).interval, None


def _diagonal(seed: int) -> Covered:
    found, entry = diagonal(DenseOperator(MATRIX), samples=40, seed=seed), seed % 30
    return abs(float(found.values[entry] - MATRIX[entry, entry])) <= float(found.half_widths[entry]), None


def _noise_scale(seed: int) -> Covered:
    """Gradients of a mean: g_i = -2 (y_i - w) with y ~ N(1, 1), so that B = 4 / 4 = 1 at w = 0."""
    net = nn.Linear(1, 1, bias=False).double()
    nn.init.zeros_(net.weight)
    y = 1 + _normal(seed, 50, 1)
    return 1.0 in gradient_noise(net, (torch.ones(50, 1).double(), y)).interval, None


def _gap(seed: int) -> Covered:
    """Train and test from one law, and a network that saw neither: the true gap is 0."""
    net = nn.Linear(2, 1, bias=False).double()
    nn.init.ones_(net.weight)
    x, y = _normal(seed, 300, 2), _normal(seed + 1_000_000_000, 300, 1)
    return 0.0 in generalization_gap(net, (x[:150], y[:150]), (x[150:], y[150:])).interval, None


def _temperature(seed: int) -> Covered:
    """Labels are drawn from softmax(logits / 2)."""
    generator = np.random.default_rng(seed)
    logits = 3 * generator.standard_normal((300, 4))
    p = softmax(logits / 2, 1)
    labels = (p.cumsum(1) < generator.random((300, 1))).sum(1)
    return 2.0 in best_temperature(torch.as_tensor(logits), torch.as_tensor(labels)).interval, None


def _exponent(seed: int) -> Covered:
    sizes = np.geomspace(100, 6400, 9)
    errors = 3 * sizes**-0.4 * np.exp(0.05 * np.random.default_rng(seed).standard_normal(9))
    return 0.4 in scaling_law(sizes.tolist(), errors.tolist()).exponent_interval, None


def _share(trials: int, p: float, seed: int) -> Covered:
    return p in binomial_interval(int(np.random.default_rng(seed).binomial(trials, p)), trials), None


def _share_small(seed: int) -> Covered:
    return _share(20, 0.1, seed)


def _share_large(seed: int) -> Covered:
    return _share(2000, 0.3, seed)


def _errors_fixed(seed: int) -> Covered:
    """Errors |normal| have mean sqrt(2 / pi); three fixed moves of one example share its size."""
    sizes = _normal(seed, 1, 80).abs() * torch.tensor([[0.5], [1.0], [1.5]])
    return (2 / np.pi) ** 0.5 in mean_error_interval(sizes), None


def _errors_drawn(seed: int) -> Covered:
    """Sizes of examples times sizes of drawn moves, both |normal|: the mean is 2 / pi."""
    moves, examples = _normal(seed, 40, 1).abs(), _normal(seed + 1_000_000_000, 1, 80).abs()
    return 2 / np.pi in mean_error_interval(moves * examples, drawn=True), None


def _ablation(seed: int) -> Covered:
    noise = _normal(seed, 2, 5)
    found = ablation(lambda on, s: 0.3 * on["a"] + 0.1 * float(noise[int(on["a"]), s]), ("a",), seeds=range(5))
    return abs(found.effects["a"] - 0.3) <= found.widths["a"], None


def _js(seed: int) -> Covered:
    """x ~ N(1, 1), y ~ N(-1, 1), best discriminator 2 x: the bound is the Jensen-Shannon divergence, by quadrature."""
    grid = torch.linspace(-12, 12, 20001).double()
    p = torch.exp(-((grid - 1) ** 2) / 2) / (2 * np.pi) ** 0.5
    truth = log(2) + float(torch.trapezoid(p * nn.functional.logsigmoid(2 * grid), grid))
    x, y = 1 + _normal(seed, 200, 1), -1 + _normal(seed + 1_000_000_000, 200, 1)
    return truth in jensen_shannon_lower_bound(lambda z: 2 * z[:, 0], x, y).interval, None


def _right_ratio(seed: int) -> RatioCalibration:
    """The optimal discriminator of N(1/2, 1) and N(-1/2, 1), whose logit is x."""
    x, y = 0.5 + _normal(seed, 400, 1), -0.5 + _normal(seed + 1_000_000_000, 400, 1)
    return ratio_calibration(lambda z: z[:, 0], x, y, bins=5)


def _mean_ratio(seed: int) -> Covered:
    found = _right_ratio(seed)
    return abs(found.mean_ratio - 1) <= 1.96 * found.ratio_error, None


def _bin_of_ratio(seed: int) -> Covered:
    found, one = _right_ratio(seed), seed % 5
    return bool((found.predicted[one] - found.observed[one]).abs() <= 1.96 * found.errors[one]), None


def _entropy(seed: int) -> Covered:
    """A loss w^2 under noise of variance 1 / 4: E exp(-w^2) = (1 + 2 / 4)^(-1/2)."""
    net = nn.Linear(1, 1, bias=False).double()
    nn.init.zeros_(net.weight)
    x, y = torch.ones(1, 1).double(), torch.zeros(1, 1).double()
    found = local_entropy(net, (x, y), scope=4.0, draws=150, loss=lambda f, t: ((f - t) ** 2).mean(), seed=seed)
    return -0.5 * log(1.5) in found.interval, None


ROWS = _normal(3, 8, 2)
EXACT_RADEMACHER = float(
    np.mean([float((torch.tensor(s).double() @ ROWS).norm()) / 8 for s in product((-1.0, 1.0), repeat=8)])
)


def _rademacher(seed: int) -> Covered:
    return EXACT_RADEMACHER in linear_rademacher(ROWS, draws=100, seed=seed).interval, None


def _calibrated(seed: int) -> Covered:
    """Labels drawn from the stated probabilities: at level 0.05, one network in twenty seems overconfident."""
    generator = np.random.default_rng(seed)
    p = softmax(2 * generator.standard_normal((400, 3)), 1)
    labels = (p.cumsum(1) < generator.random((400, 1))).sum(1).clip(max=2)
    found = calibration(torch.as_tensor(p), torch.as_tensor(labels), level=0.05)
    return found.gap <= found.margin, None


def _judge(seed: int) -> Covered:
    return mean_equals(confidence=0.95, resolution=9.0)(
        1.0, 1 + _normal(seed, 12).numpy()
    ).verdict.value == "holds", None


def _slope(seed: int) -> Covered:
    x = np.geomspace(1, 32, 6)
    y = x**-0.5 * np.exp(0.1 * np.random.default_rng(seed).standard_normal(6))
    return rate_is(confidence=0.95, resolution=9.0)(-0.5, (x, y)).verdict.value == "holds", None


def _distribution(seed: int) -> Covered:
    drawn = np.random.default_rng(seed).standard_normal(100)
    return distributed_as(confidence=0.95, resolution=0.5)(norm(), drawn).verdict.value == "holds", None


def _mean_bound(seed: int) -> Covered:
    """The mean is the bound itself: refuted in half of (1 - confidence), as the interval has two sides."""
    drawn = 1 + np.random.default_rng(seed).standard_normal(40)
    return at_most(confidence=0.9, resolution=9.0)(1.0, drawn).verdict.value != "refuted", None


def _sine(seed: int, n: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 1, generator=generator, dtype=torch.float64)
    return x, torch.sin(6 * x) + 0.3 * torch.randn(n, 1, generator=generator, dtype=torch.float64)


def _near(x: Tensor, z: Tensor) -> Tensor:
    return torch.exp(-torch.cdist(x, z).square() * 20)


@cache
def _error_of_doubled() -> float:
    """The expected error of a fit to 200 rows, from 200 fits with 2,000 test rows each."""
    errors = []
    for seed in range(200):
        (x, y), (z, t) = _sine(seed + 2_000_000_000, 200), _sine(seed + 3_000_000_000, 2000)
        weights = torch.linalg.solve(_near(x, x) + 0.5 * torch.eye(200, dtype=torch.float64), y)
        errors.append(float((_near(z, x) @ weights - t).square().mean()))
    return float(np.mean(errors))


def _doubled(seed: int) -> Covered:
    """Kernel regression of a sine with noise, 100 rows; the truth is the expected error with 200."""
    x, y = _sine(seed, 100)
    stated = learning_curve(_near(x, x), y[:, 0], ridge=0.5).doubled
    assert stated is not None and stated.interval is not None
    return _error_of_doubled() in stated.interval, None


def _coefficient(seed: int) -> Covered:
    """x' = -0.5 x from a trajectory of 200 times with 2 % noise."""
    t = np.linspace(0, 6, 200)
    x = 2 * np.exp(-0.5 * t) + 0.02 * np.random.default_rng(seed).standard_normal(200)
    found = discover_ode(x, t, library=TermLibrary(degree=1), selection=TermSelection(seed=seed))
    return found.terms == ("x",) and -0.5 in found.intervals[0], None


def _posterior(seed: int) -> Covered:
    """A weight drawn from its prior N(0, 1), and 20 targets with noise 1: Laplace's approximation is exact."""
    generator = torch.Generator().manual_seed(seed)
    w, x = torch.randn(1, generator=generator).double(), torch.randn(20, 1, generator=generator).double()
    y = x * w + torch.randn(20, 1, generator=generator).double()
    net = nn.Linear(1, 1, bias=False).double()
    with torch.no_grad():
        net.weight.fill_(float((x * y).sum() / (x.square().sum() + 1)))
    found = laplace(net, (x, y), prior_precision=1.0, noise=1.0)
    return abs(float(net.weight.detach()) - float(w)) <= 1.959964 * float(found.variance()[0]) ** 0.5, None


def _gain_classes(seed: int) -> Covered:
    """A fix that makes 10 % of the answers right and 4 % wrong."""
    u = np.random.default_rng(seed).random(200)
    before, after = (u < 0.04) | (u > 0.4), (u >= 0.04) & (u < 0.1) | (u > 0.4) | (u > 0.36) & (u < 0.4)
    return 0.06 in gain_interval(torch.as_tensor(before).double(), torch.as_tensor(after).double()), None


def _gain_numbers(seed: int) -> Covered:
    """A fix that raises every score by 0.2 on average, with deviation 1."""
    before, change = _normal(seed, 2, 80)
    return 0.2 in gain_interval(before, before + 0.2 + change), None


def _gain_seeds(seed: int) -> Covered:
    """Two runs with true gains 0.1 and 0.3 on the same examples."""
    shared, one, two = _normal(seed, 3, 80)
    gains = 0.1 + shared + one, 0.3 + shared + two
    first = gain_interval(torch.zeros_like(one), gains[0])
    return 0.2 in combine_seeds(first, (float(gains[0].mean()), float(gains[1].mean()))), None


def _density(seed: int) -> Covered:
    """The smoothed density of thirty eigenvalues, which full Lanczos runs estimate without bias."""
    matrix, grid = MATRIX, torch.tensor([1.0], dtype=torch.float64)
    found = spectral_density(
        DenseOperator(matrix), steps=30, starts=10, seed=10 * seed
    )  # starts have the seeds that follow
    true = torch.exp(-((grid - torch.linalg.eigvalsh(matrix)) ** 2) / 2).mean() / (2 * torch.pi) ** 0.5
    return bool((found.smooth(grid, 1.0) - true).abs() <= found.error(grid, 1.0)), None


INTERVALS = (
    Statement("linalg.hutchinson", "trace of a 30 x 30 matrix", "interval", 0.95, _hutchinson, 1000, 300),
    Statement(
        "linalg.hutch_plus_plus", "trace of a 30 x 30 matrix", "interval", 0.95, _hutch_plus_plus, 1000, 200,
    ),
    Statement("linalg.automatic_trace", "trace of a 30 x 30 matrix", "interval", 0.95, _automatic, 1000, 100),
    Statement("linalg.diagonal", "one entry of a 30 x 30 matrix", "interval", 0.95, _diagonal, 1000, 300),
    Statement("landscape.gradient_noise", "gradients with noise scale 1", "interval", 0.95, _noise_scale, 1000, 30),
    Statement("bounds.generalization_gap", "a gap of 0", "interval", 0.95, _gap, 1000, 40),
    Statement("decisions.best_temperature", "temperature 2", "interval", 0.95, _temperature, 1000, 10),
    Statement(
        "bounds.scaling_law", "exponent 0.4 with 5 % scatter", "cautious interval", 0.95, _exponent, 1000, 20,
        "covers every offset that the points allow",
    ),
    Statement(
        "core.metrics.binomial_interval", "share 0.1 of 20", "cautious interval", 0.95, _share_small, 1000, 500,
        "exact interval of a discrete count",
    ),
    Statement(
        "core.metrics.binomial_interval", "share 0.3 of 2,000", "interval", 0.95, _share_large, 1000, 500,
    ),
    Statement("symmetry.equivariance, fixed moves", "mean error over 80 examples", "interval", 0.95, _errors_fixed, 1000, 500),
    Statement("symmetry.equivariance, drawn moves", "mean over 40 moves and 80 examples", "interval", 0.95, _errors_drawn, 1000, 500),
    Statement("training.ablation", "an effect of 0.3 with 5 seeds", "interval", 0.95, _ablation, 1000, 500),
    Statement("generative.jensen_shannon_lower_bound", "two normal laws", "interval", 0.95, _js, 1000, 200),
    Statement("generative.ratio_calibration, mean ratio", "the ratio of two normal laws", "interval", 0.95, _mean_ratio, 1000, 200),
    Statement("generative.ratio_calibration, one bin", "1.96 standard errors of a share", "interval", 0.95, _bin_of_ratio, 1000, 200),
    Statement("landscape.local_entropy", "a quadratic loss", "interval", 0.95, _entropy, 500, 20),
    Statement("bounds.linear_rademacher", "8 points, all 256 signs", "interval", 0.95, _rademacher, 1000, 300),
    Statement("decisions.calibration", "a calibrated network", "interval", 0.95, _calibrated, 1000, 100),
    Statement("lab.mean_equals", "12 repetitions with the right mean", "interval", 0.95, _judge, 1000, 300),
    Statement("lab.rate_is", "a slope of -1/2 with 10 % scatter", "interval", 0.95, _slope, 1000, 300),
    Statement("lab.distributed_as", "100 normal samples", "interval", 0.95, _distribution, 1000, 300),
    Statement("lab.at_most", "a mean equal to its bound", "interval", 0.95, _mean_bound, 1000, 300),
    Statement(
        "bounds.learning_curve", "error at twice the rows", "cautious interval", 0.95, _doubled, 1000, 0,
        "covers several ways to continue the curve",
    ),
    Statement("discovery.discover_ode", "decay with 2 % noise", "interval", 0.95, _coefficient, 500, 10),
    Statement("bayes.laplace", "a linear model", "interval", 0.95, _posterior, 1000, 20),
    Statement("examination.gain_interval, classes", "10 % of 200 answers corrected, 4 % spoiled", "interval", 0.95, _gain_classes, 1000, 500),
    Statement("examination.gain_interval, numbers", "a gain of 0.2 on 80 examples", "interval", 0.95, _gain_numbers, 1000, 500),
    Statement(
        "examination.combine_seeds", "two runs with other gains, on new examples", "cautious interval", 0.95, _gain_seeds, 1000, 300,
        "the confidence is over examples; the difference of the runs is added",
    ),
    Statement("linalg.spectral_density, error", "30 eigenvalues, 10 starts", "interval", 0.95, _density, 500, 0),
)  # fmt: skip
