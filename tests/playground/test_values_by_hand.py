"""Random numbers, data and layers of the playground, computed a second time with plain Python."""

import math

import numpy as np
import pytest
import torch

from gnomon.playground import DenseNetwork, fixed_batches, make_data, normals, permutation, uniforms
from gnomon.playground.data import with_features

WORD = 2**32


def mixed(word):
    """The function lowbias32 on integers."""
    word ^= word >> 16
    word = word * 0x7FEB352D % WORD
    word ^= word >> 15
    word = word * 0x846CA68B % WORD
    return word ^ word >> 16


def uniform(seed, stream, i):
    """The number i of a stream: 26 bits of two words, in the middle of their cell."""
    key = mixed((seed * 0x9E3779B1 % WORD + mixed((stream + 0x85EBCA6B) % WORD)) % WORD)
    high, low = (mixed((mixed(j ^ key) + mixed(key ^ 0x27D4EB2F)) % WORD) >> 6 for j in (2 * i, 2 * i + 1))
    return (high * 2**26 + low + 0.5) / 2**52


@pytest.mark.parametrize(("seed", "stream"), [(0, 0), (1, 16), (77, 4100), (123456789, 1)])
def test_uniform_numbers_are_those_of_integers(seed, stream):
    expected = [uniform(seed, stream, i) for i in range(9)]
    assert uniforms(seed, stream, 9).tolist() == expected
    assert permutation(seed, stream, 9) == sorted(range(9), key=lambda i: expected[i])


def snapped(value):
    """The nearest point of the grid of 1/250 between -2 and 2."""
    return min(2.0, max(-2.0, math.floor(250 * value + 0.5) / 250))


CURVES = {
    "sine": lambda x: 0.9 * math.sin(2.5 * x),
    "waves": lambda x: 0.8 * math.sin(1.75 * x) + 0.4 * math.sin(7 * x),
    "step": lambda x: math.copysign(0.8, x),
    "bump": lambda x: 1.3 * math.exp(-4 * x**2) - 0.3,
    "line": lambda x: 0.6 * x,
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_curves_have_their_formulas(name, noise):
    x, y = make_data(name, 7, noise=noise, seed=5)
    jitter, error = uniforms(5, 0, 7), normals(5, 1, 7)
    places = [snapped(-1.8 + 3.6 * (i + 0.5 + 0.4 * (jitter[i] - 0.5)) / 7) for i in range(7)]
    assert x[:, 0].tolist() == pytest.approx(places, abs=1e-12)
    expected = [snapped(CURVES[name](place) + noise * error[i]) for i, place in enumerate(places)]
    assert y.tolist() == pytest.approx(expected, abs=1e-12)


def circle(i, n, u, v):
    r = 0.9 * math.sqrt(u) if i % 2 == 0 else 1.25 + 0.55 * u
    return r * np.exp(2j * np.pi * v)


def xor(i, n, u, v):
    across, up = [(1, 1), (1, -1), (-1, -1), (-1, 1)][i % 4]
    return across * (0.15 + 1.6 * u) + 1j * up * (0.15 + 1.6 * v)


def spiral(i, n, u, v):
    t = (i // 2 + 0.5 + 0.3 * (u - 0.5)) / ((n + 1) // 2)
    angle = 3.5 * np.pi * t + np.pi * (i % 2)
    return 1.8 * t * (np.sin(angle) + 1j * np.cos(angle))


def margin(i, n, u, v):
    """Along and across a line that is turned by the angle of 3, 4 and 5."""
    return (0.8 + 0.6j) * ((-1) ** i * (0.3 + 1.1 * u) + 1j * 2.6 * (v - 0.5))


def gauss(i, n, u, v):
    return (-1) ** i * (0.9 + 0.9j) + 0.75 * math.sqrt(u) * np.exp(2j * np.pi * v)


@pytest.mark.parametrize("made", [circle, xor, spiral, margin, gauss])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_classes_lie_where_their_pictures_show_them(made, noise):
    n = 9
    x, y = make_data(made.__name__, n, noise=noise, seed=2)
    u, z = uniforms(2, 0, 2 * n).reshape(n, 2), normals(2, 1, 2 * n).reshape(n, 2)
    points = [made(i, n, *u[i]) + 0.4 * noise * complex(*z[i]) for i in range(n)]
    assert x.tolist() == [pytest.approx((snapped(p.real), snapped(p.imag)), abs=1e-12) for p in points]
    assert y.tolist() == [1.0, -1.0] * 4 + [1.0]


def test_surfaces_are_functions_of_the_drawn_points():
    u = uniforms(3, 0, 12).reshape(6, 2)
    x, y = make_data("plane", 6, seed=3)
    assert x.flatten().tolist() == pytest.approx([snapped(3.6 * (value - 0.5)) for value in u.flatten()], abs=1e-12)
    assert y.tolist() == pytest.approx(x.mean(1).tolist())
    x, y = make_data("hills", 6, seed=3)
    hills = [(0.8, 0.8, -1), (0.8, -0.8, 1), (-0.8, 0.8, 1), (-0.8, -0.8, -1)]
    expected = [sum(s * math.exp(-2 * ((a - p) ** 2 + (b - q) ** 2)) for p, q, s in hills) for a, b in x.tolist()]
    assert y.tolist() == pytest.approx(expected)


def test_each_bit_of_a_mask_is_a_feature():
    a, b = 0.3, -0.7
    values = [a, b, a**2, b**2, a * b, math.sin(3 * a), math.sin(3 * b)]
    for bit, value in enumerate(values):
        assert with_features([(a, b)], 2**bit).tolist() == [pytest.approx([value])]
    assert with_features([(a, b)], 127).tolist() == [pytest.approx(values)]


def test_layers_are_scaled_sums_of_the_drawn_parameters():
    net = DenseNetwork(2, width=3, depth=1, activation="tanh", scale=0.7, weight_std=1.5, bias_std=0.4, seed=4)
    first, last = normals(4, 16, 9), normals(4, 17, 4)
    x = np.array([[0.5, -1.0], [2.0, 0.25]])
    hidden = np.tanh(1.5 / math.sqrt(2) * x @ first[:6].reshape(3, 2).T + 0.4 * first[6:])
    expected = 0.7 * (1.5 / math.sqrt(3) * hidden @ last[:3] + 0.4 * last[3])
    assert net(torch.tensor(x))[:, 0].tolist() == pytest.approx(expected.tolist(), rel=1e-12)


def test_batches_go_through_the_points_in_a_new_order_each_epoch():
    x = torch.arange(5.0, dtype=torch.float64)[:, None]
    plan = fixed_batches(x, x[:, 0], 2, 4, seed=6)
    found = [batch.y.flatten().int().tolist() for batch in plan.loader.batches()]
    queue = permutation(6, 4096, 5) + permutation(6, 4097, 5)
    assert found == [queue[0:2], queue[2:4], queue[4:6], queue[6:8]]
    (whole,) = fixed_batches(x, x[:, 0], 5, 4).loader.batches()
    assert whole.x.flatten().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
