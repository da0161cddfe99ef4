"""The reader: what it understands, that it understands all of it, and that it leaves the module alone."""

import copy
import inspect

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gnomon.core.errors import InputError, NoLimitError, UnsupportedModuleError
from gnomon.program import read_program
from gnomon.program.expression import evaluate
from gnomon.program.steps import Activation, Concat, Conv, Dense, Dropout, FixedPositionMap, Normalize, Reorder, Sum

X, IMAGE = torch.zeros(2, 6), torch.zeros(2, 3, 8, 8)


class Net(nn.Module):
    """Layers by name, and a forward given as a function of the module and x."""

    def __init__(self, run, **layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.run = run

    def forward(self, x):
        return self.run(self, x)


def ops(program):
    return [type(s.op).__name__ for s in program.steps]


def activations(program):
    return [s.op.expression for s in program.steps if isinstance(s.op, Activation)]


def test_a_chain_of_elementwise_calls_is_one_activation():
    net = Net(lambda s, x: s.b(0.5 * torch.erf(s.a(x) / 2.4) + 0.5), a=nn.Linear(6, 8), b=nn.Linear(8, 1))
    (tree,) = activations(read_program(net, X))
    u = torch.linspace(-2, 2, 9)
    assert torch.allclose(evaluate(tree, u), 0.5 * torch.erf(u / 2.4) + 0.5)


def test_a_graph_of_elementwise_calls_with_one_source_is_one_activation():
    def run(s, x):
        h = s.a(x)
        gate = torch.sigmoid(h)
        return s.b(torch.where(h > 0, h * gate, 1 - torch.exp(h)) + torch.tanh(h) ** 2)

    (tree,) = activations(read_program(Net(run, a=nn.Linear(6, 8), b=nn.Linear(8, 1)), X))
    u = torch.linspace(-2, 2, 9)
    wanted = torch.where(u > 0, u * torch.sigmoid(u), 1 - torch.exp(u)) + torch.tanh(u) ** 2
    assert torch.allclose(evaluate(tree, u), wanted)


@pytest.mark.parametrize(
    "module",
    [nn.ELU(0.7), nn.CELU(1.3), nn.GELU("tanh"), nn.Softplus(2.0), nn.Hardtanh(-0.5, 0.7), nn.LeakyReLU(0.2), nn.Threshold(0.1, 0.3),
     nn.Softshrink(0.4), nn.Hardshrink(0.3), nn.ReLU6(), nn.SELU(), nn.SiLU(), nn.Mish(), nn.Softsign(), nn.Tanhshrink(), nn.LogSigmoid(),
     nn.Hardswish(), nn.Hardsigmoid(), nn.Sigmoid(), nn.Tanh(), nn.ReLU()],
    ids=lambda m: type(m).__name__,
)  # fmt: skip
def test_every_activation_module_reads_as_what_it_computes(module):
    (tree,) = activations(read_program(nn.Sequential(nn.Linear(6, 8), module, nn.Linear(8, 1)), X))
    u = torch.linspace(-3, 3, 31)
    assert torch.equal(evaluate(tree, u), module(u))


def test_in_place_activations_change_what_others_see():
    def run(s, x):
        h = s.a(x)
        y = s.b(F.relu(h, inplace=True))
        return s.c(h + y)  # h is relu(h) by now

    layers = {"a": nn.Linear(6, 8), "b": nn.Linear(8, 8), "c": nn.Linear(8, 1)}
    program = read_program(Net(run, **layers), X)
    total = next(s for s in program.steps if isinstance(s.op, Sum))
    assert any(isinstance(program.steps[i].op, Activation) for i in total.inputs)


def test_reshapes_that_move_positions_leave_no_trace_or_a_move():
    def run(s, x):
        h = s.a(x).relu()
        h = h.permute(0, 2, 3, 1).contiguous().view(h.size(0), -1, h.size(1))  # (n, 64, c)
        h = s.b(h).relu().transpose(1, 2).unflatten(2, (8, 8)).flip(-1)[:, :, 1:, ::2]
        return s.c(h.reshape(h.shape[0], -1))

    net = Net(run, a=nn.Conv2d(3, 8, 3, padding=1), b=nn.Linear(8, 8), c=nn.Linear(8 * 7 * 4, 1))
    program = read_program(net, IMAGE)
    assert program.steps[-1].op.contracted
    assert sum(isinstance(s.op, Reorder) for s in program.steps) >= 1
    assert program.steps[-1].grid == ()


@pytest.mark.parametrize(("order", "moves"), [((0, 1, 2, 3), 0), ((0, 1, 3, 2), 1)])
def test_a_permutation_of_nothing_leaves_no_trace(order, moves):
    layers = {"a": nn.Conv2d(3, 4, 3), "b": nn.Linear(144, 1)}
    plain = read_program(Net(lambda s, x: s.b(s.a(x).flatten(1)), **layers), IMAGE)
    moved = read_program(Net(lambda s, x: s.b(s.a(x).permute(order).flatten(1)), **layers), IMAGE)
    assert len(moved.steps) == len(plain.steps) + moves


def test_layers_of_an_image_network():
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding="same", padding_mode="circular", dilation=2), nn.GroupNorm(1, 8), nn.GELU(), nn.AvgPool2d(2),
        nn.Conv2d(8, 8, 3, stride=2), nn.ReLU(), nn.Dropout(0.2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4),
    )  # fmt: skip
    program = read_program(net, IMAGE)
    kinds = [type(s.op) for s in program.steps]
    assert [k for k in kinds if k in (Conv, Dense, Normalize, FixedPositionMap, Dropout)] == [
        Dense,
        Normalize,
        FixedPositionMap,
        Conv,
        Dropout,
        FixedPositionMap,
        Dense,
    ]
    assert program.steps[0].op.window.dilation == (2, 2)  # the first convolution is dense on patches of the data
    assert "Dropout" not in ops(read_program(net.eval(), IMAGE))


