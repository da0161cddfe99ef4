"""Dead units of a trained network: a warning where it learned all the same, a fault where it did not."""

import pytest
import torch
from torch import nn

from gnomon.core.results import Level
from gnomon.examination.steps.architecture import ArchitectureStep
from gnomon.examination.steps.columns import ColumnsStep
from gnomon.examination.steps.outcome import OutcomeStep
from gnomon.examination.steps.training import TrainingStep
from tests.examination.patients import examined

STEPS = (ArchitectureStep(), ColumnsStep(), TrainingStep(), OutcomeStep())


def half_dead():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
    with torch.no_grad():
        net[0].bias[:12] = -100.0  # never active, so never moved
    return net


@pytest.mark.parametrize("lr, level", [(0.02, Level.WARNING), (1e-9, Level.PROBLEM)], ids=["learned", "did not learn"])
def test_dead_units_are_a_fault_where_the_network_did_not_learn(lr, level):
    x = torch.randn(300, 2, generator=torch.Generator().manual_seed(1))
    result = examined(half_dead, (x, (x[:, 0] > 0).long()), budget=20, lr=lr, epochs=30, examination_steps=STEPS)
    found = {finding.kind: finding for finding in result.section("outcome").findings}
    assert found["dead-units"].level is level, str(result)
    assert result.healthy is (level is Level.WARNING)
