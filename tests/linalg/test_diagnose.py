"""Every finding of the examination on matrices in which it was planted."""

import json

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from gnomon.core import InputError, NotFiniteError
from gnomon.linalg import diagnose_matrix
from tests.linalg.spectra import jacobi, planted, smooth_kernel

EPS = np.finfo(np.float64).eps


def test_the_spectrum_agrees_with_long_double_rotations():
    K = planted([1e-6, 0.3, 0.3, 1.0, 2.5, 7.0])
    d = diagnose_matrix(K)
    exact = jacobi(K)
    assert_allclose(d.eigenvalues.numpy(), exact.astype(float), atol=6 * EPS * 7.0, rtol=0)  # backward stable: n eps
    assert d.smallest_eigenvalue == d.eigenvalues[0] and d.largest_eigenvalue == d.eigenvalues[-1]
    # the relative error of the smallest eigenvalue is n eps max / min, and the condition inherits it
    assert_allclose(d.condition, float(exact[-1] / exact[0]), rtol=6 * EPS * 7.0 / 1e-6)


def test_the_two_ranks_agree_with_their_definitions_in_long_double():
    K = planted([0.1, 0.5, 1.0, 4.0, 4.0])
    exact = jacobi(K)
    p = exact / exact.sum()
    d = diagnose_matrix(K)
    # three sums of five terms each, from eigenvalues good to a few eps: tens of eps
    assert_allclose(d.effective_rank, float(np.exp(-(p * np.log(p)).sum())), rtol=50 * EPS)
    assert_allclose(d.participation_ratio, float(exact.sum() ** 2 / (exact**2).sum()), rtol=50 * EPS)
    assert_allclose(d.participation_ratio, np.trace(K) ** 2 / np.linalg.norm(K) ** 2, rtol=50 * EPS)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_a_perfectly_conditioned_matrix(n):
    d = diagnose_matrix(3.0 * np.eye(n))
    assert d.asymmetry == 0 and d.condition == 1 and d.jitter == d.jitter_multiple == 0 and d.duplicate_rows == ()
    assert_allclose([d.effective_rank, d.participation_ratio], n, rtol=20 * EPS)
    assert d.rank == n


def test_asymmetry_is_found_and_the_rest_is_about_the_symmetric_part():
    K = planted([1.0, 2.0, 4.0])
    bent = K.copy()
    bent[0, 2] += 0.25
    d = diagnose_matrix(bent)
    assert_allclose(d.asymmetry, 0.25 / abs(bent).max(), rtol=4 * EPS)
    assert_allclose(d.eigenvalues, np.linalg.eigvalsh((bent + bent.T) / 2), atol=20 * EPS)
    assert not np.allclose(d.eigenvalues, np.linalg.eigvalsh(K))
    assert "NOT symmetric" in d.sentences()[0] and f"{d.asymmetry:.1e}" in d.sentences()[0]


def test_asymmetry_at_rounding_is_not_reported_as_a_fault():
    K = planted([1.0, 2.0, 4.0])
    K[0, 2] *= 1 + 4 * EPS
    d = diagnose_matrix(K)
    assert 0 < d.asymmetry < 100 * EPS and "symmetric up to rounding" in d.sentences()[0]


def test_duplicate_inputs_are_found():
    x = np.random.default_rng(0).standard_normal((7, 3))
    x[4], x[6], x[5] = x[1], x[1], x[0]
    d = diagnose_matrix(np.exp(-((x[:, None] - x[None]) ** 2).sum(-1)))
    assert d.duplicate_rows == ((0, 5), (1, 4, 6))
    assert d.rank == 4
    assert d.jitter > 0
    expected = (
        "Rows (0, 5), (1, 4, 6) agree within 2e-14: the kernel cannot distinguish these inputs. Drop the repeated "
        "inputs."
    )
    assert d.sentences()[4] == expected


