"""Lists for each kind of finding the fixes that gnomon can try automatically, in the order of trial.

`gnomon.examination.fixes` implements them. A kind that is missing here names no fix that a program can apply; for a
network with poor results, `gnomon.examination.fixes.search` then tries a broad list of changes.

>>> REMEDIES["softmax-before-loss"]
('remove-softmax', 'end-in-log-softmax')
"""
# fmt: off

__all__ = ["REMEDIES"]

SCALE = ("standardize-inputs",)
INITIALIZATION = ("initialize", "use-relu")

REMEDIES: dict[str, tuple[str, ...]] = {
    # inputs and targets
    "input-scale": SCALE,
    "feature-scale": SCALE,
    "target-scale": ("standardize-targets", "standardize-inputs"),
    "train-test-shift": ("match-test-scale",),
    "noisy-labels": ("drop-suspects",),
    "conflicting-labels": ("drop-conflicts",),
    "imbalance": ("weight-classes",),
    "rare-class-lost": ("weight-classes",),
    # Fixes that change the end of the network or its loss.
    "softmax-before-loss": ("remove-softmax", "end-in-log-softmax"),
    "sigmoid-before-loss": ("remove-sigmoid",),
    "relu-before-loss": ("remove-relu",),
    "tanh-before-loss": ("remove-tanh",),
    "targets-out-of-reach": ("remove-sigmoid", "remove-tanh", "remove-relu", "remove-softmax"),
    "broadcast-loss": ("same-shape",),
    "normalized-output": ("remove-normalization",),
    # Fixes that change the design of the network.
    "no-activation": ("add-activations",),
    "no-biases": ("add-biases",),
    "symmetric-units": ("initialize",),
    "gradient-hooks": ("remove-hooks",),
    # connections
    "frozen": ("unfreeze",),
    "frozen-at-random": ("unfreeze",),
    "not-in-optimizer": ("all-parameters",),
    "detached": ("connect",),
    "layers-not-registered": ("register-layers",),
    "examples-mixed": ("batch-first",),
    "random-in-eval": ("dropout-in-training",),
    # layers
    "modes-disagree": ("smaller-dropout",),
    "batch-norm-statistics": ("usual-momentum",),
    "batch-too-small": ("larger-batch",),
    "zero-weights": ("initialize",),
    "dead-units": ("initialize", "lower-rate"),
    "saturated-units": ("initialize", "standardize-inputs", "use-relu"),
    "vanishing-activations": ("use-relu", "initialize"),
    "exploding-activations": INITIALIZATION,
    "vanishing-gradients": ("use-relu", "initialize"),
    "exploding-gradients": INITIALIZATION,
    "merged-inputs": ("use-relu", "initialize"),
    "inputs-ignored": ("initialize",),
    # Fixes that change the optimizer or the training run.
    "learning-rate-too-large": ("lower-rate",),
    "learning-rate-too-small": ("higher-rate",),
    "learning-rate-small": ("higher-rate",),
    "exploding-loss": ("lower-rate",),
    "training-diverged": ("lower-rate",),
    "weight-decay-wins": ("usual-decay",),
    "large-epsilon": ("usual-epsilon",),
    "rate-decays-away": ("constant-rate",),
    "rate-stays-low": ("constant-rate",),
    "augmentation-normalizes": ("no-augmentation",),
    "augmentation-destroys": ("no-augmentation",),
    "initial-loss": ("usual-loss",),
    "loss-ignores-examples": ("usual-loss",),
    "class-weights": ("usual-loss",),
    "loss-sign": ("usual-loss",),
    "constant-loss": ("usual-loss",),
}
"""Ids of fixes, by the id of the kind of finding."""
