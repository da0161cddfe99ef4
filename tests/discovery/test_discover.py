import numpy as np
import pytest
import torch

import gnomon
from gnomon.core import InputError, NotFiniteError
from gnomon.data import fields
from gnomon.discovery import (
    FiniteDifferenceDerivative,
    LocalPolynomialDerivative,
    PointwiseForm,
    SpectralDerivative,
    TermLibrary,
    TermSelection,
    WeakForm,
    discover,
)
from gnomon.discovery.simulation import Simulation

QUICK = TermSelection(draws=10)


def noisy(run, share, seed=0):
    draw = np.random.default_rng(seed)
    return {name: u + share * u.std() * draw.standard_normal(u.shape) for name, u in run.fields.items()}


def error(equation, law):
    return max(abs(equation.coefficient(term) - c) / abs(c) for term, c in law.items())


@pytest.mark.parametrize("share, tolerance", [(0.0, 1e-4), (0.01, 0.01), (0.1, 0.05)])
@pytest.mark.parametrize("make", [fields.burgers, fields.two_solitons, fields.kuramoto_sivashinsky])
def test_the_equation_of_a_simulation_is_found_with_and_without_noise(make, share, tolerance):
    run = make()
    found = gnomon.discover(noisy(run, share), run.dx, run.dt, selection=QUICK)
    assert set(found.terms) == set(run.law["u"])
    assert error(found.equations[0], run.law["u"]) < tolerance
    assert min(found.inclusion[term] for term in found.terms) >= 0.8


def test_two_fields_in_two_dimensions():
    run = fields.reaction_diffusion(points=40, times=60)
    library = TermLibrary(only=("u", "v", "u^3", "u^2*v", "u*v^2", "v^3", "u_xx", "u_yy", "v_xx", "v_yy", "u_x", "u^2"))
    found = discover(run.fields, run.dx, run.dt, library=library, selection=QUICK)
    for equation in found.equations:
        law = run.law[equation.target[0]]
        assert set(equation.terms) == set(law) and error(equation, law) < 0.01


def test_tied_terms_share_a_coefficient():
    run = fields.reaction_diffusion(points=40, times=40)
    library = TermLibrary(only=("u", "u^3", "u^2*v", "u*v^2", "v^3", "u_xx", "u_yy"), tied=(("u_xx", "u_yy"),))
    equation = discover(run.fields, run.dx, run.dt, library=library, selection=QUICK).equations[0]
    assert equation.coefficient("u_xx") == equation.coefficient("u_yy") == pytest.approx(0.1, rel=0.01)


def test_a_complex_field_with_a_potential():
    x, t = np.linspace(-6, 6, 128), np.linspace(0, 3, 100)
    modes = [np.exp(-(x**2) / 2), x * np.exp(-(x**2) / 2), (2 * x**2 - 1) * np.exp(-(x**2) / 2)]
    u = sum(
        c * m[:, None] * np.exp(-1j * (k + 0.5) * t) for k, (c, m) in enumerate(zip((1, 0.7, 0.3j), modes, strict=True))
    )
    found = discover(u, x, t, library=TermLibrary(degree=2, order=2, known={"V": x**2 / 2}), selection=QUICK)
    assert set(found.terms) == {"u_xx", "V*u"}
    assert error(found.equations[0], {"u_xx": 0.5j, "V*u": -1j}) < 1e-5


def test_the_wave_equation_needs_the_second_derivative_in_time():
    x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 3, 120)
    u = sum(a * np.sin(k * x[:, None] + k) * np.cos(2 * k * t + a) for k, a in ((1, 1.0), (2, 0.6), (3, 0.4)))
    library = TermLibrary(degree=1, order=2)
    second = discover(u, x[1], t[1], library=library, time_order=2, selection=QUICK)
    assert second.terms == ("u_xx",) and abs(second.coefficients[0] - 4) < 1e-3
    first = discover(u, x[1], t[1], library=library, selection=QUICK)
    assert first.findings and first.findings[0].kind == "no-law"


