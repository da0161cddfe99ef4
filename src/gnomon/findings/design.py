"""Defines the findings (problems, warnings and notes) about a network's design, loss or optimizer that prevent
learning.
"""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level
from gnomon.findings.groups import AFTER_VANISHING, DIVERGENCE, OUTCOMES, TOO_SLOW

_kind = partial(FindingKind, page="topics/faults.md")
RATES = ("learning-rate-too-small", "learning-rate-small", "learning-rate-too-large")

NO_ACTIVATION = _kind("no-activation", Level.PROBLEM,
    "The network computes a linear function: no activation stands between its {layers} layers with weights. A "
    "nonlinear simple model does far better.",
    "Put an activation after each layer but the last, for example nn.ReLU() or F.relu(x).",
    causes=(*OUTCOMES, "no-biases", "bottleneck"))
ONE_LAYER = _kind("no-activation", Level.PROBLEM,
    "The network computes a linear function of its inputs, and a nonlinear simple model does far better.",
    "Add a hidden layer with an activation: nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, outputs).",
    causes=(*OUTCOMES, "no-biases"))
NO_BIASES = _kind("no-biases", Level.PROBLEM,
    "No layer has a bias, so the outputs are zero if all inputs are zero; a simple model with a constant does far "
    "better.",
    "Remove bias=False from the layers.",
    causes=OUTCOMES)
BOTTLENECK = _kind("bottleneck", Level.PROBLEM,
    "All information passes through '{where}' ({layer}), which has only {units} for each example; the network has "
    "{outputs} outputs.",
    "Give '{where}' more units, for example {wider}.",
    causes=(*OUTCOMES, "dead-units"))
PLACES_IGNORED = _kind("pooled-too-early", Level.PROBLEM,
    "After {layers} convolution{plural} the network averages over all positions ('{where}'), so it cannot see the "
    "places of things in the image.",
    "Pool later, after more convolutions, or flatten the last feature maps instead of averaging over them.",
    causes=OUTCOMES)
ORDER_IGNORED = _kind("no-positions", Level.PROBLEM,
    "The outputs do not depend on the order of the tokens: attention has no positional encoding.",
    "Add an embedding of the position to the embedding of the token: x = tokens(x) + positions(torch.arange(length)).",
    causes=(*OUTCOMES, "labels-unrelated"))
READS_PADDING = _kind("reads-padding", Level.PROBLEM,
    "The outputs depend on the padding: {padding:.0%} of the positions, at the ends of the sequences, hold {value}, "
    "and cutting them off changes the outputs by {change:.3g} times their spread over the examples.",
    "Read the state at the last real token, states[torch.arange(n), lengths - 1], or use pack_padded_sequence.",
    causes=(*OUTCOMES, "memory-too-short", "gates-forget", "inputs-ignored", "indistinct-examples"))

SYMMETRIC_UNITS = _kind("symmetric-units", Level.PROBLEM,
    "{equal} of the {units} units of '{where}' have equal weights, so they get equal gradients and stay equal: the "
    "layer works like one with {distinct} unit{plural}.",
    "Initialize the layer with random weights: layer.reset_parameters(), or nn.init.kaiming_normal_(layer.weight).",
    causes=(*OUTCOMES, *AFTER_VANISHING, "symmetric-units", "zero-weights"))
LAYER_IN_FORWARD = _kind("layer-made-in-forward", Level.PROBLEM,
    "Every call of forward makes a new layer with new random weights ({parameters:,} parameters), so it is never "
    "trained.",
    "Make the layer in __init__ and call it in forward: self.layer = ... and self.layer(x).",
    causes=("random-in-eval", "not-deterministic", "inputs-ignored", "modes-disagree", *OUTCOMES))
WEIGHTS_CHANGED = _kind("weights-changed-in-forward", Level.PROBLEM,
    "In training mode every forward pass changes the weights of {names} ({size:,} parameters), so they lose what the "
    "optimizer taught them.",
    "Take the calls that change parameters, such as reset_parameters, nn.init or .data, out of forward.",
    causes=("random-in-eval", "not-deterministic", "modes-disagree", *OUTCOMES))
AXES_RESHAPED = _kind("reshaped-axes", Level.PROBLEM,
    "In forward, {function} changes the shape {old} to {new}: this does not swap the axes but mixes the numbers of "
    "different rows.",
    "Swap the axes with x.transpose({first}, {second}) instead of x.{function}.",
    causes=OUTCOMES)
NORMALIZED_OUTPUT = _kind("normalized-output", Level.PROBLEM,
    "The network ends in a normalization without weights, so that the outputs have mean 0 and standard "
    "deviation {deviation:.2g}; the targets have mean {target_mean:.3g} and standard deviation {target_deviation:.3g}.",
    "Remove the normalization after the last layer.",
    causes=(*OUTCOMES, "target-scale"))
SOFTMAX_OF_ONE = _kind("softmax-before-loss", Level.PROBLEM,
    "The network ends in a softmax over one output, which is always 1.",
    "Use torch.sigmoid for one probability, two outputs with cross-entropy for two classes, or no function at the end "
    "for a number.",
    causes=(*OUTCOMES, *AFTER_VANISHING))

CONSTANT_LOSS = _kind("constant-loss", Level.PROBLEM,
    "The loss does not depend on the outputs: its gradient with respect to them is zero for all {examples} examples "
    "tried.",
    "Use a loss that fits the outputs: binary_cross_entropy_with_logits for one output and two classes, cross-entropy "
    "for one output for each class.",
    causes=(*OUTCOMES, *AFTER_VANISHING, "detached"))
