"""Margins against differences by hand."""

import pytest
import torch
from scipy.stats import binomtest

from gnomon.decisions.margins import margins, probabilities

P = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]]).double()


def test_margins_are_negative_where_another_class_is_likelier():
    result = margins(P, torch.tensor([0, 1, 1]))
    assert result.values.tolist() == pytest.approx([0.5, -0.3, 0.2])
    assert result.smallest == pytest.approx(-0.3) and result.median == pytest.approx(0.2)
    assert result.right == 2 and result.accuracy == pytest.approx(2 / 3)
    exact = binomtest(2, 3).proportion_ci(0.95, method="exact")
    assert (result.accuracy_interval.low, result.accuracy_interval.high) == pytest.approx(tuple(exact))


def test_the_hardest_examples_are_those_whose_own_class_is_least_likely():
    assert margins(P, torch.tensor([0, 1, 0])).hardest == (2, 1, 0)  # 0.2, 0.3, 0.7
    many = torch.rand(20, 2).double()
    many = many / many.sum(1, keepdim=True)
    result = margins(many, torch.zeros(20, dtype=torch.long))
    assert list(result.hardest) == many[:, 0].argsort()[:8].tolist()


def test_one_output_is_the_logit_of_the_second_class():
    f = torch.tensor([[2.0], [-1.0]]).double()
    assert probabilities(f)[:, 1].tolist() == pytest.approx([1 / (1 + torch.e**-2), 1 / (1 + torch.e)])
    two = torch.cat([torch.zeros(2, 1).double(), f], 1)
    assert torch.allclose(probabilities(two), probabilities(f))


def test_it_shows_itself():
    result = margins(P, torch.tensor([0, 1, 1]))
    assert "66.7%" in result.verdict and sum(result.plots()[0].marks[0].counts) == 3
    assert result.to_dict()["hardest"] == [1, 2, 0]
