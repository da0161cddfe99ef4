"""What a kernel thinks of labels: its test by shuffling, and intervals by hand."""

from math import sqrt

import pytest
import torch
from torch import nn

from gnomon.examination.steps.kernel import SHUFFLES, TangentKernel, _better, _shuffled
from gnomon.examination.subject import subject
from gnomon.tangent import alignment
from tests.examination.steps.setting import answered


def test_labels_along_the_kernel_have_the_smallest_chance_a_test_can_give():
    x = torch.randn(60, 4)
    found = answered(TangentKernel, nn.Linear(4, 2), (x, (x[:, 0] > 0).long()))
    assert found.facts["label p"] == pytest.approx(1 / (1 + SHUFFLES))  # never zero: the labels themselves count
    accuracy = found.section.value("leave-one-out accuracy of the kernel")
    half = 1.96 * sqrt(accuracy.value * (1 - accuracy.value) / 60)
    assert 0.8 < accuracy.value < 1 and accuracy.low == pytest.approx(accuracy.value - half)
    assert accuracy.high == pytest.approx(min(1.0, accuracy.value + half))


def test_shuffled_alignments_are_alignments_of_shuffled_labels():
    x = torch.randn(20, 3, dtype=torch.float64)
    kernel, y = x @ x.T, torch.randn(20, 2, dtype=torch.float64)
    found = _shuffled(kernel, y - y.mean(0), 5)
    generator = torch.Generator().manual_seed(5)
    for value in found[:10].tolist():
        assert value == pytest.approx(alignment(kernel, y[torch.randperm(20, generator=generator)]), rel=1e-10)


@pytest.mark.parametrize("accuracy, better", [(0.5 + 2.9 * 0.05, False), (0.5 + 3.1 * 0.05, True)])
def test_better_than_a_guess_is_three_of_its_deviations(accuracy, better):
    x = torch.randn(100, 2)
    given = subject(nn.Linear(2, 2), (x, torch.arange(100) % 2), None, optimizer=None, seed=0)
    y = given.targets(given.train.y).double()
    assert _better(given, y - y.mean(0), {"kernel accuracy": accuracy}) == better  # the guess has 0.5 +- 0.05


@pytest.mark.parametrize("outputs", [1, 2])
def test_labels_that_nothing_tells_are_guessed_by_the_largest_class(outputs):
    """The fit to the others tends to their mean, which says the largest class: right in 30 of 40 cases."""
    x = torch.randn(40, 3)
    y = torch.tensor([0, 0, 0, 1]).repeat(10)
    found = answered(TangentKernel, nn.Linear(3, outputs), (x, y))
    assert found.facts["kernel accuracy"] == pytest.approx(0.75, abs=0.1)
