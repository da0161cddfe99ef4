"""The random numbers of the playground have the distributions that they claim."""

import numpy as np
from scipy import stats

from gnomon.playground import normals, permutation, uniforms


def test_uniform_numbers_are_uniform_and_differ_between_streams():
    assert stats.kstest(uniforms(5, 3, 20_000), "uniform").pvalue > 1e-3
    assert not set(uniforms(5, 3, 100)) & set(uniforms(5, 4, 100)) and not set(uniforms(5, 3, 100)) & set(
        uniforms(6, 3, 100)
    )


def test_the_first_numbers_of_a_stream_do_not_depend_on_how_many_are_drawn():
    assert np.array_equal(uniforms(1, 2, 10), uniforms(1, 2, 1000)[:10])


def test_normal_numbers_are_the_inverse_distribution_function():
    expected = stats.norm.ppf(uniforms(2, 7, 50_000))
    np.testing.assert_allclose(normals(2, 7, 50_000), expected, rtol=1e-13, atol=1e-15)


def test_neighboring_numbers_and_streams_are_uncorrelated():
    a, b = normals(1, 16, 20_000), normals(1, 17, 20_000)
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.03 and abs(np.corrcoef(a[:-1], a[1:])[0, 1]) < 0.03


def test_permutations_hold_every_number_once():
    assert sorted(permutation(3, 4096, 50)) == list(range(50)) and permutation(3, 4096, 50) != permutation(3, 4097, 50)
