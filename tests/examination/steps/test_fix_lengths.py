"""How many steps the runs with fixes take, from the time left, and what a step takes; rounding in a kernel."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.examination.fixes.prove import FixTrialBudget
from gnomon.examination.step import OutOfTime, StepContext
from gnomon.examination.steps import fixes
from gnomon.examination.steps.forecast import add_rounding_to_diagonal
from gnomon.examination.subject import build_subject

DATA = torch.zeros(100, 2), torch.arange(100) % 2
CONTEXT = StepContext(0, 9.0, True, FakeClock(0.0))


def run_of(steps, *, epochs=2.0, stopped="finished"):
    """A run of so many steps of one second each."""
    return SimpleNamespace(steps=torch.tensor([0, steps]), epochs=epochs, seconds=float(steps), stopped=stopped)


def lengths(run, seconds, monkeypatch):
    """Steps of the runs with fixes if there are so many seconds, and whether the run is compared as it is."""
    monkeypatch.setattr(fixes, "_run_as_given", lambda trial, *_: f"again, {trial.steps} steps")
    of = build_subject(nn.Linear(2, 2), DATA, DATA, seed=0)
    trial, used, budget = fixes._base(of, run, FixTrialBudget(seconds, 5.0, lambda: 0.0), CONTEXT)
    assert budget.step == 1.0
    return trial.steps, used is run


@pytest.mark.parametrize(
    ("seconds", "steps", "kept"),
    [(261, 200, True), (259, 129, False), (300, 200, True), (100, 50, False), (61, 30, False)],
)
def test_the_run_is_kept_if_one_and_a_third_of_it_fit_and_else_half_of_the_time_is_used(
    seconds, steps, kept, monkeypatch
):
    assert lengths(run_of(200), seconds, monkeypatch) == (steps, kept)


@pytest.mark.parametrize(("seconds", "steps"), [(302, 100), (299, 149), (602, 200), (2000, 300)])
def test_a_third_of_the_time_is_used_if_that_is_a_hundred_steps(seconds, steps, monkeypatch):
    """A run that diverged is repeated; the recipe then has `DEFAULT_STEPS` = 300 steps."""
    monkeypatch.setattr(fixes, "DEFAULT_STEPS", 300)
    monkeypatch.setattr(fixes, "_step_seconds", lambda *_: 1.0)
    assert lengths(run_of(90, stopped="diverged"), seconds, monkeypatch) == (steps, False)


def test_thirty_steps_must_fit_twice(monkeypatch):
    with pytest.raises(OutOfTime, match="Two runs of 30 steps would take about 60 s"):
        lengths(run_of(200), 59, monkeypatch)


def test_the_batch_of_a_run_is_what_it_has_seen_for_each_step():
    of = build_subject(nn.Linear(2, 2), DATA, DATA, seed=0)
    assert fixes._batch_size(of, run_of(50, epochs=8.0)) == 16  # 8 x 100 / 50
    assert fixes._batch_size(of, run_of(50, epochs=0.1)) == 1
    assert fixes._batch_size(of, None) == fixes._batch_size(of, run_of(0)) == min(fixes.DEFAULT_BATCH_SIZE, 100)


@pytest.mark.parametrize(("epochs", "size", "steps"), [(None, 30, fixes.DEFAULT_STEPS), (4, 30, 12), (4, 200, 4)])
def test_the_user_s_epochs_are_counted_in_whole_batches(epochs, size, steps):
    of = SimpleNamespace(recipe=SimpleNamespace(epochs=epochs), train=DATA[0])
    assert fixes._default_steps(of, size) == steps


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rounding_is_n_times_epsilon_times_the_largest_diagonal_entry(dtype):
    kernel = torch.tensor([[2.0, -1.0], [-1.0, -8.0]], dtype=torch.float64)
    added = add_rounding_to_diagonal(kernel, dtype) - kernel
    assert added[0, 1] == added[1, 0] == 0.0
    assert added.diagonal().tolist() == pytest.approx([2 * 8 * torch.finfo(dtype).eps] * 2, rel=1e-1)
