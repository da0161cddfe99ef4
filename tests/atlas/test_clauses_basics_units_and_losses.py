"""Clauses of the scope on threshold units, losses, features and data that no claim measures; the ledger names them."""

from itertools import product
from math import comb

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from gnomon import decisions
from gnomon.atlas.claims.basics import cover_counting, least_squares_ols, mcculloch_pitts_neuron
from gnomon.atlas.claims.signal_scattering import scattering_classification_digits
from gnomon.attribution.regularity import label_regularity
from gnomon.data import digits
from gnomon.scattering import Scattering2d


def test_projections_need_a_synapse_of_zero_and_xnor_two_layers():
    """mcculloch-pitts-neuron: (0, 0, 1, 1) = x_1 only with s in {-1, 0, 1}^2; XNOR = (1, 0, 0, 1) with neither."""
    signs, zeros = ({tuple(map(int, t)) for t in mcculloch_pitts_neuron.functions(2, s)} for s in ((-1, 1), (-1, 0, 1)))
    assert (0, 0, 1, 1) in zeros - signs and not {(1, 0, 0, 1), (0, 1, 1, 0)} & zeros


def test_the_boundary_of_a_linear_unit_in_its_normal_form():
    """linear-threshold-unit: n = w / |w|, d = -b / |w|; distance |n.x - d|; sgn(0) = 0 on the boundary d n."""
    rng = np.random.default_rng(0)
    w, b, x = rng.normal(size=6), 0.7, rng.normal(size=6)
    n, d = w / np.linalg.norm(w), -b / np.linalg.norm(w)
    assert abs(w @ (d * n) + b) < 1e-14 and float(torch.sign(torch.tensor(0.0))) == 0
    foot = x - (n @ x - d) * n  # the nearest point of the boundary
    assert abs(w @ foot + b) < 1e-14
    others = foot + np.linalg.svd(w[None])[2][1:].T @ rng.normal(size=(5, 200))[:, :].sum(1)
    assert np.linalg.norm(x - foot) == pytest.approx(abs(n @ x - d)) and np.linalg.norm(x - others) > abs(n @ x - d)


def test_xor_has_an_empty_version_space():
    """xor-not-separable, version-space: no (w, b) with y (<w, x> + b) > 0; every set of half-spaces for three points."""
    x, y = np.array([*product((0, 1), repeat=2)]), np.array([1, -1, -1, 1])
    rows = -y[:, None] * np.c_[x, np.ones(4)]
    status = [linprog(np.zeros(3), A_ub=rows[k], b_ub=-np.ones(len(rows[k])), bounds=(None, None)).status
              for k in ([0, 1, 2, 3], [0, 1, 2], [1, 2, 3])]  # fmt: skip
    assert status == [2, 0, 0]  # infeasible, then feasible
    assert not decisions.separability(torch.from_numpy(x).double(), torch.from_numpy(y > 0).long()).separable


def test_covers_numbers_satisfy_their_recursion():
    """cover-counting: C(n+1, d) = C(n, d) + C(n, d-1), C(1, d) = C(n, 1) = 2, C(n, d) = 2^n for n <= d; C(8, 3) = 58."""
    count = lambda n, d: 2 * sum(comb(n - 1, i) for i in range(d))  # noqa: E731
    recursion = np.full((13, 13), 2)
    for n, d in product(range(1, 12), range(2, 13)):
        recursion[n + 1, d] = recursion[n, d] + recursion[n, d - 1]
    assert all(recursion[n, d] == count(n, d) for n in range(1, 13) for d in range(1, 13))
    assert recursion[6, 8] == 2**6 and recursion[8, 3] == cover_counting.predicted((8, 3))[0] == 58


def test_the_share_of_dichotomies_falls_while_their_number_grows():
    """cover-capacity-2d: C(n, d)/2^n = 1/2 at n = 2d, > 0.95 at 1.4 d, < 0.05 at 2.6 d, d = 25; C(n, d) itself grows."""
    counts = [2 * sum(comb(n - 1, i) for i in range(25)) for n in range(25, 76)]
    shares = [c / 2**n for c, n in zip(counts, range(25, 76), strict=True)]
    assert shares[25] == 0.5 and shares[10] > 0.95 and shares[40] < 0.05
    assert min(np.diff(counts)) > 0 >= max(np.diff(shares)) and shares[22] > 0.5 > shares[28]


def test_elementary_activations_follow_their_formulas():
    """activation-tanh, -relu, -elu, tanh-sigmoid-identity: tanh = (e^z - e^-z)/(e^z + e^-z) = 2 s(2z) - 1."""
    z = torch.linspace(-6, 6, 1201, dtype=torch.float64)
    by_hand = (z.exp() - (-z).exp()) / (z.exp() + (-z).exp())
    torch.testing.assert_close(torch.tanh(z), by_hand, rtol=0, atol=1e-12)
    torch.testing.assert_close(torch.tanh(z), 2 / (1 + (-2 * z).exp()) - 1, rtol=0, atol=1e-12)
    assert torch.equal(torch.relu(z), torch.maximum(z, 0 * z))
    elu = torch.where(z >= 0, z, 1.7 * (z.exp() - 1))
    torch.testing.assert_close(nn.ELU(1.7)(z), elu, rtol=0, atol=1e-14)
    assert float(nn.ELU(1.7)(torch.tensor([-1e-9, 1e-9])).abs().max()) < 2e-9  # continuous at zero for any alpha


