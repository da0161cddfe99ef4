"""What the data are, counted by hand."""

import pytest
import torch
from torch import nn

from gnomon.checks import signal_propagation
from gnomon.examination.steps.data import DataStep
from tests.examination.steps.setting import answered

CLASSES = torch.tensor([0, 1]).repeat(20)


def test_scale_spread_and_classes():
    x = torch.tensor([[3.0, 1.0, 5.0], [-3.0, 1.0, 5.0], [3.0, -1.0, 5.0], [3.0, -1.0, 5.0], [-3.0, 1.0, 5.0]])
    x, y = x.repeat(4, 1), torch.tensor([0, 1, 1, 1, 2]).repeat(4)
    result = answered(DataStep, nn.Linear(3, 3), (x, y))
    rms = ((9 + 1 + 25) / 3) ** 0.5
    assert result.product.rms == pytest.approx(rms) and result.product.largest_class == pytest.approx(0.6)
    values = {v.name: v.value for v in result.content.values}
    assert values["root mean square of the inputs"] == pytest.approx(rms)
    assert values["mean of the inputs"] == pytest.approx((3 + 1 + 25) / 15)
    assert values["constant features"] == 1 and values["examples that repeat an earlier example"] == 17
    assert values["largest over smallest spread of a feature"] == pytest.approx(3.0)  # 3 and 1 around other means
    assert values["largest class"] == "60.0%" and values["smallest class"] == 4
    assert result.content.findings == () and result.content.answer == (
        "There are 20 training examples; the largest class has 60.0% of them. "
        "The typical size of the inputs is 3.42 (root mean square); about 1 is best."
    )


def test_targets_that_are_numbers():
    result = answered(DataStep, nn.Linear(1, 1), (torch.randn(4, 1), torch.tensor([1.0, 1.0, 3.0, 3.0])))
    values = {v.name: v.value for v in result.content.values}
    assert values["spread of the targets"] == pytest.approx(1.0)  # over n, not n - 1


@pytest.mark.parametrize("rms", [0.009, 0.011, 9.9, 10.1])
def test_the_range_of_inputs_is_that_of_signal_propagation(rms):
    """The mean square of the inputs has one range, whoever measures it."""
    x = torch.randn(40, 4)
    x = x * rms / x.square().mean().sqrt()
    net = nn.Linear(4, 2)
    here = [f.kind for f in answered(DataStep, net, (x, CLASSES)).content.findings]
    there = [f for f in signal_propagation(net, x).findings if f.where == "inputs"]
    assert here == (["input-scale"] if rms in (0.009, 10.1) else []) and bool(here) == bool(there)


def test_classes_without_examples_are_a_warning_and_one_class_is_a_fault():
    x = torch.randn(40, 4)
    (missing,) = answered(DataStep, nn.Linear(4, 5), (x, CLASSES)).content.findings
    assert missing.level.name == "WARNING" and missing.message == "3 of 5 classes have no training example."
    (one,) = answered(DataStep, nn.Linear(4, 2), (x, torch.zeros(40, dtype=torch.long))).content.findings
    assert one.level.name == "PROBLEM" and one.kind == "one-class"


@pytest.mark.filterwarnings("ignore::gnomon.core.inputs.images.AdaptedInputWarning")
def test_what_was_done_to_images_is_said_in_one_line():
    images = torch.randint(0, 256, (40, 8, 8), dtype=torch.uint8)
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(72, 2))
    result = answered(DataStep, net, (images, CLASSES))
    assert result.content.notes == ("uint8 inputs were scaled to [0, 1] and a channel axis was added",)
    assert result.product.rms == pytest.approx(float((images.double() / 255).square().mean().sqrt()), rel=1e-6)
