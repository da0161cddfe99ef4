"""What the data are, counted by hand."""

import pytest
import torch
from torch import nn

from gnomon.examination.steps.data import Data
from tests.examination.steps.setting import answered


def test_scale_spread_and_classes():
    x = torch.tensor([[3.0, 1.0, 5.0], [-3.0, 1.0, 5.0], [3.0, -1.0, 5.0], [3.0, -1.0, 5.0], [-3.0, 1.0, 5.0]])
    found = answered(Data, nn.Linear(3, 3), (x, torch.tensor([0, 1, 1, 1, 2])))
    rms = ((9 + 1 + 25) / 3) ** 0.5
    assert found.facts["input scale"] == pytest.approx(rms) and found.facts["largest class"] == pytest.approx(0.6)
    values = {v.name: v.value for v in found.section.values}
    assert values["root mean square of the inputs"] == pytest.approx(rms)
    assert values["mean of the inputs"] == pytest.approx((3 + 1 + 25) / 15)
    assert values["constant features"] == 1 and values["examples that occur before"] == 2
    assert values["largest over smallest spread of a feature"] == pytest.approx(3.0)  # 3 and 1 around other means
    assert values["largest class"] == "60.0%" and values["smallest class"] == 1


def test_targets_that_are_numbers():
    found = answered(Data, nn.Linear(1, 1), (torch.randn(4, 1), torch.tensor([1.0, 1.0, 3.0, 3.0])))
    assert found.section.value("spread of the targets").value == pytest.approx(1.0)  # over n, not n - 1
