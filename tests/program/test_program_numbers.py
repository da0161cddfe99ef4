"""Numbers that a program states about its layers: laws of the weights, fans, gains, masks, and which branches join."""

from math import sqrt

import pytest
import torch
from torch import nn

from gnomon import NoLimitError, UnsupportedModuleError
from gnomon.program import moves, read_program, tokens
from gnomon.program.laws import initialization_laws_by_path
from gnomon.program.steps import Activation, Dropout, Normalize, TrainableActivationParameter


class Net(nn.Module):
    """Layers by name, and a forward given as a function of the module and x."""

    def __init__(self, run, **layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.run = run

    def forward(self, x):
        return self.run(self, x)


SEQUENCE, IMAGE = torch.zeros(2, 5, 6), torch.zeros(2, 3, 8, 8)


def drawn(net, x):
    """Standard deviations of the entries of each weight and bias that the constructors draw."""
    program = read_program(net, x)
    stated = initialization_laws_by_path(program, net, "torch")
    return {
        w.path: (w.fan_in, stated[w.path].weight_std / sqrt(w.fan_in), stated[w.path].bias_std) for w in program.weights
    }


def test_laws_of_torch_by_hand():
    """Uniform in +-1 / sqrt(f) has the standard deviation 1 / sqrt(3 f), with another f for each kind of layer."""
    found = drawn(
        nn.Sequential(nn.Conv2d(3, 4, (3, 2)), nn.ReLU(), nn.Conv2d(4, 4, 3, groups=2), nn.Flatten(), nn.Linear(80, 2)),
        IMAGE,
    )
    third = {
        path: (fan, pytest.approx(1 / sqrt(3 * fan)), pytest.approx(1 / sqrt(3 * fan)))
        for path, fan in {"0": 18, "2": 18, "4": 80}.items()
    }
    assert found == third
    found = drawn(nn.Sequential(nn.Conv2d(3, 4, 1), nn.ConvTranspose2d(4, 6, (3, 2), groups=2)), IMAGE)
    entry = pytest.approx(1 / sqrt(3 * 3 * 6))  # 6 / 2 channels out, 6 taps
    assert found["1"] == (2 * 6, entry, entry)
    found = drawn(Net(lambda s, x: s.a(x)[0], a=nn.RNN(6, 7, num_layers=2, batch_first=True)), SEQUENCE)
    entry = pytest.approx(1 / sqrt(3 * 7))
    assert found == {
        f"a.weight_{kind}_l{i}": (6 if (kind, i) == ("ih", 0) else 7, entry, entry)
        for i in (0, 1)
        for kind in ("ih", "hh")
    }
    found = drawn(
        Net(lambda s, x: s.b(s.a(x)), a=nn.Embedding(9, 4), b=nn.Linear(4, 1)), torch.zeros(2, 5, dtype=torch.long)
    )
    assert found["a"] == (9, pytest.approx(1.0), 0.0)


def test_which_parameters_train():
    net = nn.Sequential(
        nn.Conv1d(6, 4, 1), nn.ReLU(), nn.ConvTranspose1d(4, 4, 1), nn.ReLU(), nn.Conv1d(4, 2, 1, bias=False)
    )
    for frozen in (net[0].weight, net[2].bias):
        frozen.requires_grad_(False)
    assert [w.trained for w in read_program(net, torch.zeros(1, 6, 5)).weights] == [
        (False, True),
        (True, False),
        (True, False),
    ]
    recurrent = nn.RNN(6, 7, batch_first=True)
    recurrent.bias_hh_l0.requires_grad_(False)
    recurrent.weight_ih_l0.requires_grad_(False)
    found = {w.path: w.trained for w in read_program(Net(lambda s, x: s.a(x)[0], a=recurrent), SEQUENCE).weights}
    assert found == {"a.weight_ih_l0": (False, True), "a.weight_hh_l0": (True, False)}
    attention = nn.MultiheadAttention(6, 2, batch_first=True)
    attention.in_proj_bias.requires_grad_(False)
    attention.out_proj.weight.requires_grad_(False)
    found = [w.trained for w in read_program(Net(lambda s, x: s.a(x, x, x)[0], a=attention), SEQUENCE).weights]
    assert found == [(True, False)] * 3 + [(False, True)]


@pytest.mark.parametrize("rate", [0.3, 0.8])
def test_dropout_keeps_one_minus_its_rate(rate):
    layers = (nn.Linear(6, 4), nn.ReLU(), nn.Dropout(rate), nn.Linear(4, 1))
    (found,) = (s.op for s in read_program(nn.Sequential(*layers), SEQUENCE).steps if isinstance(s.op, Dropout))
    assert found.keep == pytest.approx(1 - rate)
    by_call = Net(lambda s, x: s.b(nn.functional.dropout(s.a(x).relu(), rate)), a=nn.Linear(6, 4), b=nn.Linear(4, 1))
    (found,) = (s.op for s in read_program(by_call, SEQUENCE).steps if isinstance(s.op, Dropout))
    assert found.keep == pytest.approx(1 - rate)
    default = Net(lambda s, x: s.b(nn.functional.dropout(s.a(x).relu())), a=nn.Linear(6, 4), b=nn.Linear(4, 1))
    (found,) = (s.op for s in read_program(default, SEQUENCE).steps if isinstance(s.op, Dropout))
    assert found.keep == 0.5
    for idle in (nn.Sequential(*layers).eval(), nn.Sequential(nn.Linear(6, 4), nn.Dropout(0.0), nn.Linear(4, 1))):
        assert not any(isinstance(s.op, Dropout) for s in read_program(idle, SEQUENCE).steps)
    with pytest.raises(NoLimitError, match="drops everything"):
        read_program(nn.Sequential(nn.Linear(6, 4), nn.Dropout(1.0), nn.Linear(4, 1)), SEQUENCE)


def trainables(net, x):
    """What each activation trains."""
    return [s.op.trainable for s in read_program(net, x).steps if isinstance(s.op, Activation) and s.op.trainable]


def test_gains_and_shifts_of_a_normalization_join_the_activation():
    """psi(g u + b): the derivative by g has the factor u, the derivative by b none, and both know the present g."""
    net = nn.Sequential(nn.Linear(6, 4), nn.LayerNorm(4), nn.Tanh(), nn.Linear(4, 1))
    nn.init.constant_(net[1].weight, 1.5)
    assert trainables(net, SEQUENCE) == [
        (
            TrainableActivationParameter("1.weight", "gain", 1.5, True),
            TrainableActivationParameter("1.bias", "bias", 1.5, True),
        )
    ]
    net[1].bias.requires_grad_(False)
    assert trainables(net, SEQUENCE) == [(TrainableActivationParameter("1.weight", "gain", 1.5, True),)]
    everywhere = nn.Sequential(nn.Linear(6, 4), nn.LayerNorm((5, 4)), nn.Tanh(), nn.Linear(4, 1))
    assert trainables(everywhere, SEQUENCE) == [
        (
            TrainableActivationParameter("1.weight", "gain", 1.0, False),
            TrainableActivationParameter("1.bias", "bias", 1.0, False),
        )
    ]
    groups = nn.Sequential(nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4, eps=0.25), nn.Tanh(), nn.Conv2d(4, 1, 1))
    assert trainables(groups, IMAGE) == [
        (
            TrainableActivationParameter("1.weight", "gain", 1.0, True),
            TrainableActivationParameter("1.bias", "bias", 1.0, True),
        )
    ]
    (norm,) = (s.op for s in read_program(groups, IMAGE).steps if isinstance(s.op, Normalize))
    assert norm == Normalize((0, 1), 0.25)
    batch = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4, eps=0.0), nn.Tanh(), nn.Conv2d(4, 1, 1)).eval()
    batch[1].running_var.fill_(4.0)
    nn.init.constant_(batch[1].weight, 3.0)
    assert trainables(batch, IMAGE) == [
        (
            TrainableActivationParameter("1.weight", "gain", 3.0, True),
            TrainableActivationParameter("1.bias", "bias", 3.0, True),
        )
    ]


