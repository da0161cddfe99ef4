"""Shares of classes in a sample, by hand."""

import pytest
import torch

from gnomon.core.inputs.strata import stratified_sample


def drawn(sizes, k, seed=0):
    labels = torch.cat([torch.full((size,), c) for c, size in enumerate(sizes)])
    labels = labels[torch.randperm(len(labels), generator=torch.Generator().manual_seed(5))]
    index = stratified_sample(len(labels), labels, k, seed=seed)
    assert len(set(index.tolist())) == k and index.tolist() == sorted(index.tolist())
    return torch.bincount(labels[index], minlength=len(sizes)).tolist()


@pytest.mark.parametrize(
    ("sizes", "k", "shares"),
    [
        ((50, 30, 20), 10, [5, 3, 2]),
        ((47, 34, 19), 10, [5, 3, 2]),  # 4.7, 3.4, 1.9: the largest remainders are rounded up
        ((44, 44, 12), 10, [5, 4, 1]),  # 4.4, 4.4, 1.2: the first of equal remainders
        ((96, 2, 2), 10, [8, 1, 1]),  # 9.6, 0.2, 0.2: one for each class, taken from the largest
        ((90, 6, 4), 2, [2, 0, 0]),  # fewer than classes: 1.8, 0.12, 0.08, the largest come first
        ((40, 35, 25), 2, [1, 1, 0]),
    ],
)
def test_each_class_has_its_share_by_largest_remainder(sizes, k, shares):
    assert drawn(sizes, k) == shares


def test_all_examples_are_taken_if_there_are_no_more():
    labels = torch.tensor([0, 1, 0])
    assert stratified_sample(3, labels, 3).tolist() == [0, 1, 2] and stratified_sample(3, labels, 7).tolist() == [
        0,
        1,
        2,
    ]
    assert len(stratified_sample(3, labels, 2)) == 2


def test_without_classes_the_seed_draws_all_examples_alike():
    """Each of 6 examples is in 3 of 6 with probability 1/2: of 400 draws 200 +- 10 (one standard deviation)."""
    counts = torch.zeros(6)
    for seed in range(400):
        counts[stratified_sample(6, None if seed % 2 else torch.rand(6), 3, seed=seed)] += 1
    assert counts.sum() == 1200 and (counts - 200).abs().max() < 45  # 4.5 standard deviations


@pytest.mark.parametrize(
    ("sizes", "k", "shares"),
    [
        ([5, 1, 1], 3, [1, 1, 1]),  # one each is too many by one, and only the first class may give one back
        ([40, 35, 1, 1, 1], 10, [4, 3, 1, 1, 1]),  # 5.1 and 4.5 are the exact shares: each gives one back
        ([2, 2, 2], 2, [1, 1, 0]),  # fewer places than classes
    ],
)
def test_classes_give_places_back_if_each_needs_one(sizes, k, shares):
    assert drawn(sizes, k) == shares
