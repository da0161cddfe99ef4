"""Output shapes by formula, compared with the layers themselves."""

import operator
import sys
from subprocess import run

import pytest
import torch
from torch import nn

from gnomon.program.shapes import MAX_ZEROS, output_like, output_of_zeros

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


META = torch.empty(3, 4, 6, device="meta")
CALLS = [
    (torch.add, (META, torch.empty(6, device="meta")), (3, 4, 6)),
    (operator.mul, (META, 2.0), (3, 4, 6)),
    (torch.nn.functional.gelu, (META,), (3, 4, 6)),
    ("mean", (META, (1, 2)), (3,)),
    (torch.cat, ([META, META], 1), (3, 8, 6)),
    (torch.matmul, (META, torch.empty(6, 5, device="meta")), (3, 4, 5)),
    (nn.MaxPool1d(2), (META,), (3, 4, 3)),
    (nn.BatchNorm1d(4), (META,), (3, 4, 6)),
]


@pytest.mark.parametrize(("function", "args", "shape"), CALLS, ids=lambda part: str(part)[:20])
def test_frequent_functions_run_on_zeros(function, args, shape):
    made = output_of_zeros(function, args, {})
    assert made.shape == shape and made.is_meta and made.dtype == torch.float32


def test_functions_with_other_effects_and_large_or_wrong_arguments_are_left_to_the_meta_device():
    def relu(x):
        return x

    assert output_of_zeros(relu, (META,), {}) is None  # a user's function with a frequent name
    assert (
        output_of_zeros(
            torch.dropout,
            (
                META,
                0.5,
                True,
            ),
            {},
        )
        is None
    )
    assert output_of_zeros("item", (META,), {}) is None
    assert output_of_zeros(torch.relu, (torch.empty(MAX_ZEROS + 1, device="meta"),), {}) is None
    assert (
        output_of_zeros(
            torch.add,
            (
                META,
                torch.empty(5, device="meta"),
            ),
            {},
        )
        is None
    )


def test_running_on_zeros_changes_neither_the_layer_nor_the_random_numbers():
    layer, state = nn.BatchNorm1d(4), torch.get_rng_state()
    before = {k: v.clone() for k, v in layer.state_dict().items()}
    output_of_zeros(layer, (META,), {})
    assert all(torch.equal(v, before[k]) for k, v in layer.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)


def test_a_network_of_frequent_functions_is_read_without_the_compiler_of_torch():
    code = """
import sys, torch, gnomon
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    def forward(self, x):
        return self.b(torch.erf(self.a(x)) * 0.5)
gnomon.limit(Net()).ntk(torch.ones(3, 3))
print("sympy" in sys.modules, "torch._dynamo" in sys.modules)
"""
    assert run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["False", "False"]
