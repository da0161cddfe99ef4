"""The kinds of findings that an examination may give, for gates that wait for some of them.

>>> checked_kinds(["overfit", "warning"], "examine")
('overfit', 'warning')
"""

from collections.abc import Sequence
from difflib import get_close_matches

from gnomon.core.errors import InputError, lesson
from gnomon.core.results import Level

__all__ = ["KINDS", "checked_kinds"]

KINDS: tuple[str, ...] = (
    "attention-saturated", "batch-norm-statistics", "batch-too-small", "below-limit", "broadcast-loss", "chance-level",
    "class-missing", "class-shift", "conflicting-labels", "constant-features", "constant-inputs", "constant-targets",
    "dead-head", "dead-units", "detached", "empty-classes", "examples-mixed", "exploding-activations",
    "exploding-gradients", "exploding-loss", "feature-scale", "frozen", "frozen-at-random", "gates-forget",
    "graphs-not-told-apart", "imbalance", "indistinct-examples", "input-scale", "inputs-ignored", "labels-off-by-one",
    "labels-unrelated", "last-batch-of-one", "layers-not-registered", "leaked-test", "learning-rate-small",
    "learning-rate-too-large", "learning-rate-too-small", "learning-rate-unstable", "map-ignores-model",
    "memory-too-short", "merged-inputs", "modes-disagree", "node-order-counts", "noisy-labels", "not-deterministic",
    "not-finite", "not-in-optimizer", "not-learning", "one-class", "out-of-reach", "overconfident", "overfit",
    "oversmoothed", "oversquashed", "predicted-divergence", "random-in-eval", "relu-before-loss", "repeated-features",
    "saturated-units", "sees-the-future", "shifts-change-decisions", "shortcut", "sigmoid-before-loss",
    "softmax-before-loss", "state-grows", "tanh-before-loss", "target-scale", "targets-out-of-reach", "tokens-alike",
    "too-few-examples", "train-test-shift", "training-diverged", "underfit", "undertrained", "untrained",
    "unused-parameters", "vanishing-activations", "vanishing-gradients", "weight-decay-wins", "worse-than-counting",
    "zero-weights",
)  # fmt: skip
"""What `Finding.kind` may be in an examination with its own steps."""


def checked_kinds(words: Sequence[str], call: str) -> tuple[str, ...]:
    """The words, each of which is a kind or a level; a word that is neither would wait for nothing.

    >>> checked_kinds(["fault"], "examine")
    ('fault',)
    """
    known = [*KINDS, *(level.name.lower() for level in Level)]
    for word in words:
        if word not in known:
            near = get_close_matches(word, known, 3, 0.5) or ["fault", "warning"]
            what, cure = f"no finding is called '{word}'", f"Write for instance {' or '.join(near)}"
            raise InputError(lesson(call, what, "a kind of finding, or a level", cure))
    return tuple(words)
