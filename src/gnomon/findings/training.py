"""Defines the findings (problems, warnings and notes) about the optimizer, the training run and its result."""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level
from gnomon.findings.data import MATCH_TARGETS
from gnomon.findings.groups import AFTER_DIVERGENCE, OUTCOMES, TOO_SLOW

_kind = partial(FindingKind, page="topics/faults.md")

TOO_LARGE_TO_LEARN = _kind("learning-rate-too-large", Level.PROBLEM,
    "The learning rate is too large: after {steps} steps the loss changes by {change} with lr={lr:.3g}, and by "
    "{best:+.2g} with lr={other:.3g}.",
    "Lower the learning rate: lr={other:.2g} or less.",
    causes=(*AFTER_DIVERGENCE, "training-diverged", "exploding-loss", "dead-units"), excludes=TOO_SLOW)
ABOVE_STABLE = _kind("learning-rate-too-large", Level.PROBLEM,
    "Learning rate {lr:.3g} is {ratio:.1f}x above the stable limit {limit:.3g}.",
    "Use a learning rate of at most {half:.2g}.",
    causes=TOO_LARGE_TO_LEARN.causes, excludes=TOO_SLOW)
LEARNING_RATE_TOO_SMALL = _kind("learning-rate-too-small", Level.PROBLEM,
    "The learning rate is too small: in {steps} steps the loss falls by {own:.2g} with lr={lr:.3g}, and by {best:.2g} "
    "with lr={other:.3g}.",
    "Raise the learning rate: lr={other:.2g}{more}.",
    causes=(*OUTCOMES, "update-ratio", "cannot-fit-one-batch"))

BELOW_STABLE = "Learning rate {lr:.3g} is {ratio:.1f}x below the stable limit {limit:.3g}."
RAISE = "Try a larger learning rate, up to {half:.2g}."
FAR_BELOW_STABLE = _kind("learning-rate-small", Level.WARNING, BELOW_STABLE, RAISE, refuted_if="learning_rates_tried")
LEARNING_RATE_SMALL = _kind("learning-rate-small", Level.NOTE, BELOW_STABLE, RAISE, refuted_if="learning_rates_tried")
ENDS_UNSTABLE = _kind("learning-rate-unstable", Level.NOTE,
    "At the end of training, learning rates above {limit:.2g} are unstable; the run uses {lr:.3g}.",
    "Lower the learning rate towards the end of training.",
    excludes=TOO_SLOW)
BEYOND_EDGE = _kind("learning-rate-unstable", Level.PROBLEM,
    "Training ended at a curvature of the loss (sharpness) of {ratio:.2f} times the stability limit of the learning "
    "rate.",
    "Divide the learning rate by {ratio:.2g} or more.",
    page="topics/landscape.md", excludes=TOO_SLOW)
UNSTABLE_HERE = _kind("learning-rate-unstable", Level.PROBLEM,
    "Steps with learning rate {lr:.3g} are unstable: the curvature of the loss (sharpness) is {ratio:.2f} times the "
    "stability limit.",
    "Use a learning rate below {largest:.3g}.",
    page="topics/landscape.md", excludes=TOO_SLOW)
ABOVE_KERNEL_LIMIT = _kind("learning-rate", Level.PROBLEM,
    "Learning rate {lr:.3g} is too large: training is stable only below {largest:.3g}.",
    "Use a learning rate below {largest:.3g}.",
    page="topics/dynamics.md")
PREDICTED_DIVERGENCE = _kind("predicted-divergence", Level.WARNING,
    "With this learning rate theory predicts that the loss grows from {start:.3g} without bound.",
    "Use a smaller learning rate.",
    excludes=TOO_SLOW)
EXPLODING_LOSS = _kind("exploding-loss", Level.PROBLEM,
    "Training explodes at step {step}. The first layer to explode is '{where}': its outputs {size}.",
    "Lower lr={lr:.3g} in the optimizer, or clip gradients: nn.utils.clip_grad_norm_(model.parameters(), 1.0).",
    causes=AFTER_DIVERGENCE, excludes=TOO_SLOW)
TRAINING_DIVERGED = _kind("training-diverged", Level.PROBLEM,
    "Training diverged: the {loss} was {first:.3g} at the start and is {last} at the end.",
    "Use a learning rate below {lr:.3g}.",
    causes=AFTER_DIVERGENCE, excludes=TOO_SLOW)
WEIGHT_DECAY_WINS = _kind("weight-decay-wins", Level.PROBLEM,
    "Weight decay {decay:g} is too strong: it pulls the weights to zero with {pull:.2g} times the force of the loss "
    "gradient.",
    "Lower the weight decay of the optimizer: weight_decay=1e-4 for SGD or Adam, 1e-2 for AdamW.",
    causes=("dead-units", "not-learning", "chance-level", "underfit", "undertrained", "below-limit"))