def test_concatenated_channels_are_activated_part_by_part():
    def run(s, x):
        h = s.a(x)
        return s.c(torch.tanh(torch.cat([h, s.b(torch.relu(h))], 1)))

    program = read_program(Net(run, a=nn.Linear(6, 8), b=nn.Linear(8, 24), c=nn.Linear(32, 1)), X)
    join = next(s for s in program.steps if isinstance(s.op, Concat))
    assert join.op.shares == (0.25, 0.75)
    assert all(isinstance(program.steps[i].op, Activation) for i in join.inputs)


def test_equal_branches_add_their_coefficients():
    def run(s, x):
        h = s.a(x)
        return s.c(torch.relu(h + (2 * h - s.b(torch.relu(h)))))

    program = read_program(Net(run, a=nn.Linear(6, 8), b=nn.Linear(8, 8), c=nn.Linear(8, 1)), X)
    total = [s.op for s in program.steps if isinstance(s.op, Sum)][-1]
    assert sorted(total.coefficients) == [-1.0, 3.0]


def test_shape_dependent_code_is_no_obstacle():
    def run(s, x):
        if x.dim() == 4 and x.shape[2] == 8:
            x = x.flatten(2)
        n, c, t = x.shape
        h = s.a(x.transpose(1, 2)).relu()
        return s.b(h.view(n, t * h.size(-1)))

    program = read_program(Net(run, a=nn.Linear(3, 8), b=nn.Linear(64 * 8, 1)), IMAGE)
    assert program.steps[-1].op.contracted == (0,)


def test_functional_layers_with_bare_parameters():
    class Bare(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.b, self.v = (
                nn.Parameter(torch.randn(8, 6)),
                nn.Parameter(torch.zeros(8)),
                nn.Parameter(torch.randn(8, 1)),
            )

        def forward(self, x):
            return torch.relu(F.linear(x, self.w, self.b) / 6**0.5) @ self.v / 8**0.5

    program = read_program(Bare(), X)
    assert [w.path for w in program.weights] == ["w", "v"]
    assert [w.fan_in for w in program.weights] == [6, 8]


def test_frozen_parameters_are_known_as_such():
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    net[0].weight.requires_grad_(False)
    assert read_program(net, X).weights[0].trained == (False, True)


def test_the_module_is_left_as_found():
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3),
        nn.BatchNorm2d(8).eval(),
        nn.ReLU(inplace=True),
        nn.Dropout(0.5),
        nn.Flatten(),
        nn.Linear(8 * 36, 2),
    )
    before, flags, state = (
        copy.deepcopy(net.state_dict()),
        [m.training for m in net.modules()],
        torch.random.get_rng_state(),
    )
    read_program(net, IMAGE)
    assert [m.training for m in net.modules()] == flags
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(v, before[k]) for k, v in net.state_dict().items())
    assert all(p.grad is None for p in net.parameters()) and not net._forward_hooks


