"""Disagreement of labels along distance, against loops over pairs."""

from itertools import combinations

import pytest
import torch

from gnomon import InputError
from gnomon.attribution.regularity import label_regularity


def test_bins_are_those_of_sorted_pairs():
    x, y = torch.randn(12, 2, 3), torch.randint(3, (12,))
    pairs = sorted((float((x[i] - x[j]).norm()), float(y[i] != y[j])) for i, j in combinations(range(12), 2))
    found = label_regularity(x, y, bins=6)
    for k in range(6):
        part = pairs[11 * k : 11 * (k + 1)]
        assert found.disagreement[k] == pytest.approx(sum(d for _, d in part) / 11)
        assert found.distance[k] == pytest.approx(part[-1][0])
    assert found.overall == pytest.approx(sum(d for _, d in pairs) / 66)


def test_labels_apart_from_the_features_disagree_at_the_level_of_chance():
    x, y = torch.randn(400, 5), torch.arange(400) % 4
    found = label_regularity(x, y, bins=4)
    assert found.overall == pytest.approx(300 / 399)
    assert found.disagreement == pytest.approx([0.75] * 4, abs=0.02)


def test_clusters_agree_and_it_shows_itself():
    y = torch.arange(40) % 2
    found = label_regularity(10.0 * y[:, None] + torch.rand(40, 1), y, bins=3)
    assert found.disagreement[0] == 0 and found.disagreement[-1] == 1
    assert (
        found.verdict.startswith("Of the nearest 33% of pairs of examples, 0.0% have different labels")
        and len(found.plots()) == 1
    )


def test_too_few_pairs_are_refused():
    with pytest.raises(InputError, match="pairs per bin"):
        label_regularity(torch.randn(3, 2), torch.tensor([0, 1, 0]), bins=5)
