"""Pairs in blocks: all of them once, mirror images exactly, whatever the shape and the number of threads."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.expectations.expectation import expectation
from gnomon.expectations.functions import Derivative
from gnomon.expectations.line import Sampler
from gnomon.expectations.pairs import COLUMNS_PER_BLOCK, CovariancePairs

F64 = torch.float64
FUNCTIONS = {"elu": nn.ELU(), "elu'": Derivative(nn.ELU()), "hardtanh'": Derivative(nn.Hardtanh()), "sine": torch.sin}


def gram(n):
    """Covariances of n points with themselves, two of them equal, one zero."""
    x = torch.randn(n, 3, dtype=F64, generator=torch.Generator().manual_seed(0))
    x[1], x[2] = x[0], 0.0
    c = x @ x.T
    c = c.tril() + c.tril(-1).T
    return c.diagonal(), c


@pytest.mark.parametrize("name", FUNCTIONS)
def test_kernels_of_points_are_exactly_symmetric_layer_after_layer(name):
    """So that the second layer sees the symmetry of the first, and computes no more than half as well."""
    f, (variance, c) = Sampler(FUNCTIONS[name]), gram(2 * COLUMNS_PER_BLOCK + 9)
    for _ in range(2):
        sides = variance[:, None], variance[None]
        assert all(block.mirror for block in CovariancePairs.of(*sides, c).blocks(symmetric=True))
        c = expectation(f, f, *sides, c)
        assert torch.equal(c, c.T)
        variance = c.diagonal()


def test_blocks_hold_every_pair_once():
    variance, c = gram(2 * COLUMNS_PER_BLOCK + 9)
    pairs = CovariancePairs.of(variance[:, None], variance[None], c)
    numbers = np.arange(c.numel(), dtype=float).reshape(c.shape)
    for symmetric in (False, True):
        out, seen = np.full(c.shape, np.nan), np.zeros(c.shape)
        for block in pairs.blocks(symmetric=symmetric):
            seen[block.where] += 1
            assert len(block.missing(out)[0]) > 0
            block.write(numbers[block.where].flatten(), out)
            assert len(block.missing(out)[0]) == 0
        assert seen.max() == 1 and (np.tril(seen) == np.tril(np.ones(c.shape))).all()
        wanted = np.tril(numbers) + np.tril(numbers, -1).T if symmetric else numbers
        assert np.array_equal(out, wanted)
    c[0, 3] += 1e-9  # no longer a mirror image
    assert not pairs.blocks(symmetric=True)[0].mirror


def test_every_shape_has_the_values_of_its_pairs_alone():
    f = Sampler(nn.ELU())
    generator = torch.Generator().manual_seed(1)
    a = torch.rand(3, 1, 5, dtype=F64, generator=generator) + 0.1
    b = torch.rand(1, 4, 5, dtype=F64, generator=generator) + 0.1
    c = (a * b).sqrt() * (1.9 * torch.rand(3, 4, 5, dtype=F64, generator=generator) - 0.95)
    whole = expectation(f, f, a, b, c)
    flat = [t.expand(3, 4, 5).reshape(-1) for t in (a, b, c)]
    assert torch.allclose(whole.view(-1), expectation(f, f, *flat), rtol=0, atol=2e-9)
    one = expectation(f, f, flat[0][7], flat[1][7], flat[2][7])
    assert one.shape == () and float(one) == pytest.approx(float(whole.view(-1)[7]), abs=2e-9)
    matrix = expectation(f, f, a[:, :, 0], b[:, :, 0], c[:, :, 0])
    assert torch.allclose(matrix, whole[:, :, 0], rtol=0, atol=2e-9)


def test_threads_change_nothing():
    f, (variance, c) = Sampler(nn.Softsign()), gram(3 * COLUMNS_PER_BLOCK)
    found, before = [], torch.get_num_threads()
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append(expectation(f, f, variance[:, None], variance[None], c).numpy())
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:  # up to the roundings of matrix products, which threads may split differently
        assert np.abs(other - found[0]).max() <= 1e-13
