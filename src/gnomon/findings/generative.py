"""Defines the findings (problems, warnings and notes) about generative models such as GANs, flows and autoencoders."""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level

_kind = partial(FindingKind, page="topics/generative.md")

GAME_DIVERGED = _kind("game-diverged", Level.PROBLEM, "A loss is no longer finite.", "Lower the learning rate.")
ROTATING_GAME = _kind("rotating-game", Level.WARNING,
    "Generator and discriminator chase each other in circles: the eigenvalues of the game have imaginary parts up to "
    "{rotation:.3g} times their real parts.",
    "Take extragradient steps, or add a gradient penalty.")
GENERATOR_SILENCED = _kind("generator-silenced", Level.PROBLEM,
    "The gradient of the generator has almost vanished ({gradient:.1e} of its full size) because the discriminator is "
    "too confident.",
    "Use NonSaturatingLosses() or WassersteinLosses(), or train the discriminator less.")
RATIO_NOT_CALIBRATED = _kind("ratio-not-calibrated", Level.WARNING,
    "The probabilities of the discriminator are off by {error:.1%} on average.",
    "Calibrate its logits on held-out examples, or stop its training earlier.")

CHECK_DETERMINANT = "Look for a wrong sign or factor in the log determinant."
DENSITY_NOT_NORMALIZED = _kind(
    "density-not-normalized", Level.PROBLEM, "The density integrates to {integral} instead of 1.", CHECK_DETERMINANT
)
LOG_DETERMINANT_WRONG = _kind("log-determinant-wrong", Level.PROBLEM,
    "The log determinant differs by {error:.2g} from its value by automatic differentiation.", CHECK_DETERMINANT)
FLOW_NOT_INVERTIBLE = _kind("flow-not-invertible", Level.PROBLEM,
    "Applying the map and then its inverse moves points by {error:.1e}.",
    "Use float64, smaller slopes, or a map with an exact inverse.")
POSTERIOR_COLLAPSED = _kind("posterior-collapsed", Level.PROBLEM,
    "The encoder carries no information: no latent coordinate carries more than {limit} nats.",
    "Lower beta at the beginning of training, use a weaker decoder, or lower the std of the observation.")
LATENT_HOLES = _kind("latent-holes", Level.PROBLEM,
    "The latent space has holes: {holes:.0%} of random latent vectors decode to points farther from the data than 95% "
    "of the data points are from each other.",
    "Train a VAE, or draw latents from a density fitted to the latents of the data.")
WORSE_THAN_PCA = _kind("worse-than-pca", Level.WARNING,
    "PCA with the same number of coordinates is better: its loss is {pca:.3g}, the loss of the network {loss:.3g}.",
    "Train longer, or use PCA.")
SCORE_WRONG = _kind("score-wrong", Level.PROBLEM,
    "The learned score is inaccurate: its squared error is {error:.0%} of its mean square.",
    "Train longer or with a larger network.")
SCORE_TURNS = _kind("score-turns", Level.WARNING,
    "The learned score is not the gradient of a density: {curl:.0%} of its Jacobian is rotation (the antisymmetric "
    "part).",
    "Let the network output a scalar energy, and use its gradient as the score.")
MODES_DROPPED = _kind("modes-dropped", Level.PROBLEM,
    "The samples miss parts of the data: only {coverage:.1%} of data points have a sample nearby, and {expected:.1%} "
    "are expected.",
    "Look for missing modes: train longer, with larger batches, or use a model with a likelihood.")

COPIES = (
    "The model copies training examples: {copied:.1%} of samples are closer to a training example than to a held-out "
    "one; {expected:.1%} are expected."
)
LESS_MEMORIZATION = "Use more data, stop training earlier, or use a smaller model."
MANY_MEMORIZED = _kind("memorized-samples", Level.PROBLEM, COPIES, LESS_MEMORIZATION)
SOME_MEMORIZED = _kind("memorized-samples", Level.WARNING, COPIES, LESS_MEMORIZATION)
SAMPLES_DIFFER = _kind("samples-differ", Level.PROBLEM,
    "Samples and data come from different distributions ({method} {statistic:.3g}, p = {p_value:.3g}, {examples} "
    "examples).",
    "Train longer or with a larger model, and check coverage(samples, data).")
SAMPLES_COLLAPSED = _kind("samples-collapsed", Level.PROBLEM,
    "All samples look the same: the median distance between two samples is {share:.0%} of the median distance between "
    "two training examples.",
    "Train longer. If that changes nothing, the decoder ignores its code: weight the KL term less at the start of "
    "training, or use a larger code.")
SAMPLES_HARDLY_DIFFER = _kind("samples-hardly-differ", Level.WARNING,
    "The samples vary less than the data: the median distance between two samples is {share:.0%} of the median "
    "distance between two training examples.",
    "Train longer. If that changes nothing, the decoder ignores part of its code: weight the KL term less at the start "
    "of training, or use a larger code.")
