"""The permutation test of labels against its definition, its level and its power."""

import numpy
import pytest
import torch
from scipy.stats import norm

import gnomon
from gnomon.linalg.label_test import LabelTest, label_test
from gnomon.tangent import alignment


def test_shuffled_alignments_are_alignments_of_shuffled_labels():
    x = torch.randn(20, 3, dtype=torch.float64)
    kernel, y = x @ x.T, torch.randn(20, 2, dtype=torch.float64)
    result = label_test(kernel, y, seed=5)
    generator = torch.Generator().manual_seed(5)
    for value in result.shuffled[:10].tolist():
        assert value == pytest.approx(alignment(kernel, y[torch.randperm(20, generator=generator)]), rel=1e-10)
    assert result.alignment == alignment(kernel, y)
    above = int((result.shuffled >= result.alignment).sum())
    assert result.p_value == pytest.approx((1 + above) / 401)
    low, high = numpy.quantile(result.shuffled.numpy(), [0.025, 0.975])
    assert result.shuffled_interval.low == pytest.approx(low) and result.shuffled_interval.high == pytest.approx(high)


def test_labels_along_the_kernel_have_the_smallest_p_value_a_test_can_give():
    x = torch.randn(60, 4)
    result = label_test(x @ x.T, (x[:, 0] > 0).long(), shuffles=99)
    assert result.p_value == pytest.approx(1 / 100) and not result.related  # never zero: the labels themselves count
    assert label_test(x @ x.T, (x[:, 0] > 0).long()).related


def test_unrelated_labels_are_called_related_as_rarely_as_the_level_says():
    """p <= a with probability at most a: of 300 tests at 10 % at most 51 by chance, at a confidence of 0.9999."""
    generator = torch.Generator().manual_seed(0)
    low = 0
    for _ in range(300):
        x, y = torch.randn(15, 3, generator=generator), torch.randn(15, generator=generator)
        low += label_test(x @ x.T, y, shuffles=39).p_value <= 0.1
    assert low <= 51  # scipy.stats.binom.ppf(0.9999, 300, 0.1)


def test_classes_are_one_hot_rows():
    x = torch.randn(30, 3)
    labels = torch.arange(30) % 3
    assert label_test(x @ x.T, labels).alignment == pytest.approx(alignment(x @ x.T, torch.eye(3)[labels]))


def test_constant_labels_are_refused_by_name():
    with pytest.raises(gnomon.InputError, match=r"^label_test\(kernel, y\)"):
        label_test(torch.eye(3), torch.ones(3))
    with pytest.raises(gnomon.InputError, match=r"^label_test\(kernel, y\): shuffles must be"):
        label_test(torch.eye(3), torch.arange(3.0), shuffles=0)


def test_it_shows_itself():
    x = torch.randn(30, 3)
    result = label_test(x @ x.T, x[:, 0])
    assert "far from the alignment with shuffled labels" in result.verdict and "shuffled" not in result.to_dict()
    assert sum(result.plots()[0].marks[0].counts) == 400


def test_the_detectable_alignment_is_by_the_normal_quantiles_of_the_level_and_the_power():
    """The mean of (0.1, 0.2, 0.6) is 0.3, its variance with n - 1 is 0.07; quantiles by scipy."""
    result = LabelTest(0.5, 0.02, torch.tensor([0.1, 0.2, 0.6]).double())
    quantiles = norm.ppf(0.99) + norm.ppf(0.8)
    assert result.detectable == pytest.approx(0.3 + quantiles * 0.07**0.5, rel=1e-3)  # quantiles of four digits


@pytest.mark.parametrize(("p", "related"), [(0.0099, True), (0.01, False), (0.02, False)])
def test_labels_are_related_below_one_percent(p, related):
    assert LabelTest(0.5, p, torch.zeros(3).double()).related is related
