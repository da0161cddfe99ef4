import copy
import json

import numpy as np
import pytest
import torch

from gnomon import InputError, NotFiniteError
from gnomon.scattering import Scattering1d, Scattering2d
from tests.oracles.scattering import scattering_2d


def relative(found, expected):
    """The largest error as a share of the largest coefficient."""
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("name", ["2d_J2_L8_32", "2d_J3_L4_28", "1d_J6_Q1_1024", "1d_J8_Q8_4096"])
@pytest.mark.parametrize("gradients", [False, True])
def test_coefficients_are_those_of_kymatio(shared, name, gradients):
    stored = np.load(shared / "reference" / "scattering" / f"{name}.npz")
    options = json.loads(str(stored["config"]))
    del options["kind"]
    transform = (Scattering2d if name[0] == "2" else Scattering1d)(**options)
    x = torch.from_numpy(stored["x"]).requires_grad_(gradients)
    assert relative(transform(x).detach(), stored["S"]) < 1e-6
    if name[0] == "1":
        assert [path.order for path in transform.paths()] == stored["meta_order"].tolist()
        for key in ("n", "j", "xi", "sigma"):
            for path, row in zip(transform.paths(), stored[f"meta_{key}"], strict=True):
                assert np.allclose(getattr(path, key), row[np.isfinite(row)])


@pytest.mark.parametrize(
    ("shape", "J", "L", "mode"),
    [
        ((16, 16), 4, 2, "reflect"),  # 2^J is the side
        ((17, 23), 2, 3, "reflect"),  # odd and prime
        ((42, 8), 1, 2, "reflect"),  # a padded side of 2 times 23
        ((34, 8), 1, 2, "reflect"),  # of 2 times 19
        ((8, 13), 1, 8, "symmetric"),
        ((30, 52), 2, 9, "reflect"),  # sides of 36 and 60, more wavelets than go side by side
        ((12, 9), 2, 4, "wrap"),
        ((11, 11), 3, 1, "constant"),
        ((9, 10), 2, 2, "linear_ramp"),
        ((9, 10), 2, 2, "median"),
        ((9, 10), 2, 2, "mean"),
        ((9, 10), 2, 2, "maximum"),
        ((9, 10), 2, 2, "edge"),
    ],
)
def test_any_size_and_padding_equal_convolutions_in_full(shape, J, L, mode):
    x = np.random.default_rng(0).normal(size=shape)
    expected = scattering_2d(x, J, L, mode)
    transform = Scattering2d(J, shape, L, padding=mode)
    assert len(transform.paths()) == len(expected)
    assert relative(transform(torch.from_numpy(x)), expected) < 1e-9  # where filters are cut off
    assert relative(transform(torch.from_numpy(x).requires_grad_()).detach(), expected) < 1e-9


def test_paths_of_one_order_batches_dtypes_and_threads():
    x = torch.randn(2, 3, 20, 12)
    both, one = Scattering2d(2, (20, 12), 4), Scattering2d(2, (20, 12), 4, max_order=1)
    y = both(x)
    assert y.shape == (2, 3, 25, 5, 3) and len(both.paths()) == 25
    assert torch.equal(one(x), y[:, :, :9])
    assert relative(y, both(x.double()).numpy()) < 1e-5  # float32
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        many = both(x.repeat(40, 1, 1, 1))
        assert torch.get_num_threads() == 2
        torch.set_num_threads(1)
        assert torch.allclose(many, both(x.repeat(40, 1, 1, 1)), atol=1e-6)
    finally:
        torch.set_num_threads(before)
    assert both(x[:0]).shape == (0, 3, 25, 5, 3)
    assert both(x[0, 0]).shape == (25, 5, 3)
    assert torch.allclose(both(x.numpy()), y) and both((x * 9).byte()).dtype == torch.float32


def test_gradients_are_those_of_differences():
    transform = Scattering2d(1, (4, 5), 2)
    x = torch.randn(1, 4, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(transform, x)
    zero = torch.zeros(1, 4, 5, requires_grad=True)
    transform(zero).sum().backward()
    assert bool(zero.grad.isfinite().all())


def test_it_lives_in_modules_and_files(tmp_path):
    net = torch.nn.Sequential(Scattering2d(1, (8, 8), 2), torch.nn.Flatten(), torch.nn.Linear(3 * 16, 2))
    x = torch.randn(3, 8, 8)
    torch.save(net.state_dict(), tmp_path / "net.pt")
    again = torch.nn.Sequential(Scattering2d(1, (8, 8), 2), torch.nn.Flatten(), torch.nn.Linear(3 * 16, 2))
    again.load_state_dict(torch.load(tmp_path / "net.pt", weights_only=True))
    assert torch.equal(again(x), net(x)) and torch.equal(copy.deepcopy(net)(x), net(x))
    other = torch.nn.Sequential(Scattering2d(1, (8, 8), 2, padding="wrap"), net[1], net[2])
    with pytest.raises(InputError, match="Make the transform with the options of the state"):
        other.load_state_dict(net.state_dict())
    net.double()
    assert net(x.double()).dtype == torch.float64


def test_it_is_exported_and_batched_by_vmap():
    transform = Scattering2d(1, (6, 6), 2)
    x = torch.randn(2, 6, 6)
    exported = torch.export.export(transform, (x,))
    assert torch.allclose(exported.module()(x), transform(x), atol=1e-6)
    assert torch.allclose(torch.func.vmap(transform)(x), transform(x), atol=1e-6)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Scattering2d(3, (7, 9)), r"too small for J = 3, .* Take J of at most 2"),
        (lambda: Scattering1d(4, 15), "Take J of at most 3"),
        (lambda: Scattering2d(2, (8,)), "shape must be a height and a width"),
        (lambda: Scattering2d(0, (8, 8)), "J must be a whole number of at least 1"),
        (lambda: Scattering2d(1, (8, 8), max_order=3), "max_order must be 1 or 2"),
        (lambda: Scattering2d(1, (8, 8), padding="mirror"), "padding must be one of reflect, symmetric"),
        (lambda: Scattering1d(1, 8, T=9), "T must be a number above 0.5 and below 8.5"),
        (lambda: Scattering1d(1, 8, oversampling=-1), "oversampling must be a whole number of at least 0"),
        (lambda: Scattering2d(1, (8, 8))(torch.ones(2, 8, 9)), r"x has shape \(2, 8, 9\) .* made for \(8, 8\)"),
        (lambda: Scattering2d(1, (8, 8))(torch.ones(8, 8) * 1j), "x holds torch.complex64"),
        (lambda: Scattering2d(1, (8, 8))("image"), "x is 'image'"),
    ],
)
def test_what_cannot_be_is_said(make, match):
    with pytest.raises(InputError, match=match):
        make()


def test_nan_is_refused():
    with pytest.raises(NotFiniteError, match=r"Scattering2d.forward\(x\): example 1 of x contains NaN or infinity"):
        Scattering2d(1, (4, 4))(torch.stack([torch.ones(4, 4), torch.full((4, 4), torch.nan)]))
