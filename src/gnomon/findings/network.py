"""Defines the findings (problems, warnings and notes) about a network's layers, their signals and gradients."""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level
from gnomon.findings.groups import AFTER_EXPLOSION, AFTER_VANISHING, OUTCOMES, SIGNAL, UNREPEATABLE

_kind = partial(FindingKind, page="topics/faults.md")

FROZEN = _kind("frozen", Level.PROBLEM,
    "No parameter requires a gradient, so nothing can be trained.",
    "Call requires_grad_() on the parameters that should be trained.")
BROADCAST_LOSS = _kind("broadcast-loss", Level.PROBLEM,
    "The outputs have shape {outputs} and the targets {targets}: broadcasting makes the loss compare each output with "
    "every target, so it is {given:.3g} instead of {meant:.3g}.",
    "Give outputs and targets the same shape: {line}.",
    causes=OUTCOMES)
SOFTMAX_BEFORE_LOSS = _kind("softmax-before-loss", Level.PROBLEM,
    "The network ends in softmax and the loss applies softmax again: the loss cannot fall below {least:.2f}.",
    "Return the logits: remove nn.Softmax (or F.softmax) from the end of forward, or use NLLLoss on log_softmax.",
    causes=OUTCOMES)
NO_LOG_PROBABILITIES = _kind("softmax-before-loss", Level.PROBLEM,
    "NLLLoss expects log-probabilities, but the network returns {given}: the loss has no minimum at zero.",
    "End forward with F.log_softmax(x, dim=1), or return the logits and use nn.CrossEntropyLoss.",
    causes=OUTCOMES)
SIGMOID_BEFORE_LOSS = _kind("sigmoid-before-loss", Level.PROBLEM,
    "The network ends in a sigmoid and {loss} applies its own function again: logits stay between 0 and 1.",
    "Return the logits: remove nn.Sigmoid (or torch.sigmoid) from the end of forward, or use BCELoss.",
    causes=OUTCOMES)
RELU_BEFORE_LOSS = _kind("relu-before-loss", Level.PROBLEM,
    "The network ends in ReLU: logits below zero, and their gradients, are cut off.",
    "Remove the last nn.ReLU (or F.relu), so that the last layer is nn.Linear.",
    causes=OUTCOMES)
TANH_BEFORE_LOSS = _kind("tanh-before-loss", Level.PROBLEM,
    "The network ends in tanh: logits stay between -1 and 1, so no class can get a probability near 1.",
    "Remove the last nn.Tanh (or torch.tanh), so that the last layer is nn.Linear.",
    causes=OUTCOMES)
TARGETS_OUT_OF_REACH = _kind("targets-out-of-reach", Level.PROBLEM,
    "The network ends in {function}, whose range is {reach}, and {outside:.0%} of the targets lie outside.",
    "Remove the last nn.{layer} from forward, or scale the targets into {reach}.",
    causes=OUTCOMES)

NOT_REGISTERED = _kind("layers-not-registered", Level.PROBLEM,
    "'{where}' is a plain list of layers: model.parameters() does not contain their {size:,} parameters.",
    "Write self.{attribute} = nn.ModuleList([...]). Then the layers are trained, saved and switched to eval mode.",
    causes=(*UNREPEATABLE, *OUTCOMES))
EXAMPLES_MIXED = _kind("examples-mixed", Level.PROBLEM,
    "The outputs for an example depend on the other examples of the batch: they change by {apart:.0%} of their spread.",
    "Keep examples separate: nn.LSTM(..., batch_first=True), softmax(dim=-1) instead of dim=0, no view that moves "
    "numbers between rows, no batch statistics in eval mode.",
    causes=("inputs-ignored", "modes-disagree", "memory-too-short", *OUTCOMES))
RANDOM_IN_EVAL = _kind("random-in-eval", Level.PROBLEM,
    "In eval mode two passes over the same examples differ by {apart:.0%} of the spread of the outputs.",
    "Write F.dropout(x, training=self.training) in forward, or use nn.Dropout, which model.eval() turns off.",
    causes=("inputs-ignored", "modes-disagree"))
NOT_DETERMINISTIC = _kind("not-deterministic", Level.PROBLEM,
    "Passes over the same examples with the same seed differ by {apart:.0%} of the spread of the outputs.",
    "Look for state that forward changes (counters, caches, Python's random module), and seed or remove it.",
    causes=("inputs-ignored", "modes-disagree"))
NOT_IN_OPTIMIZER = _kind("not-in-optimizer", Level.PROBLEM,
    "The optimizer lacks {size:,} parameters that need training, for example {names}.",
    "Pass all parameters to it: optimizer = torch.optim.Adam(model.parameters()).",
    causes=OUTCOMES)
