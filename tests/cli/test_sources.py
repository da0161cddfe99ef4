"""What is read from functions and arrays: which part is for training, how many examples are held out, and of which form."""

import numpy as np
import pytest
import torch
from torch.utils.data import TensorDataset

from gnomon.cli import sources
from gnomon.cli.sources import as_command_data, load_data, load_named_object, split_off_test_examples
from gnomon.core.errors import InputError

X, Y, X_TEST, Y_TEST = torch.ones(6, 2), torch.ones(6), torch.zeros(3, 2), torch.zeros(3)
TRAIN, TEST = TensorDataset(X, Y), TensorDataset(X_TEST, Y_TEST)


@pytest.mark.parametrize(
    ("value", "train", "test"),
    [
        ((X, Y, X_TEST, Y_TEST), (X, Y), (X_TEST, Y_TEST)),
        (((X, Y), (X_TEST, Y_TEST)), (X, Y), (X_TEST, Y_TEST)),
        ((TRAIN, TEST), TRAIN, TEST),
        ({"test": TEST, "train": TRAIN}, TRAIN, TEST),
        ({"train": TRAIN, "validation": TEST}, TRAIN, TEST),
        ({"train": TRAIN}, TRAIN, None),
        ([TRAIN, [1, 2]], (TRAIN, [1, 2]), None),
        (TRAIN, TRAIN, None),
    ],
)
def test_the_first_part_is_for_training(value, train, test):
    found = as_command_data(value, 0)
    assert found.train == train and found.test == test


@pytest.mark.parametrize(("n", "held"), [(4, 0), (5, 1), (9, 1), (10, 2), (14, 2), (15, 3)])
def test_a_fifth_of_five_or_more_examples_is_held_out(n, held):
    """Two numbers of different examples are different, so each example is in exactly one part."""
    x = torch.arange(2.0 * n).reshape(n, 2)
    found = split_off_test_examples(x, x[:, 0], 0)
    test = torch.zeros(0, 2) if found.test is None else found.test[0]
    assert len(test) == held and sorted(torch.cat([found.train[0], test])[:, 0].tolist()) == x[:, 0].tolist()
    assert found.notes == ((f"held out for testing: {held} of {n} examples",) if held else ())


def test_a_class_with_two_examples_may_be_held_out_and_one_with_a_single_example_not():
    y = torch.tensor([0] * 2 + [1] * 2 + [2])
    kept = [split_off_test_examples(torch.ones(5, 1), y, seed).train[1] for seed in range(20)]
    assert all(2 in part for part in kept) and any(len(part) == 4 for part in kept)


def test_the_digits_are_a_thousand_and_the_rest():
    found = load_data("digits", None, 0)
    assert (len(found.train[0]), len(found.train[1])) == (1000, 1000) and len(found.test[0]) == 797


def test_one_hot_rows_are_classes_and_other_rows_stay():
    one_hot, two_ones = np.eye(3)[[2, 0, 1]], np.array([[1.0, 1.0], [0.0, 1.0]])
    y, test, notes = sources._targets(one_hot, None)
    assert y.tolist() == [2, 0, 1] and test is None and len(notes) == 1
    y, test, notes = sources._targets(one_hot, np.eye(3)[[1]])
    assert (y.tolist(), test.tolist()) == ([2, 0, 1], [1]) and len(notes) == 1
    for other in (two_ones, np.array([[0.5, 0.5]]), np.ones((2, 1)), np.zeros((0, 2)), np.array([0.0, 1.0])):
        assert sources._targets(other, None)[0].tolist() == other.tolist() and not sources._one_hot(other)


def test_words_are_numbered_in_their_order_and_tests_hold_known_ones_only():
    y, test, _ = sources._targets(np.array(["b", "a", "c"]), np.array(["c", "b"]))
    assert (y.tolist(), test.tolist()) == ([1, 0, 2], [2, 1])
    with pytest.raises(InputError, match="y_test contains 'd'"):
        sources._targets(np.array(["a", "b"]), np.array(["d", "a"]))


def test_whole_numbers_in_one_column_are_classes():
    y, _, _ = sources._targets(np.array([[3], [5]]), None)
    assert y.tolist() == [3, 5] and y.dtype == torch.int64
    y, _, _ = sources._targets(np.array([[3, 4], [5, 6]]), None)
    assert y.shape == (2, 2)
    y, _, _ = sources._targets(np.array([[3.0], [5.0]]), None)
    assert y.shape == (2, 1)


def test_color_is_averaged_and_gray_is_repeated():
    color = torch.tensor([10, 20, 60], dtype=torch.uint8).reshape(1, 3, 1, 1).expand(2, 3, 4, 4)
    gray = sources._match_channels(color, 1)
    assert gray.shape == (2, 1, 4, 4) and gray.unique().tolist() == [30] and gray.dtype == torch.uint8
    assert torch.equal(sources._match_channels(gray, 3), gray.repeat(1, 3, 1, 1))
    assert sources._match_channels(color, 3) is color


def test_two_hundred_characters_of_the_names_in_a_file_are_listed(tmp_path):
    file = tmp_path / "made.py"
    file.write_text("\n".join(f"name_{i:04} = {i}" for i in range(99)))
    with pytest.raises(InputError) as error:
        load_named_object(f"{file}:other")
    listed = str(error.value).partition("It has: ")[2]
    assert listed.startswith("name_0000, name_0001") and len(listed.rstrip("].")) == 200


@pytest.mark.parametrize(
    ("kind", "read"),
    [(np.uint8, torch.uint8), (np.uint16, torch.int64), (np.uint32, torch.int64), (np.int16, torch.int16),
     (np.float32, torch.float32), (np.bool_, torch.bool)],
)  # fmt: skip
def test_unsigned_integers_of_more_than_a_byte_become_signed(kind, read):
    found = sources._tensor(np.array([1, 0, 1], dtype=kind), "x")
    assert found.dtype == read and found.tolist() == [1, 0, 1]
