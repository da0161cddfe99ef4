"""Measured signals against theory (as slopes), against hand-made sums, and planted faults reported by name."""

import copy
import json
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import gnomon
from gnomon.checks import mean_field, signal_propagation
from gnomon.core import InputError, NotFiniteError
from gnomon.core.results import Level


def deep(depth, width, activation, weight_std, bias_std, seed, inputs=None):
    generator, layers = torch.Generator().manual_seed(seed), []
    for i in range(depth):
        fan_in = inputs or width if i == 0 else width
        linear = nn.Linear(fan_in, width).double()
        with torch.no_grad():
            linear.weight.copy_(torch.randn(width, fan_in, generator=generator).double() * weight_std / fan_in**0.5)
            linear.bias.copy_(torch.randn(width, generator=generator).double() * bias_std)
        layers += [linear, activation()]
    return nn.Sequential(*layers)


def slopes(values):
    return np.polyfit(np.arange(len(values)), np.log(values), 1)[0]


@pytest.mark.parametrize("weight_std, bias_std", [(0.7, 0.3), (2.0, 0.1)])  # ordered, chaotic
def test_gradients_and_differences_change_at_the_rate_of_theory(weight_std, bias_std):
    """Over the layers past the transient, log gradient falls by log chi a layer, and log (1 - c) by log C'(1) where c
    -> 1.

    Each of the 12 layers adds a fluctuation of (depth / width)^(1/2) / depth = 0.02 to a slope; six seeds, Student's t
    with 5 degrees of freedom at 99.9 %: 6.87. Finite width shifts log chi by O(1 / width), 0.004.
    """
    theory, rates, merging = mean_field(torch.tanh, weight_std=weight_std, bias_std=bias_std), [], []
    for seed in range(6):
        net = deep(18, 250, nn.Tanh, weight_std, bias_std, seed)
        x = torch.randn(4, 250, generator=torch.Generator().manual_seed(100 + seed)).double()
        layers = [layer for layer in signal_propagation(net, x).layers if layer.weighted]
        rates.append(-slopes([layer.gradient for layer in layers[4:]]))
        merging.append(slopes([1 - layer.correlation for layer in layers[4:12]]))
    error = np.std(rates, ddof=1) / 6**0.5
    assert error < 0.03 and abs(np.mean(rates) - np.log(theory.chi)) < 6.87 * error + 0.004
    if theory.phase == "ordered":
        error = np.std(merging, ddof=1) / 6**0.5
        assert (
            abs(np.mean(merging) - np.log(theory.correlation_slope)) < 6.87 * error + 0.02
        )  # c is not yet 1 in layer 4
    else:
        last = layers[-1].correlation
        assert abs(last - theory.c) < 5 * 250**-0.5


def test_the_numbers_are_their_definitions():
    net, x, y = (
        nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double(),
        torch.randn(9, 3).double(),
        torch.randint(0, 2, (9,)),
    )
    result = signal_propagation(net, (x, y))
    a = net[0](x)
    h = torch.relu(a)
    a.retain_grad()
    h.retain_grad()
    f = net[2](h)
    F.cross_entropy(f, y).backward()
    updates = [(part.weight.grad.norm() / part.weight.norm()).item() ** 2 for part in (net[0], net[2])]
    assert [result.layers[i].update for i in (0, 2)] == pytest.approx(updates) and result.layers[1].update is None
    for layer, value, grad in ((result.layers[0], a, a.grad), (result.layers[1], h, h.grad)):
        assert layer.activation == pytest.approx(value.square().mean().item())
        assert layer.gradient == pytest.approx((9 * grad).square().mean().item())
        pairs = [F.cosine_similarity(value[i], value[j], 0).item() for i in range(9) for j in range(9) if i != j]
        assert layer.correlation == pytest.approx(np.mean(pairs))
    dead = [(h[:, i].max() == h[:, i].min()).item() for i in range(4)]
    assert result.layers[1].dead == pytest.approx(np.mean(dead))
    assert result.inputs == pytest.approx(x.square().mean().item()) and result.examples == 9


def test_in_place_activations_are_seen_before_and_after():
    torch.manual_seed(2)
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(inplace=True), nn.Linear(8, 1))
    plain = copy.deepcopy(net)
    plain[1] = nn.ReLU()
    x = torch.randn(10, 3)
    for one, other in zip(signal_propagation(net, x).layers, signal_propagation(plain, x).layers, strict=True):
        assert one.activation == pytest.approx(other.activation) and one.gradient == pytest.approx(other.gradient)