DETACHED = _kind("detached", Level.PROBLEM,
    "No gradient reaches {names}, which affect the outputs: {size:,} of {total:,} parameters are not trained.",
    "Remove what cuts the graph after '{last}' in forward: .detach(), .data, .numpy(), torch.no_grad() or argmax.",
    causes=OUTCOMES)
OUTPUTS_WITHOUT_LOSS = _kind("outputs-without-loss", Level.NOTE,
    "The loss does not use the outputs of {names}: their {size:,} parameters are not trained.",
    "Add these outputs to the loss if you need them.")
UNUSED_PARAMETERS = _kind("unused-parameters", Level.PROBLEM,
    "These layers have no effect on the outputs: {names}. Their {size:,} parameters are not trained.",
    "Use self.{where} in forward, or delete it from __init__.")
SOMETIMES_UNUSED = _kind("unused-parameters", Level.WARNING, UNUSED_PARAMETERS.message, UNUSED_PARAMETERS.fix)
NO_PARAMETERS = _kind("no-parameters", Level.WARNING,
    "The network has no parameters, so there is nothing to train or to judge.",
    "Pass the network that is trained. Layers in plain lists have no parameters either: use nn.ModuleList.")
FROZEN_AT_RANDOM = _kind("frozen-at-random", Level.PROBLEM,
    "Random weights are frozen in {names}: {size:,} parameters do not require gradients and are never trained.",
    "Call model.{where}.requires_grad_(True), or load the weights that should be frozen.",
    causes=OUTCOMES)
ALL_INPUTS_IGNORED = _kind("inputs-ignored", Level.PROBLEM,
    "The outputs are the same for all inputs: the network ignores them.",
    "Follow x through forward: it is overwritten, multiplied by zero, or only its shape is used.",
    causes=OUTCOMES)

USE_ALL_INPUTS = (
    "Check which slice forward takes: for sequences out[:, -1] or a mean over time instead of out[:, 0]; all channels; "
    "every argument. A convolution sees every input only if its stride is not larger than its kernel."
)
INPUTS_IGNORED = _kind("inputs-ignored", Level.PROBLEM,
    "The outputs do not depend on {share:.0%} of the features of {where}{place}.",
    USE_ALL_INPUTS,
    causes=OUTCOMES)
TOKENS_IGNORED = _kind("inputs-ignored", Level.PROBLEM,
    "The outputs do not depend on {share:.0%} of the integers of {where}{place}.",
    USE_ALL_INPUTS,
    causes=OUTCOMES)
UNUSED_ARGUMENT = _kind("inputs-ignored", Level.NOTE,
    "The outputs do not depend on {where}.",
    "Leave this argument out, or check that forward uses it.")
ARGUMENT_IGNORED = _kind("inputs-ignored", Level.PROBLEM,
    "The outputs do not depend on {where} at all.",
    "Check that forward uses this argument, for example lengths to leave padding out.",
    causes=OUTCOMES, milder_if="good_results", milder=UNUSED_ARGUMENT)
MODES_DISAGREE = _kind("modes-disagree", Level.PROBLEM,
    "In training mode the outputs are mostly noise ({noise:.3g} times the signal), because '{where}' drops {rate:.0%} "
    "of its inputs.",
    "Lower the dropout rate: nn.Dropout(0.1) to nn.Dropout(0.5) instead of nn.Dropout({rate:g}).",
    causes=("dead-units", *OUTCOMES))

STATISTICS_LOST = _kind("batch-norm-statistics", Level.PROBLEM,
    "The running statistics of batch norm ('{where}') still have their initial values, although the network was "
    "trained.",
    "Save and load buffers with the weights: model.load_state_dict(state) with all of state_dict().",
    causes=SIGNAL)
STATISTICS_WRONG = _kind("batch-norm-statistics", Level.PROBLEM,
    "The running statistics of batch norm do not fit the data: the loss is {running:.3g} in eval mode and {batch:.3g} "
    "with batch statistics.",
    "Use the same preprocessing for training and evaluation, keep BatchNorm's momentum near 0.1, save buffers with the "
    "weights (model.state_dict()), and call model.train() while training.",
    causes=SIGNAL)
STATISTICS_LAG = _kind("batch-norm-statistics", Level.WARNING,
    "The running statistics of batch norm lag behind the weights, which still moved fast when training ended: the loss "
    "is {running:.3g} in eval mode and {batch:.3g} with batch statistics.",
    "Lower the learning rate towards the end of training with a schedule, so that the running statistics catch up.")

