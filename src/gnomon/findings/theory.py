"""Kinds of findings about matrices, predictions, samplers, discovered equations and claims."""
# fmt: off

from functools import partial

from gnomon.core.results import Kind, Level

_matrix = partial(Kind, page="topics/solvers.md")

ZERO_MATRIX = _matrix("zero", Level.PROBLEM,
    "It is the zero matrix: the kernel carries no information.",
    "Check the scales of weights and inputs.")
INDEFINITE = _matrix("indefinite", Level.PROBLEM,
    "It is indefinite: {negative} negative beyond rounding, down to {low:.3g}, so it is not a kernel or covariance.",
    "Look for a mistake in how it was computed.")
ASYMMETRIC = _matrix("asymmetric", Level.PROBLEM,
    "The matrix is {n} x {n}, {dtype} and NOT symmetric: it differs from its transpose by {asymmetry:.1e} of its "
    "largest entry.",
    "Find out why K[i, j] and K[j, i] differ. What follows is about the symmetric part (K + K^T) / 2.")
JITTER_HIDES = _matrix("jitter-hides", Level.PROBLEM,
    "Cholesky fails. Adding {jitter:.3g} to the diagonal, {multiple:.0e} of its scale, would let it pass and hide the "
    "negative eigenvalues.",
    "Do not add it; correct the matrix.")
FLOAT32_ROUNDING = _matrix("float32-rounding", Level.WARNING,
    "It is indefinite: {negative} negative beyond rounding, down to {low:.3g}; that is the size of float32 rounding.",
    "Compute it in float64 from the start.")
SINGULAR = _matrix("singular", Level.WARNING,
    "Its condition number is infinite: a linear solve has no unique answer.",
    "Add regularization.")
ILL_CONDITIONED = _matrix("ill-conditioned", Level.WARNING,
    "Its condition number is {condition:.3g}, more than {dtype} can represent: a linear solve returns noise.",
    "Compute in float64, or add regularization.")
ILL_CONDITIONED_FLOAT64 = _matrix("ill-conditioned", Level.WARNING, ILL_CONDITIONED.message, "Add regularization.")
DUPLICATE_ROWS = _matrix("duplicate-rows", Level.WARNING,
    "Rows {groups} agree within {tolerance:.0e}: the kernel cannot distinguish these inputs.",
    "Drop the repeated inputs.")
RANK_DEFICIENT = _matrix("rank-deficient", Level.NOTE,
    "Its effective rank is {effective:.1f} of {n}, with participation ratio {participation:.1f}: it is rank deficient, "
    "with {rank} of {n} eigenvalues larger than rounding.",
    "Some targets on these points cannot be fitted without regularization.")
JITTER_NEEDED = _matrix("jitter-needed", Level.NOTE,
    "Cholesky fails, and succeeds after adding {jitter:.3g} to the diagonal, {multiple:.0e} of its scale.",
    "Add this amount, or use linalg.cholesky, which reports it.")

_dynamics = partial(Kind, page="topics/dynamics.md")
LEARNS_NEVER = "{share:.0%} of the initial error lies along modes that this kernel never learns."
DISTINGUISH_MORE = "Use a model that distinguishes more inputs, and look for equal inputs with different labels."
MUCH_NEVER_LEARNED = _dynamics("never-learned", Level.WARNING, LEARNS_NEVER, DISTINGUISH_MORE)
NEVER_LEARNED = _dynamics("never-learned", Level.NOTE, LEARNS_NEVER, DISTINGUISH_MORE)

_bounds = partial(Kind, page="topics/bounds.md")
WITH_MORE = "With {examples} examples the error is {share:.1%} of the variance of the targets. Twice as many examples "
MORE_DATA_HELPS = _bounds(
    "more-data-helps", Level.NOTE, f"{WITH_MORE}remove {{gain:.0%}} of it.", "Collect more examples like these."
)
MORE_DATA_IS_LITTLE = _bounds("more-data-is-little", Level.NOTE,
    f"{WITH_MORE}remove only {{gain:.0%}} of it.",
    "Look for better inputs or another model; more examples of this kind help little.")

_bayes = partial(Kind, page="topics/bayes.md")
CHAINS_NOT_CONVERGED = _bayes("chains-not-converged", Level.PROBLEM,
    "The chains have not converged: R-hat is {r_hat:.3g} for {where}.",
    "Draw more samples.")
DIVERGENCES = "{divergences} paths ({share:.1%}) diverged in energy because the density is too sharply curved there."
SMALLER_STEPS = "Raise the target acceptance (HMC(accept=0.95)), or write the model with centered, scaled parameters."
MANY_DIVERGENT_PATHS = _bayes("divergent-paths", Level.PROBLEM, DIVERGENCES, SMALLER_STEPS)
DIVERGENT_PATHS = _bayes("divergent-paths", Level.WARNING, DIVERGENCES, SMALLER_STEPS)

_discovery = partial(Kind, page="topics/discovery.md")
NO_LAW = _discovery("no-law", Level.PROBLEM,
    "The equation for {where} leaves {misfit:.0%} of it unexplained.",
    "Add terms to the library, use data with less noise, or sample more finely.")
UNSURE_TERMS = _discovery("unsure-terms", Level.WARNING,
    "Some terms are chosen in only a part of the bootstrap replicates: {names}.",
    "Collect more data, or test the equation on other data before relying on these terms.")

_claims = partial(Kind, page="contributing/instrument.md")
CONTROL_HOLDS = _claims("control-holds", Level.PROBLEM,
    "The control of {where} holds as well: the measurement cannot distinguish the statement from its negation.",
    "Run at full scale, or with other parameters.")
UNEXPECTED_VERDICT = _claims("verdict", Level.PROBLEM, "{where} is {verdict}; {expected} is stated.", "{reason}")
