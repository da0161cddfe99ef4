"""Formulas that single lessons use: signals in depth, double descent, largest margin, moved points, drawn bands."""

import json
from itertools import product

import numpy as np
import pytest
import torch

from gnomon.bounds.double_descent import isotropic_risk
from gnomon.checks import critical_weight_std, mean_field
from tests.playground.node import NEEDS_NODE, run

DEPTH = 6
PIXEL = 4 / 400
"""Height of a pixel of the picture, in units of the outputs."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    path = tmp_path_factory.mktemp("theory") / "cases.json"
    path.write_text(json.dumps(questions()))
    return questions(), run("theory.mjs", path)


def questions():
    fields = [
        {"activation": name, "w": w, "b": b, "depth": DEPTH}
        for name, (w, b) in product(("tanh", "erf", "relu"), ((0.8, 0.3), (1.3, 0.05), (2.5, 0.3)))
    ]
    descents = [
        {"n": 40, "total": 120, "noise": noise, "signal": signal, "p": p}
        for noise, signal, p in product((0.0, 0.25), (1.0, 3.0), (1, 20, 38, 43, 110, 120))
    ]
    rng = np.random.default_rng(3)
    margins = []
    for k in range(6):
        x = rng.normal(size=(14, 3))
        x = x[np.abs(x @ [1.0, -2.0, 0.5]) > 0.4]
        y = np.sign(x @ [1.0, -2.0, 0.5])
        if k == 5:
            x = np.vstack([x, x[:1]])  # one point with both labels: no direction separates them
            y = np.append(y, -y[0])
        margins.append({"x": x.flatten().tolist(), "y": y.tolist(), "d": 3})
    waves = [
        {"data": "sine", "width": width, "depth": depth, "activation": activation, "loss": "squared", "before": before,
         "after": after}
        for width, depth, activation in ((33, 1, "relu"), (16, 2, "tanh"))
        for before, after in (([-1.2, -0.4, 0.4, 1.0, 1.6], [-1.2, -0.8, 0.4, 1.0, 1.6]), ([-1.0, 0.0], [0.5, -0.5]))
    ]  # fmt: skip
    return {"fields": fields, "descents": descents, "margins": margins, "waves": waves}


@NEEDS_NODE
def test_signals_change_from_layer_to_layer_as_in_the_package(answers):
    asked, found = answers
    functions = {"tanh": torch.tanh, "erf": torch.erf, "relu": torch.relu}
    for one, got in zip(asked["fields"], found["fields"], strict=True):
        field = mean_field(functions[one["activation"]], weight_std=one["w"], bias_std=one["b"])
        q, c, variances, correlations = 1.0, 0.5, [1.0], [0.5]
        for _ in range(DEPTH):
            c, q = field.correlation(c, q=q), field.variance(q)
            variances.append(q)
            correlations.append(c)
        assert got["variances"] == pytest.approx(variances, rel=1e-9)
        assert got["correlations"] == pytest.approx(correlations, rel=1e-9)
        if one["activation"] != "relu":
            assert got["fixed"] == pytest.approx(field.q, rel=1e-8) and got["chi"] == pytest.approx(field.chi, rel=1e-8)


@NEEDS_NODE
def test_the_border_between_order_and_chaos_is_that_of_the_package(answers):
    at = {
        (one["activation"], one["b"]): got["critical"]
        for one, got in zip(answers[0]["fields"], answers[1]["fields"], strict=True)
    }
    assert at["tanh", 0.3] == pytest.approx(critical_weight_std(torch.tanh, bias_std=0.3), rel=1e-8)


@NEEDS_NODE
def test_the_curve_of_double_descent_is_the_exact_risk(answers):
    asked, found = answers
    for one, got in zip(asked["descents"], found["descents"], strict=True):
        unused = one["signal"] * (1 - one["p"] / one["total"])  # features that are left out act as noise
        risk = isotropic_risk(one["n"], one["p"], noise=one["noise"] + unused, signal=one["signal"] - unused)
        assert got == pytest.approx(risk + unused, rel=1e-12)


@NEEDS_NODE
def test_the_direction_of_largest_margin_solves_its_problem(answers):
    from scipy.optimize import minimize

    asked, found = answers
    assert found["margins"][-1] is None
    for one, got in zip(asked["margins"][:-1], found["margins"][:-1], strict=True):
        rows = np.reshape(one["x"], (-1, 3)) * np.array(one["y"])[:, None]
        start = np.linalg.lstsq(rows, np.ones(len(rows)), rcond=None)[0]
        limits = {"type": "ineq", "fun": lambda w, rows=rows: rows @ w - 1}
        best = minimize(lambda w: w @ w, start, constraints=limits, tol=1e-14, options={"maxiter": 500}).x
        assert got["margin"] == pytest.approx(1 / np.linalg.norm(best), rel=1e-6)
        assert np.dot(got["u"], best) / np.linalg.norm(best) == pytest.approx(1, abs=1e-9)


@NEEDS_NODE
def test_a_moved_point_gives_the_same_numbers_as_a_new_start(answers):
    assert answers[1]["moved"] == [True] * 4


@NEEDS_NODE
def test_the_drawn_band_is_exact_to_a_pixel(answers):
    for off in answers[1]["bands"]:
        assert off["mean"] < PIXEL and off["std"] < PIXEL