class Mixed(nn.Module):
    """Convolution, embedding, recurrence and attention, called by name, one layer called twice."""

    def __init__(self):
        super().__init__()
        self.embed, self.conv, self.cell = (
            nn.Embedding(5, 4),
            nn.Conv1d(4, 6, 3, padding=1),
            nn.LSTM(6, 4, batch_first=True),
        )
        self.mix, self.norm, self.read = nn.MultiheadAttention(4, 2, batch_first=True), nn.LayerNorm(4), nn.Linear(4, 4)

    def forward(self, tokens, scale):
        h = torch.relu(self.conv(self.embed(tokens).mT)).mT
        h = self.cell(h)[0] * scale
        h = self.norm(h + self.mix(h, h, h, need_weights=False)[0])
        return self.read(torch.tanh(self.read(h.mean(1))))


def test_any_module_is_measured_and_left_as_it_was():
    net = Mixed()
    net.cell.eval()
    net.read.weight.grad = torch.ones(4, 4)
    before, modes = copy.deepcopy(net.state_dict()), [m.training for m in net.modules()]
    x, y = {"tokens": torch.randint(0, 5, (12, 7)), "scale": 2.0}, torch.randint(0, 4, (12,))
    state = torch.get_rng_state()
    result = signal_propagation(net, (x, y))
    assert [layer.kind for layer in result.layers] == [
        "Embedding",
        "Conv1d",
        "LSTM",
        "MultiheadAttention",
        "LayerNorm",
        "Linear",
        "Linear",
    ]
    assert result.layers[-1].name == "read (call 2)" and result.inputs is None and result.layers[1].units == 6
    assert all(layer.gradient and layer.gradient > 0 for layer in result.layers)
    assert all(torch.equal(a, b) for a, b in zip(before.values(), net.state_dict().values(), strict=True))
    assert torch.equal(state, torch.get_rng_state()) and modes == [m.training for m in net.modules()]
    assert bool((net.read.weight.grad == 1).all()) and not any(m._forward_hooks for m in net.modules())
    assert net.embed.weight.grad is None


def healthy():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32),
        nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
    )  # fmt: skip


def images():
    return torch.randn(32, 1, 8, 8, generator=torch.Generator().manual_seed(0))


def plant(name):
    net, x = healthy(), images()
    if name == "tanh":
        return deep(60, 64, nn.Tanh, 0.5, 0.0, 0), torch.randn(32, 64)
    if name == "tanh large":
        return deep(40, 64, nn.ReLU, 2.5, 0.0, 0), torch.randn(32, 64)
    if name == "zero":
        nn.init.zeros_(net[3].weight)
    if name == "inputs":
        return net, 1000 * x
    if name == "faint inputs":
        return net, 1e-4 * x
    if name == "one layer":
        with torch.no_grad():
            net[3].weight.mul_(1e-4), net[3].bias.zero_()
            net[4].running_var.fill_(1.0)
    if name == "dead":
        nn.init.constant_(net[0].bias, -50.0)
    if name == "nan":
        nn.init.constant_(net[3].weight, float("nan"))
    if name == "merged":
        return deep(30, 64, nn.Tanh, 0.8, 1.5, 0), torch.randn(32, 64)
    return net, x


@pytest.mark.parametrize(
    "name, kind, where",
    [
        ("tanh", "vanishing-activations", ""),
        ("tanh large", "exploding-activations", ""),
        ("zero", "zero-weights", "3"),
        ("inputs", "input-scale", "inputs"),
        ("faint inputs", "input-scale", "inputs"),
        ("one layer", "vanishing-activations", "3"),
        ("dead", "dead-units", "1"),
        ("nan", "not-finite", "3"),
        ("merged", "vanishing-gradients", ""),
    ],
)
def test_planted_faults_are_named_first(name, kind, where):
    net, x = plant(name)
    result = signal_propagation(net, x)
    kinds = [finding.kind for finding in result.findings]
    assert result.worst.kind == kind, kinds
    assert result.worst.where == where and ("merged-inputs" in kinds or name != "merged")
    assert result.worst.message in result.verdict and json.loads(json.dumps(result.to_dict()))["findings"]


@pytest.mark.parametrize("widths", [(7, 2000, 2000, 900, 1), (400, 50, 800, 8, 3), (3, 512, 8, 512, 1)])
def test_widths_alone_are_no_fault(widths):
    torch.manual_seed(0)
    layers = [part for a, b in pairwise(widths) for part in (nn.Linear(a, b), nn.ReLU())][:-1]
    x = torch.randn(64, widths[0], generator=torch.Generator().manual_seed(0))
    result = signal_propagation(nn.Sequential(*layers), x)
    assert not result.findings, result.verdict
    strength = [layer.update * layer.units / layer.fan for layer in result.layers if layer.weighted]
    assert max(strength) < 100 * min(strength)  # equal but for biases and chance; |dL/dW|^2 / |W|^2 is not