@pytest.mark.parametrize("space", [FiniteDifferenceDerivative(6), SpectralDerivative(), LocalPolynomialDerivative()])
def test_all_rules_of_differentiation_find_a_clean_equation(space):
    run = fields.burgers()
    form = PointwiseForm(space=space, time=FiniteDifferenceDerivative(6), rows=4000)
    found = discover(run.fields, run.dx, run.dt, library=TermLibrary(degree=2, order=3), form=form, selection=QUICK)
    assert set(found.terms) == set(run.law["u"]) and error(found.equations[0], run.law["u"]) < 0.01


def test_intervals_cover_the_truth_under_noise():
    inside = total = 0
    run = fields.burgers(points=96, times=80)
    library = TermLibrary(only=("u", "u^2", "u_x", "u*u_x", "u_xx"))
    for seed in range(12):
        found = discover(noisy(run, 0.03, seed), run.dx, run.dt, library=library).equations[0]
        for term, interval in zip(found.terms, found.intervals, strict=True):
            total += 1
            inside += run.law["u"].get(term, 0.0) in interval
    assert total == 24 and inside >= 18  # 95 % intervals; fewer than 18 of 24 have a chance below 1e-3


def test_the_error_of_a_simulation_is_relative_to_the_size_of_the_field_over_all_times():
    """A standing wave cos(t) sin(x) that is off by 0.01 sin(x): it is zero at t = pi / 2, and its mean square is
    1/4."""
    x, t = np.linspace(0, 2 * np.pi, 16, endpoint=False)[:, None], np.linspace(0, 2 * np.pi, 9)[None, :-1]
    wave = np.cos(t) * np.sin(x)
    found = Simulation({"u": wave + 0.01 * np.sin(x)}, {"u": wave}, tuple(t[0]))
    np.testing.assert_allclose(found.errors, np.full(8, 0.01 * np.sqrt(1 / 2) / np.sqrt(1 / 4)), rtol=1e-9)
    assert "within 1.41% of the root mean square of the data" in found.verdict
    both = Simulation({"u": wave, "v": 1e-3 * wave * 1.01}, {"u": wave, "v": 1e-3 * wave}, tuple(t[0]))
    assert both.error == pytest.approx(0.01 * np.sqrt(2) / np.sqrt(2), rel=1e-9)  # a small field counts as a large one


def test_the_simulation_of_the_found_equation_follows_the_data_and_a_wrong_one_does_not():
    run = fields.burgers(points=64, times=40)
    found = discover(run.fields, run.dx, run.dt, library=TermLibrary(degree=2, order=2), selection=QUICK)
    beside = found.simulate()
    assert beside.error < 1e-3 and len(beside.plots()) == 3 and "stays within" in beside.verdict
    wrong = fields.burgers(points=64, times=40, viscosity=0.5)
    other = discover(wrong.fields, wrong.dx, wrong.dt, library=TermLibrary(degree=2, order=2), selection=QUICK)
    from gnomon.discovery import simulate

    assert simulate(other.equations, found.data).error > 0.1


def test_a_record_speaks_in_words_in_latex_and_in_json():
    run = fields.heat()
    found = discover(
        torch.from_numpy(run.fields["u"]), run.dx, run.dt, library=TermLibrary(degree=1, order=2), selection=QUICK
    )
    assert str(found.equations[0]) == "u_t = 0.1*u_xx" and "left unexplained" in found.verdict
    assert found.latex == "u_{t} = 0.1\\, u_{xx}"
    told = found.to_dict()
    assert told["equations"][0]["terms"] == ["u_xx"] and "data" not in told
    assert len(found.plots()) == 2 and found._repr_html_()


def test_noise_alone_is_not_given_a_law():
    u = np.random.default_rng(0).standard_normal((64, 60))
    found = discover(u, 0.1, 0.1, library=TermLibrary(degree=1, order=2))
    assert any(f.kind == "no-law" for f in found.findings)


