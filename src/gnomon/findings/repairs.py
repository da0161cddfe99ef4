"""Kinds of findings for a repair that was found by trial: a changed copy learns much better in the same steps."""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level
from gnomon.findings.groups import AFTER_DIVERGENCE, AFTER_SCALE, OUTCOMES

__all__ = ["CAUSES", "REPAIR_FOUND", "REPAIR_HELPS"]

_kind = partial(FindingKind, page="topics/faults.md")

AFTER_REPAIR = (*dict.fromkeys((*OUTCOMES, *AFTER_DIVERGENCE, *AFTER_SCALE, "labels-unrelated", "noisy-labels")),)
REPAIR_FOUND = _kind("repair-found", Level.PROBLEM, "{cause}. {gain}", "{advice}", causes=AFTER_REPAIR)
"""A repair that helps much: its cause is a problem."""
REPAIR_HELPS = _kind("repair-found", Level.WARNING, "{cause}. {gain}", "{advice}", causes=OUTCOMES)
"""A repair that helps less, or that helps many networks: its cause is a warning."""

CAUSES: dict[str, str] = {
    # test data
    "test-inputs": "The test inputs are prepared differently from the training inputs",
    "match-test-scale": "The test inputs have another scale than the training inputs",
    # loss, gradient flow, recipe
    "usual-loss": "The loss does not suit the task",
    "all-parameters": "The optimizer does not train all parameters",
    "unfreeze": "Frozen layers need training",
    "connect": "forward cuts off gradients",
    "remove-hooks": "Hooks change the gradients",
    "no-augmentation": "The augmentation changes what decides the targets",
    "constant-rate": "The schedule keeps the learning rate too small",
    "float32-weights": "The weights are stored with too few digits, so small updates are rounded away",
    # forward
    "leave-out": "An operation in forward does harm",
    "sharpness-of-softmax": "A softmax inside the network is saturated: its scores are too large",
    "remove-normalization": "The last normalization does harm",
    "add-activations": "Activations are missing between the layers",
    "use-relu": "The activations saturate",
    "widen": "A layer is too narrow",
    "add-biases": "Biases are missing",
    "add-residuals": "The network is too deep to train without residual connections",
    "initialize": "The initial weights are unsuitable",
    "smaller-dropout": "Dropout removes too much",
    # scale and optimizer
    "standardize-targets": "The scale or the offset of the targets makes training slow",
    "standardize-inputs": "The scale or the offset of the inputs makes training slow",
    "usual-decay": "Weight decay is too strong",
    "usual-epsilon": "The eps of the optimizer is too large",
    "usual-sgd-momentum": "The momentum of the optimizer is too large",
    "use-adam": "The optimizer does not suit this network",
    "higher-rate": "The learning rate is too small",
    "lower-rate": "The learning rate is too large",
    "smaller-batch": "Batches are so large that training takes too few steps",
    "larger-batch": "Batches are too small",
    # examples
    "drop-suspects": "Wrong training labels do harm",
    "drop-conflicts": "Contradicting training examples do harm",
    "longer-training": "Training stops too early",
}
"""What is wrong if this fix repairs a network, by the id of the fix."""
