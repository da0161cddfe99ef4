"""The tangent model, Taylor models and the rescaled model."""

import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.tangent import linearize, ntk, scale_output, taylor_model
from tests.oracles import tangent_jacobian as oracle
from tests.tangent import zoo

CASES = [
    c
    for c in zoo.CASES
    if c.name in ("mlp", "cnn", "resnet", "encoder", "decoder", "lstm", "gru", "tied", "strange", "gains")
]


def moved(net, size, seed=5):
    """A random direction over all parameters, and its flat form."""
    generator = torch.Generator().manual_seed(seed)
    steps = [size * torch.randn(p.shape, generator=generator, dtype=torch.float64) for p in net.parameters()]
    return steps, torch.cat([s.flatten() for s in steps])


def displace(model, steps):
    with torch.no_grad():
        for p, s in zip(model.parameters(), steps, strict=True):
            p.add_(s)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_tangent_model_is_f_plus_jacobian_times_displacement(case):
    net, x = zoo.build(case), zoo.sample(case, 3)
    steps, flat = moved(net, 0.3)
    expected = oracle.call(net, x).reshape(3, -1) + oracle.jacobian(net, x) @ flat
    lin = linearize(net)
    assert torch.allclose(oracle.call(lin, x), oracle.call(net, x), atol=1e-12)
    displace(lin, steps)
    assert torch.allclose(oracle.call(lin, x).reshape(3, -1), expected.detach(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", ["mlp", "encoder", "lstm"])
def test_the_error_of_order_r_falls_as_the_displacement_to_the_r_plus_1(name, order):
    case = next(c for c in zoo.CASES if c.name == name)
    net, x = zoo.build(case), zoo.sample(case, 3)
    if name == "mlp":
        net[1] = nn.Tanh()  # relu would break the smoothness that the rate needs
    if name == "encoder":
        net.layer.activation = nn.functional.gelu
    steps, _ = moved(net, 1.0)
    errors, sizes = [], [0.04, 0.02, 0.01]
    for size in sizes:
        model, true = taylor_model(net, order), zoo.build(case)
        true.load_state_dict(net.state_dict())
        if name == "mlp":
            true[1] = nn.Tanh()
        if name == "encoder":
            true.layer.activation = nn.functional.gelu
        displace(model, [size * s for s in steps])
        displace(true, [size * s for s in steps])
        errors.append(float((model(x) - true(x)).detach().norm()))
    slope = torch.tensor(errors[1] / errors[2]).log2()
    assert abs(slope - (order + 1)) < 0.25  # the next order adds a part of the size of the displacement


def test_the_tangent_model_trains_and_keeps_its_kernel():
    case = next(c for c in zoo.CASES if c.name == "mlp")
    net, x = zoo.build(case), zoo.sample(case, 4)
    before = {k: v.clone() for k, v in net.state_dict().items()}
    lin = linearize(net)
    start = ntk(net, x, outputs="full")
    optimizer = torch.optim.SGD(lin.parameters(), lr=0.05)
    for _ in range(5):
        optimizer.zero_grad()
        (lin(x) ** 2).mean().backward()
        optimizer.step()
    assert (lin(x) - net(x)).abs().max() > 1e-3
    assert torch.allclose(ntk(lin, x, outputs="full"), start, rtol=1e-10)
    assert all(torch.equal(before[k], v) for k, v in net.state_dict().items())


def test_state_dicts_bring_the_origin_along():
    net, x = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)), torch.randn(4, 2)
    lin = linearize(net)
    displace(lin, [torch.ones_like(p) for p in lin.parameters()])
    other = linearize(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)))
    other.load_state_dict(lin.state_dict())
    assert torch.equal(other(x), lin(x))


