"""Defines the findings (problems, warnings and notes) about mistakes in the user's own training loop."""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level
from gnomon.findings.groups import OUTCOMES, TOO_SLOW

_kind = partial(FindingKind, page="guides/watch-a-script.md")

ORDER = "In each step call optimizer.zero_grad(), loss.backward(), optimizer.step(), in this order."
NOTHING_TRAINED = (
    "weights-unchanged", "loss-not-falling", "gradients-discarded", "gradients-cleared-too-early", "no-gradient",
    "scheduler-never-stepped", "scheduler-before-optimizer", "batches-unused", *OUTCOMES,
)
"""What follows if the weights are not trained at all."""

BACKWARD_MISSING = _kind("backward-missing", Level.PROBLEM,
    "{optimizer} stepped {steps} times, but loss.backward() was never called: no weight has a gradient.",
    "Call loss.backward() before optimizer.step(). The loss must be a tensor: not loss.item(), not a Python number.",
    causes=NOTHING_TRAINED)
STEP_MISSING = _kind("step-missing", Level.PROBLEM,
    "{optimizer} never stepped, although loss.backward() was called {backwards} times: its weights did not change.",
    "Call optimizer.step() after loss.backward().",
    causes=NOTHING_TRAINED)
LEAF_LOSS = _kind("detached-loss", Level.PROBLEM,
    "{count} of {backwards} times backward() was called on a tensor that is not computed from the weights "
    "(first at step {step}): no gradient reaches the model.",
    "Call backward() on the loss itself, not on torch.tensor(loss.item(), requires_grad=True), on a detached copy, or "
    "on numbers that argmax chose.",
    causes=NOTHING_TRAINED)
LOSS_WITHOUT_GRAPH = _kind("detached-loss", Level.PROBLEM,
    "At step {step} backward() was called on a loss that does not depend on any weight.",
    "Remove torch.no_grad(), .detach(), .data, .numpy() and argmax between the model and the loss.",
    causes=NOTHING_TRAINED)
NEGATED_LOSS = _kind("loss-sign", Level.PROBLEM,
    "The script calls backward() on the negative value of {loss}: training makes the predictions worse.",
    "Remove the minus sign: optimizers minimize the loss.",
    causes=("training-diverged", "loss-not-falling", *OUTCOMES))
APPLIED_TWICE = _kind("softmax-before-loss", Level.PROBLEM,
    "The network ends in {function}, and the loss applies {function} again: its gradients become small.",
    "Return the logits: remove {function} from the end of forward.",
    causes=("loss-not-falling", *OUTCOMES))
LOSS_BROADCAST = _kind("loss-broadcast", Level.PROBLEM,
    "The loss compares every output with the target of every example: shapes such as (n, 1) and (n,) were broadcast "
    "to (n, n).",
    "Give outputs and targets one shape: outputs.squeeze(1), or targets.unsqueeze(1).",
    causes=("loss-not-falling", *OUTCOMES))
NLL_WITHOUT_LOG_SOFTMAX = _kind("nll-without-log-softmax", Level.PROBLEM,
    "The inputs of nll_loss are above 0, so they cannot be logarithms of probabilities: the loss falls without end and "
    "the predictions become worse.",
    "Use F.cross_entropy(logits, labels), or end the network with F.log_softmax(x, dim=1).",
    causes=("training-diverged", "exploding-gradients", "loss-not-falling", *OUTCOMES))
SOFTMAX_OVER_BATCH = _kind("softmax-over-batch", Level.PROBLEM,
    "The function log_softmax normalizes over the examples of a batch (dim=0) and not over the classes.",
    "Use dim=1, or dim=-1.",
    causes=("loss-not-falling", *OUTCOMES))
GRAPH_KEPT = _kind("graph-kept", Level.PROBLEM,
    "The graph of the loss grows with every backward pass ({first}, {second}, {third} operations in the first three): "
    "each one goes through all earlier batches again.",
    "Add loss.item() to sums, detach the hidden state (state.detach()), and remove retain_graph=True.",
    causes=("loss-not-falling", "exploding-gradients", "gradients-discarded"))
