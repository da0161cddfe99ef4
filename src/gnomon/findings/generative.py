"""Kinds of findings about generative models: GANs, flows, autoencoders, scores and their samples."""
# fmt: off

from functools import partial

from gnomon.core.results import Kind, Level

_kind = partial(Kind, page="topics/generative.md")

GAME_DIVERGED = _kind("game-diverged", Level.PROBLEM, "A loss is no longer finite.", "Lower the learning rate.")
ROTATING_GAME = _kind("rotating-game", Level.WARNING,
    "The players chase each other: imaginary parts are up to {rotation:.3g} times the real parts.",
    "Take extragradient steps, or add a gradient penalty.")
GENERATOR_SILENCED = _kind("generator-silenced", Level.PROBLEM,
    "The gradient of the generator is {gradient:.1e} of its full size: the discriminator is too confident.",
    "Use NonSaturating() or Wasserstein(), or train the discriminator less.")
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
    "After the map and its inverse, points are {error:.1e} away from where they started.",
    "Use float64, smaller slopes, or a map with an exact inverse.")
POSTERIOR_COLLAPSED = _kind("posterior-collapsed", Level.PROBLEM,
    "The encoder carries no information: no latent coordinate carries more than {limit} nats.",
    "Lower beta at the beginning of training, use a weaker decoder, or lower the std of the observation.")
LATENT_HOLES = _kind("latent-holes", Level.PROBLEM,
    "{holes:.0%} of latent draws decode to points farther from the data than 95% of the data are.",
    "Train a VAE, or draw latents from a density fitted to the latents of the data.")
WORSE_THAN_PCA = _kind("worse-than-pca", Level.WARNING,
    "PCA with equally many coordinates has a loss of {pca:.3g}, the network {loss:.3g}.",
    "Train longer, or use PCA.")
SCORE_WRONG = _kind("score-wrong", Level.PROBLEM,
    "The error of the score is {error:.0%} of its mean square.",
    "Train longer or with a larger network.")
SCORE_TURNS = _kind("score-turns", Level.WARNING,
    "{curl:.0%} of the slopes of the score are rotation, so the score is not a gradient.",
    "Train the gradient of a scalar energy.")
MODES_DROPPED = _kind("modes-dropped", Level.PROBLEM,
    "Only {coverage:.1%} of data points have a sample nearby; {expected:.1%} are expected.",
    "Look for missing modes: train longer, with larger batches, or use a model with a likelihood.")

COPIES = "Samples repeat training examples: {copied:.1%} are nearest to one; {expected:.1%} are expected."
LESS_MEMORIZATION = "Use more data, stop training earlier, or use a smaller model."
MANY_MEMORIZED = _kind("memorized-samples", Level.PROBLEM, COPIES, LESS_MEMORIZATION)
SOME_MEMORIZED = _kind("memorized-samples", Level.WARNING, COPIES, LESS_MEMORIZATION)
SAMPLES_DIFFER = _kind("samples-differ", Level.PROBLEM,
    "Samples and data come from different distributions ({method} {statistic:.3g}, p = {p_value:.3g}, {examples} "
    "examples).",
    "Train longer or with a larger model, and check coverage(samples, data).")
