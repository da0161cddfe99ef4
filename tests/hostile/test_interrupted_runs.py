"""Ctrl-C within a training run: the call that needs the whole run ends with KeyboardInterrupt, and returns nothing."""

import ast
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import nn

import gnomon
from gnomon.bounds import epoch_wise_double_descent, forgetting_events, memorization
from gnomon.bounds.bias_variance import bias_variance
from gnomon.bounds.hardness import dataset_hardness
from gnomon.bounds.memorization import network_rademacher
from gnomon.bounds.noise_fit import label_noise_fit
from gnomon.bounds.pacbayes.prior import LearnedPrior
from gnomon.bounds.shattering import empirical_shattering
from gnomon.checks.run.one_batch import fit_one_batch
from gnomon.checks.run.step_size import short_runs
from gnomon.checks.run.update_ratio import update_ratios
from gnomon.core.inputs.source import data_source
from gnomon.decisions.temperature import distill
from gnomon.landscape.flow import gradient_flow_gap
from gnomon.landscape.ranges import initialization_scale_range
from gnomon.landscape.seed_sensitivity import seed_sensitivity
from gnomon.tangent.frequencies import circular_path, frequency_curve
from gnomon.tangent.gap import tangent_gap
from gnomon.tangent.sweeps.regimes import regime_map
from gnomon.tangent.sweeps.scales import scale_sweep
from gnomon.tangent.sweeps.spread import output_spread
from gnomon.training import SGD, CrossEntropy, loop, train


class _Presses:
    """Stands in for the gradient of the training loop, and presses Ctrl-C at the third step."""

    def __init__(self) -> None:
        self.steps = 0

    def __call__(self, *arguments):
        self.steps += 1
        if self.steps == 3:
            raise KeyboardInterrupt
        return loop._gradient(*arguments)


@pytest.fixture
def presses(monkeypatch):
    found = _Presses()
    original = loop._gradient
    monkeypatch.setattr(
        loop, "partial", lambda function, *rest: partial(found if function is original else function, *rest)
    )
    return found


X, Y = torch.randn(12, 3, generator=torch.Generator().manual_seed(0)), torch.arange(12) % 2
NUMBERS = (X, X[:, :2])
RULE = SGD(0.01)


def _build(seed):
    return nn.Linear(3, 2)


def _wide(width, seed):
    return nn.Sequential(nn.Linear(3, width), nn.Linear(width, 2))


CALLS = {
    "bias_variance": partial(bias_variance, _build, NUMBERS, NUMBERS, draws=2, steps=40),
    "dataset_hardness": partial(dataset_hardness, _build, (X, Y), steps=40),
    "distill": partial(distill, _build(0), _build(1), X, steps=40),
    "empirical_shattering": partial(empirical_shattering, _build, X, sizes=[4], labelings=2, steps=40),
    "epoch_wise_double_descent": partial(
        epoch_wise_double_descent, _build, [1, 20, 40], (X, Y), (X, Y), optimizer=RULE, batch=6
    ),
    "fit_one_batch": partial(fit_one_batch, _build(0), X, Y, loss=CrossEntropy(), optimizer=RULE),
    "forgetting_events": partial(forgetting_events, _build(0), (X, Y), steps=40, batch=6),
    "frequency_curve": partial(
        frequency_curve, nn.Linear(2, 1), circular_path(2), frequencies=(1,), points=8, steps=40
    ),
    "gradient_flow_gap": partial(gradient_flow_gap, _build(0), NUMBERS, lr=0.01, steps=20, step_divisor=2),
    "initialization_scale_range": partial(initialization_scale_range, _build(0), NUMBERS, scales=(1.0, 2.0), steps=40),
    "learned_prior": lambda: LearnedPrior().center(_build(0), data_source((X, Y)).whole(), seed=0),
    "memorization": partial(memorization, _build, (X, Y), steps=40),
    "network_rademacher": partial(network_rademacher, _build, X, draws=2, steps=40),
    "noise_fit": partial(label_noise_fit, _build(0), (X, Y), clean=torch.arange(12) > 3, steps=40),
    "output_spread": partial(output_spread, _wide, NUMBERS, widths=(1, 2, 3), draws=2, steps=40),
    "regime_map": partial(regime_map, _wide, NUMBERS, widths=(1, 2, 3), lr=0.01, steps=40),
    "scale_sweep": partial(scale_sweep, _build(0), NUMBERS, NUMBERS, lr=0.01, steps=40),
    "seed_sensitivity": partial(seed_sensitivity, _build, (X, Y), seeds=(0, 1), steps=40),
    "short_runs": partial(short_runs, _build(0), X, Y, loss=CrossEntropy(), optimizer=RULE, steps=40, batch=6),
    "tangent_gap": partial(tangent_gap, _build(0), NUMBERS, NUMBERS, steps=40),
    "update_ratios": partial(update_ratios, _build(0), X, Y, loss=None, optimizer=RULE, batch=6),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_result_is_computed_from_a_run_that_was_cut_short(name, presses):
    with pytest.raises(KeyboardInterrupt):
        CALLS[name]()
    assert presses.steps == 3


def test_a_run_itself_returns_what_was_recorded_and_says_so(presses):
    run = train(_build(0), (X, Y), steps=40, record=[0, 2, 4, 40])
    assert run.stopped == "interrupted" and run.steps.tolist() == [0, 2]
    with pytest.raises(KeyboardInterrupt):
        run.raise_if_interrupted()
    whole = train(nn.Linear(3, 2), (X, Y), steps=2)
    assert whole.raise_if_interrupted() is whole


NOT_AFFECTED = {
    "generative/fit.py": "returns the run itself, with the reason why it ended",
    "examination/fixes/trial.py": "returns the run itself, with the reason why it ended",
    "bayes/ensemble.py": "keeps the members so far, and says so",
    "playground/session.py": "trains in a thread, which gets no Ctrl-C",
}


def test_every_file_that_trains_asks_whether_the_run_was_interrupted():
    package = Path(gnomon.__file__).parent
    forgotten = []
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if name.startswith(("training/", "atlas/")) or name in NOT_AFFECTED:
            continue
        text = path.read_text(encoding="utf-8")
        calls = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
        trains = sum(call.func.id == "train" for call in calls)
        if trains > text.count(".raise_if_interrupted()"):
            forgotten.append(name)
    assert not forgotten, "\n".join(forgotten)
