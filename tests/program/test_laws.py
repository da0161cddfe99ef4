import inspect
import math

import pytest
import torch
from torch import nn

from gnomon import InitializationLaw, InputError
from gnomon.program import read_program
from gnomon.program.laws import initialization_laws_by_path

X = torch.zeros(1, 3, 6, 6)


def net():
    return nn.Sequential(
        nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 16, 50), nn.ReLU(), nn.Linear(50, 2, bias=False)
    )


def test_torch_law_is_what_the_constructors_draw():
    """Second moments of freshly drawn weights agree with the law within 5 standard errors of a uniform's second moment."""
    program = read_program(net(), X)
    stated = initialization_laws_by_path(program, net(), "torch")
    draws = [dict(net().named_parameters()) for _ in range(40)]
    for w in program.weights:
        for name, std in (
            (w.weight, stated[w.path].weight_std / math.sqrt(w.fan_in)),
            (w.bias, stated[w.path].bias_std),
        ):
            if name is None:
                continue
            values = torch.cat([d[name].detach().double().flatten() for d in draws])
            ratio = float(values.square().mean()) / std**2
            assert abs(ratio - 1) < 5 * math.sqrt(0.8 / values.numel())  # Var(U^2)/E(U^2)^2 = 4/5


def test_measured_law_reads_the_present_weights():
    module = net()
    with torch.no_grad():
        module[3].weight.fill_(0.25)
        module[3].bias.fill_(-2.0)
    law = initialization_laws_by_path(read_program(module, X), module, "measured")["3"]
    assert law == InitializationLaw(0.25 * math.sqrt(64 * 16), 2.0)


def test_a_mapping_must_name_every_layer_and_no_other():
    program = read_program(net(), X)
    with pytest.raises(InputError, match="no law for '3', '5'; no affine layer at '7'"):
        initialization_laws_by_path(program, net(), {"0": InitializationLaw(1.0), "7": InitializationLaw(1.0)})


@pytest.mark.parametrize("bad", [(-1.0, 0.0), (float("nan"), 0.0), (1.0, float("inf"))])
def test_a_law_has_finite_standard_deviations(bad):
    with pytest.raises(InputError, match="finite standard deviations"):
        InitializationLaw(*bad)


def test_a_bare_parameter_has_no_torch_law():
    class Bare(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.randn(2, 6))

        def forward(self, x):
            return torch.nn.functional.linear(x, self.w)

    with pytest.raises(InputError, match="'w' is a bare parameter or a custom class"):
        initialization_laws_by_path(read_program(Bare(), torch.zeros(1, 6)), Bare(), "torch")


def test_an_unknown_init_is_refused():
    with pytest.raises(InputError, match="init is 'kaiming'"):
        inspect.unwrap(initialization_laws_by_path)(read_program(net(), X), net(), "kaiming")