def test_rank_deficiency_is_found():
    x = np.random.default_rng(1).standard_normal((8, 3))
    d = diagnose_matrix(x @ x.T)
    assert d.rank == np.linalg.matrix_rank(x) == 3
    assert d.condition > 1e15
    assert "rank deficient: only 3 of 8 eigenvalues are larger than rounding errors" in d.sentences()[3]
    assert "positive semidefinite up to rounding" in d.sentences()[1]
    assert "too large for float64" in d.sentences()[2] and d.sentences()[2].endswith("noise. Add regularization.")


@pytest.mark.parametrize("dtype, eps", [(np.float64, 2.0**-52), (np.float32, 2.0**-23)])
def test_an_eigenvalue_under_n_times_the_precision_does_not_count(dtype, eps):
    diagonal = np.ones(8)
    diagonal[0], diagonal[1] = 7 * eps, 9 * eps  # either side of n eps; a diagonal matrix has exact eigenvalues
    d = diagnose_matrix(np.diag(diagonal).astype(dtype))
    assert d.rounding == 8 * eps and d.rank == 7


@pytest.mark.parametrize("low, power", [(-0.3, 0), (-0.02, -1), (-2e-5, -4)])
def test_indefiniteness_is_found_with_the_smallest_jitter_that_hides_it(low, power):
    K = planted([low, 1.0, 1.0, 1.0])
    mean = np.trace(K) / 4
    d = diagnose_matrix(K)
    assert d.jitter_multiple == float(f"1e{power}")
    assert_allclose(d.jitter, d.jitter_multiple * mean, rtol=4 * EPS)
    np.linalg.cholesky(K + d.jitter * np.eye(4))
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(K + d.jitter / 10 * np.eye(4))
    assert "indefinite: one eigenvalue is below zero" in d.sentences()[1] and "A kernel" in d.sentences()[1]
    assert "would make it succeed, but hide negative eigenvalues" in d.sentences()[5]


def test_several_negative_eigenvalues_are_counted():
    assert "indefinite: 2 eigenvalues are below zero" in diagnose_matrix(planted([-1.0, -0.5, 1.0, 2.0])).sentences()[1]


def test_a_smooth_kernel_in_float32_is_singular_there_and_better_in_float64():
    short, long = diagnose_matrix(smooth_kernel(12, np.float32)), diagnose_matrix(smooth_kernel(12, np.float64))
    assert short.dtype == "float32" and short.jitter > 0 and long.jitter < short.jitter
    assert "positive semidefinite up to rounding" in short.sentences()[1]
    assert "too large for float32" in short.sentences()[2]
    assert "Compute in float64, or add regularization" in short.sentences()[2]
    assert "It succeeds after adding" in short.sentences()[5] and f"{short.jitter_multiple:.0e}" in short.sentences()[5]


def test_float32_rounding_inside_a_float64_matrix_is_recognized():
    d = diagnose_matrix(smooth_kernel(40, np.float32).astype(np.float64))
    assert d.smallest_eigenvalue < -d.rounding
    assert "This is the size of float32 rounding errors" in d.sentences()[1]
    assert "It succeeds after adding" in d.sentences()[5]


def test_float32_eigenvalues_are_computed_in_float64():
    K = planted([1e-3, 1.0, 2.0], dtype=np.float32)
    assert_allclose(diagnose_matrix(K).eigenvalues, jacobi(K).astype(float), atol=10 * EPS)


@pytest.mark.parametrize("n", [1, 3])
def test_the_zero_matrix(n):
    d = diagnose_matrix(np.zeros((n, n)))
    assert d.smallest_eigenvalue == d.largest_eigenvalue == d.effective_rank == d.participation_ratio == 0
    assert d.condition == np.inf and d.rank == 0 and d.asymmetry == 0
    assert d.jitter == d.jitter_multiple == 1e-16
    assert "matrix is zero" in d.sentences()[1] and "infinite" in d.sentences()[2]
    assert d.to_dict()["condition"] == "inf"