def test_gains_and_shifts_as_bare_parameters():
    def net(gain, shift, forward):
        return Net(forward, a=nn.Linear(6, 4), b=nn.Linear(4, 1), g=nn.Parameter(gain), s=nn.Parameter(shift))

    both = net(torch.full((4,), 2.0), torch.full((4,), 0.5), lambda s, x: s.b(torch.tanh(s.a(x) * s.g + s.s)))
    assert trainables(both, SEQUENCE) == [
        (TrainableActivationParameter("g", "gain", 2.0, True), TrainableActivationParameter("s", "bias", 2.0, True))
    ]
    own = net(torch.full((5, 4), 2.0), torch.full((5, 1), 0.5), lambda s, x: s.b(torch.tanh(s.a(x) * s.g + s.s)))
    assert trainables(own, SEQUENCE) == [
        (TrainableActivationParameter("g", "gain", 2.0, False), TrainableActivationParameter("s", "bias", 2.0, False))
    ]
    apart = net(torch.full((4,), 2.0), torch.full((4,), 0.0), lambda s, x: s.b(torch.tanh((s.a(x) * s.g) * 3 + s.s)))
    assert trainables(apart, SEQUENCE)[-1][-1] == TrainableActivationParameter("s", "bias", 6.0, True)
    slope = nn.Sequential(nn.Linear(6, 4), nn.PReLU(init=0.3), nn.Linear(4, 1))
    assert trainables(slope, SEQUENCE) == [(TrainableActivationParameter("1.weight", "slope", 1.0, True),)]


