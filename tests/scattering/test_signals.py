"""Scattering of signals, and both transforms as users meet them: strange sizes, padding, files, compilers."""

import numpy as np
import pytest
import torch

from gnomon import InputError, NotFiniteError
from gnomon.scattering import Scattering1d, Scattering2d
from tests.oracles.scattering import scattering_1d


@pytest.mark.parametrize(
    ("length", "J", "options"),
    [
        (97, 3, {"Q": 2}),  # prime
        (8, 3, {"Q": 1}),  # 2^J is the length
        (21, 1, {"Q": 1}),
        (2, 1, {"Q": 1}),
        (75, 4, {"Q": (4, 2), "T": 5}),
        (64, 4, {"Q": 3, "oversampling": 1}),
        (33, 3, {"Q": 1, "padding": "symmetric"}),
        (33, 3, {"Q": 1, "padding": "wrap"}),
        (33, 3, {"Q": 1, "padding": "edge"}),
        (33, 3, {"Q": 1, "padding": "constant"}),
        (33, 3, {"Q": 1, "padding": "linear_ramp"}),
        (33, 3, {"Q": 1, "padding": "mean"}),
        (33, 3, {"Q": 1, "padding": "median"}),
        (33, 3, {"Q": 1, "padding": "minimum"}),
        (33, 3, {"Q": 1, "padding": "maximum"}),
    ],
)
def test_any_length_and_padding_equal_convolutions_in_full(length, J, options):
    x = np.random.default_rng(0).normal(size=length)
    transform = Scattering1d(J, length, **options)
    mode, more = options.get("padding", "reflect"), options.get("oversampling", 0)
    expected = scattering_1d(x, transform.widths[0], transform.waves, transform.T, more, mode)
    assert len(transform.paths()) == len(expected)
    for signal in (torch.from_numpy(x), torch.from_numpy(x).requires_grad_()):
        gap = np.abs(transform(signal).detach().numpy() - expected).max()
        assert gap < 1e-6 * np.abs(expected).max()  # the filters are cut off where they are 1e-7


def test_both_roads_agree_in_float32_and_for_a_parameter_without_gradients():
    x = torch.randn(2, 3, 40, 24)
    transform = Scattering2d(3, (40, 24), 4)
    fast, slow = transform(x), transform(x.clone().requires_grad_()).detach()
    assert (fast - slow).abs().max() < 2e-6 * slow.abs().max()  # some roundings of 1e-7 each
    with torch.no_grad():
        assert torch.equal(transform(x.clone().requires_grad_()), fast)
    with torch.inference_mode():
        assert torch.equal(transform(x), fast)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # of torch's own, on the way
def test_forward_derivatives_are_those_of_differences():
    transform = Scattering1d(2, 16, Q=1)
    x, v = (torch.randn(16, dtype=torch.float64, generator=torch.Generator().manual_seed(k)) for k in (0, 1))
    with torch.autograd.forward_ad.dual_level():
        out = transform(torch.autograd.forward_ad.make_dual(x, v))
        slope = torch.autograd.forward_ad.unpack_dual(out).tangent
    step = 1e-6
    numeric = (transform(x + step * v) - transform(x - step * v)) / (2 * step)
    assert slope is not None and torch.allclose(slope, numeric, atol=1e-7)


@pytest.mark.parametrize("make", [lambda: Scattering1d(2, 20, Q=1), lambda: Scattering2d(1, (6, 7), 2)])
def test_states_empty_batches_and_nan(make, tmp_path):
    transform, other = make(), make()
    torch.save(transform.state_dict(), tmp_path / "state.pt")
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    x = torch.randn(2, *transform.shape)
    assert torch.equal(other(x), transform(x))
    assert transform(x[:0]).shape == (0, *transform(x).shape[1:])
    with pytest.raises(InputError, match="x holds torch.complex64"):
        transform(x * 1j)
    with pytest.raises(NotFiniteError, match="example 1 of x contains NaN or infinity"):
        transform(torch.stack([x[0], x[1] / 0]))
    with pytest.raises(InputError, match="the transform was made for"):
        transform(x[..., 1:])


def test_signals_are_exported():
    transform, x = Scattering1d(2, 20, Q=1), torch.randn(3, 20)
    assert torch.allclose(torch.export.export(transform, (x,)).module()(x), transform(x), atol=1e-6)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # of torch's own, on the way
@pytest.mark.filterwarnings("ignore:Torchinductor does not support code generation for complex:UserWarning")
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_transforms_are_compiled(backend):
    for transform in (Scattering2d(1, (6, 6), 2), Scattering1d(2, 20, Q=1)):
        x = torch.randn(3, *transform.shape)
        try:
            found = torch.compile(transform, backend=backend)(x)
        except RuntimeError as reason:
            if "compiler" in str(reason):
                pytest.skip("no compiler of C++")
            raise
        assert torch.allclose(found, transform(x), atol=1e-5)
