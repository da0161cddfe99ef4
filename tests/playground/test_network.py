"""The playground's networks, data and batches in Python."""

import pytest
import torch

from gnomon.core.errors import InputError
from gnomon.playground import DenseNetwork, fixed_batches, make_data
from gnomon.tangent import ntk
from gnomon.training import SGD, Squared, train


def test_the_kernel_of_a_wide_network_is_near_its_limit():
    x, _ = make_data("sine", 6)
    distances = []
    for width in (64, 1024):
        kernels = torch.stack([ntk(DenseNetwork(1, width=width, seed=s), x) for s in range(6)])
        exact = DenseNetwork(1, width=width).limit_kernels(x)[1]
        distances.append(float((kernels - exact).norm(dim=(1, 2)).mean() / exact.norm()))
    assert distances[1] < 0.4 * distances[0]  # it falls as width^(-1/2): by 4


def test_a_centered_network_starts_at_zero_with_the_same_kernel():
    x, _ = make_data("waves", 5)
    plain, centered = DenseNetwork(1, width=16), DenseNetwork(1, width=16, centered=True)
    assert float(centered(x).detach().abs().max()) == 0
    torch.testing.assert_close(ntk(plain, x), ntk(centered, x))


def test_only_the_last_layer_is_trained_if_asked():
    x, y = make_data("sine", 5)
    net = DenseNetwork(1, width=8, last_only=True)
    run = train(net, (x, y), loss=Squared(), optimizer=SGD(0.05), steps=3)
    assert torch.equal(run.model.layers[0].weight, net.layers[0].weight)
    assert not torch.equal(run.model.layers[1].weight, net.layers[1].weight)


def test_fixed_batches_are_steps_on_those_points():
    x, y = make_data("sine", 6)
    net = DenseNetwork(1, width=4)
    run = train(net, (x, y), loss=Squared(), optimizer=SGD(0.1), steps=3, batch=fixed_batches(x, y, 2, 3))
    plain = DenseNetwork(1, width=4)
    steps = torch.optim.SGD(plain.parameters(), lr=0.1)
    for batch in fixed_batches(x, y, 2, 3).loader.batches():
        steps.zero_grad()
        ((plain(batch.x) - batch.y).square() / 2).mean().backward()
        steps.step()
    torch.testing.assert_close(run.model(x), plain(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["sine", "step", "circle", "xor", "gauss", "spiral", "margin", "plane", "hills"])
def test_data_are_on_the_grid_and_depend_on_the_seed(name):
    x, y = make_data(name, 12, noise=0.1, seed=1)
    assert len(x) == len(y) == 12 and float(x.abs().max()) <= 2
    torch.testing.assert_close((x * 250).round() / 250, x, rtol=0, atol=1e-12)
    assert not torch.equal(x, make_data(name, 12, noise=0.1, seed=2)[0])


def test_unknown_names_are_refused_with_those_that_exist():
    with pytest.raises(InputError, match="one of sine, waves"):
        make_data("sinus", 3)
    with pytest.raises(InputError, match="one of relu, tanh"):
        DenseNetwork(1, activation="swish")