def test_rescale_is_alpha_times_the_centered_output():
    net, x = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double(), torch.randn(4, 2).double()
    model = scale_output(net, 7.0)
    assert model(x).abs().max() == 0
    displace(model.module, [torch.ones_like(p) for p in net.parameters()])
    assert torch.allclose(model(x), 7 * (model.module(x) - net(x)))
    assert len(list(model.parameters())) == 8 and sum(p.requires_grad for p in model.parameters()) == 4
    assert torch.allclose(ntk(model, x), 49 * ntk(model.module, x))


class NoTensor(nn.Linear):
    """Returns a tuple without a tensor."""

    def forward(self, x):
        return "words", None


def test_the_first_tensor_of_a_tuple_is_linearized():
    x = torch.randn(3, 4, 2)
    net = nn.LSTM(2, 2, batch_first=True)
    torch.testing.assert_close(linearize(net)(x), net(x)[0].detach())


def test_bad_requests_are_refused():
    with pytest.raises(InputError, match="order must be a whole number of at least 1, but it is 0"):
        taylor_model(nn.Linear(1, 1), order=0)
    with pytest.raises(InputError, match="returned a tuple"):
        linearize(NoTensor(2, 2))(torch.randn(1, 2))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_inputs_of_another_dtype_are_converted(dtype):
    net, x = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)), torch.randn(4, 2)
    for model in (linearize(net.to(dtype)), scale_output(net.to(dtype), 2.0)):
        assert torch.equal(model(x), model(x.to(dtype))) and model(x).dtype == dtype
        assert torch.equal(model(x.numpy()), model(x))


def test_gradients_of_the_inputs_pass_through_the_conversion():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double()
    x, other = torch.randn(4, 2, requires_grad=True), torch.randn(4, 2, requires_grad=True)
    with torch.no_grad():
        other.copy_(x)
    linearize(net)(x).sum().backward()
    net(other.double()).sum().backward()
    assert torch.allclose(x.grad, other.grad)


def normed(norm):
    net = nn.Sequential(norm(nn.Linear(2, 3)), nn.Tanh(), norm(nn.Linear(3, 2))).double()
    net(torch.zeros(1, 2).double())  # old norms now hold a computed weight, which deepcopy does not copy by itself
    return net.eval()


@pytest.mark.filterwarnings("ignore:.*weight_norm.* is deprecated:FutureWarning")
@pytest.mark.parametrize(
    "norm",
    [
        nn.utils.parametrizations.weight_norm,
        nn.utils.weight_norm,
        nn.utils.parametrizations.spectral_norm,
        nn.utils.spectral_norm,
    ],
)
def test_normed_modules_have_tangent_models(norm):
    """weight_norm has no forward mode in torch; the expansion is compared with the Jacobian of plain autograd."""
    net, x = normed(norm), torch.randn(4, 2).double()
    steps, flat = moved(net, 0.1)
    lin = linearize(net)
    displace(lin, steps)
    outputs, rows = net(x), []
    for y in outputs.flatten():
        result = torch.autograd.grad(y, list(net.parameters()), retain_graph=True)
        rows.append(torch.cat([g.flatten() for g in result]))
    expected = outputs.flatten() + torch.stack(rows) @ flat
    assert torch.allclose(lin(x).flatten(), expected, rtol=1e-12, atol=1e-12)
    lin(x).sum().backward()  # and it can be trained
    assert all(p.grad is not None for p in lin.parameters())


def test_a_module_without_parameters_is_its_own_expansion():
    x = torch.randn(3, 2)
    assert torch.equal(linearize(nn.Tanh())(x), torch.tanh(x))
    assert torch.equal(taylor_model(nn.Tanh(), 2)(x), torch.tanh(x))


def test_batch_norm_in_training_mode_is_refused_and_taken_in_eval_mode():
    net, x = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)), torch.randn(4, 2)
    lin = linearize(net)
    with pytest.raises(
        InputError, match=r"taylor_model\(module, order\)\(x\): '1' \(BatchNorm1d\) is in training mode"
    ):
        lin(x)
    assert torch.allclose(lin.eval()(x), net.eval()(x))