BATCH_TOO_SMALL = _kind("batch-too-small", Level.PROBLEM,
    "Batch norm ('{where}') computes its statistics from batches of {batch}: they are mostly noise.",
    "Use DataLoader(..., batch_size=32) or more, or nn.GroupNorm instead of BatchNorm.")
LAST_BATCH_OF_ONE = _kind("last-batch-of-one", Level.WARNING,
    "With {examples} examples in batches of {batch} the last batch has one example: batch norm fails on it.",
    "Pass drop_last=True to the DataLoader.")
WRONG_GRADIENT = _kind("wrong-gradient", Level.PROBLEM,
    "The gradient of '{where}' is wrong: it differs from finite differences of the loss by {error:.1%}.",
    "Look for a custom backward, .detach(), .data or in-place writes between this parameter and the loss.")
NOT_FINITE = _kind("not-finite", Level.PROBLEM,
    "The output of '{where}' ({layer}) is not finite.",
    "Use smaller weights or smaller inputs.",
    causes=(*OUTCOMES, "not-finite", "zero-weights", *AFTER_EXPLOSION))
GRADIENT_NOT_FINITE = _kind("not-finite", Level.PROBLEM,
    "The loss is finite, but its gradient is not: in the backward pass NaN or infinity begins at '{function}'.",
    "Keep the argument of {function} away from the places where its derivative is infinite, for example "
    "x.clamp(min=1e-6), before it is called. torch.where on its result does not help, because 0 * inf is NaN.",
    causes=(*OUTCOMES, "not-finite", "zero-weights", *AFTER_EXPLOSION, *AFTER_VANISHING))
ZERO_WEIGHTS = _kind("zero-weights", Level.PROBLEM,
    "All weights of '{where}' ({layer}) are zero: no signal and no gradient passes through it.",
    "Initialize it with random weights; only the last layer of a residual branch may start at zero.",
    causes=(*OUTCOMES, "zero-weights", *AFTER_VANISHING))
ZERO_LAST_LAYER = _kind("zero-weights", Level.NOTE,
    "All weights of the last layer '{where}' are zero: other layers start to learn after its first step.",
    "If the zero weights are intended, keep them; otherwise initialize the layer with random weights.")

SCALE_UP = (
    "Raise the variance of the weights to 2 / fan_in for ReLU or 1 / fan_in for tanh, or add normalization or residual "
    "branches."
)
SCALE_DOWN = (
    "Lower the variance of the weights to 2 / fan_in for ReLU or 1 / fan_in for tanh, or add normalization; scale "
    "residual branches by depth^(-1/2)."
)
FORWARD = "the mean squared output changes by a factor of {total:.1e} from the first layer to the last"
BACKWARD = "the squared gradient changes by a factor of {total:.1e} from the last layer to the first"
EACH = "by {factor:.2g} from layer to layer in {layers} layers (variance of the weights: {variance})"
ALONE = "by {factor:.2g} at '{where}' alone"
VANISHING_ACTIVATIONS = _kind("vanishing-activations", Level.PROBLEM,
    f"Vanishing activations: {FORWARD}, {EACH}.", SCALE_UP,
    causes=("vanishing-activations", *AFTER_VANISHING))
VANISHING_AT_LAYER = _kind("vanishing-activations", Level.PROBLEM,
    f"Vanishing activations: {FORWARD}, {ALONE}.", SCALE_UP,
    causes=("vanishing-activations", *AFTER_VANISHING))
NARROW_LAYER = _kind("vanishing-activations", Level.PROBLEM,
    "'{where}' ({layer}) passes on only {share:.1e} of the signal and of the gradient.", SCALE_UP,
    causes=("vanishing-activations", *AFTER_VANISHING))
VANISHED_OUTPUTS = _kind("vanishing-activations", Level.PROBLEM,
    "Inputs change the outputs by less than a millionth of their size: the signal vanishes in the network.", SCALE_UP,
    causes=("vanishing-activations", *AFTER_VANISHING))
USE_RELU = (
    "Use ReLU instead of {function} in the {calls} hidden layers, with He initialization: nn.init.kaiming_normal_. Or "
    "add batch normalization before each {function}."
)
BOUNDED_VANISHES = _kind("vanishing-activations", Level.PROBLEM,
    f"Vanishing activations: {FORWARD} through {{calls}} {{function}} layers.", USE_RELU,
    causes=("vanishing-activations", *AFTER_VANISHING))
GRADIENTS_VANISH_IN_BOUNDED = _kind("vanishing-gradients", Level.PROBLEM,
    f"Vanishing gradients: {BACKWARD} through {{calls}} {{function}} layers.", USE_RELU, causes=AFTER_VANISHING)
