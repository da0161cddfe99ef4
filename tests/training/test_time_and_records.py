"""When a run is measured and stopped, on a clock that the test moves, and when a run was too short."""

import inspect

import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.core.results import Curves
from gnomon.training import SGD, train
from gnomon.training.ablation import Ablation
from gnomon.training.adversary import Adversary
from gnomon.training.evaluate import Objective
from gnomon.training.plan import RecordingPlan
from gnomon.training.recorder import RecordTime
from gnomon.training.run import TrainingRun

X, Y = torch.linspace(0, 1, 7).double()[:, None], torch.linspace(1, 2, 7).double()


class Timed(nn.Linear):
    """A linear layer of which each training pass takes one second of a clock."""

    def __init__(self, now):
        super().__init__(1, 1, dtype=torch.float64)
        self.now = now

    def forward(self, x):
        self.now[0] += float(self.training)
        return super().forward(x)


def timed_run(costs, **options):
    """A run on a clock that starts at 100: a step takes 1 s, the k-th record ``costs[k]`` (its last entry from then on)."""
    now = [100.0]

    def watcher(step, model, loss):
        now[0] += costs.pop(0) if len(costs) > 1 else costs[0]

    return train(
        Timed(now), (X, Y), optimizer=SGD(0.1), watch={"t": watcher}, clock=lambda: now[0], in_place=True, **options
    )


def test_records_keep_to_their_share_of_the_time_of_the_steps():
    """Half of the steps' time: 3 + 3 s of records need 12 s of steps, 8 + 5 s need 26 s, and 13 + 5 s need 36 s."""
    run = timed_run([3.0, 5.0], steps=40, record=RecordingPlan(1, share=0.5))
    assert run.steps.tolist() == [0, 12, 26, 36, 40]
    assert run.seconds == 40 + 3 + 4 * 5
    assert timed_run([3.0], steps=5, record=1).steps.tolist() == list(range(6))
    assert not RecordTime(0.5, last=2.0, spent=4.0).affordable(11.9)
    assert RecordTime(0.5, last=2.0, spent=4.0).affordable(12.0)


def test_the_time_of_the_last_record_is_kept_from_the_time_of_the_steps():
    """3 s for the first record, 3 s for the last: after 6 steps a record ends later than 11.5 s, after 5 it would not."""
    run = timed_run([3.0], steps=40, record=RecordingPlan(100, share=0.5), budget=11.5)
    assert (run.steps.tolist(), run.stopped, run.seconds) == ([0, 6], "time", 12.0)
    run = timed_run([3.0], steps=40, record=100, budget=11.5)
    assert (run.steps.tolist(), run.stopped, run.seconds) == ([0, 9], "time", 15.0)


@pytest.mark.parametrize("share", [0.0, -0.1, 1.01])
def test_a_share_outside_of_zero_to_one_is_refused(share):
    with pytest.raises(InputError, match="share"):
        timed_run([0.0], steps=3, record=RecordingPlan(1, share=share))
    assert timed_run([0.0], steps=3, record=RecordingPlan(1, share=1.0)).steps.tolist() == [0, 1, 2, 3]


def test_epochs_count_how_often_each_example_was_used():
    net = nn.Linear(1, 1).double()
    assert train(net, (X, Y), steps=5).epochs == 5
    assert train(net, (X, Y), steps=6, batch=3).epochs == pytest.approx(18 / 7)
    assert inspect.signature(train).parameters["steps"].default == 1000


def test_a_sample_of_records_has_the_size_that_was_asked_for():
    whole = Objective.of((X, Y), nn.Linear(1, 1).double(), None)
    assert [len(whole.sample(n, 0)) for n in (None, 3, 6, 7, 8)] == [7, 3, 6, 7, 7]


def test_the_loss_of_a_step_is_the_mean_over_batches_of_unequal_size():
    values = []

    class Watching(torch.optim.Optimizer):
        def __init__(self, parameters):
            super().__init__(parameters, {})

        def step(self, closure):
            values.append(float(closure()))

    net = nn.Linear(1, 1).double()
    run = train(net, [(X[:3], Y[:3]), (X[3:6], Y[3:6]), (X[6:], Y[6:])], optimizer=Watching, steps=1)
    with torch.no_grad():
        expected = float((net(X)[:, 0] - Y).square().mean()) / 2
    assert values == [pytest.approx(expected, rel=1e-12)]
    assert run.optimizer.lr == 1.0  # of an optimizer without a learning rate
    assert run.times.tolist() == [0.0, 1.0]


