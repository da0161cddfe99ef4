"""Defines the findings (problems, warnings and notes) about kernels, samplers, discovered equations and theory
claims.
"""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level

_matrix = partial(FindingKind, page="topics/solvers.md")

ZERO_MATRIX = _matrix("zero", Level.PROBLEM,
    "The matrix is zero: the kernel carries no information.",
    "Check the scales of weights and inputs.")
INDEFINITE = _matrix("indefinite", Level.PROBLEM,
    "The matrix is indefinite: {negative} below zero by more than rounding errors, down to {low:.3g}. "
    "A kernel or covariance "
    "has no negative eigenvalues.",
    "Look for a mistake in how the matrix was computed.")
ASYMMETRIC = _matrix("asymmetric", Level.PROBLEM,
    "The matrix is {n} x {n}, {dtype} and NOT symmetric: it differs from its transpose by {asymmetry:.1e} of its "
    "largest entry.",
    "Find out why K[i, j] and K[j, i] differ. The other results below describe the symmetric part (K + K^T) / 2.")
JITTER_HIDES = _matrix("jitter-hides", Level.PROBLEM,
    "The Cholesky factorization fails. Adding {jitter:.3g} to the diagonal ({multiple:.0e} of its scale) would make "
    "it succeed, but hide negative eigenvalues.",
    "Correct the computation of the matrix instead of adding to its diagonal.")
FLOAT32_ROUNDING = _matrix("float32-rounding", Level.WARNING,
    "The matrix is indefinite: {negative} below zero, down to {low:.3g}. This is the size of float32 "
    "rounding errors.",
    "Compute the matrix in float64 from the start.")
SINGULAR = _matrix("singular", Level.WARNING,
    "The condition number of the matrix is infinite: a linear solve has no unique answer.",
    "Add regularization.")
ILL_CONDITIONED = _matrix("ill-conditioned", Level.WARNING,
    "The condition number of the matrix is {condition:.3g}, too large for {dtype}: a linear solve returns noise.",
    "Compute in float64, or add regularization.")
ILL_CONDITIONED_FLOAT64 = _matrix("ill-conditioned", Level.WARNING, ILL_CONDITIONED.message, "Add regularization.")
DUPLICATE_ROWS = _matrix("duplicate-rows", Level.WARNING,
    "Rows {groups} agree within {tolerance:.0e}: the kernel cannot distinguish these inputs.",
    "Drop the repeated inputs.")
RANK_DEFICIENT = _matrix("rank-deficient", Level.NOTE,
    "The matrix is rank deficient: only {rank} of {n} eigenvalues are larger than rounding errors (effective rank "
    "{effective:.1f}, participation ratio {participation:.1f}).",
    "Add regularization; without it, some targets cannot be fitted on these points.")
JITTER_NEEDED = _matrix("jitter-needed", Level.NOTE,
    "The Cholesky factorization fails. It succeeds after adding {jitter:.3g} to the diagonal ({multiple:.0e} of its "
    "scale).",
    "Add this amount to the diagonal, or use linalg.cholesky, which adds and reports it.")

_dynamics = partial(FindingKind, page="topics/dynamics.md")
LEARNS_NEVER = "{share:.0%} of the initial error lies along modes that this kernel never learns."
DISTINGUISH_MORE = "Use a model that distinguishes more inputs, and look for equal inputs with different labels."
MUCH_NEVER_LEARNED = _dynamics("never-learned", Level.WARNING, LEARNS_NEVER, DISTINGUISH_MORE)
NEVER_LEARNED = _dynamics("never-learned", Level.NOTE, LEARNS_NEVER, DISTINGUISH_MORE)

_bounds = partial(FindingKind, page="topics/bounds.md")
WITH_MORE = (
    "With {examples} examples the error is {share:.1%} of the variance of the targets. Doubling the examples would "
)
MORE_DATA_HELPS = _bounds(
    "more-data-helps", Level.NOTE, f"{WITH_MORE}remove {{gain:.0%}} of it.", "Collect more examples like these."
)
MORE_DATA_IS_LITTLE = _bounds("more-data-is-little", Level.NOTE,
    f"{WITH_MORE}remove only {{gain:.0%}} of it.",
    "Look for better inputs or another model; more examples of this kind help little.")

_bayes = partial(FindingKind, page="topics/bayes.md")
CHAINS_NOT_CONVERGED = _bayes("chains-not-converged", Level.PROBLEM,
    "The chains have not converged: R-hat is {r_hat:.3g} for {where}.",
    "Draw more samples.")
DIVERGENCES = (
    "Hamiltonian Monte Carlo diverged on {divergences} paths ({share:.1%}) because the density is too sharply curved "
    "there."
)
SMALLER_STEPS = "Raise the target acceptance rate (HMC(accept=0.95)), or give the model centered, scaled parameters."
MANY_DIVERGENT_PATHS = _bayes("divergent-paths", Level.PROBLEM, DIVERGENCES, SMALLER_STEPS)
DIVERGENT_PATHS = _bayes("divergent-paths", Level.WARNING, DIVERGENCES, SMALLER_STEPS)

_discovery = partial(FindingKind, page="topics/discovery.md")
NO_LAW = _discovery("no-law", Level.PROBLEM,
    "The discovered equation leaves {misfit:.0%} of {where} unexplained.",
    "Add terms to the library, use data with less noise, or sample more finely.")
UNSURE_TERMS = _discovery("unsure-terms", Level.WARNING,
    "Some terms of the equation are uncertain, because only some bootstrap samples choose them: {names}.",
    "Collect more data, or test the equation on other data before relying on these terms.")

_claims = partial(FindingKind, page="contributing/instrument.md")
CONTROL_HOLDS = _claims("control-holds", Level.PROBLEM,
    "The control experiment of {where} passes as well, although it breaks an assumption: the measurement cannot "
    "distinguish the claim from its opposite.",
    "Run the claim at full scale, or with other parameters.")
UNEXPECTED_VERDICT = _claims("verdict", Level.PROBLEM, "The verdict of {where} is {verdict}; the claim states "
    "{expected}.", "{reason}")
