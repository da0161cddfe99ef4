"""What enters: conversions that keep the numbers, and refusals that name the call."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError, NotFiniteError
from gnomon.core.inputs.checks import as_inputs, as_numbers, as_targets, check_integer, check_number, check_seed
from gnomon.core.modules.copies import copy_module

CALL = "f(x)"


@pytest.mark.parametrize("dtype", [">f2", ">f4", ">f8", ">i2", "<i8", "u1", "u2", "u8", "?", "f2", "g", "c8", "G"])
def test_arrays_of_every_dtype_keep_their_values(dtype):
    array = np.array([[0, 1], [2, 3]]).astype(dtype)
    found = as_numbers(array, "x")
    assert found.tolist() == array.tolist()
    found[0, 0] = 9
    assert array[0, 0] == 0, "the caller's array is left alone"


def test_tables_keep_their_values_and_name_what_is_no_number():
    table = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": [True, False]})
    assert as_numbers(table, "x").tolist() == [[1, 0.5, 1], [2, 1.5, 0]]
    with pytest.raises(InputError, match=r"column 'name' of x holds text"):
        as_numbers(table.assign(name=["one", "two"]), "x")
    with pytest.raises(InputError, match="x has masked entries in 1 places"):
        as_numbers(np.ma.masked_array([1.0, 2.0], mask=[True, False]), "x")


def test_arguments_that_are_no_arrays_stay_what_they_are():
    class Scaled(nn.Linear):
        def forward(self, x, scale, words):
            return super().forward(x) * scale

    net = Scaled(2, 1)
    x = as_inputs({"x": np.ones((3, 2)), "scale": 2.0, "words": "left"}, net)
    assert x["x"].dtype == torch.float32 and x["scale"] == 2.0 and x["words"] == "left"
    with pytest.raises(InputError, match=r"x\['x'\] is a sparse tensor"):
        as_inputs({"x": torch.eye(2).to_sparse()}, net)


def test_the_first_example_that_is_not_finite_is_named():
    x = torch.zeros(5, 2, 2)
    x[3, 1, 1], x[4] = torch.inf, torch.nan
    with pytest.raises(NotFiniteError, match=r"example 3 of x contains NaN or infinity \(2 of 5 such examples\)"):
        as_inputs(x, nn.Linear(2, 1))
    big = torch.full((4, 2), 3e38)  # the sum overflows, and all numbers are finite
    assert torch.equal(as_inputs(big, nn.Linear(2, 1)), big)


@pytest.mark.parametrize("value", [3, 3.0, np.int32(3), np.float32(3), torch.tensor(3), np.array(3)])
def test_whole_numbers(value):
    found = check_integer("n", value)
    assert found == 3 and type(found) is int


@pytest.mark.parametrize("value", [2.5, "3", None, True, float("nan"), float("inf"), 3j, [3], 0])
def test_what_is_no_whole_number(value):
    with pytest.raises(InputError, match=r"n must be a whole number of at least 1, but it is .*"):
        check_integer("n", value)


def test_seeds_and_numbers():
    assert check_seed(-5) == -5 and check_seed(2**64 - 1) == 2**64 - 1
    with pytest.raises(InputError, match="64-bit"):
        check_seed(2**64)
    assert check_number("t", 1, above=0) == 1.0
    for bad in (0, -1, float("nan"), float("inf"), "1", None, True):
        with pytest.raises(InputError, match="a number above 0 and finite"):
            check_number("t", bad, above=0)


def test_targets():
    assert as_targets((0, 1), 2).dtype == torch.int64
    with pytest.raises(InputError, match="2 inputs and one number for all targets"):
        as_targets(np.array(3.0), 2)


def test_twins_share_nothing():
    net = nn.Linear(2, 1)
    net.seen = net(torch.ones(1, 2))  # a computed tensor, which deepcopy refuses
    other = copy_module(net)
    assert torch.equal(other.seen, net.seen) and other.seen.grad_fn is None and net.seen.grad_fn is not None
    assert other.weight is not net.weight and torch.equal(other.weight, net.weight)


@pytest.mark.parametrize("value", [-(2**63), 0, 2**63, 2**64 - 1])
def test_seeds_have_64_bits(value):
    assert check_seed(value) == value


@pytest.mark.parametrize("value", [-(2**63) - 1, 2**64])
def test_seeds_beyond_64_bits_are_refused(value):
    with pytest.raises(InputError, match="seed"):
        check_seed(value)


def test_numbers_lie_strictly_between_their_limits():
    for value in (-1e300, -2.5, 0, 1e300):
        assert check_number("a", value) == value
    assert check_number("a", 0.5, above=0, below=1) == 0.5
    for value in (0, 1, -0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="a must be a number above 0 and below 1"):
            check_number("a", value, above=0, below=1)
    for value in (float("inf"), float("-inf")):
        with pytest.raises(InputError, match="a must be a finite number"):
            check_number("a", value)
    with pytest.raises(InputError, match="a must be a number below 2,"):
        check_number("a", 2, below=2)


def test_whole_numbers_are_at_least_the_least():
    assert check_integer("n", 3, least=3) == 3 and check_integer("n", -4, least=-4) == -4
    with pytest.raises(InputError, match="a whole number of at least 3"):
        check_integer("n", 2, least=3)
    with pytest.raises(InputError, match="n must be a whole number of at least 0"):
        check_integer("n", -1, least=0)
    with pytest.raises(InputError, match="n must be a whole number, but"):
        check_integer("n", -5, least=-4)
