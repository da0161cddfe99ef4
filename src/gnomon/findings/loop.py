"""Defines the findings (problems, warnings and notes) about mistakes in the user's own training loop."""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level
from gnomon.findings.groups import AFTER_DIVERGENCE, OUTCOMES, TOO_SLOW

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
    "The model that is trained ({model}) was never validated. Another {model} was validated {count} times, and its "
    "weights never changed.",
    "Validate the trained model, or copy its weights into the other model first.",
    causes=("eval-missing",))
STATE_IS_REFERENCE = _kind("state-is-a-reference", Level.PROBLEM,
    "The call load_state_dict() restored the current weights: the state was a reference to them and not a copy.",
    "Keep copy.deepcopy(model.state_dict()), because state_dict() returns the weights themselves.")
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
NO_GRADIENT = _kind("no-gradient", Level.PROBLEM,
    "{size:,} of {total:,} parameters in the optimizer have no gradient in any of {samples} observed steps: {names}.",
    "Use these layers in forward, and remove .detach(), .data or torch.no_grad() after them; otherwise delete them.",
    causes=OUTCOMES)
UNUSED_PART = _kind("no-gradient", Level.NOTE, NO_GRADIENT.message,
    "If this is intended, leave these parameters out of the optimizer or call requires_grad_(False) on them.")
ZERO_GRADIENT = _kind("zero-gradient", Level.WARNING,
    "The gradients of {size:,} of {total:,} parameters are exactly zero in all {samples} observed steps: {names}.",
    "Look for dead ReLUs, a factor of zero or a mask after these layers.")

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
VALIDATION_WITH_GRADIENTS = _kind("validation-with-gradients", Level.WARNING,
    "{count} validation batches in eval mode built a graph for gradients that nobody uses: this costs memory and time.",
    "Wrap validation in with torch.no_grad(): or torch.inference_mode().")

CLIPPED_TO_NOTHING = _kind("clipped-to-nothing", Level.PROBLEM,
    "Gradients are clipped to norm {limit:.2g}, but their norm is {norm:.2g} (median of {count} observed calls): "
    "{share:.1%} is left.",
    "Raise max_norm: values near the usual norm, such as {advice:.1g}, only cut the largest gradients.",
    causes=(*TOO_SLOW, "loss-not-falling", "weights-unchanged"))
CLIP_WITHOUT_EFFECT = _kind("clip-without-effect", Level.WARNING,
    "Gradients were clipped {count} of {total} times after the step that used them, or before backward().",
    "Clip between loss.backward() and optimizer.step().")
GRADIENTS_EXPLODED = _kind("exploding-gradients", Level.PROBLEM,
    "The gradient norm rose from {usual:.2g} to {norm:.2g} at step {step}, first in '{where}'.",
    "Lower lr={lr:.3g}, or clip gradients: nn.utils.clip_grad_norm_(model.parameters(), 1.0).",
    causes=(*AFTER_DIVERGENCE, "training-diverged", "loss-not-falling"), excludes=TOO_SLOW)

SAME_BATCH = _kind("same-batch", Level.PROBLEM,
    "{count} of {total} observed training batches are equal to the batch before, although the data hold "
    "several batches.",
    "Do not call next(iter(loader)) in each step: loop over the loader, or keep one iterator.",
    causes=OUTCOMES)
SORTED_DATA = _kind("sorted-data", Level.PROBLEM,
    "Training batches are in the order of their labels: a batch holds {each:.1f} of {classes} classes on average, "
    "mixed batches would hold {expected:.1f}.",
    "Pass shuffle=True to the training DataLoader, or shuffle the data once.",
    causes=OUTCOMES)
SEED_RESET = _kind("seed-reset", Level.PROBLEM,
    "The script called torch.manual_seed({seed}) {count} times in {steps} training steps: batches and dropout repeat.",
    "Call torch.manual_seed once, before training.",
    causes=("same-batch",))

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
LOSS_ROSE = _kind("training-diverged", Level.PROBLEM,
    "Training diverged: the loss was {first:.3g} in the first tenth of {steps} steps and is {last:.3g} in the last.",
    "Use a learning rate below {lr:.3g}, or clip gradients.",
    causes=(*AFTER_DIVERGENCE, "loss-not-falling"), excludes=TOO_SLOW)

RANKS_SAME_DATA = _kind("ranks-same-data", Level.PROBLEM,
    "{ranks} processes trained on the same batches: all of {count} compared batches are equal.",
    "Pass DistributedSampler(dataset) to the DataLoader, or use another random seed in each process.")
RANKS_DIFFER = _kind("ranks-differ", Level.PROBLEM,
    "The weights of the processes differ at the end of training.",
    "Wrap the model in DistributedDataParallel, and use the same steps in all processes.")
RANK_LOST = _kind("rank-lost", Level.WARNING,
    "No record arrived from rank {names}: the process died, was killed, or is still running.",
    "Read the output of that process.")
