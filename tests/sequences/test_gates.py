"""Gates of LSTM and GRU on inputs that vary, against a loop over torch's cells."""

from math import exp, inf, log

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.sequences.gates import GateStatistics, _run


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize(
    ("kind", "gates"), [(nn.LSTM, ("input", "forget", None, "output")), (nn.GRU, ("reset", "update"))]
)
def test_mean_gates_and_time_scales_are_those_of_the_equations(kind, gates, batch_first):
    torch.manual_seed(0)
    net, x = kind(3, 4, batch_first=batch_first).double(), torch.randn(5, 7, 3).double()
    found = sequences.gate_statistics(net, x if batch_first else x.transpose(0, 1))
    with torch.no_grad():
        states = net(x if batch_first else x.transpose(0, 1))[0]
    states = (states if batch_first else states.transpose(0, 1)).numpy()
    before = np.concatenate([np.zeros((5, 1, 4)), states[:, :-1]], 1)
    w, u, b, c = (p.detach().numpy() for p in (net.weight_ih_l0, net.weight_hh_l0, net.bias_ih_l0, net.bias_hh_l0))
    opened = 1 / (1 + np.exp(-(x.numpy() @ w.T + before @ u.T + b + c)))
    made = _run(net, "l0", x)[1]
    for i, name in enumerate(gates):
        if name is not None:
            np.testing.assert_allclose(made[name].detach().numpy(), opened[..., 4 * i : 4 * i + 4], rtol=1e-10)
            assert found.gates[0][name] == pytest.approx(opened[..., 4 * i : 4 * i + 4].mean(), rel=1e-10)
    scales = np.sort(-1 / np.log(opened[..., 4:8]).mean((0, 1)))
    np.testing.assert_allclose(found.scales[0], scales, rtol=1e-10)
    assert found.longest == pytest.approx(scales[-1]) and sequences.gate_statistics(net, x[:, :1]).scales != ()


def test_the_reverse_direction_and_the_second_layer_read_what_torch_gives_them():
    torch.manual_seed(0)
    net, x = nn.GRU(3, 2, 2, bidirectional=True, batch_first=True).double(), torch.randn(4, 5, 3).double()
    found = sequences.gate_statistics(net, x)
    reverse, second = nn.GRU(3, 2, batch_first=True).double(), nn.GRU(4, 2, batch_first=True).double()
    for key in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(reverse, f"{key}_l0").data = getattr(net, f"{key}_l0_reverse").data
        getattr(second, f"{key}_l0").data = getattr(net, f"{key}_l1_reverse").data
    assert found.scales[1] == pytest.approx(sequences.gate_statistics(reverse, x.flip(1)).scales[0], rel=1e-12)
    first = nn.GRU(3, 2, 1, bidirectional=True, batch_first=True).double()
    first.load_state_dict({k: v for k, v in net.state_dict().items() if "l0" in k})
    inner = first(x)[0].detach().flip(1)
    assert found.scales[3] == pytest.approx(sequences.gate_statistics(second, inner).scales[0], rel=1e-12)


def test_sequences_without_a_batch_and_layers_without_bias_are_read():
    torch.manual_seed(0)
    x = torch.randn(6, 3)
    for batch_first in (True, False):
        net = nn.GRU(3, 2, batch_first=batch_first, bias=False)
        stacked = x[None] if batch_first else x[:, None]

        class Single(nn.Module):
            def __init__(self, net):
                super().__init__()
                self.net = net

            def forward(self, x):
                return self.net(x[0])[0][None]

        assert sequences.gate_statistics(Single(net), x[None]).scales == sequences.gate_statistics(net, stacked).scales


def test_an_open_gate_never_forgets_and_sixty_four_examples_are_used():
    net = nn.LSTM(2, 1, batch_first=True).double()
    for p in net.parameters():
        nn.init.zeros_(p)
    net.bias_ih_l0.data[1] = 100.0
    assert sequences.gate_statistics(net, torch.zeros(1, 3, 2).double()).longest == inf
    net.bias_ih_l0.data[1], net.weight_ih_l0.data[1, 0] = 0.0, 1.0
    x = torch.zeros(65, 3, 2).double()
    x[63, :, 0] = 1.0
    x[64, :, 0] = 50.0
    scale = -1 / np.mean([-log(2.0)] * 63 + [-log(1 + exp(-1))])
    assert sequences.gate_statistics(net, x).longest == pytest.approx(scale, rel=1e-12)


def test_a_lag_of_which_less_than_a_thousandth_is_left_is_reported():
    """With scales 3 and 10 the share left after 69 steps is 1.008e-3, after 70 steps 0.912e-3."""
    rows = (("a", "b"), ({}, {}), ((1.0, 3.0), (2.0, 10.0)))
    assert GateStatistics(*rows, 69).findings == () and GateStatistics(*rows).findings == ()
    (found,) = GateStatistics(*rows, 70).findings
    assert (found.level.name, found.evidence[0].value) == ("PROBLEM", 10.0)
    assert found.evidence[1].value == pytest.approx(exp(-7.0))
