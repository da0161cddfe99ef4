"""Output shapes by formula, compared with the layers themselves."""

import sys
from subprocess import run

import pytest
import torch
from torch import nn

from gnomon.program.shapes import output_like

SOUND, IMAGE, VOLUME = (3, 4, 17), (3, 4, 13, 9), (2, 4, 7, 6, 5)
LAYERS = [
    (nn.Linear(9, 5), IMAGE),
    (nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2), SOUND),
    (nn.Conv2d(4, 6, (3, 2), stride=(2, 3), padding=(1, 0)), IMAGE),
    (nn.Conv2d(4, 6, 3, padding="same"), IMAGE),
    (nn.Conv2d(4, 6, 3, padding="valid", dilation=2), IMAGE),
    (nn.Conv2d(4, 8, 3, groups=2, padding_mode="circular", padding=1), IMAGE),
    (nn.Conv3d(4, 2, 2), VOLUME),
    (nn.AdaptiveAvgPool1d(3), SOUND),
    (nn.AdaptiveAvgPool2d((None, 2)), IMAGE),
    (nn.AdaptiveAvgPool3d(1), VOLUME),
    (nn.GELU(), IMAGE),
    (nn.PReLU(), IMAGE),
    (nn.Softmax(1), IMAGE),
    (nn.Dropout(0.5), IMAGE),
]


@pytest.mark.parametrize(("layer", "shape"), LAYERS, ids=lambda part: str(part)[:40])
def test_the_formula_gives_the_shape_of_the_real_output(layer, shape):
    made = output_like(layer, torch.empty(shape))
    assert made is not None and made.shape == layer(torch.zeros(shape)).shape


@pytest.mark.parametrize(
    ("layer", "x"),
    [
        (nn.Linear(9, 5), torch.zeros(3, 8)),
        (nn.Linear(9, 5).double(), torch.zeros(3, 9)),
        (nn.Linear(9, 5), torch.zeros(3, 9, dtype=torch.long)),
        (nn.Conv2d(3, 6, 3), torch.zeros(IMAGE)),
        (nn.Conv2d(4, 6, 3), torch.zeros(4, 13, 9)),
        (nn.Conv2d(4, 6, 30), torch.zeros(IMAGE)),
        (nn.GLU(1), torch.zeros(IMAGE)),
        (nn.MaxPool2d(2), torch.zeros(IMAGE)),
    ],
    ids=lambda part: str(part)[:40] if isinstance(part, nn.Module) else "",
)
def test_layers_without_a_formula_and_inputs_that_do_not_fit_are_left_to_torch(layer, x):
    assert output_like(layer, x) is None


def test_a_subclass_may_compute_something_else():
    class Twice(nn.Linear):
        def forward(self, x):
            return super().forward(x).repeat(1, 2)

    assert output_like(Twice(2, 3), torch.zeros(1, 2)) is None


@pytest.mark.full
def test_reading_a_plain_network_does_not_import_the_compiler_of_torch():
    code = """
import sys, torch, gnomon
from torch import nn
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.GELU(), nn.Dropout(0.1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 1))
gnomon.limit(net).program(torch.zeros(2, 1, 8, 8))
print("torch._dynamo" in sys.modules, "sympy" in sys.modules)
"""
    assert run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["False", "False"]