MORE_CAPACITY = "Use more units or layers, or train longer."
MATCH_OR_TRAIN = f"{MATCH_TARGETS} Or train longer."
LARGER_NETWORK = "Use more units or layers, or other layers. Check that each target belongs to its input."
ONLY_A_GUESS = (
    "After training the network is right on {train:.1%} of the training examples; always guessing the largest class "
    "is right on {guess:.1%}"
)
NOT_LEARNING = _kind("not-learning", Level.PROBLEM, f"{ONLY_A_GUESS}, a simple model {{simple:.1%}}.", "{advice}",
    causes=("chance-level",))
NOTHING_LEARNED = _kind(
    "not-learning", Level.PROBLEM, f"{ONLY_A_GUESS}, and a simple model is no better.", MATCH_OR_TRAIN,
    causes=("chance-level",),
)
HARDLY_LEARNED = _kind("not-learning", Level.WARNING, f"{ONLY_A_GUESS}.", LARGER_NETWORK, causes=("chance-level",))

ONLY_THE_MEAN = (
    "After training the network explains {explained:.1%} of the variance of the targets, no more than predicting "
    "their mean"
)
REGRESSION_NOT_LEARNING = _kind(
    "not-learning", Level.PROBLEM, f"{ONLY_THE_MEAN}; a simple model explains {{simple:.1%}}.", "{advice}",
    causes=("chance-level",),
)
REGRESSION_NOTHING_LEARNED = _kind(
    "not-learning", Level.PROBLEM, f"{ONLY_THE_MEAN}, and a simple model explains {{simple:.1%}}.", MATCH_OR_TRAIN,
    causes=("chance-level",),
)

UNDERFIT = _kind("underfit", Level.WARNING,
    "The network underfits: it is right on {train:.1%} of the training examples; a simple model is right on "
    "{simple:.1%} of held-out examples.",
    "{advice}")
REGRESSION_UNDERFIT = _kind("underfit", Level.WARNING,
    "The network underfits: it explains {explained:.1%} of the variance of training targets; a simple model explains "
    "{simple:.1%} on held-out examples.",
    "{advice}")
FAR_BELOW = "The network is far below a simple model: "
FAR_BELOW_SIMPLE = _kind("underfit", Level.PROBLEM,
    f"{FAR_BELOW}{{train:.1%}} of train are right; kernel regression reaches {{simple:.1%}} on held-out examples.",
    "{advice}")
REGRESSION_FAR_BELOW_SIMPLE = _kind("underfit", Level.PROBLEM,
    f"{FAR_BELOW}it explains {{explained:.1%}} of the variance of training targets; ridge regression explains "
    "{simple:.1%} on held-out examples.",
    "{advice}")
UNDERTRAINED = _kind("undertrained", Level.WARNING,
    "Training was too short: the network is right on {last:.1%} of the training examples, but its initial features "
    "alone would give {score:.1%} on held-out examples.",
    "Train longer or with a larger learning rate.")

RARE_CLASS_LOST = _kind("rare-class-lost", Level.PROBLEM,
    "The network nearly never predicts class {label}: it finds {recall:.0%} of the {count:,} {unit} of this class "
    "({share:.1%} of all).",
    "Weight the rare class in the loss, CrossEntropyLoss(weight=...) or the Dice loss, and report the score of each "
    "class.",
    causes=("imbalance", "weak-segment"), page="topics/faults.md")

AFTER_OVERFIT = ("underfit", "undertrained", "below-limit")
OVERFIT = _kind("overfit", Level.WARNING,
    "The network overfits: it is right on {train:.1%} of the training examples and {test:.1%} of the test examples.",
    "{advice}", causes=AFTER_OVERFIT)
REGRESSION_OVERFIT = _kind("overfit", Level.WARNING,
    "The network overfits: it explains {train:.1%} of the variance of training targets and {test:.1%} of test targets.",
    "{advice}", causes=AFTER_OVERFIT)
STRONG_OVERFIT = _kind("overfit", Level.PROBLEM, OVERFIT.message, "{advice}", causes=AFTER_OVERFIT)
REGRESSION_STRONG_OVERFIT = _kind("overfit", Level.PROBLEM, REGRESSION_OVERFIT.message, "{advice}",
    causes=AFTER_OVERFIT)
TEST_LOSS_ROSE = _kind("overfit", Level.WARNING,
    "The network overfits: its test loss was {least:.3g} at step {step} and is {last:.3g} at the end.",
    "Stop near step {step}, or add weight decay. Choose the step on validation examples, not on the test set.",
    causes=AFTER_OVERFIT)