WRONG_SIGN = _kind("loss-sign", Level.PROBLEM,
    "The loss rewards errors: raising the output of the right class raises the loss for {share:.0%} of {examples} "
    "examples.",
    "Change the sign of the loss: minimize the negative log-likelihood.",
    causes=(*OUTCOMES, *RATES, *DIVERGENCE))
WRONG_SIGN_NUMBERS = _kind("loss-sign", Level.PROBLEM,
    "The loss rewards errors: it is {at_targets:.3g} if the outputs equal the targets and {away:.3g} if they are far "
    "away.",
    "Change the sign of the loss.",
    causes=WRONG_SIGN.causes)
GRADIENT_HOOKS = _kind("gradient-hooks", Level.PROBLEM,
    "Hooks on {count} parameters change the gradient to {ratio:.1e} of its size, so the weights hardly move.",
    "Remove parameter.register_hook(...), or clip at the usual size of the gradient: "
    "nn.utils.clip_grad_norm_(model.parameters(), 1.0).",
    causes=(*OUTCOMES, *TOO_SLOW))
LARGE_EPSILON = _kind("large-epsilon", Level.PROBLEM,
    "The eps={epsilon:g} of {optimizer} is {ratio:.2g} times the typical gradient, so steps are smaller than lr by "
    "about this factor.",
    "Use the default: eps=1e-8.",
    causes=(*OUTCOMES, *TOO_SLOW))
RATE_DECAYS_AWAY = _kind("rate-decays-away", Level.PROBLEM,
    "The schedule lowers the learning rate from {first:.2g} to {last:.2g}; all {epochs} epochs together move the "
    "weights as much as {effective:.2g} epochs at the first rate.",
    "Lower the learning rate more slowly, for example by a factor of {factor:.2f} each epoch, or leave the schedule "
    "out.",
    causes=(*OUTCOMES, *RATES))
STEP_FUNCTION = _kind("detached", Level.PROBLEM,
    "Training did not change {names}: forward calls {function}, a step function that passes no gradient to the layers "
    "before it.",
    "Leave {function} out of forward and apply it to predictions only, or replace it by a smooth function.",
    causes=OUTCOMES)
FROZEN_AND_POOR = _kind("frozen-at-random", Level.PROBLEM,
    "{names} do not require gradients ({size:,} parameters), and the network fits far worse than a simple model.",
    "Call model.{where}.requires_grad_(True), or load the weights that should be frozen.",
    causes=OUTCOMES)
LOSS_IGNORES_CLASS = _kind("loss-ignores-examples", Level.PROBLEM,
    "The loss ignores all examples of class{plural} {classes}: its gradient is zero for them, even if the outputs are "
    "wrong ({ignored} of {examples} examples tried).",
    "Check ignore_index and the class weights of the loss: no class of the data may have the number in ignore_index or "
    "the weight 0.",
    causes=OUTCOMES)
LOSS_IGNORES_EXAMPLES = _kind("loss-ignores-examples", Level.PROBLEM,
    "The loss ignores {ignored} of {examples} examples: its gradient is zero for them, even if the outputs are wrong.",
    "Take the mean of the loss over all examples of the batch.",
    causes=OUTCOMES)
CLASS_DROWNED = _kind("class-weights", Level.PROBLEM,
    "In the loss, class {most} counts {ratio:.3g} times as much as class {least}: an example of class {most} has "
    "{weight:.3g} times the weight, and there are {by_number:.2g} times as many. The network gains most if it always "
    "predicts class {most}.",
    "Weight classes by the inverse of their frequency: CrossEntropyLoss(weight=n / (classes * counts)), or "
    "BCEWithLogitsLoss(pos_weight=negatives / positives).",
    causes=(*OUTCOMES, "imbalance", "target-scale"))
PADDING_INDEX = _kind("padding-index", Level.PROBLEM,
    "The vector of token {token} in '{where}' stays zero (padding_idx={token}), but the token is not padding: "
    "{inside:.0%} of its {positions} positions are between other tokens.",
    "Set padding_idx to the number of the padding token, or leave it out: nn.Embedding(tokens, width).",
    causes=OUTCOMES)
RATE_STAYS_LOW = _kind("rate-stays-low", Level.PROBLEM,
    "The schedule keeps the learning rate far below lr={base:.2g}: in {epochs} epochs it reaches only {top:.2g}. "
    "Such a warmup is counted in steps but moves once per epoch.",
    "Call scheduler.step() after every batch, or count the warmup in epochs: at most {longest}.",
    causes=(*OUTCOMES, *RATES))
LOSS_BLIND_TO_SCALE = _kind("scale-free-loss", Level.PROBLEM,
    "The loss does not depend on the level and the scale of the outputs: doubling all of them and adding a constant "
    "leaves it at {loss:.3g}. Predictions can be far from the targets.",
    "Add the squared error to the loss, or fit level and scale afterwards on training examples: y = a * output + b.",
    causes=OUTCOMES)
OVERSHOOT_REWARDED = _kind("loss-rewards-overshoot", Level.PROBLEM,
    "The loss is lower for outputs that overshoot than for correct outputs: {right:.2g} if the outputs equal the "
    "targets, {overshot:.2g} if they are {factor:g} times as large. Training pushes outputs beyond the targets.",
    "Keep the outputs between 0 and 1: apply torch.sigmoid to them before or inside the loss.",
    causes=OUTCOMES)
LOSS_WITHOUT_TARGETS = _kind("loss-vanishes", Level.PROBLEM,
    "The loss vanishes without predicting anything: if output {output} of every example is {value:g}, the loss falls "
    "from {given:.2g} to almost zero, whatever the targets are. The network needs to learn only this.",
    "Add the term that limits this output. A predicted log variance s needs + s: 0.5 * (exp(-s) * (y - mean)**2 + s), "
    "as in nn.GaussianNLLLoss.",
    causes=OUTCOMES)