def test_a_factory_may_hold_some_of_the_parameters_and_no_others():
    net, other = nn.Linear(1, 1).double(), nn.Parameter(torch.zeros(1))
    run = train(net, (X, Y), optimizer=lambda p: torch.optim.SGD(p[:1], lr=0.1), steps=2)
    assert torch.equal(run.model.bias, net.bias) and not torch.equal(run.model.weight, net.weight)
    with pytest.raises(InputError):
        train(net, (X, Y), optimizer=lambda p: torch.optim.SGD([*p, other], lr=0.1), steps=2)


@pytest.mark.parametrize(("entry", "allowed"), [(-2e-5, False), (-0.9e-5, True), (1 + 0.9e-5, True), (1 + 2e-5, False)])
def test_an_adversary_refuses_inputs_outside_of_its_bounds(entry, allowed):
    net, x = nn.Linear(1, 1).double(), torch.tensor([[0.5], [entry]]).double()
    objective = Objective.of((x, Y[:2]), net, None)
    if allowed:
        assert Adversary(0.1).moved_inputs(net, objective, *objective.at(torch.arange(2)), 1).shape == x.shape
        return
    with pytest.raises(InputError, match="bounds"):
        Adversary(0.1).moved_inputs(net, objective, *objective.at(torch.arange(2)), 1)


def test_ingredients_that_help_are_sorted_by_their_effect():
    found = Ablation(0.9, {"a": 0.1, "b": 0.4, "c": 0.2, "d": 0.3, "e": -0.5}, dict.fromkeys("abcde", 0.15), 3)
    assert found.helps == ("b", "d", "c")


def made_run(losses, steps, *, epochs=10.0, accuracy=None, stopped="time"):
    """A run with these losses at these steps."""
    kept = None if accuracy is None else torch.tensor([0.5] * (len(losses) - 1) + [accuracy]).double()
    curves = Curves(torch.tensor(steps).double(), torch.tensor(losses).double(), "loss", accuracy=kept)
    return TrainingRun(nn.Linear(1, 1), torch.tensor(steps), curves, {}, SGD(0.1), stopped, 1.0, epochs)


FALLING = ([1.0, 0.5, 0.4], [0, 60, 120])


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (made_run(*FALLING), "17%"),  # 0.1 of a fall of 0.6 is in the second half
        (made_run(*FALLING, stopped="finished"), ""),
        (made_run([1.0, 0.51, 0.5], [0, 60, 120]), ""),  # 2 % in the second half
        (made_run([1.0, 0.545, 0.5], [0, 60, 120]), ""),  # 9 %
        (made_run([1.0, 0.555, 0.5], [0, 60, 120]), "11%"),
        (made_run([1.0, 0.7, 0.555, 0.5], [0, 30, 60, 120]), "11%"),
        (made_run([1.0, 0.7, 0.545, 0.5], [0, 30, 60, 120]), ""),
        (made_run([1.0, 0.7, 0.545, 0.5], [0, 30, 61, 120]), "40%"),  # from step 30 on
        (made_run([1.0, 0.5], [0, 120]), ""),  # nothing between is known
        (made_run([1.0, 0.55, 0.5], [0, 72, 120]), "25%"),  # on the line from 1 to 0.55, the loss of step 60 is 0.625
        (made_run([1.0, 0.5125, 0.5], [0, 61, 120]), ""),  # 0.521: 4 %
        (made_run([1.0, 1.1, 1.1], [0, 60, 120]), ""),  # no fall
        (made_run(*FALLING, accuracy=0.98), ""),
        (made_run(*FALLING, accuracy=0.97), "17%"),
        (made_run([1.0, 0.5, 0.4], [0, 50, 99]), "99 steps"),
        (made_run([1.0, 0.5, 0.4], [0, 50, 100]), "17%"),
        (made_run([1.0, 0.51, 0.5], [0, 60, 120], epochs=0.75), "75% of one pass"),
        (made_run([1.0, 0.51, 0.5], [0, 60, 120], epochs=1.0), ""),
        (made_run([1.0, 0.5, 0.4], [0, 50, 99], epochs=2.5), "2.5 passes"),
        (made_run([1.0], [0]), "no step"),
        (made_run([1.0], [0], stopped="finished"), ""),
        (made_run([1.0, 2.0], [0, 120]), ""),  # diverged
    ],
)
def test_a_run_was_too_short_if_its_loss_was_still_falling(run, said):
    assert (said in run.shortage) if said else run.shortage == ""


@pytest.mark.parametrize(
    ("losses", "last", "diverged"),
    [([1.0, 1.19], 100, False), ([1.0, 1.21], 100, True), ([1.0, 9.9], 99, False), ([1.0, 10.1], 99, True),
     ([-2.0, -1.61], 100, False), ([-2.0, -1.59], 100, True)],
)  # fmt: skip
def test_a_run_diverges_if_its_loss_rose_by_a_fifth_or_early_tenfold(losses, last, diverged):
    assert made_run(losses, [0, last], stopped="finished").diverges is diverged
