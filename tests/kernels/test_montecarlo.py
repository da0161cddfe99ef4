"""Monte-Carlo limits: they agree with the exact one, their errors are honest, and they take what has no limit."""

import copy
from functools import partial

import pytest
import torch
from torch import nn

import gnomon
from gnomon import InitializationLaw, InputError
from gnomon.kernels.widen import widen_layers

X = torch.randn(3, 48, dtype=torch.float64, generator=torch.Generator().manual_seed(3))


def mlp(w=64):
    return nn.Sequential(nn.Linear(48, w), nn.ReLU(), nn.Linear(w, w), nn.ReLU(), nn.Linear(w, 2))


@pytest.mark.parametrize("parametrization", ["standard", "ntk"])
@pytest.mark.parametrize("init", ["torch", InitializationLaw(1.4, 0.2)], ids=["torch", "law"])
def test_agrees_with_the_exact_limit_within_its_errors(init, parametrization):
    exact = gnomon.limit(mlp(), init=init, parametrization=parametrization)(X[:2], X[1:])
    guess = gnomon.sampled_limit(mlp(), init=init, parametrization=parametrization, draws=64)(X[:2], X[1:])
    for a, b, e in ((exact.nngp, guess.nngp, guess.nngp_error), (exact.ntk, guess.ntk, guess.ntk_error)):
        assert a.shape == b.shape == e.shape
        assert bool(((a - b).abs() <= 4.5 * e + 0.02 * a.abs().max()).all())


def test_standard_errors_fall_as_the_square_root_of_samples():
    few, many = (gnomon.sampled_limit(mlp(16), draws=s)(X).ntk_error.mean() for s in (16, 256))
    assert 2.5 < float(few / many) < 6.4  # 4 in the mean


def test_symmetric_and_reproducible_and_touching_no_global_state():
    net = mlp(8)
    before, state = copy.deepcopy(net.state_dict()), torch.random.get_rng_state()
    a, b = (gnomon.sampled_limit(net, draws=4, seed=5).ntk(X) for _ in range(2))
    assert torch.equal(a, b)
    assert torch.allclose(a, a.T, rtol=1e-14)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(v, before[k]) for k, v in net.state_dict().items())
    assert all(p.grad is None for p in net.parameters())


