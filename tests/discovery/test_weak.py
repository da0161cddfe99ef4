"""The weak form: bumps by quadrature, systems by loops over centers, widths by their definition."""

import numpy as np
import pytest
from scipy.integrate import quad

from gnomon.core import InputError
from gnomon.discovery import WeakForm
from gnomon.discovery.forms.unbiased import noise_variance
from gnomon.discovery.forms.weak import _Bumps, _centers, _match, _Values, bump
from gnomon.discovery.grid import GridData
from gnomon.discovery.term import parse_term


@pytest.mark.parametrize("order", [0, 1, 2, 3, 4])
def test_a_bump_is_the_mean_of_a_derivative_over_a_hat_of_one_step(order):
    half, degree = 5, 6
    phi = np.polynomial.Polynomial([1.0, 0.0, -1.0]) ** degree

    def mean(center, k):
        low, high = max(-1.0, center - 1 / half), min(1.0, center + 1 / half)

        def weighted(z):
            return (
                phi.deriv(k)(z) * (1 - abs(z - center) * half) * half
                if k
                else phi(z) * (1 - abs(z - center) * half) * half
            )

        return quad(weighted, low, high, points=[center] if low < center < high else None)[0] if low < high else 0.0

    places = np.arange(-half, half + 1) / half
    expected = np.array([mean(z, order) for z in places]) / sum(mean(z, 0) for z in places)
    np.testing.assert_allclose(bump(half, degree, order), expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


def smooth(shape, seed, complex_numbers=False):
    """A field of few waves, without noise."""
    rng = np.random.default_rng(seed)
    grids = np.meshgrid(*(np.arange(n) / 9 for n in shape), indexing="ij")
    u = sum(
        rng.standard_normal()
        * np.cos(sum(a * g for a, g in zip(rng.uniform(0.3, 1, len(shape)), grids, strict=True)) + k)
        for k in range(4)
    )
    return u + 1j * smooth(shape, seed + 1) if complex_numbers else u


def by_loops(values, windows, centers):
    out = []
    for i in centers[0]:
        for j in centers[1]:
            a, b = len(windows[0]) // 2, len(windows[1]) // 2
            out.append(windows[0] @ values[i - a : i + a + 1, j - b : j + b + 1] @ windows[1])
    return np.array(out)


@pytest.mark.parametrize("complex_numbers", [False, True])
def test_rows_are_integrals_against_bumps_with_derivatives_on_the_bumps(complex_numbers):
    """Grid (40, 36), half widths (8, 6): 10 and 12 centers, each axis cut into as many blocks as it has windows."""
    u = smooth((40, 36), 0, complex_numbers)
    data = GridData({"u": u}, {"x": 0.3, "t": 0.7})
    names = ("1", "u", "u^2", "u_x", "u_xx", "u*u_x", "u^2*u_x", "u*u_xx", "u_x^2")
    form = WeakForm(degree=6, half_widths=(8, 6))
    system = form.systems(data, [parse_term(t) for t in names], 1)["u"]
    centers = np.linspace(8, 31, 10).round().astype(int), np.linspace(6, 29, 12).round().astype(int)

    def window(axis, order):
        half, h = (8, 0.3) if axis == 0 else (6, 0.7)
        return (-1) ** order * bump(half, 6, order) / (half * h) ** order

    def tested(values, x=0, t=0):
        return by_loops(values, (window(0, x), window(1, t)), centers)

    values = _Values(data, form.derivative)
    expected = [
        tested(np.ones_like(u)), tested(u), tested(u**2), tested(u, 1), tested(u, 2), tested(u**2, 1) / 2,
        tested(u**3, 1) / 3, tested(u * values.of("u", "xx")), tested(values.of("u", "x") ** 2),
    ]  # fmt: skip
    for k, rows in enumerate(expected):
        np.testing.assert_allclose(
            system.columns[:, k], rows, rtol=1e-9, atol=1e-9 * np.abs(rows).max(), err_msg=names[k]
        )
    np.testing.assert_allclose(system.target, tested(u, 0, 1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        form.systems(data, [parse_term("u")], 2)["u"].target, tested(u, 0, 2), rtol=1e-8, atol=1e-12
    )
    assert system.independent == pytest.approx((40 / 16) * (36 / 12) * (2 if complex_numbers else 1))
    blocks = (np.arange(10) * 2 // 10)[:, None] * 3 + np.arange(12) * 3 // 12
    np.testing.assert_array_equal(system.blocks, blocks.ravel())


def test_three_axes_are_contracted_one_after_the_other():
    u = smooth((20, 24, 22), 3)
    data = GridData({"u": u}, {"x": 0.3, "y": 0.5, "t": 0.7})
    system = WeakForm(half_widths=(6, 7, 6)).systems(data, [parse_term("u_xyy")], 1)["u"]
    halves, steps, orders = (6, 7, 6), (0.3, 0.5, 0.7), (1, 2, 0)
    windows = [(-1) ** k * bump(a, 8, k) / (a * h) ** k for a, h, k in zip(halves, steps, orders, strict=True)]
    first = np.einsum("a,b,c,abc->", *windows, u[:13, :15, :13])
    last = np.einsum("a,b,c,abc->", *windows, u[-13:, -15:, -13:])
    assert system.columns[0, 0] == pytest.approx(first, rel=1e-9)
    assert system.columns[-1, 0] == pytest.approx(last, rel=1e-9)


def test_numbers_of_centers_overlap_four_times_and_make_about_2400_rows():
    assert _centers((40, 36), (8, 6)) == [10, 12]
    assert _centers((500, 400), (10, 8)) == [48, 48]  # 100 x 100, shrunk by sqrt(10000 / 2400)
    assert _centers((13, 13), (6, 6)) == [2, 2]
    assert _centers((60, 20), (6, 9)) == [20, 2]
    assert _centers((100, 100, 100), (6, 6, 6)) == [13, 13, 13]  # 33.3 shrunk by the third root of 37037 / 2400


@pytest.mark.parametrize("complex_numbers", [False, True])
def test_the_half_width_is_the_one_through_which_most_signal_comes_for_its_noise(complex_numbers):
    found = set()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = np.arange(300)[:, None]
        u = np.cos(x * rng.uniform(0.01, 0.4, 3) + rng.uniform(0, 6, 3)) + 0.5 * np.exp(
            -(((x - 150) / rng.uniform(5, 60)) ** 2)
        )
        u = u * (1 + 0.7j) if complex_numbers else u
        for order in (1, 2):
            through = {}
            for half in (9, 12, 18, 24, 30):
                window = bump(half, 8, order) / half**order
                centers = np.unique(np.linspace(half, 299 - half, 60).round().astype(int))
                made = np.array([window @ u[c - half : c + half + 1] for c in centers])
                through[half] = np.sqrt(np.mean(np.abs(made) ** 2)) / np.linalg.norm(window)
            best = max(through, key=through.get)
            assert _match(u, 0, 8, order) == _match(u.T, 1, 8, order) == best
            found.add(best)
    assert len(found) >= 3


def test_half_widths_from_a_hundredth_to_a_tenth_of_an_axis_are_tried(monkeypatch):
    tried = []

    class Seen(_Bumps):
        def __init__(self, n, half, *rest):
            tried.append(half)
            super().__init__(n, half, *rest)

    monkeypatch.setattr("gnomon.discovery.forms.weak._Bumps", Seen)
    _match(np.cos(np.arange(1000.0)), 0, 8, 1)
    assert tried == [10, 15, 20, 30, 40, 60, 80, 100]


def test_short_axes_try_half_widths_of_six_and_longer_ones_of_nine():
    u = np.cos(np.arange(60.0))
    assert _match(u[:44], 0, 8, 1) == 6 and _match(u[:45], 0, 8, 1) == 9


def test_half_widths_are_compared_on_at_most_sixty_lines():
    """Of 120 lines every second is looked at: the others, with much faster waves, do not count."""
    x = np.arange(300)[:, None]
    slow, fast = np.cos(0.02 * x + np.arange(120)), 1e3 * np.cos(0.35 * x + np.arange(120))
    mixed = np.where(np.arange(120) % 2 == 0, slow, fast)
    assert _match(mixed, 0, 8, 1) == _match(slow, 0, 8, 1) != _match(fast, 0, 8, 1)
    assert _match(mixed[:, :119], 0, 8, 1) == _match(fast, 0, 8, 1)


def test_fields_share_the_smallest_half_width_and_time_has_order_one():
    x = np.arange(300)[:, None] + 0.0 * np.arange(200)
    t = np.arange(200) + 0.0 * x
    fields = {"u": np.cos(0.02 * x + 0.03 * t), "v": np.cos(0.3 * x + 0.04 * t)}
    data = GridData(fields, {"x": 1.0, "t": 1.0})
    halves = WeakForm()._half_widths(data)
    assert halves == tuple(min(_match(f, a, 8, k) for f in fields.values()) for a, k in ((0, 2), (1, 1)))
    assert WeakForm(half_widths=(7,))._half_widths(data) == halves  # one number does not fit two axes
    with pytest.raises(InputError, match="half_widths"):
        WeakForm(half_widths=(5, 9))._half_widths(data)
    made = [form.half_widths for form in WeakForm().wider(data)]
    expected, now = [], halves
    while now != (74, 49):
        now = (min(2 * now[0], 74), min(2 * now[1], 49))
        expected.append(now)
    assert made == expected and expected[-1] == (74, 49)
    assert WeakForm(half_widths=(9, 9)).wider(data) == []


def test_axes_need_room_for_a_bump_and_its_derivatives():
    for n, name, needed in ((16, "u_xx", 17), (18, "u_xxx", 19), (14, "u", 15)):
        form = WeakForm(half_widths=(6, 6))
        with pytest.raises(InputError, match=f"needs {needed}"):
            form.systems(GridData({"u": smooth((n, 30), 0)}, {"x": 1.0, "t": 1.0}), [parse_term(name)], 1)
        form.systems(GridData({"u": smooth((needed, 30), 0)}, {"x": 1.0, "t": 1.0}), [parse_term(name)], 1)
    with pytest.raises(InputError, match="needs 17"):
        form.systems(GridData({"u": smooth((30, 16), 0)}, {"x": 1.0, "t": 1.0}), [parse_term("u")], 2)


def test_products_of_noisy_fields_are_freed_of_the_mean_of_the_noise():
    rng = np.random.default_rng(0)
    u = smooth((50, 40), 0) + 0.3 * rng.standard_normal((50, 40))
    v = smooth((50, 40), 5)
    values = _Values(GridData({"u": u, "v": v}, {"x": 1.0, "t": 1.0}), WeakForm().derivative)
    s = noise_variance(u)
    assert s > 0 and noise_variance(v) == 0
    np.testing.assert_allclose(values.product({"u": 2, "v": 2}), (u**2 - s) * v**2)
    np.testing.assert_allclose(values.product({"u": 1, "v": 3}), u * v**3)
    np.testing.assert_allclose(values.product({"u": 3}), u**3 - 3 * s * u)
    w = u + 1j * (v + 0.3 * rng.standard_normal(v.shape))
    values = _Values(GridData({"w": w}, {"x": 1.0, "t": 1.0}), WeakForm().derivative)
    s = noise_variance(w)
    np.testing.assert_allclose(values.product({"w": 1, "|w|": 2}), w * np.abs(w) ** 2 - 2 * s * w)
    np.testing.assert_allclose(values.product({"w": 1, "|w|": 1}), w * np.abs(w))
    np.testing.assert_allclose(values.product({"|w|": 2}), np.abs(w) ** 2 - s)
