"""Plots as data: a histogram counts every value, however close the values are."""

from gnomon.core.results import Histogram


def test_a_histogram_of_values_that_hardly_differ_counts_them_all():
    found = Histogram.of("score", [0.9, 0.9 + 1e-16, 0.9, 0.9 - 2e-16])
    assert sum(found.counts) == 4 and found.edges[0] < 0.9 < found.edges[-1]