def test_one_point():
    d = diagnose_matrix(np.array([[2.0]]))
    assert d.condition == d.effective_rank == d.participation_ratio == 1 and d.jitter == 0


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_findings_do_not_depend_on_the_unit(factor):
    K = planted([-0.3, 0.5, 1.0, 3.0])
    plain, scaled = diagnose_matrix(K), diagnose_matrix(factor * K)
    for name in ("condition", "effective_rank", "participation_ratio"):
        assert_allclose(getattr(scaled, name), getattr(plain, name), rtol=100 * EPS)
    assert scaled.jitter_multiple == plain.jitter_multiple and scaled.rank == plain.rank


@pytest.mark.parametrize(
    "eigenvalues, words",
    [
        ([1.0, 1.0, 1.0], ("less than one digit", "flat spectrum")),
        ([1e-5, 1.0, 1.0], ("loses about 5 of the 16 digits of float64", "uneven spectrum")),
        ([1e-14, 1e-14, 1.0], ("loses about 14 of the 16", "uneven spectrum")),
    ],
)
def test_condition_and_rank_sentences(eigenvalues, words):
    sentences = diagnose_matrix(planted(eigenvalues)).sentences()
    assert words[0] in sentences[2] and words[1] in sentences[3]
    assert "positive definite: its eigenvalues run from" in sentences[1]


def test_many_groups_of_duplicates_are_abridged():
    x = np.repeat(np.random.default_rng(0).standard_normal((5, 4)), 2, axis=0)
    d = diagnose_matrix(x @ x.T)
    assert len(d.duplicate_rows) == 5
    assert "Rows (0, 1), (2, 3), (4, 5) and 2 groups more agree" in d.sentences()[4]


def test_no_duplicates_and_no_jitter_are_said():
    sentences = diagnose_matrix(np.eye(4)).sentences()
    assert sentences[4:] == ("No two rows are equal.", "Cholesky succeeds without jitter.")
    assert str(diagnose_matrix(np.eye(4))) == "\n".join(sentences)


def test_the_record_survives_strict_json():
    x = np.ones((3, 3))
    plain = json.loads(json.dumps(diagnose_matrix(x).to_dict(), allow_nan=False))
    assert plain["duplicate_rows"] == [[0, 1, 2]] and len(plain["eigenvalues"]) == 3
    assert {finding["kind"] for finding in plain["findings"]} >= {"duplicate-rows", "rank-deficient"}


def test_findings_are_the_gravest_first_and_the_verdict_is_one_of_them():
    sound, bent = diagnose_matrix(planted([1.0, 2.0, 4.0])), diagnose_matrix(planted([-1.0, 1.0, 2.0]))
    assert not sound.findings and "No problems found in this 3 x 3 Gram matrix" in sound.verdict
    assert bent.findings[0].kind == "indefinite" and bent.verdict == bent.findings[0].message
    levels = [finding.level for finding in bent.findings]
    assert levels == sorted(levels, reverse=True)
    (plot,) = bent.plots()
    assert_allclose(plot.marks[0].y, np.sort(abs(bent.eigenvalues.numpy()))[::-1])
    assert plot.marks[1].at == bent.rounding


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_tensors_of_every_float_dtype_stride_and_gradient(dtype):
    base = torch.zeros(6, 6, dtype=dtype)
    base[::2, ::2] = torch.tensor([[4.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 4.0]], dtype=dtype)
    view = base[::2, ::2].requires_grad_()
    kept = view.detach().clone()
    d = diagnose_matrix(view)
    assert not view.is_contiguous() and view.grad is None and torch.equal(view.detach(), kept)
    assert d.dtype == str(dtype).removeprefix("torch.") and not d.eigenvalues.requires_grad
    # tridiagonal Toeplitz: 4 + sqrt(2) cos(k pi / 4) with factor 2; its entries are exact in every dtype
    assert_allclose(d.eigenvalues, [4 - 2**0.5, 4, 4 + 2**0.5], atol=20 * EPS)
    assert d.duplicate_rows == () and d.jitter == 0