REFUSED = {
    "max pooling": (nn.Sequential(nn.Conv2d(3, 8, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 1)), r"'1' \(MaxPool2d\).*sampled_limit"),
    "softmax": (nn.Sequential(nn.Flatten(), nn.Linear(192, 8), nn.Softmax(1), nn.Linear(8, 1)), r"'2' \(Softmax\).*sampled_limit"),
    "batch norm training": (nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(288, 1)), r"BatchNorm in training mode.*net.eval\(\).*sampled_limit"),
    "instance norm": (nn.Sequential(nn.Conv2d(3, 8, 3), nn.InstanceNorm2d(8), nn.Flatten(), nn.Linear(288, 1)), "means over many channels"),
    "depthwise": (nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3, groups=8), nn.ReLU(), nn.Flatten(), nn.Linear(128, 1)), "which is not Gaussian"),
    "activation first": (nn.Sequential(nn.Flatten(), nn.ReLU(), nn.Linear(192, 1)), r"'1' \(relu\).*before any affine layer; required: affine-before-activation"),
    "activation after pooling": (nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Tanh(), nn.Flatten(), nn.Linear(72, 1)), "not Gaussian.*affine-before-activation"),
    "mean over channels": (Net(lambda s, x: s.a(x).relu().mean(1), a=nn.Conv2d(3, 8, 3)), "averages over the channels"),
    "product of branches": (Net(lambda s, x: s.c(s.a(x) * s.b(x)), a=nn.Conv2d(3, 8, 3), b=nn.Conv2d(3, 8, 3), c=nn.Conv2d(8, 1, 3)), "products"),
    "dropout on data": (nn.Sequential(nn.Dropout(0.5), nn.Flatten(), nn.Linear(192, 1)), "drops entries of the data"),
    "norm after activation": (nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.GroupNorm(1, 8), nn.Flatten(), nn.Linear(288, 1)), "mean zero"),
}  # fmt: skip


def test_a_diagonal_of_channels_and_positions_is_refused():
    """Entry i of the output is channel i at position i: a move of positions alone would read another function."""
    net = Net(lambda s, x: s.b(s.a(x).flatten(2)[:, range(4), range(4)]), a=nn.Conv2d(3, 4, 5), b=nn.Linear(4, 1))
    with pytest.raises(UnsupportedModuleError, match="mixes several dimensions"):
        read_program(net, torch.zeros(2, 3, 6, 6))


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_limit_is_refused_with_place_hypothesis_and_cure(name):
    net, message = REFUSED[name]
    with pytest.raises(NoLimitError, match=message):
        read_program(net, IMAGE)


def test_independent_branches_are_summed():
    def run(s, x):
        return s.c(F.avg_pool2d(s.a(x), 3, 1, 1) - 2 * s.b(x))

    program = read_program(Net(run, a=nn.Conv2d(3, 8, 3), b=nn.Conv2d(3, 8, 3), c=nn.Conv2d(8, 1, 3)), IMAGE)
    total = next(s for s in program.steps if isinstance(s.op, Sum))
    pooled, plain = (program.steps[i] for i in total.inputs)
    assert total.op.coefficients == (1.0, -2.0) and total.grid == (6, 6)
    assert (
        isinstance(pooled.op, FixedPositionMap) and program.steps[pooled.inputs[0]].where == "a" and plain.where == "b"
    )
    weights = pooled.op.matrices[0]  # means of three neighbors, zeros beyond the edge counted
    assert torch.equal(weights.sum(1) * 3, torch.tensor([2.0, 3, 3, 3, 3, 2]).to(weights)) and weights[0, 2] == 0


def test_correlated_branches_are_refused():
    def run(s, x):
        h = s.a(x)
        return s.c(F.avg_pool2d(h, 3, 1, 1) + h)

    with pytest.raises(NoLimitError, match="correlated.*independent-branches"):
        read_program(Net(run, a=nn.Conv2d(3, 8, 3), c=nn.Conv2d(8, 1, 3)), IMAGE)


def test_two_activated_branches_are_correlated_through_their_means():
    def run(s, x):
        return s.c(torch.relu(s.a(x)) + torch.relu(s.b(x)))

    with pytest.raises(NoLimitError, match="correlated"):
        read_program(Net(run, a=nn.Linear(6, 8), b=nn.Linear(6, 8), c=nn.Linear(8, 1)), X)