AXES_EXCHANGED = _kind("reshaped-axes", Level.PROBLEM,
    "A view before the loss gives (n, positions, classes) the shape (n, classes, positions): a view keeps the numbers "
    "in their order, so it mixes classes and positions.",
    "Use transpose(1, 2), or flatten both: logits.view(-1, classes) and targets.view(-1).",
    causes=("loss-not-falling", *OUTCOMES))
GRAPHS_HELD = _kind("graph-kept", Level.WARNING,
    "The script keeps the graphs of losses or outputs after they are used: the graphs of {count} steps were alive "
    "at one time. Memory grows with every step.",
    "Add loss.item() to sums, and keep outputs and hidden states only after .detach().")
PENALTY_SUBTRACTED = _kind("penalty-sign", Level.PROBLEM,
    "The loss subtracts a penalty on the weights: training makes the weights larger.",
    "Add the penalty to the loss, or use weight_decay of the optimizer.",
    causes=("training-diverged", "loss-not-falling", "exploding-gradients", *OUTCOMES))
HALF_WITHOUT_SCALER = _kind("half-precision-without-scaler", Level.WARNING,
    "{count} of {total} observed forward passes ran in float16, but no GradScaler scaled the loss: gradients below "
    "6e-8 become zero.",
    "Use torch.amp.GradScaler: scaler.scale(loss).backward(), scaler.step(optimizer), scaler.update(). Or use "
    "bfloat16, which needs no scaler.",
    causes=("loss-not-falling", "zero-gradient"))
CLIP_BEFORE_UNSCALE = _kind("clip-before-unscale", Level.PROBLEM,
    "Gradients were clipped {count} of {total} times while they were multiplied by the factor of GradScaler: clipping "
    "makes them far too small.",
    "Call scaler.unscale_(optimizer) before clipping.",
    causes=("clipped-to-nothing", "loss-not-falling", *TOO_SLOW))
SCALER_BYPASSED = _kind("scaler-bypassed", Level.PROBLEM,
    "{count} optimizer steps used gradients that were multiplied by the factor of GradScaler.",
    "Call scaler.step(optimizer) and scaler.update() in place of optimizer.step().",
    causes=("training-diverged", "exploding-gradients", "loss-not-finite", "loss-not-falling"))
NOT_AVERAGED = _kind("accumulation-not-averaged", Level.WARNING,
    "{optimizer} adds the gradients of {each} batches for each step without division: its steps are {each} times as "
    "large as with one batch.",
    "Divide each loss by the number of batches: (loss / {each}).backward(). Or lower the learning rate.",
    causes=("step-outside-loop",))
STEP_REPEATED = _kind("step-repeated", Level.PROBLEM,
    "{optimizer} stepped {count} of {steps} times with the gradients of the step before: backward() was not called "
    "between the two steps.",
    "Call optimizer.step() once after each loss.backward().",
    causes=("gradients-not-cleared",))
LEARNING_RATE_ZERO = _kind("learning-rate-zero", Level.PROBLEM,
    "The learning rate of {optimizer} was 0 in {count} of {steps} steps, first after step {step}: these steps change "
    "no weight.",
    "Check the arguments of the scheduler: its length in epochs or steps, and its last learning rate.",
    causes=("loss-not-falling", "weights-unchanged", *OUTCOMES))
WEIGHT_DECAY_LARGE = _kind("weight-decay-too-large", Level.PROBLEM,
    "Weight decay of {optimizer} removes {share:.0%} of all weights in each step (learning rate times weight decay, "
    "with momentum).",
    "Use weight_decay between 1e-5 and 1e-1: lr * weight_decay should be far below 0.01.",
    causes=("loss-not-falling", *OUTCOMES))
VALIDATED_COPY = _kind("validated-model-not-trained", Level.PROBLEM,
    "The model that is trained ({model}) was never validated. Another model of its size ({other}) was validated "
    "{count} times, and its weights never changed.",
    "Validate the trained model, or update the other model first, such as with update_parameters(model) of an average.",
    causes=("eval-missing",))