def test_least_squares_with_points_as_columns_and_as_rows():
    """least-squares-ols: (X X^T)^-1 X y for columns = (X^T X)^-1 X^T y for rows = lstsq = descent, rtol 1e-6."""
    x, y = least_squares_ols.problem()
    columns, rows = np.linalg.solve(x @ x.T, x @ y), np.linalg.pinv(x.T) @ y
    np.testing.assert_allclose(columns, rows, rtol=1e-9)
    np.testing.assert_allclose(columns, np.linalg.lstsq(x.T, y, rcond=None)[0], rtol=1e-9)
    np.testing.assert_allclose(least_squares_ols.descend(900, 0.0).detach(), columns, rtol=1e-6)
    w = np.random.default_rng(0).normal(size=10)
    slope = [
        (np.sum((x.T @ (w + 1e-5 * e) - y) ** 2) - np.sum((x.T @ (w - 1e-5 * e) - y) ** 2)) / 4e-5 for e in np.eye(10)
    ]
    np.testing.assert_allclose(x @ x.T @ w - x @ y, slope, rtol=1e-5)  # the gradient of half the squares


def test_ridge_and_kernel_ridge_agree_on_the_diabetes_data():
    """model-ladder-linear-feature-kernel: <w, F(x)> = sum_i K(x, x_i) c_i to 1e-8, quadratic features of diabetes."""
    x, y = load_diabetes(return_X_y=True)
    x, y = 20 * x, (y - y.mean()) / y.std()
    i, j = np.triu_indices(10)
    features = np.c_[np.ones(len(x)), x, x[:, i] * x[:, j]]
    w = np.linalg.solve(features.T @ features + 10 * np.eye(66), features.T @ y)
    kernel = features @ features.T
    c = np.linalg.solve(kernel + 10 * np.eye(len(x)), y)
    np.testing.assert_allclose(features @ w, kernel @ c, atol=1e-8)


def test_costs_of_backpropagation_grow_with_the_number_of_layers():
    """backpropagation: linear-time dynamic programming: 8 layers cost twice as many operations as 4."""
    counts = []
    for depth in (4, 8):
        net = nn.Sequential(*(part for _ in range(depth) for part in (nn.Linear(32, 32), nn.Tanh())))
        with FlopCounterMode(display=False) as counter:
            net(torch.randn(16, 32, requires_grad=True)).sum().backward()
        counts.append(counter.get_total_flops())
    assert counts[1] == 2 * counts[0] > 0


@pytest.mark.full
def test_scattering_and_a_linear_classifier_reach_97_percent_on_digits():
    """supervised-pipeline: accuracy of scattering >= 0.97 and >= that of pixels."""
    split, scattering = digits(1297, 500, seed=0), Scattering2d(1, (8, 8))
    f, g = (scattering(z[:, 0]).flatten(1) for z in (split.x, split.x_test))
    by_scattering = scattering_classification_digits.accuracy(f, g, split)
    by_pixels = scattering_classification_digits.accuracy(split.x.flatten(1), split.x_test.flatten(1), split)
    assert by_scattering >= 0.97 and by_scattering >= by_pixels


def test_moduli_of_fourier_and_scattering_are_invariant_and_do_not_expand():
    """representation-desiderata: |Phi(g x) - Phi(x)| / |Phi(x)| < 0.1 for |FFT| and scattering; |Phi x - Phi y| <= |x - y|."""
    x = nn.functional.pad(digits(8, 0, seed=0).x[:, 0], (12, 12, 12, 12))
    scattering = Scattering2d(5, (32, 32), L=2)
    spectrum = lambda z: torch.fft.fft2(z, norm="ortho").abs()  # noqa: E731
    change = lambda phi: float((phi(x.roll(1, 2)) - phi(x)).norm() / phi(x).norm())  # noqa: E731
    assert change(lambda z: z) > 0.5 and change(spectrum) < 1e-6 and change(scattering) < 0.1
    for phi in (spectrum, scattering):
        stretch = (phi(x[:4]) - phi(x[4:])).flatten(1).norm(dim=1) / (x[:4] - x[4:]).flatten(1).norm(dim=1)
        assert 1e-3 < float(stretch.max()) <= 1 + 1e-6


def test_regular_labels_need_reduction_and_separation():
    """regular-representation-condition: P(labels differ | near): merged classes 1/2, pixels more than class scores."""
    split = digits(400, 0, seed=0)
    x, y = split.x.flatten(1), split.y
    noise = 0.01 * torch.randn(400, 10)
    merged = nn.functional.one_hot(y // 2, 10) + noise  # reduces, but pairs of classes are no longer apart
    scores = nn.functional.one_hot(y, 10) + noise
    shares = [float(label_regularity(f, y, bins=20).disagreement[0]) for f in (scores, x, merged)]
    assert shares[0] == 0 < shares[1] < shares[2] and 0.4 < shares[2] < 0.6