EXPLODING_ACTIVATIONS = _kind("exploding-activations", Level.PROBLEM,
    f"Exploding activations: {FORWARD}, {EACH}.", SCALE_DOWN, causes=AFTER_EXPLOSION)
EXPLODING_AT_LAYER = _kind("exploding-activations", Level.PROBLEM,
    f"Exploding activations: {FORWARD}, {ALONE}.", SCALE_DOWN, causes=AFTER_EXPLOSION)
VANISHING_GRADIENTS = _kind("vanishing-gradients", Level.PROBLEM,
    f"Vanishing gradients: {BACKWARD}, {EACH}.", SCALE_UP, causes=AFTER_VANISHING)
SMALL_GRADIENTS = _kind("vanishing-gradients", Level.WARNING,
    f"Small gradients: {BACKWARD}, {ALONE}. Training works all the same: the loss fell by half or more.", SCALE_UP)
GRADIENTS_VANISH_AT_LAYER = _kind("vanishing-gradients", Level.PROBLEM,
    f"Vanishing gradients: {BACKWARD}, {ALONE}.", SCALE_UP, causes=AFTER_VANISHING,
    milder_if="loss_fell", milder=SMALL_GRADIENTS)
EXPLODING_GRADIENTS = _kind("exploding-gradients", Level.PROBLEM,
    f"Exploding gradients: {BACKWARD}, {EACH}.", SCALE_DOWN, causes=AFTER_EXPLOSION)
GRADIENTS_EXPLODE_AT_LAYER = _kind("exploding-gradients", Level.PROBLEM,
    f"Exploding gradients: {BACKWARD}, {ALONE}.", SCALE_DOWN, causes=AFTER_EXPLOSION)
SATURATED_UNITS = _kind("saturated-units", Level.PROBLEM,
    "{share:.0%} of the outputs of '{where}' are saturated (at the end of their range), so they pass no gradient.",
    "Standardize the inputs, initialize the weights before it with nn.init.xavier_uniform_, or insert nn.LayerNorm.")

DEAD = "{share:.0%} of the {units} units of '{where}' ({layer}) are dead: their output is zero for every example."
REVIVE = "Lower the learning rate or the biases, or use an activation without flat parts."
DEAD_LAYER = _kind("dead-units", Level.PROBLEM, DEAD, REVIVE, causes=AFTER_VANISHING)
DEAD_BY_BIAS = _kind("dead-units", Level.PROBLEM,
    DEAD + " The biases before it are {bias:.3g} on average, below what the weights can balance.",
    "Set the biases to zero: nn.init.zeros_(layer.bias).", causes=AFTER_VANISHING)
CONSTANT_LAYER = _kind("dead-units", Level.PROBLEM,
    "'{where}' ({layer}) gives the same outputs for all examples.",
    "Check what forward passes to '{where}': it is the same for all examples.")
UNUSED_UNITS = _kind("dead-units", Level.WARNING,
    "{share:.0%} of the {units} units of '{where}' ({layer}) are dead (always zero); the network does well without "
    "them.",
    "You can keep the dead units, or use a smaller layer. To use these units, lower the learning rate or the biases.")
DEAD_UNITS = _kind("dead-units", Level.PROBLEM, DEAD, REVIVE, milder_if="does_well", milder=UNUSED_UNITS)
DEAD_AFTER_TRAINING = _kind("dead-units", Level.PROBLEM,
    "After training, {share:.0%} of the {units} units of '{where}' ({layer}) are dead: their output is zero for every "
    "example.", REVIVE,
    milder_if="fits", milder=UNUSED_UNITS)
DEAD_BEHIND_FROZEN = _kind("dead-units", Level.WARNING,
    "{share:.0%} of the {units} units of '{where}' ({layer}) are dead (always zero). The layers before it are frozen, "
    "and these examples do not use all of their features.",
    "If the result is good, change nothing; otherwise train the last frozen layers as well, with a small learning "
    "rate.")

ALIKE = "After '{where}', different inputs look nearly the same: their mean correlation reaches {correlation:.6f}."
CRITICAL = "Use weights of critical variance (2 / fan_in for ReLU, 1 / fan_in for tanh) and small biases."
MERGED_INPUTS = _kind("merged-inputs", Level.PROBLEM, ALIKE, CRITICAL)
SIMILAR_INPUTS = _kind("merged-inputs", Level.WARNING, ALIKE, CRITICAL)
INDISTINCT_EXAMPLES = _kind("indistinct-examples", Level.PROBLEM,
    "The network cannot distinguish the examples: its tangent kernel is constant.",
    "Check that the outputs depend on the inputs: look for a collapsed or zeroed layer, or for identical inputs.",
    causes=OUTCOMES)
