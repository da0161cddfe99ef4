"""A program that runs step by step with the module's own weights gives the module's outputs, for every kind of layer."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gnomon.models import ModuleOnGraph
from gnomon.program import read_program
from gnomon.symmetry import GroupConv2d, cyclic
from tests.oracles.program import run


class Net(nn.Module):
    """Layers by name, and a forward given as a function of the module and x."""

    def __init__(self, run, **layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.run = run

    def forward(self, x):
        return self.run(self, x)


def agrees(net, shape, channel=1, tokens=0, shift=0.4):
    """The outputs of the module, with its channels at dimension 1, and those of the program."""
    torch.manual_seed(3)
    net = net.double().eval()
    for part in net.modules():  # gains and shifts that are not 1 and 0, equal for all channels
        if isinstance(part, nn.LayerNorm | nn.GroupNorm | nn.RMSNorm | nn.BatchNorm1d | nn.BatchNorm2d):
            for name, value in (("weight", 1.3), ("bias", shift), ("running_var", 1.75)):
                if getattr(part, name, None) is not None:
                    getattr(part, name).data.fill_(value)
    x = torch.randint(tokens, (3, *shape)) if tokens else torch.randn(3, *shape, dtype=torch.float64)
    program = read_program(net, x)
    made = run(program, net, x)
    with torch.no_grad():
        wanted = net(x).movedim(channel, 1)
    torch.testing.assert_close(made, wanted.reshape(made.shape), rtol=1e-9, atol=1e-11)
    assert made.numel() == wanted.numel()
    return program


def chain(*layers):
    return nn.Sequential(*layers)


IMAGES = {
    "window of a line": (chain(nn.Conv1d(2, 4, 3, stride=2, padding=2, dilation=2), nn.Tanh(), nn.Conv1d(4, 3, 2)), (2, 9)),
    "window of an image": (chain(nn.Conv2d(2, 4, (3, 2), (2, 1), (2, 1), (1, 3)), nn.ReLU(), nn.Conv2d(4, 3, (2, 3), (1, 2), (0, 2), (2, 1))), (2, 7, 5)),
    "window of a volume": (chain(nn.Conv3d(1, 2, 2, padding=1), nn.GELU(), nn.Conv3d(2, 2, (1, 2, 3), stride=(1, 2, 1))), (1, 3, 4, 5)),
    "circles": (chain(nn.Conv2d(2, 4, 3, padding=(1, 2), padding_mode="circular"), nn.ReLU(), nn.Conv2d(4, 2, 3, padding=2, padding_mode="circular")), (2, 6, 5)),
    "same size": (chain(nn.Conv2d(2, 4, (3, 4), padding="same"), nn.ReLU(), nn.Conv2d(4, 3, (2, 3), padding="same", dilation=(3, 2))), (2, 7, 8)),
    "no padding by name": (chain(nn.Conv2d(2, 4, 3, padding="valid"), nn.ReLU(), nn.Conv2d(4, 3, 2, padding="valid")), (2, 6, 6)),
    "groups": (chain(nn.Conv2d(2, 6, 3, groups=2, bias=False), nn.Conv2d(6, 4, (2, 3), padding=1, groups=2)), (2, 6, 5)),
    "transposed": (chain(nn.Conv1d(2, 4, 3), nn.ReLU(), nn.ConvTranspose1d(4, 3, 3, stride=3, padding=2, output_padding=1, dilation=2)), (2, 7)),
    "transposed data": (chain(nn.ConvTranspose2d(2, 3, (3, 2), stride=(2, 3), padding=(1, 0)), nn.ReLU(), nn.Conv2d(3, 2, 2)), (2, 4, 3)),
    "means of windows": (chain(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.AvgPool2d((3, 2), stride=(2, 1), padding=(1, 0)), nn.Conv2d(4, 2, 1)), (2, 7, 6)),
    "another divisor": (chain(nn.Conv2d(2, 4, 2), nn.ReLU(), nn.AvgPool2d((3, 2), divisor_override=4), nn.Conv2d(4, 2, 1)), (2, 7, 6)),
    "adaptive means": (chain(nn.Conv2d(2, 4, 2), nn.ReLU(), nn.AdaptiveAvgPool2d((3, 2)), nn.Flatten(), nn.Linear(24, 3)), (2, 8, 6)),
    "between pixels": (chain(nn.Conv2d(2, 4, 2), nn.ReLU(), nn.Upsample(size=(7, 4), mode="bilinear", align_corners=True), nn.Conv2d(4, 2, 1)), (2, 5, 6)),
    "mirrors": (chain(nn.Conv2d(2, 4, 2), nn.ReLU(), nn.ReflectionPad2d((2, 1, 3, 0)), nn.Conv2d(4, 2, 2)), (2, 5, 6)),
    "all channels normalized": (chain(nn.Conv2d(2, 4, 2), nn.GroupNorm(1, 4, eps=0.3), nn.GELU(), nn.Conv2d(4, 2, 2)), (2, 5, 6)),
    "fixed statistics": (chain(nn.Conv2d(2, 4, 2), nn.BatchNorm2d(4, eps=0.5), nn.ReLU(), nn.Conv2d(4, 2, 2)), (2, 5, 6)),
    "a slope for all": (chain(nn.Conv2d(2, 4, 2), nn.PReLU(init=0.3), nn.Conv2d(4, 2, 2)), (2, 5, 6)),
    "a draw of slopes": (chain(nn.Conv2d(2, 4, 2), nn.RReLU(0.1, 0.4), nn.Conv2d(4, 2, 2)), (2, 5, 6)),
    "split and flattened": (chain(nn.Linear(12, 6), nn.ReLU(), nn.Unflatten(1, (6, 1, 1)), nn.ConvTranspose2d(6, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(27, 4)), (12,)),
    "rotations": (chain(GroupConv2d(2, 3, 3, group=cyclic(4), lifting=True, padding=1), nn.ReLU(), GroupConv2d(3, 2, 3, group=cyclic(4))), (2, 6, 6)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("name", IMAGES)
def test_layers_of_images(name):
    agrees(*IMAGES[name])


MATRIX = torch.randn(9, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
TABLE = torch.randn(1, 5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
CONVOLUTION = {"a": nn.Conv2d(2, 4, (2, 3), padding=1), "b": nn.Conv2d(4, 2, 1)}
TWO = {"a": nn.Conv2d(2, 4, 3, padding=1), "b": nn.Conv2d(2, 4, 3, padding=1), "c": nn.Conv2d(4, 2, 1)}
BOTH = {"a": nn.Conv2d(2, 4, 3, padding=1), "b": nn.Conv2d(2, 4, 3, padding=1), "c": nn.Conv2d(8, 2, 1)}


def itself_and_mixed(s, x):
    h = s.a(x).relu()
    return s.b(h + 3 * (MATRIX[:8, :8] @ h) - (MATRIX.T[:8, :8] @ h))


FORWARDS = {
    "scaled and added": (lambda s, x: s.c(torch.relu(s.a(x) / 4 - 3 * s.b(x))), TWO),
    "added with a factor": (lambda s, x: s.c(torch.relu(torch.add(s.a(x), s.b(x), alpha=0.3))), TWO),
    "subtracted with a factor": (lambda s, x: s.c(torch.relu(torch.sub(s.a(x), s.b(x), alpha=0.3))), TWO),
    "shifted": (lambda s, x: s.c(-(s.a(x) + 0.7) * 2 - s.b(x).neg() / 3), TWO),
    "subtracted from one": (lambda s, x: s.c((1 - s.a(x)) - s.b(x)), TWO),
    "channels joined": (lambda s, x: s.c(torch.tanh(torch.cat([s.a(x), 2 * s.b(x)], 1))), BOTH),
    "rows joined": (lambda s, x: s.c(torch.relu(torch.cat([s.a(x), s.b(x)[:, :, 1:]], 2))), TWO),
    "columns joined": (lambda s, x: s.c(torch.relu(torch.cat([s.a(x)[..., ::2], s.b(x)], -1))), TWO),
    "a branch of its own": (lambda s, x: s.c(torch.relu(s.a(x) + 2 * s.a.weight.shape[0] * s.b(x))), TWO),
    "windows by a function": (lambda s, x: s.b(F.avg_pool2d(s.a(x).relu(), (2, 3), (1, 2), (1, 1), False, False)), CONVOLUTION),
    "interpolated": (lambda s, x: s.b(F.interpolate(s.a(x).relu(), size=(4, 11))), CONVOLUTION),
    "interpolated between": (lambda s, x: s.b(F.interpolate(s.a(x).relu(), (4, 11), None, "bilinear", True)), CONVOLUTION),
    "padded": (lambda s, x: s.b(F.pad(s.a(x).relu(), (0, 2, 1, 3))), CONVOLUTION),
    "padded in circles": (lambda s, x: s.b(F.pad(s.a(x).relu(), (1, 2, 2, 0), mode="circular")), CONVOLUTION),
    "mean of rows": (lambda s, x: s.b(s.a(x).relu().mean(2, keepdim=True)), CONVOLUTION),
    "sum of columns": (lambda s, x: s.b(s.a(x).relu().sum(-1, True)), CONVOLUTION),
    "turned": (lambda s, x: s.b(s.a(x).relu().transpose(2, 3)), CONVOLUTION),
    "around and back": (lambda s, x: s.b(s.a(x).relu().permute(0, 2, 3, 1).flip(1).permute(0, 3, 2, 1)), CONVOLUTION),
    "some of them": (lambda s, x: s.b(s.a(x).relu()[:, :, 1:5:2, -3:]), CONVOLUTION),
    "narrow": (lambda s, x: s.b(s.a(x).relu().narrow(3, 1, 3)), CONVOLUTION),
    "rolled": (lambda s, x: s.b(s.a(x).relu().roll((1, 2), (2, 3))), CONVOLUTION),
    "two pieces": (lambda s, x: s.b(s.a(x).relu().split([2, 6], 2)[1]), CONVOLUTION),
    "repeated": (lambda s, x: s.b(s.a(x).relu()[:, :, 1:2].expand(-1, -1, 4, -1)), CONVOLUTION),
    "rearranged": (lambda s, x: s.b(s.a(x).relu().flatten(2)[..., 4:].unflatten(2, (-1, 4))), CONVOLUTION),
    "times a matrix": (lambda s, x: s.b(s.a(x).relu() @ MATRIX[:5, :3]), CONVOLUTION),
    "matrix times": (lambda s, x: s.b(MATRIX[:3, :8] @ s.a(x).relu()), CONVOLUTION),
    "itself and a matrix of it": (itself_and_mixed, CONVOLUTION),
}  # fmt: skip


@pytest.mark.parametrize("name", FORWARDS)
def test_functions_of_images(name):
    forward, layers = FORWARDS[name]
    agrees(Net(forward, **layers), (2, 7, 5))


def lengths(x):
    return (x[..., 0] > 0).sum(1)


class Gained(nn.Module):
    """Bare parameters as a gain and a shift."""

    def __init__(self, gain, shift):
        super().__init__()
        self.gain, self.shift = nn.Parameter(gain), nn.Parameter(shift)
        self.a, self.b = nn.Linear(6, 4), nn.Linear(4, 3)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x) * self.gain + self.shift))


SEQUENCES = {
    "each alone": chain(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 3)),
    "normalized": chain(nn.Linear(6, 4), nn.LayerNorm(4, eps=0.2), nn.GELU(), nn.Linear(4, 3)),
    "divided by its size": chain(nn.Linear(6, 4), nn.ReLU(), nn.RMSNorm(4, eps=0.2), nn.Linear(4, 3)),
    "all positions normalized": chain(nn.Linear(6, 4), nn.LayerNorm((5, 4), eps=0.2, elementwise_affine=False), nn.Tanh(), nn.Linear(4, 3)),
    "gain and shift": Gained(torch.full((4,), 0.7), torch.full((4,), -0.3)),
    "one gain and shift": Gained(torch.tensor(0.7), torch.tensor(-0.3)),
    "a shift of its own for each position": Gained(torch.full((4,), 1.7), torch.full((5, 1), 0.2)),
    "tables of positions": Net(lambda s, x: s.b(torch.relu(s.a(x) + s.p)), a=nn.Linear(6, 4), b=nn.Linear(4, 3), p=nn.Parameter(torch.randn(1, 5, 4))),
    "known positions": Net(lambda s, x: s.b(torch.relu(s.a(x + TABLE))), a=nn.Linear(6, 4), b=nn.Linear(4, 3)),
    "known positions later": Net(lambda s, x: s.b(s.n(s.a(x) + TABLE)), a=nn.Linear(6, 6), n=nn.LayerNorm(6), b=nn.Linear(6, 3)),
    "mixed by a matrix": Net(lambda s, x: s.b(MATRIX[:7, :5] @ s.a(x).relu()), a=nn.Linear(6, 4), b=nn.Linear(4, 3)),
    "mixed by data": Net(lambda s, x: s.b(torch.bmm(x[..., :5] * 2, s.a(x).relu())), a=nn.Linear(6, 4), b=nn.Linear(4, 3)),
    "mixed by data from the right": Net(lambda s, x: s.b((s.a(x).relu().transpose(1, 2) @ x[..., :3]).transpose(1, 2)), a=nn.Linear(6, 4), b=nn.Linear(4, 3)),
    "masked": Net(lambda s, x: s.b(s.a(x).relu() * (x[..., :1] > 0)), a=nn.Linear(6, 4), b=nn.Linear(4, 3)),
    "divided by data": Net(lambda s, x: s.b(s.a(x).relu() / (x[..., :1] + 9)), a=nn.Linear(6, 4), b=nn.Linear(4, 3)),
    "divided by a number for each sample": Net(lambda s, x: s.b(s.a(x).relu() / (lengths(x) + 1)[:, None, None]), a=nn.Linear(6, 4), b=nn.Linear(4, 3)),
    "recurrent": Net(lambda s, x: s.b(s.a(x)[0]), a=nn.RNN(6, 4, num_layers=2, batch_first=True), b=nn.Linear(4, 3)),
    "recurrent with relu": Net(lambda s, x: s.b(s.a(x)[0]), a=nn.RNN(6, 4, nonlinearity="relu", bias=False, batch_first=True), b=nn.Linear(4, 3)),
    "both directions": Net(lambda s, x: s.b(s.a(x)[0]), a=nn.RNN(6, 4, num_layers=2, batch_first=True, bidirectional=True), b=nn.Linear(8, 3)),
    "attention": Net(lambda s, x: s.a(x, x, x, need_weights=False)[0], a=nn.MultiheadAttention(6, 2, batch_first=True)),
    "attention that looks back": Net(lambda s, x: s.a(x, x, x, attn_mask=s.mask, need_weights=False)[0], a=nn.MultiheadAttention(6, 3, batch_first=True)),
    "attention with hidden keys": Net(lambda s, x: s.a(x, x, x, key_padding_mask=x[..., 1] > 0.3, need_weights=False)[0], a=nn.MultiheadAttention(6, 3, batch_first=True)),
    "attention to others": Net(lambda s, x: s.a(s.q(x), s.k(x), s.v(x), need_weights=False)[0], a=nn.MultiheadAttention(6, 2, kdim=4, vdim=3, batch_first=True), q=nn.Linear(6, 6), k=nn.Linear(6, 4), v=nn.Linear(6, 3)),
    "encoder": Net(lambda s, x: s.e(s.a(x)), a=nn.Linear(6, 4), e=nn.TransformerEncoderLayer(4, 2, 7, batch_first=True, layer_norm_eps=0.1)),
    "encoder that normalizes first": Net(lambda s, x: s.e(s.a(x)), a=nn.Linear(6, 4), e=nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 7, activation="gelu", batch_first=True, norm_first=True, layer_norm_eps=0.1), 2, norm=nn.LayerNorm(4, eps=0.3), enable_nested_tensor=False)),
}  # fmt: skip


@pytest.mark.parametrize("name", SEQUENCES)
def test_layers_of_sequences(name):
    net = SEQUENCES[name]
    if "looks back" in name:
        net.register_buffer("mask", torch.triu(torch.ones(5, 5, dtype=torch.bool), 1))
    agrees(net, (5, 6), channel=2, shift=0.0 if name in ("known positions later", "encoder") else 0.4)


ENDS = {
    "last state": Net(lambda s, x: s.b(s.a(x)[1][0]), a=nn.RNN(6, 4, batch_first=True), b=nn.Linear(4, 3)),
    "last state of two layers": Net(lambda s, x: s.b(s.a(x)[1][-1]), a=nn.RNN(6, 4, num_layers=2, batch_first=True), b=nn.Linear(4, 3)),
    "first layer, backwards": Net(lambda s, x: s.b(s.a(x)[1][1]), a=nn.RNN(6, 4, num_layers=1, batch_first=True, bidirectional=True), b=nn.Linear(4, 3)),
    "last step of each": Net(lambda s, x: s.b(s.a(x).relu()[torch.arange(x.shape[0]), lengths(x) - 1]), a=nn.Linear(6, 4), b=nn.Linear(4, 3)),
    "last step": Net(lambda s, x: s.b(s.a(x).relu()[:, -1]), a=nn.Linear(6, 4), b=nn.Linear(4, 3)),
    "mean of positions": Net(lambda s, x: s.b(s.a(x).relu().mean(1)), a=nn.Linear(6, 4), b=nn.Linear(4, 3)),
    "sum of a matrix row": Net(lambda s, x: s.b((MATRIX[:1, :5] @ s.a(x).relu())[:, 0]), a=nn.Linear(6, 4), b=nn.Linear(4, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_ends_of_sequences(name):
    agrees(ENDS[name], (5, 6))


def test_tokens():
    table = nn.Embedding(7, 4, padding_idx=2)
    places = Net(
        lambda s, x: s.b(torch.relu(s.e(x) + s.p(torch.arange(5)))), e=table, p=nn.Embedding(5, 4), b=nn.Linear(4, 3)
    )
    agrees(places, (5,), channel=2, tokens=7)
    frozen = nn.Embedding(7, 4).requires_grad_(False)
    agrees(Net(lambda s, x: s.b(s.e(x)), e=frozen, b=nn.Linear(4, 3)), (5,), channel=2, tokens=7)


def test_a_graph():
    edges = torch.tensor([[0, 1, 1, 2, 0, 3], [1, 0, 2, 1, 0, 1]])

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(6, 4), nn.Linear(4, 3)

        def forward(self, x, matrix):
            return self.b(matrix @ torch.relu(matrix @ self.a(x)))

    dense = torch.zeros(5, 5, dtype=torch.float64)
    dense[edges[1], edges[0]] = 0.5
    agrees(ModuleOnGraph(Twice(), dense), (5, 6), channel=2)