def test_two_layers_of_sigmoids_are_slow_and_ten_are_a_fault():
    x = torch.rand(64, 200, generator=torch.Generator().manual_seed(0)).bernoulli(
        generator=torch.Generator().manual_seed(1)
    )
    for depth, fault in ((2, False), (10, True)):
        torch.manual_seed(0)
        sizes = (200, *[64] * depth, 10)
        layers = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.Sigmoid())][:-1]
        found = signal_propagation(nn.Sequential(*layers), x).findings
        assert any(f.level is Level.PROBLEM for f in found) is fault, found


def plain(depth, activation=nn.ReLU):
    torch.manual_seed(1)
    sizes = [64] + depth * [128]
    inner = [part for a, b in zip(sizes, sizes[1:], strict=False) for part in (nn.Linear(a, b), activation())]
    return nn.Sequential(nn.Flatten(), *inner, nn.Linear(128, 10))


class Reader(nn.Module):
    """Tokens to classes, by an LSTM or by a transformer."""

    def __init__(self, recurrent):
        super().__init__()
        torch.manual_seed(4)
        self.embed, self.recurrent, self.head = nn.Embedding(50, 16), recurrent, nn.Linear(32 if recurrent else 16, 3)
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        self.body = (
            nn.LSTM(16, 32, 2, batch_first=True)
            if recurrent
            else nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        )

    def forward(self, tokens):
        h = self.body(self.embed(tokens))
        return self.head(h[0][:, -1] if self.recurrent else h.mean(1))


def tokens():
    return torch.randint(0, 50, (20, 12), generator=torch.Generator().manual_seed(0))


HEALTHY = {
    "lstm": (lambda: Reader(True), tokens),
    "transformer": (lambda: Reader(False), tokens),
    "small cnn": (healthy, images),
    "the cnn of the demo": (lambda: gnomon.models.cnn(width=32), images),
    "two layers, default initialization": (lambda: plain(2), images),
    "six layers, default initialization": (lambda: plain(6), images),
    "eight layers of tanh": (lambda: plain(8, nn.Tanh), images),
    "thirty layers of relu, critical": (lambda: deep(30, 256, nn.ReLU, 2**0.5, 0.0, 1), lambda: torch.randn(32, 256)),
    "mixed": (Mixed, lambda: {"tokens": torch.randint(0, 5, (12, 7)), "scale": 2.0}),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_modules_get_a_clean_bill(name):
    make, data = HEALTHY[name]
    result = signal_propagation(make(), data())
    assert result.findings == () and "none vanish, explode or die" in result.verdict, result.verdict


def test_a_zero_layer_at_the_end_of_a_residual_branch_is_no_fault():
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem, self.a, self.b, self.head = (
                nn.Linear(8, 32),
                nn.Linear(32, 32),
                nn.Linear(32, 32),
                nn.Linear(32, 3),
            )
            nn.init.zeros_(self.b.weight)
            nn.init.zeros_(self.b.bias)

        def forward(self, x):
            h = torch.relu(self.stem(x))
            return self.head(h + self.b(torch.relu(self.a(h))))

    assert signal_propagation(Residual(), torch.randn(40, 8)).findings == ()


def test_the_record_plots_and_tells_rates():
    matplotlib.use("Agg")
    result = signal_propagation(deep(12, 300, nn.Tanh, 0.5, 0.0, 0), torch.randn(16, 300))
    # activations of tanh near zero fall by weight_std^2 = 1/4 a layer; the first layers are not near zero yet
    assert result.rate() == pytest.approx(np.log(0.25), abs=0.1)
    assert result.rate("gradient") == pytest.approx(-np.log(0.25), abs=0.1)
    assert len(result.plot().lines) == 2 and len(result.plots()[0].marks[0].x) == 24
    matplotlib.pyplot.close("all")


class NoTensor(nn.Linear):
    """Returns a tuple without a tensor."""

    def forward(self, x):
        return super().forward(x).tolist(), None


def test_what_cannot_be_measured_is_told():
    with pytest.raises(InputError, match="returned a tuple"):
        signal_propagation(NoTensor(2, 3), torch.randn(4, 2))
    with pytest.raises(InputError, match="an output whose first axis counts examples"):
        signal_propagation(nn.Sequential(nn.Linear(2, 2), nn.Flatten(0)), torch.randn(4, 2))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_inputs_that_are_not_finite_are_refused(value):
    x = torch.zeros(4, 3)
    x[2, 1] = value
    with pytest.raises(
        NotFiniteError, match=r"signal_propagation\(module, data\): example 2 of x contains NaN or infinity"
    ):
        signal_propagation(nn.Linear(3, 2), x)