@pytest.mark.parametrize("K", [np.eye(3, dtype=">f4"), np.eye(3, dtype=np.longdouble), np.eye(4)[::-1, ::-1][1:, 1:]])
def test_arrays_of_any_layout(K):
    K = K.copy() if K.flags.owndata else K
    K.setflags(write=False)
    assert diagnose_matrix(K).condition == 1


@pytest.mark.parametrize(
    "K, error, words",
    [
        (np.ones((2, 3)), InputError, r"shape \(2, 3\), which is not square"),
        (np.ones(4), InputError, r"shape \(4,\), which is not square"),
        (np.ones(()), InputError, r"shape \(\), which is not square"),
        (np.ones((5, 3, 3)), InputError, r"3 axes, shape \(5, 3, 3\)"),
        (np.ones((2, 2, 3, 3)), InputError, "4 axes"),
        (np.ones((0, 0)), InputError, "contains no points"),
        (np.ones((2, 2), dtype=np.int64), InputError, r"K holds int64 .* K.astype\(float\)"),
        (np.ones((2, 2), dtype=bool), InputError, "K holds bool"),
        (np.ones((2, 2), dtype=np.complex128), InputError, "K holds complex128 .* K.real"),
        (torch.ones(2, 2, dtype=torch.int32), InputError, r"K holds int32 .* K.double\(\)"),
        (np.diag([1.0, np.nan]), NotFiniteError, r"1 entries that are not finite, the first is K\[1, 1\] = nan"),
        (np.diag([np.inf, 1.0]), NotFiniteError, r"1 entries that are not finite, the first is K\[0, 0\] = inf"),
        (np.full((2, 2), 1.5e308), NotFiniteError, "eigenvalues of K overflow float64"),
        (
            torch.tensor([[-3e38]]),
            NotFiniteError,
            "the factorization fails even after adding .* range of torch.float32",
        ),
    ],
)
def test_what_is_not_a_matrix_is_refused(K, error, words):
    with pytest.raises(error, match=words):
        diagnose_matrix(K)


@pytest.mark.parametrize("n, said", [(2, "loses about 14 of the 16 digits"), (200, "too large for float64")])
def test_large_matrices_can_bear_less(n, said):
    """Eigenvalues are known to n eps of the largest: a condition of 3e14 leaves a digit for 2 points, none for 200."""
    K = np.diag(np.r_[np.ones(n - 1), 1 / 3e14])
    assert said in str(diagnose_matrix(K))


def test_only_eigenvalues_below_minus_rounding_count_as_negative():
    d = diagnose_matrix(np.diag([-1.0, 0.0, 0.0, 5.0]))
    assert "one eigenvalue is below zero by more than rounding errors, down to -1" in d.sentences()[1]
    d = diagnose_matrix(np.diag([-1.0, -2.0, 1e-16, 5.0]))
    assert "2 eigenvalues are below zero by more than rounding errors, down to -2" in d.sentences()[1]


@pytest.mark.parametrize(("low", "name"), [(-1e-3, "jitter-needed"), (-0.1, "jitter-hides")])
def test_in_half_precision_its_own_rounding_decides_whether_jitter_hides_something(low, name):
    """n eps |largest| is 3 * 0.00098 = 0.0029 in float16."""
    d = diagnose_matrix(torch.diag(torch.tensor([1.0, 0.5, low])).half())
    assert name in {finding.kind for finding in d.findings}


@pytest.mark.parametrize(("low", "name"), [(-3e-7, "float32-rounding"), (-5e-7, "indefinite")])
def test_a_negative_eigenvalue_is_compared_with_the_rounding_of_float32(low, name):
    """n eps |largest| is 3 * 1.19e-7 = 3.6e-7 in float32."""
    d = diagnose_matrix(np.diag([1.0, 0.5, low]))
    assert name in {finding.kind for finding in d.findings}
