"""Findings on data and networks without the fault: they are raised at most as often as their false-alarm rate says."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from evaluation.levels.statement import Statement
from gnomon.checks.data.category_codes import category_code_findings
from gnomon.checks.data.class_numbers import class_number_findings
from gnomon.checks.data.compared_labels import compare_labels
from gnomon.checks.data.conflicts import label_conflicts
from gnomon.checks.data.drifted_columns import drifted_column_findings
from gnomon.checks.data.groups import group_findings
from gnomon.checks.data.leaked_target import leaked_target_findings
from gnomon.checks.data.leaks import find_leaks
from gnomon.checks.data.outliers import outlier_findings
from gnomon.checks.data.relabeled import relabeled_class_findings
from gnomon.checks.data.row_numbers import row_number_findings
from gnomon.checks.data.sentinels import sentinel_findings
from gnomon.checks.data.shift import data_shift
from gnomon.checks.data.shift_description import class_cue_findings
from gnomon.checks.data.suspects import suspect_labels
from gnomon.checks.data.target_shift import target_shift_findings
from gnomon.checks.network.normalization import normalization_findings
from gnomon.checks.network.reach import untrained_parameter_findings
from gnomon.checks.run.outcome import AccuracyOutcome, outcome_findings
from gnomon.checks.run.outcome_numbers import regression_outcome_findings
from gnomon.checks.run.step_size import learning_rate_findings, short_runs
from gnomon.core.metrics import binomial_interval
from gnomon.decisions import best_temperature
from gnomon.decisions.calibration import calibration
from gnomon.examination.steps.columns import DataChecks
from gnomon.examination.steps.invariance import shift_findings
from gnomon.examination.steps.limit import below_limit_findings
from gnomon.generative import sample_coverage
from gnomon.generative.instruments.ratio import ratio_calibration
from gnomon.sequences import lag_of_task
from gnomon.symmetry.invariance import ImageInvariance, ImageMotion
from gnomon.training import SGD, Squared

Quiet = tuple[float, None]
"""Whether nothing was found."""


def _draw(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=_draw(seed), dtype=torch.float64)


def _calibrated(seed: int) -> tuple[Tensor, Tensor]:
    """Probabilities of four classes and labels drawn from them."""
    p = _normal(seed, 100, 4).mul(2).softmax(1)
    return p, torch.multinomial(p, 1, generator=_draw(seed + 1))[:, 0]


def _overconfident(seed: int) -> Quiet:
    return not calibration(*_calibrated(seed), level=0.05).findings, None


def _overconfident_logits(seed: int) -> Quiet:
    p, labels = _calibrated(seed)
    return not best_temperature(p.log(), labels).findings, None


def _below_limit(seed: int) -> Quiet:
    """Two networks that are right in 80 % of 500 cases, independently."""
    reached, wide = np.random.default_rng(seed).binomial(500, 0.8, 2) / 500
    run: Any = SimpleNamespace(test_accuracy=torch.tensor([0.1, reached]), shortage=None)
    return not below_limit_findings(run, float(wide), 500, hidden=True), None


def _shifts(seed: int) -> Quiet:
    """Each of three shifts changes 10 % of the decisions, as much as is accepted."""
    changed = np.random.default_rng(seed).binomial(1000, 0.1, 3).tolist()
    names = ("pixel-right", "pixel-left", "pixel-down")
    rows = [
        ImageMotion(name, 0.1, k / 1000, binomial_interval(k, 1000), name)
        for name, k in zip(names, changed, strict=True)
    ]
    return not shift_findings(ImageInvariance(tuple(rows), 1000), 28), None


def _overfit_classes(seed: int) -> Quiet:
    """Train and test accuracy with the same expectation."""
    generator = np.random.default_rng(seed)
    train, test = generator.binomial(60, 0.7) / 60, generator.binomial(60, 0.7) / 60
    found = outcome_findings(AccuracyOutcome(train, test, 60, 60, guess=0.1, simple=0.7))
    return "overfit" not in {finding.kind for finding in found}, None


def _overfit_numbers(seed: int) -> Quiet:
    errors = 0.3 * _normal(seed, 2, 60).square()
    found = regression_outcome_findings(errors[0], errors[1], simple=0.7)
    return "regression-overfit" not in {finding.kind for finding in found}, None


def _learned_classes(seed: int) -> Quiet:
    """The network and a simple model are right equally often: 70 % on average, on 400 examples each."""
    train, simple = np.random.default_rng(seed).binomial(400, 0.7, 2) / 400
    return outcome_findings(AccuracyOutcome(train, None, 400, 0, guess=0.3, simple=simple)) == (), None


def _learned_numbers(seed: int) -> Quiet:
    """The network explains 70 % of the variance on average, as much as the simple model."""
    errors = 0.3 * _normal(seed, 60).square()
    return regression_outcome_findings(errors, None, simple=0.7) == (), None


def _rate(seed: int) -> Quiet:
    """Linear regression with noise, at a third of the largest stable learning rate."""
    torch.manual_seed(seed)
    x = _normal(seed, 64, 3)
    y = x.sum(1) + 0.1 * _normal(seed + 1_000_000_000, 64)
    settings: Any = {"loss": Squared(), "optimizer": SGD(0.3), "steps": 20, "batch": 16, "seed": seed}
    falls, start = short_runs(nn.Linear(3, 1).double(), x, y, **settings)
    return learning_rate_findings(falls, start=start, lr=0.3, steps=20) == (), None


def _conflicts(seed: int) -> Quiet:
    """Rows of a coarse table that coincide by chance, with labels that agree by chance."""
    x = torch.randint(0, 5, (200, 3), generator=_draw(seed)).double()
    found = label_conflicts((x, torch.randint(2, (200,), generator=_draw(seed + 1_000_000_000))))
    return not found.rich, None


def _ratio(seed: int) -> Quiet:
    """The optimal discriminator of N(1/2, 1) and N(-1/2, 1), whose logit is x."""
    x, y = _normal(seed, 2, 100, 1)
    return not ratio_calibration(lambda z: z[:, 0], x + 0.5, y - 0.5).findings, None


def _target_numbers(seed: int) -> Quiet:
    y = _normal(seed, 200, 3)
    return target_shift_findings(y[:100], y[100:]) == (), None


def _target_rates(seed: int) -> Quiet:
    y = (_normal(seed, 200, 3) > 1).double()
    return target_shift_findings(y[:100], y[100:]) == (), None


def _cue(seed: int) -> Quiet:
    x, y = _normal(seed, 100, 12), torch.randint(3, (100,), generator=_draw(seed + 1_000_000_000))
    return class_cue_findings(x[:50], y[:50], x[50:], y[50:]) == (), None


def _related(seed: int) -> Quiet:
    """A simple model that guesses: right in 30 % of 200 cases."""
    right = np.random.default_rng(seed).binomial(200, 0.3) / 200
    return not DataChecks(0.3, right, 200).related, None


def _drifted(seed: int) -> Quiet:
    x = _normal(seed, 160, 6)
    return drifted_column_findings(x[:80], x[80:]) == (), None


def _class_numbers(seed: int) -> Quiet:
    """Counts that grow with a column."""
    x = _normal(seed, 400, 4)
    y = torch.poisson(x[:, :1].exp(), generator=_draw(seed)).clamp(max=6)
    return class_number_findings(x, y, seed=seed) == (), None


def _two_classes(seed: int, n: int = 400) -> tuple[Tensor, Tensor]:
    y = torch.randint(2, (n,), generator=_draw(seed))
    return _normal(seed, n, 4) + 2 * y[:, None], y


def _groups(seed: int) -> Quiet:
    x, y = _two_classes(seed)
    return group_findings(x[:300], y[:300], x[300:], y[300:], seed=seed) == (), None


def _relabeled(seed: int) -> Quiet:
    x, y = _two_classes(seed)
    return relabeled_class_findings(x[:250], y[:250], x[250:], y[250:], seed=seed) == (), None


def _leaked_target(seed: int) -> Quiet:
    """A noisy sum of two columns."""
    x = _normal(seed, 200, 5)
    y = x[:, 0] + x[:, 1] + 0.3 * _normal(seed + 1_000_000_000, 200)
    return leaked_target_findings(x, y, classes=0) == (), None


def _sentinels(seed: int) -> Quiet:
    return sentinel_findings(_normal(seed, 300, 5).exp().mul(10).round()) == (), None


def _outliers(seed: int) -> Quiet:
    return outlier_findings(_normal(seed, 1000, 5).exp()) == (), None


def _row_numbers(seed: int) -> Quiet:
    """A numbering that has nothing to do with the classes."""
    x = torch.cat([_normal(seed, 400, 2), torch.arange(400.0).double()[:, None]], 1)
    y, order = torch.randint(2, (400,), generator=_draw(seed)), torch.randperm(400, generator=_draw(seed + 1))
    a, b = order[:300], order[300:]
    return row_number_findings(x[a], y[a], x[b], y[b], classes=2) == (), None


def _category_codes(seed: int) -> Quiet:
    """A quantity of thirty values that acts smoothly."""
    code = torch.randint(0, 30, (600,), generator=_draw(seed))
    y = (code / 10.0).sin()[:, None] + 0.5 * _normal(seed, 600, 1)
    return category_code_findings(code.double()[:, None], y, classes=0) == (), None


def _wrong_labels(seed: int) -> Quiet:
    x, y = _two_classes(seed, 300)
    return not suspect_labels((x + 2 * y[:, None], y), seed=seed).findings, None


def _copies(seed: int) -> Quiet:
    x = _normal(seed, 300, 4)
    return not find_leaks(x[:200], x[200:], seed=seed).findings, None


def _shifted(seed: int) -> Quiet:
    x = _normal(seed, 300, 3)
    return not data_shift(x[:150], x[150:], seed=seed).findings, None


def _noisier(seed: int) -> Quiet:
    y = torch.randint(2, (600,), generator=_draw(seed))
    x = _normal(seed, 600, 2) + y[:, None]
    return not compare_labels(x[:400], y[:400], x[400:], y[400:], seed=seed).findings, None


def _statistics(seed: int) -> Quiet:
    """Running statistics that are those of the law of the inputs."""
    net = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1, bias=False)).double()
    with torch.no_grad():
        net[0].num_batches_tracked.add_(1)
        net[0].running_mean.fill_(0.5)
        net[0].running_var.fill_(4.0)
        net[1].weight.fill_(2.0)
    x = 0.5 + 2 * _normal(seed, 64, 3)
    y = (x - 0.5).sum(1, keepdim=True) + 0.5 * _normal(seed + 1_000_000_000, 64, 1)
    return normalization_findings(net, x, y, nn.functional.mse_loss) == (), None


def _frozen(seed: int) -> Quiet:
    """A frozen layer whose weights are not those of any initialization: normal, not uniform."""
    net = nn.Sequential(nn.Linear(12, 12), nn.Linear(12, 2)).double()
    with torch.no_grad():
        net[0].weight.copy_(0.5 * _normal(seed, 12, 12))
        net[0].bias.copy_(_normal(seed + 1, 12))
    net[0].requires_grad_(False)
    return untrained_parameter_findings(net, {"1.weight", "1.bias"}) == (), None


def _lag(seed: int) -> Quiet:
    return lag_of_task(_normal(seed, 80, 10, 2), torch.randint(2, (80,), generator=_draw(seed))) is None, None


def _missing_modes(seed: int) -> Quiet:
    samples, data = _normal(seed, 2, 150, 2)
    return not sample_coverage(samples, data).findings, None


FINDINGS = (
    Statement("decisions.calibration, level 0.05", "a calibrated network, 100 examples", "bound", 0.95,
              _overconfident, 1000, 60),
    Statement("decisions.best_temperature, finding", "a calibrated network, 100 examples", "bound", 0.975,
              _overconfident_logits, 1000, 0),
    Statement("examination, below the limit", "two networks, 80 % right each", "bound", 0.995, _below_limit, 1000, 200),
    Statement("examination, shifts", "three shifts at the accepted share", "bound", 0.995, _shifts, 1000, 60,
              "Bonferroni over the shifts"),
    Statement("examination, labels related", "a model that guesses", "bound", 0.9998, _related, 1000, 300),
    Statement("checks, overfitting of classes", "train and test equally good", "bound", 0.99997,
              _overfit_classes, 1000, 100),
    Statement("checks, overfitting of numbers", "train and test equally good", "bound", 0.99997,
              _overfit_numbers, 1000, 100),
    Statement("checks, not learning from classes", "as good as a simple model, 400 examples each", "bound", 0.9999,
              _learned_classes, 1000, 200),
    Statement("checks, not learning from numbers", "as good as a simple model", "bound", 0.9999, _learned_numbers, 1000, 200),
    Statement("checks.learning_rate_findings", "linear regression at a good rate", "bound", 0.999, _rate, 300, 3),
    Statement("checks.label_conflicts, copies", "coinciding rows of a coarse table", "bound", 0.99997, _conflicts, 1000, 40),
    Statement("checks.target_shift_findings, numbers", "train and test from one law", "bound", 0.999999,
              _target_numbers, 1000, 100),
    Statement("checks.target_shift_findings, labels", "train and test from one law", "bound", 0.999999998,
              _target_rates, 1000, 100),
    Statement("checks.class_cue_findings", "classes unrelated to the inputs", "bound", 0.999, _cue, 1000, 40),
    Statement("checks, batch statistics", "statistics of the law of the inputs", "bound", 0.99997,
              _statistics, 300, 0, "must exceed a tenth of the loss as well"),
    Statement("checks, frozen at random", "a frozen layer with other weights", "bound", 0.999, _frozen, 1000, 20),
    Statement("checks.drifted_column_findings", "train and test from one law", "bound", 0.99999, _drifted, 1000, 20,
              "the distance must exceed 0.25 as well"),
    Statement("checks.class_number_findings", "counts", "bound", 0.99997, _class_numbers, 200, 0),
    Statement("checks.group_findings", "independent examples of two classes", "bound", 0.999, _groups, 1000, 0),
    Statement("checks.relabeled_class_findings", "train and test from one law", "bound", 0.99997, _relabeled, 200, 0),
    Statement("checks.leaked_target_findings", "a noisy sum of two columns", "bound", 0.999, _leaked_target, 1000, 40),
    Statement("checks.sentinel_findings", "rounded lognormal numbers", "bound", 0.9999, _sentinels, 1000, 0),
    Statement("checks.outlier_findings", "lognormal numbers", "bound", 0.9999, _outliers, 1000, 0),
    Statement("checks.row_number_findings", "a numbering without meaning", "bound", 0.999, _row_numbers, 1000, 0),
    Statement("checks.category_code_findings", "a smooth function of a quantity", "bound", 0.999,
              _category_codes, 1000, 0),
    Statement("checks.suspect_labels", "right labels, classes apart", "bound", 0.999, _wrong_labels, 200, 0),
    Statement("checks.find_leaks, findings", "independent examples", "bound", 0.9998, _copies, 300, 0),
    Statement("checks.data_shift, findings", "train and test from one law", "bound", 0.999, _shifted, 300, 0),
    Statement("checks.compare_labels, findings", "train and test from one law", "bound", 0.9995, _noisier, 200, 0),
    Statement("sequences.lag_of_task", "labels unrelated to the inputs", "bound", 0.9999, _lag, 1000, 40),
    Statement("generative.ratio_calibration, finding", "the ratio of two normal laws, 10 bins", "bound", 0.9999,
              _ratio, 1000, 60, "one false alarm in 100,000 bins, and the mean error must exceed 0.05"),
    Statement("generative.sample_coverage", "samples and data from one law", "bound", 0.99, _missing_modes, 1000, 20,
              "six binomial standard errors; neighborhoods overlap"),
)  # fmt: skip