STATE_IS_REFERENCE = _kind("state-is-a-reference", Level.PROBLEM,
    "The call load_state_dict() restored the current weights: the state was a reference to them and not a copy.",
    "Keep copy.deepcopy(model.state_dict()), because state_dict() returns the weights themselves.")
STATE_NOT_LOADED = _kind("state-not-loaded", Level.PROBLEM,
    "The call load_state_dict(strict=False) loaded none of {count} entries, because their names differ: '{given}' in "
    "the state, '{wanted}' in the model.",
    "Rename the entries, for example with name.removeprefix('module.'), and load with strict=True.")
RANDOM_LAYER_FROZEN = _kind("frozen-at-random", Level.WARNING,
    "{size:,} frozen weights still are the random numbers with which torch created their layers: {names}.",
    "Load pretrained weights before freezing these layers, or train them: requires_grad_(True).",
    causes=("no-gradient",))
DATA_CHANGED = _kind("data-changed-in-place", Level.PROBLEM,
    "The script changes its training data in place: {count} times an input was a changed copy of what the same memory "
    "held before. Later epochs see data with all earlier changes.",
    "Change a copy: inputs = inputs.clone() before noise, masks or scaling.")
EPOCH_CUT_SHORT = _kind("epoch-cut-short", Level.PROBLEM,
    "All {passes} passes over the training data ended after at most {count} of {total} batches, and the DataLoader "
    "does not shuffle: the other batches are never used.",
    "Remove the break from the loop over batches, or pass shuffle=True.",
    causes=("sorted-data",))
NO_BATCHES = _kind("no-batches", Level.PROBLEM,
    "A DataLoader has no batches, so the loop over the DataLoader never runs.",
    "Use a smaller batch_size or drop_last=False, and check the size of the data set.",
    causes=("step-missing",))
VALIDATION_ON_TRAINING_DATA = _kind("validation-on-training-data", Level.WARNING,
    "All validation batches come from the data set that the model is trained on: validation shows no overfitting.",
    "Hold out examples: torch.utils.data.random_split(data, [0.8, 0.2]).")
GRADIENTS_NOT_CLEARED = _kind("gradients-not-cleared", Level.PROBLEM,
    "{optimizer} used gradients of earlier steps again: in {stale} of {steps} observed steps they were not cleared "
    "before backward() added new ones.",
    ORDER,
    causes=("exploding-gradients", "training-diverged", "loss-not-falling", *OUTCOMES))
CLEARED_TOO_EARLY = _kind("gradients-cleared-too-early", Level.PROBLEM,
    "In {empty} of {steps} observed steps {optimizer} found no gradients, although backward() was called {backwards} "
    "times: they were cleared before the step.",
    ORDER, causes=NOTHING_TRAINED)
GRADIENTS_DISCARDED = _kind("gradients-discarded", Level.PROBLEM,
    "The gradients of {count} of {backwards} backward passes were cleared before any optimizer used them.",
    "Call zero_grad() only after step(): with accumulated gradients, once for each step and not for each batch.")
BATCHES_UNUSED = _kind("batches-unused", Level.PROBLEM,
    "{batches} batches went through the model in training mode, but backward() was called only {backwards} times.",
    "Move loss.backward() and optimizer.step() into the loop over batches.",
    causes=("step-outside-loop", "loss-not-falling", "eval-missing", *OUTCOMES))
STEP_OUTSIDE_LOOP = _kind("step-outside-loop", Level.WARNING,
    "{optimizer} steps once in each pass over the data: {backwards} backward passes, {steps} steps.",
    "Move optimizer.step() and zero_grad() into the loop over batches, unless you accumulate gradients on purpose.")
WEIGHTS_UNCHANGED = _kind("weights-unchanged", Level.PROBLEM,
    "{optimizer} stepped {steps} times with learning rate {lr:.3g}, and no weight changed.",
    "Check the learning rate and the gradients: with lr=0, or with gradients that are all zero, a step does nothing.",
    causes=OUTCOMES)