class Recurrent(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.rnn, self.head = nn.LSTM(12, w, batch_first=True), nn.Linear(w, 1)

    def forward(self, x):
        return self.head(self.rnn(x.view(-1, 4, 12))[0][:, -1])


NO_LIMIT = {
    "max pool": lambda w: nn.Sequential(
        nn.Unflatten(1, (3, 4, 4)), nn.Conv2d(3, w, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(w, 1)
    ),
    "batch norm": lambda w: nn.Sequential(nn.Linear(48, w), nn.BatchNorm1d(w), nn.ReLU(), nn.Linear(w, 1)),
    "softmax": lambda w: nn.Sequential(nn.Linear(48, w), nn.Softmax(1), nn.Linear(w, 1)),
    "recurrence": Recurrent,
}


def drawn(net, seed):
    """NNGP and NTK of one network of one output, drawn afresh layer by layer: the whole batch, one row at a time."""
    torch.manual_seed(seed)
    for part in net.modules():
        if hasattr(part, "reset_parameters"):
            part.reset_parameters()
    f = net(X)[:, 0]
    rows = [torch.autograd.grad(v, list(net.parameters()), retain_graph=True) for v in f]
    jacobian = torch.stack([torch.cat([g.flatten() for g in row]) for row in rows])
    return torch.stack([torch.outer(f, f).detach(), jacobian @ jacobian.T])


@pytest.mark.parametrize(
    ("name", "width"), [(n, w) for n in NO_LIMIT for w in (None, 32) if (n, w) != ("recurrence", 32)]
)
def test_takes_what_has_no_limit_and_finds_the_mean_of_fresh_networks(name, width):
    wide = NO_LIMIT[name](width or 16).double()
    draws = torch.stack([drawn(wide, seed) for seed in range(7, 12)])
    mean, error = draws.mean(0), draws.std(0) / 5**0.5
    k = gnomon.sampled_limit(NO_LIMIT[name](16), draws=5, width=width, seed=7)(X)
    for found, wanted in zip((k.nngp, k.ntk, k.nngp_error, k.ntk_error), (*mean, *error), strict=True):
        assert torch.allclose(found, wanted, rtol=1e-10, atol=1e-12 * float(wanted.abs().max()))  # the same draws


def test_widening_multiplies_hidden_sizes_only():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem, self.norm, self.body, self.head = (
                nn.Conv1d(3, 8, 3, padding=1),
                nn.GroupNorm(1, 8),
                nn.Conv1d(8, 8, 3, padding=1),
                nn.Linear(8 * 16, 5),
            )

        def forward(self, x):
            h = self.stem(x.view(-1, 3, 16))
            return self.head((h + self.body(torch.relu(self.norm(h)))).flatten(1))

    wide = widen_layers(Block().double(), X, 30)
    shapes = {k: tuple(v.shape) for k, v in wide.named_parameters()}
    assert (
        shapes["stem.weight"] == (32, 3, 3) and shapes["norm.weight"] == (32,) and shapes["body.weight"] == (32, 32, 3)
    )
    assert shapes["head.weight"] == (5, 32 * 16)


def test_widening_goes_by_the_narrowest_hidden_layer():
    net = nn.Sequential(nn.Linear(48, 24), nn.ReLU(), nn.Linear(24, 8), nn.ReLU(), nn.Linear(8, 2)).double()
    assert [tuple(p.weight.shape) for p in widen_layers(net, X, 30)[::2]] == [(96, 48), (32, 96), (2, 32)]  # times four


@pytest.mark.parametrize("init", [InitializationLaw(1.4, 0.3), "measured"], ids=["law", "measured"])
def test_one_layer_has_its_limit_in_every_draw(init):
    """NTK parametrization: w^2 x . x' / d + b^2, whatever the weights are."""
    net = nn.Linear(48, 3).double()
    with torch.no_grad():
        net.bias.mul_(4.0)  # so that biases and weights differ in size
    square = [float(p.detach().square().mean()) for p in (net.weight, net.bias)]
    w2, b2 = (1.4**2, 0.3**2) if isinstance(init, InitializationLaw) else (48 * square[0], square[1])
    k = gnomon.sampled_limit(net, init=init, parametrization="ntk", draws=3)(X)
    assert torch.allclose(k.ntk, w2 * X @ X.T / 48 + b2, rtol=1e-12)
    assert k.ntk_error.abs().max() < 1e-12


def test_widening_brings_the_estimate_to_the_limit():
    """Scatter of single networks falls with the width they are widened to."""
    narrow, wide = (gnomon.sampled_limit(mlp(8), parametrization="ntk", draws=24, width=w)(X) for w in (8, 512))
    relative = [float((k.ntk_error / k.ntk).diag().mean()) for k in (narrow, wide)]
    assert relative[1] < relative[0] / 1.8  # up to 8, less what the first layer adds


def test_what_cannot_be_widened_says_so():
    class Fixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(48, 8), nn.Linear(8, 1)

        def forward(self, x):
            return self.b(torch.relu(self.a(x)).view(-1, 8))

    with pytest.raises(InputError, match="after widening by 4 forward fails"):
        gnomon.sampled_limit(Fixed(), draws=2, width=32)(X)
    with pytest.raises(InputError, match="is a LSTM"):
        _widen_lstm()


def _widen_lstm():
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.rnn = nn.Linear(12, 8), nn.LSTM(8, 8, batch_first=True)

        def forward(self, x):
            return self.rnn(self.a(x.view(-1, 4, 12)))[0][:, -1]

    widen_layers(Recurrent().double(), X, 32)


def test_bad_options():
    with pytest.raises(InputError, match="draws must be .* at least 2, but it is 1"):
        gnomon.sampled_limit(mlp(), draws=1)
    with pytest.raises(InputError, match="neither Linear nor Conv"):
        gnomon.sampled_limit(nn.Sequential(nn.Unflatten(1, (4, 12)), nn.GRU(12, 4)), parametrization="ntk")(X)
    with pytest.raises(InputError, match="no reset_parameters"):

        class Bare(nn.Module):
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.randn(48, 1))

            def forward(self, x):
                return x @ self.w

        gnomon.sampled_limit(Bare(), draws=2)(X)


@pytest.mark.filterwarnings("ignore:.*weight_norm.* is deprecated:FutureWarning")
@pytest.mark.parametrize("norm", [nn.utils.weight_norm, nn.utils.spectral_norm])
def test_weights_that_cannot_be_drawn_are_refused(norm):
    """reset_parameters() of such a layer draws a tensor that the next call overwrites: every copy would be the same."""
    net = nn.Sequential(norm(nn.Linear(48, 8)), nn.ReLU(), nn.Linear(8, 1))
    net(torch.zeros(1, 48))
    with pytest.raises(InputError, match=r"'0' \(Linear\) computes its weight from others"):
        gnomon.sampled_limit(net, draws=2)(X)


def test_layers_with_hooks_or_parametrizations_are_not_replaced_by_wider_ones():
    hooked = mlp(8)
    hooked[2].register_forward_hook(lambda module, args, out: 3 * out)
    normed = mlp(8)
    nn.utils.parametrizations.orthogonal(normed[2])
    for net in (hooked, normed):
        with pytest.raises(InputError, match="has hooks or parametrizations, which a new layer would not have"):
            gnomon.sampled_limit(net, draws=2, width=16)(X)


def test_frozen_networks_have_an_nngp_and_a_zero_ntk():
    found = gnomon.sampled_limit(mlp(8).requires_grad_(False), draws=2)(X)
    assert bool((found.nngp.diagonal() > 0).all()) and not bool(found.ntk.any())


class Named(nn.Module):
    """Takes named arguments, returns a tuple, has many outputs and a parameter without ``reset_parameters``."""

    def __init__(self, width=4, outputs=3):
        super().__init__()
        self.fc, self.scale = nn.Linear(3, width), nn.Parameter(torch.randn(width))
        self.out = nn.Linear(width, outputs)

    def forward(self, first, second=None):
        h = self.fc(first) * self.scale
        return self.out(h if second is None else h * second), h


@pytest.mark.parametrize("outputs", [3, 80])
def test_a_function_builds_the_networks_whatever_they_take_and_return(outputs):
    x = {"first": torch.randn(3, 3, generator=torch.Generator().manual_seed(0)), "second": torch.ones(3, 4) * 2}
    draws = 4 if outputs == 3 else 40

    def by_hand(seed):
        torch.manual_seed(seed)
        net = Named(outputs=outputs)
        f = net(**x)[0]
        rows = [
            [torch.cat([g.flatten() for g in torch.autograd.grad(v, list(net.parameters()), retain_graph=True)[:]])
             for v in row] for row in f[:, :3]
        ]  # fmt: skip
        jacobian = torch.stack([torch.stack(row) for row in rows]).double()
        return torch.einsum("ikp,jkp->ij", jacobian, jacobian) / 3, (f @ f.T).double() / outputs

    k = gnomon.sampled_limit(lambda: Named(outputs=outputs), draws=draws)(x)
    ntk, nngp = (torch.stack(part) for part in zip(*map(by_hand, range(draws)), strict=True))
    assert torch.allclose(k.nngp, nngp.detach().mean(0), rtol=1e-5)
    if outputs == 3:
        assert torch.allclose(k.ntk, ntk.mean(0), rtol=1e-5)  # the same draws
    else:  # random combinations of the outputs: the same mean, within five standard errors
        error = (k.ntk_error.square() + ntk.var(0) / draws).sqrt()
        assert bool(((k.ntk - ntk.mean(0)).abs() < 5 * error).all())


def test_two_sets_of_named_inputs_give_the_rows_and_columns_of_the_whole():
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    build = partial(Named, 4, 3)
    whole = gnomon.sampled_limit(build, draws=2)({"first": x})
    part = gnomon.sampled_limit(build, draws=2)({"first": x[:2]}, {"first": x[2:]})
    assert torch.allclose(part.ntk, whole.ntk[:2, 2:], rtol=1e-5)


def test_a_function_has_its_own_initialization():
    with pytest.raises(InputError, match="with a function that builds the module"):
        gnomon.sampled_limit(Named, init=gnomon.InitializationLaw(1.0))


def test_a_function_that_sets_its_own_seed_is_refused():
    def build():
        torch.manual_seed(0)
        return nn.Linear(3, 1)

    with pytest.raises(InputError, match="builds the same network at every call"):
        gnomon.sampled_limit(build, draws=3)(torch.randn(2, 3))
