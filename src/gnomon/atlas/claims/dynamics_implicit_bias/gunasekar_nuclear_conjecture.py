"""Gradient descent on two tiny factors fits a matrix's seen entries with nearly the smallest nuclear norm.

    |W_descent|_* / min {|X|_* : X fits the seen entries}  ->  1   as the start goes to zero                   (1)

W_descent is the fit by descent, |.|_* the nuclear norm (sum of singular values). This was conjectured for all linear
measurements and proven for some. There are counterexamples (the norm of the fit may even go to infinity), so this is a
measurement on random matrices of low rank, not a law.
References: [gunasekar2017implicit] for the conjecture, [razin2020implicit] for a counterexample.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, at_most


def problem(sets, n, share, seed):
    """Returns matrices of rank 2 and norm 1, which of their entries are seen, and the random generator."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(sets, n, 2)) @ rng.normal(size=(sets, 2, n))
    return w / np.linalg.norm(w, ord=2, axis=(1, 2))[:, None, None], rng.uniform(size=w.shape) < share, rng


def nuclear_norm(w):
    """Returns the nuclear norms of the matrices: their sums of singular values."""
    return np.linalg.svd(w, compute_uv=False).sum(-1)


def smallest_nuclear_norm(w, seen, steps):
    """Returns the smallest nuclear norm that fits the seen entries, by Douglas-Rachford splitting."""
    z = np.zeros_like(w)
    for _ in range(steps):
        x = np.where(seen, w, z)
        u, s, v = np.linalg.svd(2 * x - z, full_matrices=False)
        z = z + (u * np.maximum(s - 0.3, 0)[:, None, :]) @ v - x
    return nuclear_norm(x)


def predicted():
    """Returns 0.05: the fit's nuclear norm is at most 5 % above the smallest possible one."""
    return 0.05


def excess(size, sets, n, share, steps, seed):
    """Returns the nuclear norm of descent's fit divided by the smallest possible one, minus one."""
    w, seen, rng = problem(sets, n, share, seed)
    best = smallest_nuclear_norm(w, seen, 600)
    a, b = (size**0.5 * rng.normal(size=w.shape) / n**0.5 for _ in range(2))
    da, db = np.zeros_like(a), np.zeros_like(b)
    for _ in range(steps):
        rest = seen * (a @ b - w)
        da, db = 0.9 * da - 0.1 * rest @ b.mT, 0.9 * db - 0.1 * a.mT @ rest
        a, b = a + da, b + db
    return nuclear_norm(a @ b) / best - 1


observed = excess  # The test starts from very small factors.
control = partial(excess, size=1.0)  # Control: the factors start as large as the true matrix.

CLAIM = Claim(
    id="gunasekar-nuclear-conjecture",
    question="Does gradient descent on two factors minimize the nuclear norm?",
    equation=r"\|W_{GD}\|_* / \min \|X\|_* \to 1 \ \text{as the start} \to 0",
    axes=("matrix", "nuclear norm above the smallest possible (share)"),
    source=Source("observed", "gunasekar2017implicit"),
    premises=(Premise("the start is very small", lambda size: size <= 1e-3), Premise("the seen entries are random")),
    parameters={"sets": 16, "n": 12, "share": 0.6, "size": 1e-5, "steps": 2000},
    full={"sets": 20, "n": 20, "share": 0.5, "size": 1e-6, "steps": 20_000},
    judge=at_most(confidence=0.999),
    remark="Not a theorem in general: there are seen entries for which the norm of the fit grows without bound.",
    loose_because="the conjectured limit is zero; 5 % is what counts as near it, and the measured excess is about 1 %.",
)