NOT_CLEARED_BY_HAND = _kind("gradients-not-cleared", Level.PROBLEM,
    "The script changes the weights of {model} itself, and in {stale} of {steps} observed steps the gradients were not "
    "cleared before backward() added new ones.",
    "Call model.zero_grad() in each step, before loss.backward().",
    causes=("exploding-gradients", "training-diverged", "loss-not-falling", *OUTCOMES))
HARDLY_MOVED = _kind("learning-rate-too-small", Level.WARNING,
    "In {steps} steps {optimizer} moved the weights by {movement:.1e} of their size: lr={lr:.3g} is too small.",
    "Use a learning rate 100 times larger and compare the losses.",
    causes=("loss-not-falling", "labels-unrelated"))
LAYER_OF_ONE_CALL = _kind("layer-made-in-forward", Level.PROBLEM,
    "{count} times forward created a new {layer} with {size:,} random parameters: no optimizer can train them.",
    "Create the layer in __init__: self.layer = nn.{layer}(...), and call self.layer(x) in forward.",
    causes=("no-gradient", "loss-not-falling", *OUTCOMES))
MISSING_PARAMETERS = _kind("not-in-optimizer", Level.PROBLEM,
    "No optimizer holds {size:,} parameters that receive gradients, so they never change: {names}.",
    "Pass all parameters: optimizer = torch.optim.Adam(model.parameters()). If they should stay fixed, call "
    "requires_grad_(False) on them.",
    causes=OUTCOMES)
MISSING_PRETRAINED = _kind("not-in-optimizer", Level.NOTE,
    "No optimizer holds {size:,} loaded parameters that receive gradients: {names}.",
    "If they should stay fixed, call requires_grad_(False) on them: steps become faster.")
OTHER_MODEL = _kind("optimizer-of-another-model", Level.PROBLEM,
    "{optimizer} holds {held:,} parameters that never receive a gradient, and the model that is trained has "
    "{missing:,} parameters that no optimizer holds ({names}): model or layer were replaced after the optimizer was "
    "built.",
    "Build the optimizer last: after the model, its .to(device), copies, and replaced layers.",
    causes=("not-in-optimizer", *NOTHING_TRAINED))
OPTIMIZER_REBUILT = _kind("optimizer-rebuilt", Level.PROBLEM,
    "{count} {optimizer} optimizers were built for the same parameters, one for every {each} steps: each starts "
    "without the state (momentum) of the one before.",
    "Build the optimizer once, before the loop.",
    causes=("scheduler-never-stepped", "scheduler-before-optimizer"))
OPTIMIZER_REBUILT_IN_EPOCH = _kind("optimizer-rebuilt", Level.WARNING,
    "{count} {optimizer} optimizers with the same settings were built for the same parameters, one for every pass over "
    "the data: each starts without the state (momentum) of the one before.",
    "Build the optimizer once, before the loop over epochs.",
    causes=("scheduler-never-stepped", "scheduler-before-optimizer", "step-missing"))
MODEL_REBUILT = _kind("model-rebuilt", Level.WARNING,
    "{count} models ({model}) were trained for one pass over the same data each: every pass starts with new weights.",
    "Build the model and the optimizer once, before the loop over epochs.",
    causes=("optimizer-rebuilt", "scheduler-never-stepped", "loss-not-falling", *OUTCOMES))
NO_GRADIENT = _kind("no-gradient", Level.PROBLEM,
    "{size:,} of {total:,} parameters in the optimizer have no gradient in any of {samples} observed steps: {names}.",
    "Use these layers in forward, and remove .detach(), .data or torch.no_grad() after them; otherwise delete them.",
    causes=OUTCOMES)
UNUSED_PART = _kind("no-gradient", Level.NOTE, NO_GRADIENT.message,
    "If this is intended, leave these parameters out of the optimizer or call requires_grad_(False) on them.")
