"""Defines the findings about losses and gradients in the user's own loop: not finite, exploding, not falling."""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level
from gnomon.findings.groups import AFTER_DIVERGENCE, TOO_SLOW

_kind = partial(FindingKind, page="guides/watch-a-script.md")

LOSS_SUMMED = _kind("loss-summed", Level.WARNING,
    "Training fails with a loss that is a sum over the batch: its gradients grow with the size of the batch.",
    "Use reduction='mean', or divide lr={lr:.3g} by the number of examples in a batch.",
    causes=("training-diverged", "exploding-gradients", "loss-not-finite"))
GRADIENTS_EXPLODED = _kind("exploding-gradients", Level.PROBLEM,
    "The gradient norm rose from {usual:.2g} to {norm:.2g} at step {step}, first in '{where}'.",
    "Lower lr={lr:.3g}, or clip gradients: nn.utils.clip_grad_norm_(model.parameters(), 1.0).",
    causes=(*AFTER_DIVERGENCE, "training-diverged", "loss-not-falling"), excludes=TOO_SLOW)

NAN_IN_MODULE = _kind("loss-not-finite", Level.PROBLEM,
    "The loss is {value} at step {step}. The first module whose output is not finite is '{where}' ({layer}); its "
    "weights were finite.",
    "Look for log, exp, division or square root of an unsuitable number at '{where}', or lower lr={lr:.3g}.",
    causes=("training-diverged", "exploding-gradients", "loss-not-falling", *AFTER_DIVERGENCE))
NAN_BEFORE_FAILURE = _kind("loss-not-finite", Level.PROBLEM,
    "The script failed in step {step} on numbers that are not finite. The first module whose output is not finite is "
    "'{where}' ({layer}); its weights were finite.",
    NAN_IN_MODULE.fix, causes=NAN_IN_MODULE.causes)
NAN_IN_WEIGHTS = _kind("loss-not-finite", Level.PROBLEM,
    "The loss is {value} at step {step} because weights of '{where}' are not finite: an earlier step was too large.",
    "Lower lr={lr:.3g}, or clip gradients: nn.utils.clip_grad_norm_(model.parameters(), 1.0).",
    causes=NAN_IN_MODULE.causes)
NAN_IN_INPUTS = _kind("loss-not-finite", Level.PROBLEM,
    "The loss is {value} at step {step} because the inputs of the model are not finite.",
    "Check the data: drop or fill examples with NaN or infinity.",
    causes=NAN_IN_MODULE.causes)
NAN_IN_LOSS = _kind("loss-not-finite", Level.PROBLEM,
    "The loss is {value} at step {step}, although inputs, weights and outputs of all modules are finite.",
    "Look for log, exp, division or square root of an unsuitable number in the loss function.",
    causes=NAN_IN_MODULE.causes)
NAN_SEEN_LATE = _kind("loss-not-finite", Level.PROBLEM,
    "The loss is {value} at step {step}; the step was not observed, so the cause is unknown.",
    "Lower lr={lr:.3g}, clip gradients, or look for log, exp, division or square root of an unsuitable number.",
    causes=NAN_IN_MODULE.causes)
LOSS_NOT_FALLING = _kind("loss-not-falling", Level.WARNING,
    "The training loss does not fall: {first:.4g} in the first and {last:.4g} in the last tenth of {steps} steps.",
    "Try a learning rate 10 times smaller or larger than {lr:.3g}, and run gnomon examine on the model and its data.")
LOSS_OF_GUESSING = _kind("labels-unrelated", Level.WARNING,
    "Labels look unrelated to inputs: after {passes} passes over the data the training loss is {loss:.3g}, and "
    "predictions that ignore the inputs reach {entropy:.3g}. A simple model finds no relation either.",
    "Check that each label belongs to its input: shuffle both in the same order, x[order] and y[order].",
    causes=("loss-not-falling",))
LOSS_ROSE = _kind("training-diverged", Level.PROBLEM,
    "Training diverged: the loss was {first:.3g} in the first tenth of {steps} steps and is {last:.3g} in the last.",
    "Use a learning rate below {lr:.3g}, or clip gradients.",
    causes=(*AFTER_DIVERGENCE, "loss-not-falling"), excludes=TOO_SLOW)
