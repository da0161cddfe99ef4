"""The numbers behind a ranking, on networks whose training and whose kernel are known by hand."""

from math import log

import pytest
import torch
from torch import nn

from gnomon.core.inputs.strata import stratified_sample
from gnomon.core.machine.clock import FakeClock
from gnomon.examination import rank
from gnomon.examination.short_run import ShortRun, extrapolate_error, extrapolate_gap, short_run
from gnomon.examination.subject import build_subject
from gnomon.training import SGD

SIGNS = torch.tensor([1.0, -1.0]).repeat(20)[:, None]


def slope(start=0.0):
    """One weight: y = w x."""
    layer = nn.Linear(1, 1, bias=False)
    nn.init.constant_(layer.weight, start)
    return layer


def parts(y, examples, seed):
    """Examples that are held out and those that are trained on, by their number."""
    drawn = stratified_sample(len(y), y, examples, seed=seed)
    held = stratified_sample(len(drawn), y[drawn], max(1, round(0.25 * len(drawn))), seed=seed)
    rest = [i for i in range(len(drawn)) if i not in set(held.tolist())]
    return drawn[held], drawn[rest]


def test_a_short_run_of_one_weight():
    """Half the squared error of w x against 3 x has the gradient w - 3: after t steps it is 9 (1 - lr)^(2 t) / 2."""
    y = 3 * SIGNS  # not -1 and 1, which would be classes
    network = build_subject(slope(), (SIGNS, y), None, seed=0)
    done = short_run(network, SGD(0.25), examples=24, steps=6, batch=8, seed=0, seconds=None, clock=FakeClock(0.0))
    held, rest = parts(y, 24, 0)
    assert (len(held), len(rest)) == (6, 18)
    spread = [float(y[i].var(correction=0)) / 9 for i in (held, rest)]
    assert [done.half, done.last] == pytest.approx([0.75**6 / spread[0], 0.75**12 / spread[0]], rel=1e-5)
    assert [done.trained_half, done.trained_last] == pytest.approx(
        [0.75**6 / spread[1], 0.75**12 / spread[1]], rel=1e-5
    )
    assert done.loss == pytest.approx(9 * 0.75**12 / 2, rel=1e-5)
    assert (done.steps, done.diverged, done.guess) == (6, False, 1.0)


def test_a_guess_takes_the_largest_class():
    """Three of four labels are 0: a guess is wrong on a quarter of the examples held out."""
    y = torch.tensor([0, 0, 0, 1]).repeat(12)
    x = torch.randn(48, 2, generator=torch.Generator().manual_seed(0))
    network = build_subject(nn.Linear(2, 2), (x, y), None, seed=0)
    done = short_run(network, SGD(1e-6), examples=48, steps=2, batch=8, seed=0, seconds=None, clock=FakeClock(0.0))
    held, _ = parts(y, 48, 0)
    assert done.guess == pytest.approx(float((y[held] == 1).float().mean())) and 0.1 < done.guess < 0.4


def run(half, last, trained_half, trained_last, steps=100, guess=1.0):
    return ShortRun(half, last, trained_half, trained_last, 1.0, steps, False, guess)


def test_an_error_of_nine_tenths_of_a_guess_is_the_limit_of_learning():
    for guess in (1.0, 0.5):
        assert run(0.9, 0.901 * guess, 0.9, 0.9, guess=guess).is_stuck
        assert not run(0.9, 0.899 * guess, 0.9, 0.9, guess=guess).is_stuck


def test_power_laws_are_trusted_over_two_doublings():
    """t falls by 0.8 and the gap grows by 1.25 with each doubling of the steps, over at most two doublings."""
    half, last = 0.5 + 0.08, 0.4 + 0.1
    for steps, doublings in ((100, 0), (200, 1), (400, 2), (800, 2), (6400, 2)):
        grown = 0.4 * 0.8**doublings + 0.1 * 1.25**doublings
        assert run(half, last, 0.5, 0.4).after(steps) == pytest.approx((last * grown) ** 0.5, rel=1e-12)
    assert extrapolate_error(0.4, 0.5, 100, 141.4213562373095) == pytest.approx(0.4 * 0.8**0.5)
    assert extrapolate_error(0.0, 0.5, 100, 200) == 0.0 and extrapolate_error(0.3, 0.0, 100, 200) == 0.3
    assert extrapolate_gap(0.0, 0.5, 100, 200) == 0.0 and extrapolate_gap(0.1, 0.08, 0, 200) == 0.1
    falling = run(0.6, 0.2, 0.5, 0.4)  # better on the others than on its own: the gap is negative and stays
    assert falling.after(200) == pytest.approx((0.2 * (0.4 * 0.8 - 0.2)) ** 0.5)
    assert run(0.6, 0.1, 0.5, 0.4).after(400) == 0.0  # below zero it is zero