ZERO_GRADIENT = _kind("zero-gradient", Level.WARNING,
    "The gradients of {size:,} of {total:,} parameters are exactly zero in all {samples} observed steps: {names}.",
    "Look for dead ReLUs, a factor of zero or a mask after these layers.")

SCHEDULER_OF_ANOTHER = _kind("scheduler-of-another-optimizer", Level.PROBLEM,
    "{scheduler} was stepped {count} times after another optimizer had replaced its own: it changes a learning rate "
    "that no step uses.",
    "Build the scheduler after the optimizer, and again for each new optimizer.")
SCHEDULER_WRONG_DIRECTION = _kind("scheduler-wrong-direction", Level.WARNING,
    "{scheduler} waits for a larger metric (mode='max'), but its metric falls, from {first:.3g} to {last:.3g}: it "
    "lowers the learning rate while training improves.",
    "Use mode='min' for losses and errors, and mode='max' for scores such as the accuracy.")
SCHEDULER_NEVER = _kind("scheduler-never-stepped", Level.WARNING,
    "{scheduler} was built but never stepped in {steps} optimizer steps: the learning rate stayed at {lr:.3g}.",
    "Call scheduler.step() after each epoch, or after each optimizer.step() for schedules of steps.")
SCHEDULER_FIRST = _kind("scheduler-before-optimizer", Level.WARNING,
    "{scheduler}.step() was called {count} times before the first optimizer.step(): training starts at lr={lr:.3g} "
    "instead of {initial:.3g}.",
    "Call scheduler.step() after optimizer.step(): at the end of the epoch or of the step.")
SCHEDULER_TOO_FAST = _kind("scheduler-too-fast", Level.PROBLEM,
    "{scheduler} was stepped after every batch and lowered the learning rate from {initial:.3g} to {lr:.3g} within "
    "{count} of {steps} steps.",
    "Call scheduler.step() once per epoch, or give the schedule the number of steps instead of epochs.",
    causes=(*TOO_SLOW, "loss-not-falling"))
SCHEDULER_WRAPPED = _kind("scheduler-too-fast", Level.PROBLEM,
    "{scheduler} has a length of {length} but was stepped {count} times: the learning rate rises again after its end.",
    "Call scheduler.step() once per epoch, or set its length (T_max) to the number of calls.")
SCHEDULER_TOO_SLOW = _kind("scheduler-too-slow", Level.WARNING,
    "{scheduler} has a length of {length} but was stepped only {count} times in {steps} optimizer steps: its end was "
    "never reached.",
    "Call scheduler.step() after every optimizer.step(), or set its length to the number of epochs.")

RATE_NOT_APPLIED = _kind("learning-rate-not-applied", Level.PROBLEM,
    "The script sets the learning rate at {place}, which no step reads: the learning rate does not change.",
    "Set it in each group: for group in optimizer.param_groups: group['lr'] = lr.")

EVAL_MISSING = _kind("eval-missing", Level.PROBLEM,
    "{count} of {total} validation batches went through {model} in training mode, first after step {step}: "
    "{layers} worked as in training.",
    "Call model.eval() before validation and model.train() after it.")
TRAIN_MISSING = _kind("train-missing", Level.PROBLEM,
    "{count} of {total} training steps ran with {model} in eval mode, first after step {step}: {layers} did not "
    "work as in training.",
    "Call model.train() after each validation, at the start of the loop over training batches.")
TRAIN_NEVER = _kind("train-missing", Level.WARNING,
    "All {total} training steps ran with {model} in eval mode: {layers} did not work as in training.",
    "Call model.train() before training, unless this is intended.")
STEP_IN_VALIDATION = _kind("step-in-validation", Level.PROBLEM,
    "The optimizer made {count} steps on batches of a DataLoader that the model sees in eval mode only: the model is "
    "trained on its validation data.",
    "Remove backward() and step() from validation, and wrap it in with torch.no_grad():.",
    causes=("train-missing", "validation-with-gradients"))
DROPOUT_IN_EVAL = _kind("random-in-eval", Level.PROBLEM,
    "{model} dropped random units in {count} calls in eval mode, because a dropout function was called without the "
    "mode of the model.",
    "Write F.dropout(x, p, training=self.training), or use nn.Dropout.")