def test_weight_sharing_across_depth_is_refused():
    def run(s, x):
        h = s.a(x)
        for _ in range(2):
            h = s.b(torch.relu(h))
        return s.c(h)

    with pytest.raises(NoLimitError, match="'b.weight' is used at 'b' and again at 'b'.*weight sharing"):
        read_program(Net(run, a=nn.Linear(6, 8), b=nn.Linear(8, 8), c=nn.Linear(8, 1)), X)


def test_tied_modules_are_weight_sharing():
    net = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 1))
    net[2].weight = net[0].weight
    with pytest.raises(NoLimitError, match="'0.weight' is used at '0' and again at '2'"):
        read_program(net, X)


class Inherited(nn.Linear):
    """A class of the user's that changes nothing."""


class OwnLaw(nn.Linear):
    def reset_parameters(self):
        nn.init.normal_(self.weight)


def test_classes_that_inherit_a_layer_are_that_layer():
    program = read_program(nn.Sequential(Inherited(6, 8), nn.ReLU(), OwnLaw(8, 1, bias=False)), X)
    assert [w.kind for w in program.weights] == ["Inherited", "Parameter"]  # the second has no law of torch's


@pytest.mark.parametrize("where", ["0", "1", ""])
@pytest.mark.parametrize("kind", ["register_forward_hook", "register_forward_pre_hook"])
def test_forward_hooks_are_refused_and_not_called(kind, where):
    net, seen = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1)), []
    handle = getattr(net.get_submodule(where), kind)(lambda *_: seen.append(1))
    with pytest.raises(
        UnsupportedModuleError, match=rf"'{where}' \(.*\) has a forward hook, which may change what it returns"
    ):
        read_program(net, X)
    assert not seen
    handle.remove()
    read_program(net, X)


@pytest.mark.parametrize("kind", ["register_module_forward_hook", "register_module_forward_pre_hook"])
def test_hooks_on_all_modules_are_refused(kind):
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    handle = getattr(nn.modules.module, kind)(lambda *_: None)
    try:
        with pytest.raises(UnsupportedModuleError, match="every module has a forward hook"):
            read_program(net, X)
    finally:
        handle.remove()


def test_backward_hooks_change_nothing():
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    plain = str(read_program(net, X))
    net[0].register_full_backward_hook(lambda *_: None)
    net[2].register_full_backward_pre_hook(lambda *_: None)
    assert str(read_program(net, X)) == plain


def test_reparametrized_weights_are_refused():
    net = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(6, 8)), nn.ReLU(), nn.Linear(8, 1))
    with pytest.raises(NoLimitError, match="'0.weight' is computed from other parameters"):
        read_program(net, X)


def test_a_constant_on_uncentered_channels_is_refused():
    def run(s, x):
        return s.b(F.avg_pool2d(torch.relu(s.a(x)), 2) + 1.0)

    with pytest.raises(NoLimitError, match="adds a constant"):
        read_program(Net(run, a=nn.Conv2d(3, 8, 3), b=nn.Conv2d(8, 1, 3)), IMAGE)


def test_unused_parameters_fail_the_proof_of_completeness():
    with pytest.raises(UnsupportedModuleError, match="'spare.weight', 'spare.bias'.*forward uses every parameter"):
        read_program(Net(lambda s, x: s.a(x), a=nn.Linear(6, 1), spare=nn.Linear(3, 3)), X)


def test_a_forward_that_branches_on_values_cannot_be_traced():
    def run(s, x):
        h = s.a(x)
        return h if h.sum() > 0 else -h

    with pytest.raises(UnsupportedModuleError, match="cannot be traced.*fixed sequence of calls"):
        read_program(Net(run, a=nn.Linear(6, 1)), X)


def test_an_unknown_call_names_itself():
    with pytest.raises(UnsupportedModuleError, match=r"'cumsum' \(cumsum\) is not supported.*every node"):
        read_program(Net(lambda s, x: s.b(torch.cumsum(s.a(x), 1)), a=nn.Linear(6, 8), b=nn.Linear(8, 1)), X)


def test_wrong_feature_size_names_the_layer_and_the_shape():
    with pytest.raises(InputError, match=r"'0' cannot take inputs of shape \(n, 7\)"):
        read_program(nn.Sequential(nn.Linear(6, 8), nn.ReLU()), torch.zeros(2, 7))


def test_something_that_is_not_a_module():
    with pytest.raises(InputError, match="Pass the module itself"):
        inspect.unwrap(read_program)(nn.Linear, X)  # without the test run's own type checks
