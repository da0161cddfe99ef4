"""The door of the tangent room: what has no kernel between examples, and under which name it is refused."""

import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.tangent import laziness, laziness_criterion, ntk, tangent_operator


@pytest.mark.parametrize(
    "call", [ntk, tangent_operator, lambda net, x: laziness_criterion(net, (x, torch.zeros(len(x), 2)))]
)
def test_a_module_that_every_call_changes_is_refused(call):
    """spectral_norm in training mode takes a step of its power iteration at each call: which network is meant?"""
    net, x = nn.Sequential(nn.utils.spectral_norm(nn.Linear(3, 8)), nn.Tanh(), nn.Linear(8, 2)), torch.randn(5, 3)
    first, second = net(x), net(x)
    assert (first - second).abs().max() > 1e-3, "the module does change"
    before = {name: t.clone() for name, t in net.state_dict().items()}
    with pytest.raises(InputError, match="every call changes '0.weight_u', '0.weight_v', and the outputs with it"):
        call(net, x)
    assert net.training and all(torch.equal(before[name], t) for name, t in net.state_dict().items())


def test_spectral_norm_in_eval_mode_agrees_with_autograd():
    net = nn.Sequential(nn.utils.spectral_norm(nn.Linear(3, 8)), nn.Tanh(), nn.Linear(8, 2)).double().eval()
    x = torch.randn(5, 3).double()
    j = []
    for y in net(x).flatten():
        j.append(torch.cat([g.flatten() for g in torch.autograd.grad(y, list(net.parameters()), retain_graph=True)]))
    full = torch.stack(j).reshape(5, 2, -1)
    expected = torch.einsum("iap,jap->ij", full, full) / 2
    assert torch.allclose(ntk(net, x), expected, rtol=1e-10)


def test_a_buffer_that_counts_calls_is_no_reason_to_refuse():
    class Counting(nn.Linear):
        def __init__(self):
            super().__init__(3, 2)
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls += 1
            return super().forward(x)

    net, x = Counting(), torch.randn(4, 3)
    assert torch.allclose(ntk(net, x), x @ x.T + 1, atol=1e-5)
    assert float(net.calls) == 0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (tangent_operator, "tangent_operator(module, data)"),
        (lambda net, x: laziness_criterion(net, (x, torch.zeros(4, 3))), "laziness_criterion(module, data)"),
        (lambda net, x: laziness(net, net, x), "laziness(before, after, data)"),
    ],
)
@pytest.mark.parametrize("layer", [nn.BatchNorm1d(3), nn.Dropout()])
def test_errors_name_the_call_that_was_made(call, name, layer):
    with pytest.raises(InputError) as caught:
        call(nn.Sequential(nn.Linear(3, 3), layer), torch.randn(4, 3))
    assert str(caught.value).startswith(f"{name}: '1' ({type(layer).__name__}) is in training mode")


def doubled(inputs, width, dtype):
    """Every unit twice, with opposite signs in the last layer: the output is zero, up to the order of its sum."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(inputs, 2 * width), nn.Tanh(), nn.Linear(2 * width, 1, bias=False)).to(dtype)
    with torch.no_grad():
        for p in (net[0].weight, net[0].bias):
            p[width:] = p[:width]
        net[2].weight[:, width:] = -net[2].weight[:, :width]
    return net


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n", [4, 40, 257])
def test_outputs_that_cancel_may_differ_by_roundings(dtype, n):
    net, x = doubled(7, 300, dtype), torch.randn(n, 7, dtype=dtype)
    assert ntk(net, x).shape == (n, n)


class Centered(nn.Module):
    """Outputs of a doubled network beside the mean of the batch, times some roundings more than allowed."""

    def __init__(self, size):
        super().__init__()
        self.net, self.size = doubled(3, 8, torch.float64), size

    def forward(self, x):
        return self.net(x) + self.size * self.net[0](x).mean()


def test_a_dependence_on_the_batch_is_seen_beside_outputs_that_cancel():
    with pytest.raises(InputError, match="changes with the other examples"):
        ntk(Centered(1e-11), torch.randn(5, 3, dtype=torch.float64))