BELOW_WIDE = (
    "A very wide version of the network is right on {wide:.1%} of the test examples, the trained one on {reached:.1%}.",
    "Widen the layers or train longer; `gnomon.estimators.NTKClassifier` reaches that score.",
)
BELOW_LIMIT_BUT_GOOD = _kind("below-limit", Level.NOTE, *BELOW_WIDE)
BELOW_LIMIT = _kind("below-limit", Level.WARNING, *BELOW_WIDE, milder_if="good_results", milder=BELOW_LIMIT_BUT_GOOD)
BELOW_LEAST_SQUARES = _kind("below-limit", Level.WARNING,
    "Least squares on the same inputs is right on {wide:.1%} of test examples, the trained network on {reached:.1%}.",
    "Train longer or with a larger learning rate.")
UNTRAINED = _kind("untrained", Level.WARNING,
    "The network performs like random guessing because nothing was trained: {score}.",
    "Train it: pass fit=True (--fit) or a function that builds the network, or load trained weights (--checkpoint).")
STILL_CHANCE = "After training the network still performs like random guessing: {score}."
AFTER_CHANCE = "Fix the other findings first. Then check that each target belongs to its input, and train longer."
CHANCE_SO_FAR = _kind("chance-level", Level.WARNING, STILL_CHANCE, AFTER_CHANCE)
CHANCE_LEVEL = _kind("chance-level", Level.PROBLEM, STILL_CHANCE, AFTER_CHANCE,
    milder_if="short_training", milder=CHANCE_SO_FAR)

CHECK_LOSS_INPUTS = (
    "Check what the loss expects: kl_div and nll_loss need F.log_softmax(outputs, 1), cross_entropy needs the outputs "
    "themselves, and reduction='mean' keeps the loss independent of the batch size."
)
INITIAL_LOSS_HIGH = _kind("initial-loss", Level.WARNING,
    "Before training the loss is {start:.3g}; giving all {classes} classes the same probability would cost "
    "{guess:.3g} (ln {classes}). The first outputs are large and wrong.",
    "Make the weights of the last layer smaller at the start, for example by a factor of 10.",
    refuted_if="good_results")
INITIAL_LOSS_NEGATIVE = _kind("initial-loss", Level.PROBLEM,
    "Before training the loss is {start:.3g}. The cross-entropy of the same outputs is {cross_entropy:.3g} "
    "(ln {classes} = {guess:.3g}), and a loss for classes is not negative: this loss expects other outputs.",
    CHECK_LOSS_INPUTS,
    causes=OUTCOMES, refuted_if="good_results")
INITIAL_LOSS_OTHER = _kind("initial-loss", Level.WARNING,
    "Before training the loss is {start:.3g}, but the cross-entropy of the same outputs is {cross_entropy:.3g} "
    "(ln {classes} = {guess:.3g}).",
    CHECK_LOSS_INPUTS,
    refuted_if="good_results")
UPDATES_TOO_SMALL = _kind("update-ratio", Level.WARNING,
    "A step changes the weights by {ratio:.1e} of their size (usual: about 1e-3), so they hardly move (lr={lr:.2g}).",
    "Raise the learning rate: lr={other:.1g}.",
    refuted_if="good_results")
UPDATES_TOO_LARGE = _kind("update-ratio", Level.WARNING,
    "A step changes the weights by {ratio:.0%} of their size (usual: about 0.1 %), so each step overwrites what was "
    "learned.",
    "Lower the learning rate: lr={other:.1g}.",
    refuted_if="good_results", excludes=TOO_SLOW)
LAYER_HARDLY_MOVES = _kind("update-ratio", Level.WARNING,
    "A step changes the weights of '{where}' by {ratio:.1e} of their size, and the weights of most other layers by "
    "{others:.1e}.",
    "Check the initialization and the activations between '{where}' and the output, and its rate in the optimizer.",
    refuted_if="good_results")
FITTED_WITH = "fits {own:.0%} of them with your optimizer, and {adam:.0%} with Adam"
BATCH_NEEDS_OTHER_OPTIMIZER = _kind("cannot-fit-one-batch", Level.WARNING,
    f"Trained for {{steps}} steps on {{examples}} examples alone, the network {FITTED_WITH}. The optimizer or its "
    "learning rate is the reason.",
    "Use Adam with a learning rate of 1e-3 to 3e-2, or another learning rate.",
    refuted_if="good_results")
CANNOT_FIT_BATCH = _kind("cannot-fit-one-batch", Level.PROBLEM,
    f"The network cannot learn {{examples}} examples by heart: in {{steps}} steps on them alone it {FITTED_WITH}. The "
    "network or the loss is the reason, not the amount of data.",
    "Check the loss, and what forward does to the inputs, layer by layer, before changing the data or training longer.",
    refuted_if="good_results")
REPEATS_INPUT = _kind("repeats-input", Level.PROBLEM,
    "The network does not beat repeating the input at place {place}: this explains {copy:.1%} of the variance of "
    "{examples} test targets, the network {explained:.1%}.",
    "Predict the change, y - x, and compare with a forecast of no change. A high share of explained variance says "
    "nothing here.",
    causes=OUTCOMES)
