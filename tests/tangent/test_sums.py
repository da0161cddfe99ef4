"""Products summed over positions and outputs, against plain loops on unequal sizes."""

import numpy
import pytest
import torch

from gnomon.tangent.contract import lookups, pairs
from gnomon.tangent.per_example import per_example
from gnomon.tangent.sums import outer, strips, sum_over_positions

N, M, GROUPS, T, S, D, UNITS, Q = 5, 3, 2, 4, 3, 2, 6, 2
MODES = ("trace", "diagonal", "full")


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def by_mode(full, mode):
    """(q, n, q, m) reduced to what a mode keeps."""
    if mode == "full":
        return full
    diagonal = numpy.stack([full[o, :, o] for o in range(len(full))])
    return diagonal if mode == "diagonal" else diagonal.sum(0)


def gram(left, right):
    """<left_oi, right_pj> for lists of per-example arrays."""
    return numpy.array([[[[float((a * b).sum()) for b in p] for p in right] for a in o] for o in left])


@pytest.mark.parametrize("mode", MODES)
def test_outer_products_pair_or_add_the_outputs(mode):
    left, right = [numbers(4, 3, seed=i) for i in (1, 2)], [numbers(2, 3, seed=i) for i in (3, 4)]
    assert numpy.allclose(outer(mode, left, right), by_mode(gram(left, right), mode), rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("workspace", [1, 2**20])
@pytest.mark.parametrize("same", [False, True])
def test_both_orders_of_summation_are_the_inner_products_of_weight_gradients(mode, bias, workspace, same):
    a1, a2 = numbers(N, GROUPS, T, D), numbers(M, GROUPS, S, D, seed=1)
    g1 = [numbers(N, GROUPS, T, UNITS, seed=2 + o) for o in range(Q)]
    g2 = [numbers(M, GROUPS, S, UNITS, seed=5 + o) for o in range(Q)]
    if same:
        a2, g2 = a1, g1

    def gradients(a, g):
        weights = numpy.einsum("nrto,nrtd->nrod", g, a).reshape(len(a), -1)
        return numpy.hstack([weights, g.sum(2).reshape(len(a), -1)]) if bias else weights

    wanted = by_mode(gram([gradients(a1, g) for g in g1], [gradients(a2, g) for g in g2]), mode)
    found = pairs(a1, a2, g1, g2, mode, bias, workspace).numpy()
    if same and mode != "full":
        found, wanted = numpy.tril(found), numpy.tril(wanted)  # only this triangle is promised
    assert numpy.allclose(found, wanted, rtol=1e-11, atol=1e-12)
    cut = [2, N - 2]
    pieces_a, pieces_g = list(a1.split(cut)), [list(g.split(cut)) for g in g1]
    others_a, others_g = ([a2], [[g] for g in g2]) if not same else (pieces_a, pieces_g)
    found = per_example(pieces_a, others_a, pieces_g, others_g, mode, bias, workspace).numpy()
    found = numpy.tril(found) if same and mode != "full" else found
    assert numpy.allclose(found, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("workspace", [1, 400, 2**20])
@pytest.mark.parametrize("rows", [3, 1000])
@pytest.mark.parametrize("same", [False, True])
def test_positions_that_hold_the_same_index_share_a_row(mode, workspace, rows, same):
    generator = torch.Generator().manual_seed(0)
    v1, v2 = (torch.randint(0, rows, shape, generator=generator) for shape in ((N, T), (M, S)))
    v2[0, 1] = v1[2, 3]  # some index in common, however large the table
    g1, g2 = [numbers(N, T, D, seed=o) for o in range(Q)], [numbers(M, S, D, seed=5 + o) for o in range(Q)]
    if same:
        v2, g2 = v1, g1

    def gradients(v, g):
        table = numpy.zeros((len(v), rows, D))
        for i, t in numpy.ndindex(*v.shape):
            table[i, v[i, t]] += g[i, t].numpy()
        return table

    wanted = by_mode(gram([gradients(v1, g) for g in g1], [gradients(v2, g) for g in g2]), mode)
    assert numpy.allclose(lookups(v1, v2, g1, g2, mode, workspace), wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_products_are_summed_over_the_positions_of_rows_and_columns(mode):
    q, rows, columns, t, s = 2, 6, 8, 3, 4
    shape = {"full": (q, rows, q, columns), "diagonal": (q, rows, columns)}.get(mode, (rows, columns))
    gradients, activations = numbers(*shape), numbers(rows, columns, seed=1)
    expanded = activations[:, None, :] if mode == "full" else activations
    product = (gradients * expanded).numpy()
    axis = 1 if mode != "trace" else 0
    wanted = numpy.add.reduceat(numpy.add.reduceat(product, [0, 3], axis=axis), [0, 4], axis=-1)
    assert numpy.allclose(sum_over_positions(gradients.clone(), activations, t, s, mode), wanted, rtol=1e-12)


@pytest.mark.parametrize(("mode", "copies"), [("trace", 3), ("pseudo", 3), ("diagonal", 5), ("full", 11)])
def test_strips_are_the_longest_whose_tables_stay_within_the_workspace(mode, copies):
    """Activations, their product with gradients, and the gradients of 3 outputs: 8 bytes x 2 positions x 7 columns."""
    row = copies * 2 * 7 * 8
    assert strips(10, 2, 7, 3, mode, 8, 4 * row, 10) == [slice(0, 4), slice(4, 8), slice(8, 12)]
    assert strips(10, 2, 7, 3, mode, 8, 4 * row - 1, 10)[0] == slice(0, 3)
    assert strips(10, 2, 7, 3, mode, 8, 0, 10)[:2] == [slice(0, 1), slice(1, 2)]
    assert strips(10, 2, 7, 3, mode, 8, 100 * row, 6) == [slice(0, 6), slice(6, 12)]
    assert strips(10, 2, 7, 3, mode, 8, 100 * row, 50) == [slice(0, 10)]
