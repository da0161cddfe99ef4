"""Piecewise linear networks as steps: the steps compute the module, and radii follow the absolute Jacobian."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gnomon import InputError, UnsupportedModuleError
from gnomon.program.piecewise_linear import _absolute, read_piecewise_linear


class Net(nn.Module):
    """Layers by name, and a forward given as a function of the module and x."""

    def __init__(self, run, **layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.run = run
        self.register_buffer("factor", torch.tensor([-2.0, 0.5, 3.0]).double())

    def forward(self, x):
        return self.run(self, x)


def graph(module, x, **options):
    return read_piecewise_linear(module, x, **options)


def normed(size, kind=nn.BatchNorm2d):
    layer = kind(size).double().eval()
    for t in (layer.weight.data, layer.bias.data, layer.running_mean):
        t.copy_(torch.linspace(-1.5, 1.0, size))
    layer.running_var.copy_(torch.linspace(0.5, 2.0, size))
    return layer


LINE = {"a": nn.Linear(4, 3), "b": nn.Linear(3, 3), "c": nn.Linear(3, 2)}
NETS = {
    "dense": (nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), (4,)),
    "leaky": (nn.Sequential(nn.Linear(4, 3), nn.LeakyReLU(0.3), nn.Linear(3, 3), nn.PReLU(init=0.6), nn.Linear(3, 2)), (4,)),
    "convolutions": (nn.Sequential(nn.Conv2d(1, 2, 3, stride=2, padding=1), normed(2), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(2, 2)), (1, 6, 5)),
    "circles": (nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"), nn.ReLU(), nn.Conv2d(2, 1, 3, groups=1)), (1, 4, 5)),
    "a line": (nn.Sequential(nn.Conv1d(2, 3, 2), normed(3, nn.BatchNorm1d), nn.ReLU(), nn.MaxPool1d(2), nn.Flatten(), nn.Linear(6, 2)), (2, 6)),
    "largest": (nn.Sequential(nn.Conv2d(1, 2, 2), nn.MaxPool2d(2, stride=1), nn.Flatten(), nn.Linear(12, 2)), (1, 5, 4)),
    "largest by a function": (Net(lambda s, x: s.c(F.max_pool2d(s.b(x), 2, 2, 0, 1, True).flatten(1)), b=nn.Conv2d(1, 1, 2), c=nn.Linear(6, 2)), (1, 4, 6)),
    "largest by name": (Net(lambda s, x: F.max_pool2d(s.b(x), kernel_size=3, stride=2, padding=1, dilation=1), b=nn.Conv2d(1, 2, 2)), (1, 7, 6)),
    "largest of its own size": (Net(lambda s, x: F.max_pool1d(s.b(x), 2), b=nn.Conv1d(1, 2, 2)), (1, 7)),
    "leaky by a function": (Net(lambda s, x: s.c(F.leaky_relu(s.a(x), 0.2)), **LINE), (4,)),
    "leaky by name": (Net(lambda s, x: s.c(F.leaky_relu(s.a(x), negative_slope=0.4)), **LINE), (4,)),
    "leaky as torch has it": (Net(lambda s, x: s.c(F.leaky_relu(s.a(x))), **LINE), (4,)),
    "a sum": (Net(lambda s, x: s.c(torch.relu(s.b(s.a(x)) + s.a(x))), **LINE), (4,)),
    "a difference with itself": (Net(lambda s, x: s.c((h := s.a(x)) - torch.relu(h) - 1.5), **LINE), (4,)),
    "twice": (Net(lambda s, x: s.c((h := s.a(x)) + h), **LINE), (4,)),
    "times numbers": (Net(lambda s, x: s.c(torch.relu(s.a(x) * s.factor) / -4.0), **LINE), (4,)),
    "numbers times": (Net(lambda s, x: s.c(-3.0 * s.a(x)), **LINE), (4,)),
    "means": (Net(lambda s, x: s.b(x).relu().mean((2, 3)), b=nn.Conv2d(1, 3, 2)), (1, 4, 5)),
    "turned": (Net(lambda s, x: s.b(x).relu().permute(0, 2, 3, 1).reshape(x.shape[0], -1), b=nn.Conv2d(1, 3, 2)), (1, 4, 5)),
    "joined": (Net(lambda s, x: torch.cat([s.a(x), s.b(s.a(x))], 1), **LINE), (4,)),
}  # fmt: skip


@pytest.mark.parametrize("name", NETS)
def test_steps_compute_the_module(name):
    module, shape = NETS[name]
    torch.manual_seed(2)
    module, x = module.double().eval(), torch.randn(5, *shape, dtype=torch.float64)
    steps = graph(module, x[:1])
    values = steps.values(x)
    with torch.no_grad():
        torch.testing.assert_close(values[-1], module(x), rtol=1e-12, atol=1e-12)
    assert len(steps.values(x, last=1)) == 2
    for step, value in zip(steps.steps, values, strict=True):
        entered = [values[i] for i in step.inputs]
        if step.kind == "relu":
            below = torch.where(entered[0] > 0, entered[0], step.slope * entered[0])
            assert torch.allclose(value, below, rtol=1e-12)
        if step.kind == "affine":
            radii = [torch.rand_like(v[:1]) for v in entered]
            jacobians = torch.autograd.functional.jacobian(step.function, tuple(v[:1] for v in entered))
            wanted = sum(
                j.abs().reshape(value[0].numel(), -1) @ r.flatten() for j, r in zip(jacobians, radii, strict=True)
            )
            assert torch.allclose(step.absolute(*radii).detach().flatten(), wanted, rtol=1e-12), step.where


def test_slopes_outside_of_zero_and_one_are_refused():
    """A relu-like function is convex and increasing: 0 <= slope <= 1."""
    x = torch.zeros(1, 4)
    for slope in (0.0, 1.0):
        assert graph(nn.Sequential(nn.Linear(4, 3), nn.LeakyReLU(slope)), x).steps[-1].slope == slope
        assert (
            graph(Net(lambda s, x, slope=slope: F.leaky_relu(s.a(x), slope), a=nn.Linear(4, 3)), x).steps[-1].slope
            == slope
        )
    for slope in (-0.1, 1.1):
        with pytest.raises(UnsupportedModuleError):
            graph(nn.Sequential(nn.Linear(4, 3), nn.LeakyReLU(slope)), x)
        with pytest.raises(UnsupportedModuleError):
            graph(Net(lambda s, x, slope=slope: F.leaky_relu(s.a(x), slope), a=nn.Linear(4, 3)), x)


def test_products_of_moving_tensors_and_quotients_by_them_are_refused():
    x = torch.zeros(1, 4)
    for forward in (lambda s, x: s.a(x) * s.b(s.a(x)), lambda s, x: 1.0 / s.a(x), lambda s, x: s.a(x) @ s.b.weight):
        with pytest.raises(UnsupportedModuleError):
            graph(Net(forward, **LINE), x)
    with pytest.raises(InputError):
        graph(nn.Linear(4, 3), torch.zeros(1, 4, dtype=torch.long))


def test_a_last_softmax_is_left_out_only_for_decisions():
    x = torch.zeros(1, 4)
    for last in (nn.Softmax(1), nn.LogSoftmax(1)):
        net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), last)
        assert [step.kind for step in graph(net, x, decisions=True).steps] == ["input", "affine", "relu"]
        with pytest.raises(UnsupportedModuleError):
            graph(net, x)
        with pytest.raises(UnsupportedModuleError):
            graph(nn.Sequential(nn.Linear(4, 3), last, nn.Linear(3, 2)), x, decisions=True)


def test_radii_of_several_points_grow_by_the_size_of_each_scale():
    """Batch norm with weights 2 and -6 and deviations 1 and 2 multiplies differences by 2 and -3."""
    norm = nn.BatchNorm1d(2, eps=0.0).double().eval()
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([2.0, -6.0]))
        norm.running_var.copy_(torch.tensor([1.0, 4.0]))
    radii = torch.tensor([[1.0, 1.0], [0.5, 2.0], [0.0, 3.0]]).double()
    assert torch.equal(_absolute(norm)(radii), radii * torch.tensor([2.0, 3.0]))
