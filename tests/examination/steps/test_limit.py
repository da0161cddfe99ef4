"""The very wide version: as many examples as the time allows, and what it would need where it allows none."""

import pytest
import torch
from torch import nn

from gnomon.core.clock import Ticking
from gnomon.examination import STEPS
from gnomon.examination.step import Context, Skipped
from gnomon.examination.steps.limit import LONGER, SIZES, WIDEN, affordable
from gnomon.examination.subject import subject
from gnomon.kernels import Limit
from tests.examination.patients import examined


def network(test=40):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(100 + test, 3, generator=g)
    y = x[:, 0]
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    return subject(net, (x[:100], y[:100]), (x[100:], y[100:]), seed=0)


def test_time_for_nothing_is_said_with_what_it_would_need():
    of, clock = network(), Ticking(1.0)  # a kernel of 16 examples takes a second, whatever it takes
    with pytest.raises(Skipped, match=r"kernel of 64 examples.*would take about \d+ s, and \d+(\.\d+)? s are left"):
        affordable(Limit(of.module), of, Context(0, clock() + 12.0, False, clock))


def test_with_time_the_largest_rung_is_taken():
    of, clock = network(), Ticking(1e-6)
    assert affordable(Limit(of.module), of, Context(0, clock() + 100.0, False, clock)) == max(SIZES)


@pytest.mark.parametrize("layers, cure", [(0, LONGER), (1, WIDEN)])
def test_a_line_has_nothing_to_widen(layers, cure):
    x = torch.randn(900, 3, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] > x[:, 1]).long()

    def make():
        torch.manual_seed(0)
        return nn.Sequential(*[m for _ in range(layers) for m in (nn.Linear(3, 3), nn.ReLU())], nn.Linear(3, 2))

    steps = [step for step in STEPS if step.key in ("architecture", "data", "training", "limit")]
    result = examined(
        make, (x[:500], y[:500]), (x[500:], y[500:]), budget=60, optimizer="sgd", lr=1e-4, epochs=20, steps=steps
    )
    assert [f.cure for f in result.section("limit").findings] == [cure], str(result)
