"""What a kernel says of labels: the test by shuffling, what is better than a guess, and numbers by hand."""

import pytest
import torch
from scipy.stats import binomtest
from torch import nn

from gnomon.core.metrics import effective_rank
from gnomon.examination.steps.kernel import KernelStep, accuracy_of_guessing, better_than_guess
from gnomon.examination.subject import build_subject
from gnomon.linalg.leave_one_out import LeaveOneOut
from gnomon.tangent import ntk
from tests.examination.steps.setting import answered


def test_labels_along_the_kernel_have_the_smallest_p_value_and_an_accuracy_with_its_interval():
    x = torch.randn(60, 4)
    net = nn.Linear(4, 2)
    result = answered(KernelStep, net, (x, (x[:, 0] > 0).long()))
    assert result.product.labels.p_value == pytest.approx(1 / 401)
    values = {v.name: v for v in result.content.values}
    accuracy = values["leave-one-out accuracy of the kernel"]
    exact = binomtest(round(60 * accuracy.value), 60).proportion_ci(0.95, method="exact")
    assert 0.8 < accuracy.value < 1 and (accuracy.interval.low, accuracy.interval.high) == pytest.approx(tuple(exact))
    eigenvalues = torch.linalg.eigvalsh(ntk(net, x).double())
    assert values["largest eigenvalue"].value == pytest.approx(float(eigenvalues[-1]), rel=1e-9)
    assert values["effective rank"].value == pytest.approx(effective_rank(eigenvalues), rel=1e-9)
    assert result.content.findings == ()


@pytest.mark.parametrize("hits, better", [(64, False), (66, True)])
def test_better_than_a_guess_is_three_of_its_deviations(hits, better):
    """Of 100 signs: the guess has 0.5 with a deviation of 0.05, so the line is at 65."""
    y = torch.where(torch.arange(100) % 2 == 0, 1.0, -1.0)[:, None].double()
    predictions = torch.where(torch.arange(100)[:, None] < hits, y, -y)
    judged = LeaveOneOut(y, predictions, y, 0.1, torch.zeros(1).double())
    assert better_than_guess(judged, 0.5) == better


@pytest.mark.parametrize("error, better", [(0.81, False), (0.79, True)])
def test_for_numbers_the_line_is_two_over_the_root_of_n(error, better):
    y = torch.where(torch.arange(100) % 2 == 0, 3.0, -3.0)[:, None].double()
    judged = LeaveOneOut(y, y * (1 - error**0.5), y, 0.1, torch.zeros(1).double())
    assert judged.error == pytest.approx(error) and better_than_guess(judged, None) == better


def test_the_guess_is_the_largest_class():
    x = torch.randn(40, 3)
    network = build_subject(nn.Linear(3, 2), (x, torch.tensor([0, 0, 0, 1]).repeat(10)), None, optimizer=None, seed=0)
    assert accuracy_of_guessing(network, network.probe.y) == 0.75


@pytest.mark.parametrize("outputs", [1, 2])
def test_labels_that_nothing_tells_are_guessed_by_the_largest_class(outputs):
    """The fit to the others tends to their mean, which says the largest class: right in three of four cases."""
    x = torch.randn(300, 3)
    y = torch.tensor([0, 0, 0, 1]).repeat(75)
    result = answered(KernelStep, nn.Linear(3, outputs), (x, y))
    assert result.product.prediction.accuracy == pytest.approx(0.75, abs=0.1)
    (finding,) = result.content.findings
    assert finding.kind == "labels-unrelated" and "guessing the largest class: 75.0%" in finding.message


class Constant(nn.Module):
    """An output that the inputs have no part in."""

    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return self.bias + 0 * x[:, :1]


def test_a_network_that_cannot_tell_examples_apart_is_a_fault():
    result = answered(KernelStep, Constant(), (torch.randn(40, 3), torch.arange(40) % 2))
    (finding,) = result.content.findings
    assert finding.kind == "indistinct-examples" and finding.level.name == "PROBLEM" and result.product is None


def narrow(norm):
    """Depthwise and pointwise convolutions of small weights, of which only batch norm makes a signal."""
    torch.manual_seed(0)
    layers, width = [nn.Conv2d(3, 8, 3, 2, 1, bias=False), norm(8), nn.Hardswish()], 8
    for _ in range(2):
        layers += [nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False), norm(width), nn.Hardswish()]
        layers += [nn.Conv2d(width, width, 1, bias=False), norm(width), nn.Hardswish()]
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 2))
    with torch.no_grad():
        for part in net:
            if isinstance(part, nn.Conv2d):
                part.weight.mul_(0.1)
    return net.eval()


def test_batch_norm_that_has_seen_no_batch_is_no_fault_and_small_weights_without_it_are():
    x, y = torch.randn(40, 3, 8, 8, generator=torch.Generator().manual_seed(0)), torch.arange(40) % 2
    fresh = answered(KernelStep, narrow(nn.BatchNorm2d), (x, y))
    assert fresh.content.findings == () and fresh.state == "unsure" and "in eval mode" in fresh.content.answer
    bare = answered(KernelStep, narrow(lambda width: nn.Identity()), (x, y))
    assert [finding.kind for finding in bare.content.findings] == ["indistinct-examples"]