def test_chosen_half_widths_are_used():
    run = fields.burgers(points=64, times=60)
    forms = [WeakForm(half_widths=(w, 8)) for w in (8, 12)]
    library = TermLibrary(degree=1, order=2)
    found = [discover(run.fields, run.dx, run.dt, library=library, form=f, selection=QUICK).coefficients for f in forms]
    assert found[0] != found[1] and np.allclose(found[0], found[1], rtol=0.01)


BURGERS = fields.burgers(points=64, times=40)
U = BURGERS.fields["u"]


@pytest.mark.parametrize(
    ("u", "dx", "dt", "library", "kind", "words"),
    [
        (U, np.geomspace(1, 2, 64), 0.1, None, InputError, "the steps of dx go from .* a uniform grid.*Interpolate"),
        (U[:, :12], 0.1, 0.1, None, InputError, "12 points along an axis, and a derivative of order 1 needs 15"),
        (
            U[:20],
            0.1,
            0.1,
            None,
            InputError,
            "20 points along an axis, and a derivative of order 4 needs 21.*more samples",
        ),
        (U, 0.1, np.geomspace(1, 2, 40), None, InputError, "the steps of dt go from .* a uniform grid.*Interpolate"),
        (
            np.where(U > 0.5, np.nan, U),
            0.1,
            0.1,
            None,
            NotFiniteError,
            "values of 'u' are NaN or infinite, the first at",
        ),
        (
            U,
            0.1,
            0.1,
            TermLibrary(only=("u", "V*u"), known={"V": np.ones(64)}),
            InputError,
            r"on these data the terms u, V\*u depend on each other .expected independent terms.\. Leave one",
        ),
        (
            np.ones((40, 40)),
            0.1,
            0.1,
            TermLibrary(degree=1, order=1),
            InputError,
            r"the terms u_x, u\*u_x vanish on these data",
        ),
        (U, 0.1, -1.0, None, InputError, "dt must be a number above 0"),
        (U, (0.1, 0.1), 0.1, None, InputError, "dx has 2 steps and u 1 axes of space"),
        (U, 0.1, 0.1, TermLibrary(only=("q",)), InputError, "the symbol 'q' is not known"),
        (np.zeros((2, 2, 2, 2, 2)), 0.1, 0.1, None, InputError, "u has 5 axes"),
        ([["a"]], 0.1, 0.1, None, InputError, "holds no numbers"),
    ],
)
def test_bad_input_is_one_clear_sentence(u, dx, dt, library, kind, words):
    with pytest.raises(kind, match=words) as caught:
        discover(u, dx, dt, library=library)
    assert str(caught.value).startswith("discover(u, dx, dt): ") and "\n" not in str(caught.value)


def test_three_directions_of_space():
    x, t = np.linspace(0, 2 * np.pi, 20, endpoint=False), np.linspace(0, 2, 24)
    a, b, c = np.meshgrid(x, x, x, indexing="ij")
    waves = [((1, 0, 0), 1.0), ((0, 1, 0), 0.8), ((0, 0, 1), 0.6), ((1, 1, 0), 0.5), ((0, 1, 1), 0.7)]
    u = sum(
        s * np.sin(i * a + j * b + k * c + s)[..., None] * np.exp(-(0.1 * (i + j) + 0.3 * k) * t)
        for (i, j, k), s in waves
    )  # u_t = 0.1 u_xx + 0.1 u_yy + 0.3 u_zz
    library = TermLibrary(only=("u", "u_x", "u_y", "u_z", "u_xx", "u_yy", "u_zz", "u^2"))
    found = discover(u, (x, x, x), t, library=library, selection=QUICK)
    assert set(found.terms) == {"u_xx", "u_yy", "u_zz"}
    assert error(found.equations[0], {"u_xx": 0.1, "u_yy": 0.1, "u_zz": 0.3}) < 0.01
