"""Kinds of findings about the optimizer, about a run of training and about its result."""
# fmt: off

from functools import partial

from gnomon.core.results import Kind, Level
from gnomon.findings.data import MATCH_TARGETS
from gnomon.findings.groups import AFTER_DIVERGENCE, TOO_SLOW

_kind = partial(Kind, page="topics/faults.md")

TOO_LARGE_TO_LEARN = _kind("learning-rate-too-large", Level.PROBLEM,
    "After {steps} steps with lr={lr:.3g} the change of the loss is {change}; with lr={other:.3g} it is {best:+.2g}.",
    "Lower the learning rate: lr={other:.2g} or less.",
    causes=(*AFTER_DIVERGENCE, "training-diverged", "exploding-loss", "dead-units"), excludes=TOO_SLOW)
ABOVE_STABLE = _kind("learning-rate-too-large", Level.PROBLEM,
    "Learning rate {lr:.3g} is {ratio:.1f}x above the stable limit {limit:.3g}.",
    "Use a learning rate of at most {half:.2g}.",
    causes=TOO_LARGE_TO_LEARN.causes, excludes=TOO_SLOW)
LEARNING_RATE_TOO_SMALL = _kind("learning-rate-too-small", Level.PROBLEM,
    "In {steps} steps with lr={lr:.3g} the loss fell by {own:.2g}; with lr={other:.3g} by {best:.2g}.",
    "Raise the learning rate: lr={other:.2g}{more}.")

BELOW_STABLE = "Learning rate {lr:.3g} is {ratio:.1f}x below the stable limit {limit:.3g}."
RAISE = "Try a larger learning rate, up to {half:.2g}."
FAR_BELOW_STABLE = _kind("learning-rate-small", Level.WARNING, BELOW_STABLE, RAISE, refuted_if="learning_rates_tried")
LEARNING_RATE_SMALL = _kind("learning-rate-small", Level.NOTE, BELOW_STABLE, RAISE, refuted_if="learning_rates_tried")
ENDS_UNSTABLE = _kind("learning-rate-unstable", Level.NOTE,
    "At the end of training, learning rates above {limit:.2g} are unstable; the run uses {lr:.3g}.",
    "Lower the learning rate towards the end of training.",
    excludes=TOO_SLOW)
BEYOND_EDGE = _kind("learning-rate-unstable", Level.PROBLEM,
    "The sharpness ended at {ratio:.2f} times the limit of the learning rate.",
    "Divide the learning rate by {ratio:.2g} or more.",
    page="topics/landscape.md", excludes=TOO_SLOW)
UNSTABLE_HERE = _kind("learning-rate-unstable", Level.PROBLEM,
    "Steps with learning rate {lr:.3g} are unstable: the sharpness is {ratio:.2f} times its limit.",
    "Use a learning rate below {largest:.3g}.",
    page="topics/landscape.md", excludes=TOO_SLOW)
ABOVE_KERNEL_LIMIT = _kind("learning-rate", Level.PROBLEM,
    "Learning rate {lr:.3g} is not below the largest stable learning rate {largest:.3g}.",
    "Use a learning rate below {largest:.3g}.",
    page="topics/dynamics.md")
PREDICTED_DIVERGENCE = _kind("predicted-divergence", Level.WARNING,
    "With this learning rate theory predicts that the loss grows from {start:.3g} without bound.",
    "Use a smaller learning rate.",
    excludes=TOO_SLOW)
EXPLODING_LOSS = _kind("exploding-loss", Level.PROBLEM,
    "Training explodes at step {step}, first in '{where}': its outputs {size}.",
    "Lower lr={lr:.3g} in the optimizer, or clip gradients: nn.utils.clip_grad_norm_(model.parameters(), 1.0).",
    causes=AFTER_DIVERGENCE, excludes=TOO_SLOW)
TRAINING_DIVERGED = _kind("training-diverged", Level.PROBLEM,
    "Training diverged: the {loss} was {first:.3g} at the start and is {last} at the end.",
    "Use a learning rate below {lr:.3g}.",
    causes=AFTER_DIVERGENCE, excludes=TOO_SLOW)
WEIGHT_DECAY_WINS = _kind("weight-decay-wins", Level.PROBLEM,
    "Weight decay {decay:g} pulls the weights to zero with {pull:.2g} times the force of the data.",
    "Lower it in the optimizer: weight_decay=1e-4 for SGD or Adam, 1e-2 for AdamW.",
    causes=("dead-units", "not-learning", "chance-level", "underfit", "undertrained", "below-limit"))