BATCH_NORM_OF_ONE = _kind("batch-too-small", Level.WARNING,
    "Batch normalization of {model} saw one example in {count} training batches: its statistics describe a single "
    "example, and eval mode uses others.",
    "Use batches of 16 or more examples, or GroupNorm in place of batch normalization.",
    causes=("loss-not-falling",))
VALIDATION_WITH_GRADIENTS = _kind("validation-with-gradients", Level.WARNING,
    "{count} validation batches in eval mode built a graph for gradients that nobody uses: this costs memory and time.",
    "Wrap validation in with torch.no_grad(): or torch.inference_mode().")

CLIPPED_TO_NOTHING = _kind("clipped-to-nothing", Level.PROBLEM,
    "Gradients are clipped to norm {limit:.2g}, but their norm is {norm:.2g} (median of {count} observed calls): "
    "{share:.1%} is left.",
    "Raise max_norm: values near the usual norm, such as {advice:.1g}, only cut the largest gradients.",
    causes=(*TOO_SLOW, "loss-not-falling", "weights-unchanged"))
VALUES_CLIPPED_TO_NOTHING = _kind("clipped-to-nothing", Level.PROBLEM,
    "Gradient values are clipped to {limit:.2g}, which cuts {share:.0%} of the numbers that are not zero (median of "
    "{count} observed calls): only their signs are left.",
    "Raise clip_value far above the usual gradients, or use clip_grad_norm_.",
    causes=(*TOO_SLOW, "loss-not-falling"))
NOTHING_CLIPPED = _kind("clip-without-effect", Level.WARNING,
    "In {count} observed calls clipping found no gradients (norm 0), although gradients of norm {norm:.2g} were used.",
    "Pass list(model.parameters()): a generator such as model.parameters() is empty after its first use.")
CLIP_WITHOUT_EFFECT = _kind("clip-without-effect", Level.WARNING,
    "Gradients were clipped {count} of {total} times after the step that used them, or before backward().",
    "Clip between loss.backward() and optimizer.step().")
SAME_BATCH = _kind("same-batch", Level.PROBLEM,
    "{count} of {total} observed training batches are equal to the batch before, although the data hold "
    "several batches.",
    "Loop over the loader, or keep one iterator: do not call next(iter(loader)) in each step, and do not leave the "
    "loop after its first batch.",
    causes=OUTCOMES)
SORTED_DATA = _kind("sorted-data", Level.PROBLEM,
    "Training batches are in the order of their labels: a batch holds {each:.1f} of {classes} classes on average, "
    "mixed batches would hold {expected:.1f}.",
    "Pass shuffle=True to the training DataLoader, or shuffle the data once.",
    causes=OUTCOMES)
VALIDATION_INPUTS_DIFFER = _kind("train-test-shift", Level.WARNING,
    "Validation inputs have mean {other_mean:.3g} and standard deviation {other_deviation:.3g}, training inputs "
    "{mean:.3g} and {deviation:.3g}.",
    "Apply the same normalization to both, with the mean and the deviation of the training data.")
SEED_RESET = _kind("seed-reset", Level.PROBLEM,
    "The script called torch.manual_seed({seed}) {count} times in {steps} training steps: batches and dropout repeat.",
    "Call torch.manual_seed once, before training.",
    causes=("same-batch",))

RANKS_SAME_DATA = _kind("ranks-same-data", Level.PROBLEM,
    "{ranks} processes trained on the same batches: all of {count} compared batches are equal.",
    "Pass DistributedSampler(dataset) to the DataLoader, or use another random seed in each process.")
RANKS_DIFFER = _kind("ranks-differ", Level.PROBLEM,
    "The weights of the processes differ at the end of training.",
    "Wrap the model in DistributedDataParallel, and use the same steps in all processes.")
RANK_LOST = _kind("rank-lost", Level.WARNING,
    "No record arrived from rank {names}: the process died, was killed, or is still running.",
    "Read the output of that process.")
