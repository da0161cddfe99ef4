"""Advice for networks that fit badly: each threshold with a case on both sides, from runs written by hand."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon.core.results import Curves
from gnomon.examination import advice
from gnomon.examination.good_results import avoided_error, results_are_good
from gnomon.training import SGD, Adam, TrainingRun
from gnomon.training.torch_optimizers import resolve_optimizer


def made_run(losses, steps, *, epochs, optimizer=None):
    """A run with these losses at these steps."""
    curves = Curves(torch.tensor(steps).double(), torch.tensor(losses).double(), "loss")
    return TrainingRun(nn.Linear(1, 1), torch.tensor(steps), curves, {}, optimizer or Adam(), "finished", 1.0, epochs)


def length(losses, steps, *, epochs=1.0, examples=100):
    return advice._length(made_run(losses, steps, epochs=epochs), steps[-1], examples)


@pytest.mark.parametrize(("steps", "short"), [(299, True), (300, False)])
def test_a_run_below_three_hundred_steps_is_short(steps, short):
    found = length([2.0, 1.0, 1.0], [0, steps // 2, steps])
    assert any(f"only {steps} steps" in words for words in found) is short
    assert length([2.0, 1.0], [0, 1]) == ["Train longer: the run had only 1 step.", *length([2.0, 1.0], [0, 1])[1:]]


@pytest.mark.parametrize(("middle", "falling"), [(1.19, True), (1.09, False)])
def test_a_tenth_of_the_fall_in_the_second_half_is_still_falling(middle, falling):
    """From 2 to 1 with this loss in the middle: its distance from 1 is the share."""
    found = length([2.0, 1.5, middle, 1.05, 1.0], [0, 100, 200, 300, 400])
    assert found == (
        [f"Train longer: {middle - 1:.0%} of the fall of the loss came in the second half of the steps."]
        if falling
        else []
    )
    assert length([1.0, 1.1, 1.2, 1.2, 1.2], [0, 100, 200, 300, 400]) == []  # it did not fall


@pytest.mark.parametrize(("epochs", "steps", "large"), [(26.0, 100, True), (24.0, 100, False), (90.0, 300, False)])
def test_a_quarter_of_the_examples_is_a_large_batch_in_a_short_run(epochs, steps, large):
    """Of 100 examples, 26 in each of 100 steps are seen in 26 passes."""
    found = length([2.0, 1.0, 1.0], [0, steps // 2, steps], epochs=epochs)
    assert any("instead of 26 of 100" in words for words in found) is large
    assert any("smaller batches" in words for words in found) is large


@pytest.mark.parametrize(("rate", "count", "said"), [(0.39, 2, 0), (0.4, 2, 1), (0.1, 3, 1), (0.5, 4, 2)])
def test_dropout_and_bounded_activations(rate, count, said):
    net = nn.Sequential(nn.Dropout(rate), nn.Dropout(0.1), *(nn.Tanh() for _ in range(count)), nn.Sigmoid())
    found = advice._layers(net)
    assert len(found) == said
    assert (f"the {count} hidden layers" in " ".join(found)) is (count >= 3)
    assert (f"now {rate:g}" in " ".join(found)) is (rate >= 0.4)


@pytest.mark.parametrize(
    ("optimizer", "high"),
    [(torch.optim.AdamW, 0.1), (torch.optim.Adam, 1e-3), (torch.optim.SGD, 1e-3)],
)
def test_weight_decay_is_high_from_a_tenth_if_decoupled_and_from_a_thousandth_otherwise(optimizer, high):
    for factor, said in ((0.99, False), (1.01, True)):
        rule = resolve_optimizer(lambda p, f=factor: optimizer(p, lr=0.1, weight_decay=f * high), nn.Linear(1, 1))
        found = advice._optimizer(SimpleNamespace(optimizer=rule))
        assert any("weight_decay" in words for words in found) is said


def test_three_sentences_are_given_and_size_is_the_last_resort():
    net = nn.Sequential(nn.Dropout(0.9), nn.Tanh(), nn.Tanh(), nn.Tanh(), nn.Linear(3, 2))
    run = made_run([2.0, 1.0, 1.0], [0, 10, 20], epochs=20.0, optimizer=SGD(0.1))
    assert advice.advice_for_underfit(net, run, examples=100).count(". ") == 2
    calm = made_run([2.0, 1.0, 1.0, 1.0, 1.0], [0, 100, 200, 300, 400], epochs=4.0)
    assert "now 8 parameters" in advice.advice_for_underfit(nn.Linear(3, 2), calm, examples=100)


@pytest.mark.parametrize(("accuracy", "good"), [(0.879, False), (0.881, True)])
def test_good_results_avoid_four_fifths_of_the_errors_of_guessing(accuracy, good):
    """Guessing the class of 40 % is wrong for 60 %, and a fifth of that is 12 %; labels of -100 do not count."""
    y = torch.tensor([0] * 4 + [1] * 3 + [2] * 3 + [-100] * 7)
    run = SimpleNamespace(test_accuracy=torch.tensor([0.1, accuracy]), diverges=False)
    assert results_are_good(run, y) is good
    assert not results_are_good(SimpleNamespace(test_accuracy=torch.tensor([1.0]), diverges=True), y)
    assert avoided_error(0.7, 0.4) == pytest.approx(0.5) and avoided_error(0.1, 0.4) == pytest.approx(-0.5)
