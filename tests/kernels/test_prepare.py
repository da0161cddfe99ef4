"""Plans are remembered only as long as the module is the one that was read."""

import pickle

import pytest
import torch
from torch import nn

import gnomon
from gnomon.kernels import prepare


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 16), nn.Linear(16, 1)
        self.gain, self.options = 1.0, [2.0]
        self.act = nn.LeakyReLU(0.1)
        self.norm = nn.LayerNorm(16)
        self.register_buffer("shift", torch.zeros(()))

    def forward(self, x):
        return self.last(self.act(self.norm(self.first(x))) * self.gain * self.options[0])


def replace_module(net):
    net.act = nn.ReLU()


def change_attribute(net):
    net.gain = 3.0


def change_list(net):
    net.options[0] = 1.0


def change_slope(net):
    net.act.negative_slope = 0.5


def change_parameter(net):
    with torch.no_grad():
        net.norm.weight.mul_(2)


def change_behind_the_version(net):
    net.norm.weight.data.mul_(2)


def no_bias(net):
    net.first = nn.Linear(3, 16, bias=False)


CHANGES = [
    replace_module,
    change_attribute,
    change_list,
    change_slope,
    change_parameter,
    change_behind_the_version,
    no_bias,
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen(change):
    torch.manual_seed(0)
    net, x = Scaled(), torch.randn(4, 3)
    lim = gnomon.limit(net)
    before = lim.ntk(x)
    change(net)
    after = lim.ntk(x)
    assert torch.equal(after, gnomon.limit(net).ntk(x))
    assert not torch.allclose(after, before, rtol=1e-3)


def test_an_unchanged_module_is_read_once(monkeypatch):
    calls = []
    real = prepare.read_program
    monkeypatch.setattr(prepare, "read_program", lambda *given: calls.append(1) or real(*given))
    lim = gnomon.limit(Scaled())
    for n in (4, 4, 5, 4, 5):
        lim.ntk(torch.randn(n, 3))
    assert len(calls) == 2  # one per shape


def test_plans_do_not_pile_up():
    lim = gnomon.limit(Scaled())
    for n in range(1, 40):
        lim.ntk(torch.ones(n, 3))
    assert len(lim._plans._prepared) == prepare.MAX_PLANS


def test_measured_weights_are_looked_at_each_time():
    net, x = Scaled(), torch.randn(4, 3)
    lim = gnomon.limit(net, init="measured")
    before = lim.nngp(x)
    net.last.weight.data.mul_(3)
    after = lim.nngp(x)
    assert torch.equal(after, gnomon.limit(net, init="measured").nngp(x))
    assert not torch.allclose(after, before, rtol=1e-3)


@pytest.mark.parametrize("path", ["", "first"])
def test_a_forward_on_the_object_is_not_passed_over(path):
    net = Scaled()
    lim = gnomon.limit(net)
    lim.ntk(torch.ones(2, 3))
    part = net.get_submodule(path)
    part.forward = lambda x: x
    with pytest.raises(gnomon.UnsupportedModuleError, match="set on the object"):
        lim.ntk(torch.ones(2, 3))


def test_a_limit_travels():
    lim, x = gnomon.limit(Scaled()), torch.randn(4, 3)
    there = pickle.loads(pickle.dumps(lim))
    assert torch.equal(there.ntk(x), lim.ntk(x))
    assert torch.equal(pickle.loads(pickle.dumps(lim)).ntk(x), lim.ntk(x))


@pytest.mark.parametrize(("size", "compared"), [(4096, True), (4097, False)])
def test_values_of_tensors_of_up_to_4096_numbers_are_compared(size, compared):
    values = []
    prepare._tensor(torch.zeros(size), [], [], values)
    assert bool(values) is compared