FIX_OTHERS = "Fix the other findings first. Then check lr, and that loss.backward() and optimizer.step() are called."
MATCH_OR_TRAIN = f"{MATCH_TARGETS} Or train longer."
LARGER_NETWORK = "Use more units or layers, or other layers. Check that each target belongs to its input."
ONLY_A_GUESS = "After training {train:.1%} of train are right; always guessing the largest class gives {guess:.1%}"
NOT_LEARNING = _kind("not-learning", Level.PROBLEM, f"{ONLY_A_GUESS}, a simple model {{simple:.1%}}.", FIX_OTHERS,
    causes=("chance-level",))
NOTHING_LEARNED = _kind(
    "not-learning", Level.WARNING, f"{ONLY_A_GUESS}, and a simple model is no better.", MATCH_OR_TRAIN,
    causes=("chance-level",),
)
HARDLY_LEARNED = _kind("not-learning", Level.WARNING, f"{ONLY_A_GUESS}.", LARGER_NETWORK, causes=("chance-level",))

ONLY_THE_MEAN = "After training {explained:.1%} of the variance of the targets is explained, no more than by their mean"
REGRESSION_NOT_LEARNING = _kind(
    "not-learning", Level.PROBLEM, f"{ONLY_THE_MEAN}; a simple model explains {{simple:.1%}}.", FIX_OTHERS,
    causes=("chance-level",),
)
REGRESSION_NOTHING_LEARNED = _kind(
    "not-learning", Level.WARNING, f"{ONLY_THE_MEAN}, and a simple model explains {{simple:.1%}}.", MATCH_OR_TRAIN,
    causes=("chance-level",),
)

MORE_CAPACITY = "Use more units or layers, train longer, or lower dropout and weight_decay."
UNDERFIT = _kind("underfit", Level.WARNING,
    "The network underfits: {train:.1%} of train are right; a simple model reaches {simple:.1%} on held-out examples.",
    MORE_CAPACITY)
REGRESSION_UNDERFIT = _kind("underfit", Level.WARNING,
    "The network underfits: it explains {explained:.1%} of the variance of training targets; a simple model explains "
    "{simple:.1%} on held-out examples.",
    MORE_CAPACITY)
UNDERTRAINED = _kind("undertrained", Level.WARNING,
    "After training {last:.1%} of train are right; the initial features suffice for {score:.1%} of held-out examples.",
    "Train longer or with a larger learning rate.")

AFTER_OVERFIT = ("underfit", "undertrained", "below-limit")
OVERFIT = _kind("overfit", Level.WARNING,
    "The network overfits: it is right on {train:.1%} of train and {test:.1%} of test.",
    "{advice}", causes=AFTER_OVERFIT)
REGRESSION_OVERFIT = _kind("overfit", Level.WARNING,
    "The network overfits: it explains {train:.1%} of the variance of training targets and {test:.1%} of test targets.",
    "{advice}", causes=AFTER_OVERFIT)
TEST_LOSS_ROSE = _kind("overfit", Level.WARNING,
    "The test loss was {least:.3g} at step {step} and is {last:.3g} at the end.",
    "Stop near step {step}, or add weight decay.",
    causes=AFTER_OVERFIT)
BELOW_LIMIT = _kind("below-limit", Level.WARNING,
    "A very wide version of the network is right on {wide:.1%} of the test examples, the trained one on {reached:.1%}.",
    "Widen the layers or train longer; `gnomon.estimators.NTKClassifier` reaches that score.")
BELOW_LEAST_SQUARES = _kind("below-limit", Level.WARNING,
    "Least squares on the same inputs is right on {wide:.1%} of test examples, the trained network on {reached:.1%}.",
    "Train longer or with a larger learning rate.")
UNTRAINED = _kind("untrained", Level.WARNING,
    "The network performs like random guessing because nothing was trained: {score}.",
    "Train it: pass fit=True (--fit) or a function that builds the network, or load trained weights (--checkpoint).")
CHANCE_LEVEL = _kind("chance-level", Level.WARNING,
    "After training the network still performs like random guessing: {score}.",
    "Fix the other findings first. Then check that each target belongs to its input, and train longer.")
