"""Alignment of attention with places, counted by hand on weights that are not square."""

import numpy as np
import pytest
import torch

from gnomon import sequences
from gnomon.core.errors import InputError
from gnomon.sequences.alignment import _by_chance


def looking_at(*rows, keys):
    """Weights of one example for each row, with nearly all of the weight on the given keys."""
    return 0.9 * torch.nn.functional.one_hot(torch.tensor(rows), keys).double() + 0.01


@pytest.mark.parametrize(
    ("rows", "keys", "expected"),
    [
        (([2, 3, 4], [2, 3, 0]), 5, (5 / 6, "2 after")),
        (([0, 0, 1, 2], [0, 0, 1, 1]), 3, (5 / 8, "1 before")),
        (([4, 3, 2], [4, 3, 0]), 5, (5 / 6, "mirrored")),
        (([3, 2, 1], [3, 2, 0]), 5, (5 / 6, "place 3 - t")),
        (([5, 4, 3, 2], [5, 4, 3, 3]), 4 + 2, (7 / 8, "mirrored")),
        (([1, 1, 1], [1, 1, 3]), 4, (5 / 6, "always place 1")),
        (([3, 3, 3], [3, 3, 0]), 4, (5 / 6, "always place 3")),
        (([0, 1, 2, 3], [0, 1, 2, 0]), 6, (7 / 8, "the same place")),
    ],
)
def test_the_share_and_name_of_a_pattern_with_unequal_numbers_of_queries_and_keys(rows, keys, expected):
    share, name = sequences.alignment_share(looking_at(*rows, keys=keys))
    assert (share, name) == (pytest.approx(expected[0]), expected[1])


def test_the_largest_and_smallest_offset_are_among_the_patterns():
    """Only the first query can follow the largest offset, only the last query the smallest; the first of equals wins."""
    assert sequences.alignment_share(looking_at([3, 1], [3, 0], [3, 0], [3, 1], keys=4)) == (0.5, "3 after")
    assert sequences.alignment_share(looking_at([4, 4, 0], [3, 3, 0], [1, 3, 0], keys=5)) == (
        pytest.approx(1 / 3),
        "2 before",
    )


def test_expected_places_are_checked_against_the_number_of_keys():
    weights = looking_at([2, 0], [2, 1], keys=3)
    assert sequences.alignment_share(weights, places=[2, 1]) == (0.75, "as given")
    assert sequences.alignment_share(weights, places=[-1, 0]) == (0.5, "as given")
    assert sequences.alignment_share(weights, places=[0, -1])[0] == 0.0
    for places in ([3, 0], [-1, -1], [0, 1, 2]):
        with pytest.raises(InputError, match="2 queries and 3 keys"):
            sequences.alignment_share(weights, places=places)


def test_chance_is_the_mean_of_the_best_share_of_random_weights():
    """Two examples, two queries, three keys: all 81 choices of keys, each with its best pattern, written out."""
    patterns = [(o, 1 + o) for o in range(-1, 3)] + [(c, c - 1) for c in range(4)] + [(c, c) for c in range(3)]
    best = []
    for code in range(81):
        keys = np.array(np.unravel_index(code, (3, 3, 3, 3))).reshape(2, 2)
        best.append(max((keys == np.array(p)).mean() for p in patterns))
    assert _by_chance((2, 2, 3)) == pytest.approx(np.mean(best), abs=4 * np.std(best) / 20**0.5)
    draws = torch.Generator().manual_seed(0)
    first = [sequences.alignment_share(torch.rand((2, 2, 3), generator=draws))[0] for _ in range(20)]
    assert _by_chance((2, 2, 3)) == pytest.approx(np.mean(first), abs=1e-12)
