"""Reference numbers of the instruments: each against a closed form."""

import math

import torch
from torch import nn

from evaluation.public_models.references import (
    gradient_square,
    largest_eigenvalue,
    mean_squares,
    softmax_layer_trace,
    sum_kernel,
)


def test_the_kernel_of_a_linear_layer_is_the_product_of_inputs_plus_one_for_each_output():
    net, x = nn.Linear(3, 2), torch.randn(4, 3)
    expected = 2 * (x @ x.T + 1).double()  # the sum of two outputs: each has its own weights and bias
    torch.testing.assert_close(sum_kernel(lambda: net(x), list(net.parameters())), expected, rtol=1e-5, atol=1e-6)


def test_a_parameter_without_influence_adds_nothing_to_the_kernel():
    net, x, idle = nn.Linear(3, 1), torch.randn(2, 3), nn.Parameter(torch.ones(5))
    with_idle = sum_kernel(lambda: net(x), [*net.parameters(), idle])
    torch.testing.assert_close(with_idle, sum_kernel(lambda: net(x), list(net.parameters())))


def test_the_squared_gradient_of_a_quadratic():
    w = nn.Parameter(torch.tensor([3.0, 4.0]))
    assert math.isclose(gradient_square(lambda: 0.5 * w.square().sum(), [w]), 25.0, rel_tol=1e-6)


def test_the_largest_eigenvalue_is_the_largest_and_not_the_largest_in_size():
    w = nn.Parameter(torch.ones(4))
    curvatures = torch.tensor([-9.0, 1.0, 2.0, 5.0])
    assert math.isclose(largest_eigenvalue(lambda: 0.5 * (curvatures * w.square()).sum(), [w]), 5.0, rel_tol=1e-4)


def test_mean_squares_are_recorded_for_each_call():
    net = nn.Sequential(nn.Identity(), nn.Flatten(), nn.ReLU())
    found = mean_squares(net, lambda: net(torch.tensor([[3.0, -4.0]])))
    assert found == {"0": [12.5], "1": [12.5], "2": [4.5]}
    assert not net[0]._forward_hooks


def test_the_trace_of_a_softmax_layer_is_that_of_its_gauss_newton_matrix():
    torch.manual_seed(0)
    net, x = nn.Linear(3, 4).double(), torch.randn(5, 3, dtype=torch.double)
    logits = net(x)
    total = 0.0
    for i in range(5):
        jacobian = torch.stack(
            [
                torch.cat(
                    [g.flatten() for g in torch.autograd.grad(logits[i, a], list(net.parameters()), retain_graph=True)]
                )
                for a in range(4)
            ]
        )
        p = logits[i].detach().softmax(0)
        total += float(torch.trace(jacobian.T @ (torch.diag(p) - p[:, None] * p) @ jacobian))
    assert math.isclose(softmax_layer_trace(x, logits.detach(), bias=True), total, rel_tol=1e-9)
