"""Readings of networks in the style of public ones."""

import pytest
import torch

from gnomon.adapter import read, read_output_meaning
from gnomon.core.errors import InputError

TOKENS = torch.arange(20).reshape(4, 5) % 7


@pytest.mark.parametrize(
    ("outputs", "y", "x", "sentence"),
    [
        ((4, 5, 7), TOKENS.roll(1, 1), TOKENS, "a language model: 5 positions, 7 tokens, cross-entropy over positions"),
        ((4, 5, 9), TOKENS % 3, torch.zeros(4, 5, 2),
         "classification of positions: 5 positions, 9 classes, cross-entropy over positions"),
        ((4, 3, 2, 5), torch.zeros(4, 2, 5).long(), torch.zeros(4, 1, 2, 5),
         "classification of pixels: 10 pixels, 3 classes, cross-entropy over pixels"),
        ((4, 32, 3), torch.tensor([0, 1, 2, 0]), torch.zeros(4, 6),
         "an ensemble of 32 members, each with its own loss: 3 classes"),
        ((4, 32, 1), torch.zeros(4), torch.zeros(4, 6), "an ensemble of 32 members, each with its own loss: one number"),
        ((4, 10), torch.tensor([0, 1, 2, 9]), torch.zeros(4, 6), "classification: 10 classes, one per example"),
        ((4, 10, 1, 1), torch.tensor([0, 1, 2, 9]), torch.zeros(4, 6), "classification: 10 classes, one per example"),
        ((4, 3, 8, 8), torch.zeros(4, 3, 8, 8), torch.zeros(4, 3, 8, 8), "regression: 192 numbers per example"),
    ],
)  # fmt: skip
def test_readings(outputs, y, x, sentence):
    assert read_output_meaning(torch.zeros(outputs), y, x=x).sentence == f"read as {sentence}"


def test_labels_that_copy_the_inputs_are_compared_one_position_later():
    assert read_output_meaning(torch.zeros(4, 5, 7), TOKENS, x={"input_ids": TOKENS}).shift == 1
    assert read_output_meaning(torch.zeros(4, 5, 7), TOKENS.roll(-1, 1), x={"input_ids": TOKENS}).shift == 0
    hidden = TOKENS.masked_fill(TOKENS % 2 == 0, -100)  # a masked language model sees other tokens at its labels
    assert (
        read_output_meaning(torch.zeros(4, 5, 7), hidden, x={"input_ids": TOKENS.masked_fill(TOKENS % 2 == 1, 6)}).shift
        == 0
    )


def test_the_largest_label_of_all_data_decides():
    y = torch.tensor([0, 1])
    assert read_output_meaning(torch.zeros(2, 4, 3), y).task == "ensemble"
    assert read_output_meaning(torch.zeros(2, 4, 3), y, largest=11).task == "class"


def test_a_named_task_wins_or_is_refused():
    named = read_output_meaning(torch.zeros(4, 32, 3), torch.tensor([0, 1, 2, 0]), task="class")
    assert named.sentence == "read as classification: 96 classes, one per example (as given)"
    with pytest.raises(InputError, match="does not fit the task language model"):
        read_output_meaning(torch.zeros(4, 3), torch.tensor([0, 1, 2, 0]), task="language model")
    with pytest.raises(InputError, match="task is 'translation'"):
        read_output_meaning(torch.zeros(4, 3), torch.tensor([0, 1, 2, 0]), task="translation")


def test_labels_that_fit_no_axis_are_refused():
    with pytest.raises(InputError, match=r"the labels have shape \(4, 5\) and the outputs \(4, 6, 7\)"):
        read_output_meaning(torch.zeros(4, 6, 7), TOKENS)


def test_one_output_per_example_stands_for_two_classes():
    assert read_output_meaning(torch.zeros(4, 1), torch.tensor([0, 1, 1, 0])).classes == 2


def test_two_members_make_an_ensemble_and_one_does_not():
    assert read_output_meaning(torch.zeros(4, 2, 3), torch.zeros(4, 3)).task == "ensemble"
    assert read_output_meaning(torch.zeros(4, 1, 3), torch.zeros(4, 3)).task == "numbers"
    assert read_output_meaning(torch.zeros(4, 2, 3), torch.tensor([0, 1, 2, 0])).task == "ensemble"
    assert read_output_meaning(torch.zeros(4, 2, 3), torch.tensor([0, 1, 3, 0])).task == "class"


@pytest.mark.parametrize(("largest", "void"), [(255, True), (254, False), (765, False)])
def test_the_label_255_is_suggested_as_unknown_positions(largest, void):
    outputs, y = torch.zeros(2, 3, 4, 4), torch.zeros(2, 4, 4).long()
    y[0, 0, 0] = largest
    with pytest.raises(InputError) as error:
        read._positions(outputs, y, torch.zeros(2, 1, 4, 4), largest, None)
    assert ("ignore_index" in str(error.value)) is void
