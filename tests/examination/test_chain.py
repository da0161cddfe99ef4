"""The scale of weights that mean-field theory is told, for dense and convolutional chains."""

import importlib

import pytest
import torch
from torch import nn

from gnomon.checks.network.chain import mean_field_of_module
from gnomon.expectations.arrays import COMPILED_LOOPS_MODULE
from gnomon.expectations.compile_time import compile_seconds
from gnomon.kernels.layers_compile_time import layers_compile_seconds
from gnomon.program import read_program


@pytest.mark.parametrize("image", [False, True])
def test_the_scale_of_weights_is_that_of_their_fan_in(image):
    """chi = weight_std^2 / 2 for ReLU, with weight_std^2 = fan_in times the mean square of the weights."""
    torch.manual_seed(0)
    made = (lambda a, b: nn.Conv2d(a, b, 3, padding=1)) if image else nn.Linear
    layers = [made(6, 6), nn.ReLU(), made(6, 6), nn.ReLU(), made(6, 6)]
    for layer in layers[::2]:
        weight = layer.weight.data
        weight.mul_((1.2 / weight[0].numel() / weight.square().mean()) ** 0.5)
        layer.bias.data.zero_()
    net = nn.Sequential(*layers)
    x = torch.zeros(2, 6, 4, 4) if image else torch.zeros(2, 6)
    assert mean_field_of_module(net, read_program(net, x)).chi == pytest.approx(1.2 / 2, rel=1e-5)


def test_theory_that_must_be_compiled_first_is_left_out_where_the_time_does_not_allow_it(monkeypatch):
    importlib.import_module(
        COMPILED_LOOPS_MODULE
    )  # once they are imported, they are preferred to arrays, whatever the cache holds
    monkeypatch.setattr("gnomon.core.machine.loops.is_compiled", lambda loop, *arguments: False)
    net = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6))
    program = read_program(net, torch.zeros(2, 6))
    assert compile_seconds(nn.ReLU()) == 7.0 > compile_seconds(nn.Tanh()) == 5.0
    assert (
        mean_field_of_module(net, program, seconds=6.9) is None
        and mean_field_of_module(net, program, seconds=7.0) is not None
    )
    assert layers_compile_seconds(program) == 0.0  # by a closed form
    assert layers_compile_seconds(read_program(nn.Sequential(nn.Linear(6, 6), nn.Sigmoid()), torch.zeros(2, 6))) == 5.0
