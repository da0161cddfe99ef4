"""Defines groups of findings with a common cause, so that the report can explain several findings by one."""
# fmt: off

OUTCOMES = (
    "undertrained", "overfit", "underfit", "below-limit", "learning-rate-small", "learning-rate-too-small",
    "not-learning", "overconfident", "shifts-change-decisions", "chance-level", "cannot-fit-one-batch", "initial-loss",
    "update-ratio", "weak-segment",
)
"""How training ended. One of each is reported, wherever it was measured."""

DIVERGENCE = ("training-diverged", "exploding-loss", "predicted-divergence")
"""A loss that grows without bound."""

SIGNAL = (
    "vanishing-activations", "exploding-activations", "vanishing-gradients", "exploding-gradients", "dead-units",
    "merged-inputs",
)
"""What a layer with a wrong scale does to the layers after it and before it."""

AFTER_SCALE = (
    *SIGNAL, *DIVERGENCE, "learning-rate-small", "learning-rate-too-small", "learning-rate-too-large", "undertrained",
    "underfit", "below-limit", "not-learning", "chance-level",
)
"""What inputs or targets of an unusual size cause."""

AFTER_VANISHING = (
    *SIGNAL, "indistinct-examples", "inputs-ignored", "labels-unrelated", "undertrained", "underfit", "below-limit",
    "learning-rate-small", "learning-rate-too-small", "not-learning", "chance-level", "untrained", "overconfident",
)
"""What the examination measures if no input or no gradient passes through the network."""

AFTER_EXPLOSION = (*SIGNAL, *DIVERGENCE, "learning-rate-too-large", "learning-rate-unstable", "saturated-units")
"""What the examination measures if signals or gradients grow from layer to layer."""

AFTER_DIVERGENCE = (
    "predicted-divergence", "learning-rate-unstable", "attention-saturated", "tokens-alike", "dead-head", *OUTCOMES,
)
"""What a run that diverged leaves behind."""

TOO_SLOW = ("learning-rate-small", "learning-rate-too-small", "undertrained", "underfit", "not-learning")
"""Kinds whose fix may be a larger learning rate: the opposite of the fix for a learning rate that is too large."""

UNREPEATABLE = ("examples-mixed", "random-in-eval", "not-deterministic")
"""Outputs that depend on chance or on other examples."""

BREAKS_PREDICTIONS = (
    "labels-unrelated", "constant-inputs", "one-class", "indistinct-examples", "not-finite", "zero-weights",
    "broadcast-loss", "softmax-before-loss", "sigmoid-before-loss", "inputs-ignored", "detached",
)
"""Problems that the prediction of training by the tangent kernel does not see."""

CONTRADICTED_BY_RESULTS = (
    *SIGNAL, "zero-weights", "saturated-units", "indistinct-examples", "tokens-alike", "attention-saturated",
    "oversmoothed", "memory-too-short", "gates-forget", "labels-unrelated", "modes-disagree", "not-learning",
    "learning-rate-too-small", "weight-decay-wins",
)
"""Problems that say that the network cannot learn its task, or learns it badly: good results on held-out examples show
that it does. Problems that make the results themselves doubtful, such as leaks, mixed examples or ignored inputs, are
not among them."""