def test_copies_of_one_encoder_layer_are_noted():
    """nn.TransformerEncoder copies its layer: their values are equal, and the limit draws each by itself."""

    def net(count, redraw=None):
        layer = nn.TransformerEncoderLayer(6, 2, 7, batch_first=True, dropout=0.0, norm_first=True)
        body = nn.TransformerEncoder(layer, count, enable_nested_tensor=False)
        if redraw is not None:
            nn.init.normal_(body.layers[redraw].linear1.weight)
        return read_program(nn.Sequential(nn.Linear(6, 6), body), SEQUENCE).notes

    assert len(net(2)) == 1 and len(net(3, redraw=0)) == 1 and len(net(3, redraw=2)) == 1
    assert net(1) == () and net(2, redraw=1) == () and net(3, redraw=1) == ()


def test_a_read_program_knows_what_is_gaussian():
    """Sums over many channels are; data, activations, and one channel for each output are not."""
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(4, 4, 1, groups=2), nn.Conv2d(4, 4, 1, groups=4)
    )
    assert [s.gaussian for s in read_program(net, IMAGE).steps] == [False, True, False, False, True, False]
    net = nn.Sequential(
        nn.Conv2d(3, 3, 3, groups=3),
        nn.AvgPool2d(2),
        nn.ConvTranspose2d(3, 3, 2, groups=3),
        nn.ConvTranspose2d(3, 1, 2),
    )
    assert [s.gaussian for s in read_program(net, IMAGE).steps] == [False, False, False, False, False, False, True]


def test_sizes_that_do_not_fit_are_refused():
    wide = Net(
        lambda s, x: s.b(torch.tanh(s.a(x) + s.p)),
        a=nn.Linear(6, 4),
        b=nn.Linear(4, 1),
        p=nn.Parameter(torch.randn(1, 5, 1)),
    )
    with pytest.raises(UnsupportedModuleError, match="positions of 4 channels"):
        read_program(wide, SEQUENCE)
    with pytest.raises(NoLimitError, match="many channels"):
        read_program(nn.Sequential(nn.Conv1d(5, 4, 1), nn.GroupNorm(4, 4), nn.Conv1d(4, 1, 1)), SEQUENCE)
    read_program(nn.Sequential(nn.Conv1d(5, 4, 1), nn.GroupNorm(2, 4), nn.Conv1d(4, 1, 1)), SEQUENCE)


def test_tokens_become_rows_with_the_axes_of_their_positions():
    """Tokens (n, a, b) keep both axes; tokens without a batch axis are those of every sample."""
    rows = tokens.Indicators(nn.Identity(), 4, None)
    x = torch.tensor([[[0, 1], [2, 3], [3, 3]], [[1, 1], [0, 0], [2, 1]]])
    assert torch.equal(rows(x), torch.eye(4).double()[x])
    shared = tokens.Indicators(_Places(), 4, 2)(torch.zeros(3, 7))
    expected = torch.eye(4).double()[torch.tensor([2, 0, 1])]
    expected[0] = 0  # the padding token
    assert torch.equal(shared, expected.expand(3, 3, 4))


class _Places(nn.Module):
    def forward(self, x):
        return torch.tensor([2, 0, 1])


def test_the_lengths_that_try_a_reshape_are_prime():
    for p in moves.PRIMES:
        assert all(p % k for k in range(2, p))
    assert list(moves.PRIMES) == sorted(set(moves.PRIMES)) and len(moves.PRIMES) > 6


def test_joining_along_samples_or_along_channels_mixed_with_positions_is_refused():
    class Join(nn.Module):
        def __init__(self, axis, flat):
            super().__init__()
            self.conv, self.axis, self.flat = nn.Conv1d(2, 3, 2), axis, flat

        def forward(self, x):
            h = self.conv(x)
            h = h.flatten(1) if self.flat else h
            return torch.cat([h, h.tanh()], self.axis)

    for axis, flat in ((0, False), (0, True), (1, True)):
        with pytest.raises(UnsupportedModuleError):
            read_program(Join(axis, flat), torch.randn(4, 2, 5))
