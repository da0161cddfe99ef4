"""J J^T and J^T J by products, against the dense Jacobian."""

import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.tangent import tangent_operator
from tests.oracles import tangent_jacobian as oracle
from tests.tangent import zoo

CASES = [c for c in zoo.CASES if c.name in ("mlp", "cnn", "encoder", "lstm", "tied", "strange", "tagger")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_products_agree_with_the_dense_jacobian(case):
    net, x = zoo.build(case), zoo.sample(case, 4)
    j = oracle.jacobian(net, x).flatten(0, 1)
    outputs, parameters = tangent_operator(net, x), tangent_operator(net, x, side="parameters")
    v = torch.randn(j.shape[1], dtype=torch.float64)
    assert outputs.size == len(j) and parameters.size == j.shape[1]
    assert torch.allclose(outputs.dense(), j @ j.T, rtol=1e-10, atol=1e-12)
    assert torch.allclose(parameters.matvec(v), j.T @ (j @ v), rtol=1e-10, atol=1e-10)


def test_float32_lstm():
    case = next(c for c in zoo.CASES if c.name == "lstm")
    net, x = zoo.build(case).float(), zoo.sample(case, 3).float()
    j = oracle.jacobian(net, x).flatten(0, 1)
    assert torch.allclose(tangent_operator(net, x).dense(), j @ j.T, rtol=1e-4)


def test_both_sides_have_the_same_top_eigenvalues():
    case = next(c for c in zoo.CASES if c.name == "mlp")
    net, x = zoo.build(case), zoo.sample(case, 5)
    j = oracle.jacobian(net, x).flatten(0, 1)
    exact = torch.linalg.eigvalsh(j @ j.T).flip(0)[:4]
    assert torch.allclose(tangent_operator(net, x).top(4).values, exact, rtol=1e-8)
    assert torch.allclose(tangent_operator(net, x, side="parameters").top(4).values, exact, rtol=1e-8)


def test_trace_and_density_are_those_of_the_matrix():
    case = next(c for c in zoo.CASES if c.name == "cnn")
    net, x = zoo.build(case), zoo.sample(case, 8)
    j = oracle.jacobian(net, x).flatten(0, 1)
    exact = float((j**2).sum())
    interval = tangent_operator(net, x, side="parameters").trace(products=60, confidence=0.9999).interval
    assert exact in interval and interval.width < 0.2 * exact
    density = tangent_operator(net, x).density(starts=16)
    mean = float((density.points * density.weights).sum()) * len(j)
    assert abs(mean - exact) < 0.5 * exact and density.points.min() > -1e-9 * density.points.max()


def test_parameters_can_be_chosen_and_bad_sides_are_refused():
    net, x = nn.Linear(3, 1).double(), torch.randn(2, 3).double()
    assert torch.allclose(tangent_operator(net, x, parameters="weight").dense(), x @ x.T)
    with pytest.raises(InputError, match=r"tangent_operator\(module, data\): side must be .*, but it is 'left'"):
        tangent_operator(net, x, side="left")