def test_spread_and_alignment_of_a_kernel_by_hand():
    """Theta = x x' + 1 of a line with a bias: the part of its trace that is left without the mean of its entries."""
    x = torch.tensor([[0.0], [1.0], [3.0], [4.0]]).repeat(4, 1)
    y = 2 * x[:, 0] + 1
    (found,) = rank({"line": nn.Linear(1, 1)}, (x, y), steps=40, batch=4, optimizer=SGD(1e-3)).candidates
    kernel = x.double() @ x.double().T + 1
    n = len(x)
    center = torch.eye(n, dtype=torch.float64) - 1 / n
    centered = center @ kernel @ center
    assert found.spread == pytest.approx(float(centered.trace() / kernel.trace()), rel=1e-6)
    assert found.alignment == pytest.approx(1.0, abs=1e-6)  # targets lie on the one direction that is left
    assert found.trainable and found.short_run.steps == 40


def test_half_of_the_planned_steps_are_taken_and_at_least_forty():
    x = torch.randn(40, 1, generator=torch.Generator().manual_seed(0))
    for planned, taken in ((30, 30), (60, 40), (200, 100)):
        (found,) = rank({"line": slope()}, (x, 2 * x), steps=planned, batch=8, optimizer=SGD(1e-3)).candidates
        assert found.short_run.steps == taken
        assert found.score == pytest.approx(1 - found.short_run.after(planned))


def test_networks_that_cannot_tell_examples_apart_come_last():
    """A network that ignores its input has a constant kernel, of spread zero."""

    class Constant(nn.Module):
        def __init__(self):
            super().__init__()
            self.value = nn.Parameter(torch.tensor(0.3))

        def forward(self, x):
            return self.value + 0 * x

    x = torch.randn(40, 1, generator=torch.Generator().manual_seed(0))
    ranking = rank({"constant": Constant(), "line": slope()}, (x, 2 * x), steps=40, batch=8, optimizer=SGD(0.1))
    line, constant = ranking.candidates
    assert (line.name, constant.name) == ("line", "constant") and not constant.trainable
    assert constant.spread == pytest.approx(0.0, abs=1e-9) and constant.alignment == 0.0
    assert ranking.examples == 40
    (exploded,) = rank({"line": slope()}, (x, 2 * x), steps=40, batch=8, optimizer=SGD(1e9)).candidates
    assert (exploded.score, exploded.trainable) == (0.0, False)


def test_the_deviation_adds_counting_and_extrapolation():
    """Half of the error is left by each doubling: counting 0.1 of 900, and log(2)^2 / 12 of the extrapolation."""
    run = ShortRun(0.2, 0.1, 0.2, 0.1, 0.5, 100, False, held=900)
    assert run.deviation(200) == pytest.approx((0.9 / 90 + log(2) ** 2 / 12) ** 0.5)
    assert run.deviation(800) == pytest.approx((0.9 / 90 + log(4) ** 2 / 12) ** 0.5)  # two doublings at most
    none = ShortRun(0.0, 0.0, 0.0, 0.0, 0.5, 100, False, held=50)  # half an error of 50 stands for zero
    assert none.deviation(100) == pytest.approx((0.99 / 0.5) ** 0.5)
    unknown = ShortRun(0.5, 0.5, 0.5, 0.5, 0.5, 100, False, held=0)
    assert (
        unknown.deviation(100) == pytest.approx(1.0)
        and ShortRun(2.0, 2.0, 2.0, 2.0, 1.0, 1, False, held=9).deviation(1) == 0.0
    )


@pytest.mark.parametrize(
    ("last", "half", "steps", "gap"),
    [(0.03, -0.5, 20, 0.06), (0.03, 0.0, 40, 0.12), (0.03, 0.02, 40, 0.0675), (0.03, 0.02, 1000, 0.0675),
     (0.03, 0.09, 40, 0.03), (-0.01, 0.02, 40, -0.01), (0.03, 0.02, 5, 0.03)],
)  # fmt: skip
def test_a_gap_grows_by_at_most_a_factor_two_for_two_doublings(last, half, steps, gap):
    assert extrapolate_gap(last, half, 10, steps) == pytest.approx(gap)
