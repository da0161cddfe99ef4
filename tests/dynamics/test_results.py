"""The results of the room: verdicts, findings and plots, from numbers that can be checked by hand."""

import json
from math import e, inf, log

import pytest
import torch

from gnomon.core.errors import InputError
from gnomon.core.results import Level
from gnomon.dynamics import equivalent_stopping_time, gp_posterior, kernel_ensemble, predict_from_kernel, training_modes
from gnomon.training import SGD

ONE, EYE = torch.ones(1, 1), torch.eye(2, dtype=torch.float64)


@pytest.mark.parametrize(
    "result",
    [
        training_modes(EYE, torch.ones(2)),
        kernel_ensemble(EYE, EYE, torch.ones(2), times=[0.0, 1.0, inf]),
        gp_posterior(EYE, torch.ones(2), noise=0.1),
        equivalent_stopping_time(EYE, torch.ones(2), ridge=0.1),
        predict_from_kernel(EYE, torch.ones(2)),
    ],
    ids=lambda result: type(result).__name__,
)
def test_every_result_has_a_verdict_json_and_html(result):
    plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert plain["verdict"] == result.verdict == str(result) and result.verdict.endswith(".")
    assert result.verdict in repr(result) and "<svg" in result._repr_html_()


def test_modes_say_what_is_learned_when():
    result = training_modes(torch.diag(torch.tensor([2.0, 4.0])), torch.tensor([3.0, 4.0]))
    rates, learned = result.plots()
    assert rates.marks[0].y == (2.0, 1.0) and rates.y.log
    assert learned.marks[0].x == pytest.approx((log(100) / 2, log(100)))
    assert learned.marks[0].y == pytest.approx((16 / 25, 1.0))
    assert training_modes(0 * EYE, torch.ones(2)).verdict == "The kernel is zero, so nothing is learned."
    assert "training diverges" in training_modes(EYE, torch.ones(2), optimizer=SGD(5.0)).verdict
    assert result.findings == ()


def test_errors_that_are_never_learned_are_a_finding():
    (finding,) = training_modes(
        torch.ones(2, 2), torch.tensor([1.0, -1.0])
    ).findings  # it learns the mean alone, which is zero
    assert finding.level == Level.WARNING and finding.evidence[0].value == pytest.approx(1.0)
    (small,) = training_modes(torch.ones(2, 2), torch.tensor([1.0, 0.6])).findings  # (0.4^2 / 2) / (1 + 0.6^2)
    assert small.level == Level.NOTE and small.evidence[0].value == pytest.approx(0.08 / 1.36)


def test_a_learning_rate_that_is_too_large_is_a_finding():
    run = predict_from_kernel(ONE, torch.ones(1), optimizer=SGD(2.5), times=[0.0, 5.0])
    (finding,) = run.findings
    assert finding.kind == "learning-rate" and finding.level == Level.PROBLEM
    assert "too large: training is stable only below 2." in finding.message
    assert predict_from_kernel(ONE, torch.ones(1), optimizer=SGD(0.5)).findings == ()


def test_the_spread_of_an_ensemble_is_drawn_over_time():
    (plot,) = kernel_ensemble(ONE, 4 * ONE, torch.ones(1), times=[0.0, 1.0, inf]).plots()
    assert plot.marks[0].x == (1.0,) and plot.marks[0].y == pytest.approx((2 / e,))


def test_a_posterior_says_how_certain_it_is():
    result = gp_posterior(torch.diag(torch.tensor([1.0, 4.0])), torch.zeros(2), noise=1.0)  # 1/2 and 4/5
    assert "is 0.707 to 0.894" in result.verdict
    (plot,) = result.plots()
    assert sum(plot.marks[0].counts) == 2


def test_the_gaps_of_early_stopping_are_drawn_under_their_bound():
    result = equivalent_stopping_time(2 * EYE, torch.ones(2), ridge=0.5)
    line, bound = result.plots()[0].marks
    assert line.y == pytest.approx((1 / 3 - e**-2,) * 2)
    assert bound.at == pytest.approx(0.20364, abs=1e-5)


def test_ensembles_refuse_kernels_that_couple_outputs():
    coupled = torch.eye(4, dtype=torch.float64).reshape(2, 2, 2, 2).transpose(1, 2)
    with pytest.raises(InputError, match=r"kernel_ensemble\(ntk, nngp, y\): ntk must be of shape \(n, n\)"):
        kernel_ensemble(coupled, EYE, torch.ones(2, 2))
