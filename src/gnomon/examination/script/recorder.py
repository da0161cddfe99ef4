"""Records the events of a training loop: forward and backward passes, steps, batches, schedules, clipping.

The recorder draws no random numbers and writes to no tensor, so training stays the same bit by bit. Its time is
limited: if it has taken more than its share of the running time, it pauses and only counts steps until the share is
half of the limit again. Observations that belong to several steps start anew after a pause.

>>> recorder, w = LoopRecorder(), nn.Parameter(torch.ones(1))
>>> recorder.before_backward(w * 2)
>>> recorder.backwards, recorder.losses.pairs
(1, ((1, 2.0),))
"""

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite, nan
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from gnomon.core.machine.clock import Clock
from gnomon.examination.script.batches import BatchRecorder
from gnomon.examination.script.details import LoopDetails
from gnomon.examination.script.loss_graph import LossGraphs
from gnomon.examination.script.models import ModelRecorder
from gnomon.examination.script.not_finite import ModuleCallTrail, locate_first_not_finite
from gnomon.examination.script.seen import ModelRecord, OptimizerRecord, SchedulerRecord, is_zero
from gnomon.examination.script.series import ThinnedSeries

__all__ = ["LoopRecorder"]

FIRST_STEPS = 5
"""Steps of each optimizer whose gradients are all looked at."""
SAMPLES_PER_STEP = 1 / 20
"""Share of later steps whose gradients are all looked at, if there is time."""
SAMPLES_OF_MOVEMENT = frozenset(FIRST_STEPS + 2**i for i in range(20))
"""Samples at which the distance of the weights from their start is read."""
MIN_SECONDS_TO_JUDGE_TIME = 0.2
"""Running time before which the recorder does not pause."""
DEFERRED_LOSSES = 16
"""Losses on other devices that are read at once, because reading one means waiting for the device."""


@dataclass(slots=True, eq=False)
class LoopRecorder:
    """Records the training loop of a running script; ``limit`` is the largest fraction of the run time that this may
    take.
    """

    limit: float = 0.03
    clock: Clock = perf_counter
    started: float = 0.0
    spent: float = 0.0
    hook_calls: int = 0
    hook_seconds: float = 0.0
    active: bool = True
    pauses: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    steps: int = 0
    backwards: int = 0
    observed_backwards: int = 0
    retained: int = 0
    leaf_losses: int = 0
    graphs: LossGraphs = field(default_factory=LossGraphs)
    first_leaf: int = 0
    graphless: int | None = None
    discarded: int = 0
    losses: ThinnedSeries = field(default_factory=ThinnedSeries)
    norms: ThinnedSeries = field(default_factory=ThinnedSeries)
    largest: tuple[float, Any] = (0.0, None)
    optimizers: dict[int, OptimizerRecord] = field(default_factory=dict)
    retired: list[OptimizerRecord] = field(default_factory=list)
    schedulers: "weakref.WeakKeyDictionary[Any, SchedulerRecord]" = field(default_factory=weakref.WeakKeyDictionary)
    all_schedulers: list[SchedulerRecord] = field(default_factory=list)
    models: ModelRecorder = field(default_factory=ModelRecorder)
    batches: BatchRecorder = field(default_factory=BatchRecorder)
    details: LoopDetails = field(default_factory=LoopDetails)
    clip_calls: int = 0
    clip_misplaced: int = 0
    clip_limit: float = float("nan")
    clip_norms: list[float] = field(default_factory=list)
    gradients_fresh: bool = False
    inside_step: bool = False
    seeds: int = 0
    seed: int = 0
    not_finite: Any = None
    loaded: set[int] = field(default_factory=set)
    trail: ModuleCallTrail = field(default_factory=ModuleCallTrail)
    used: set[int] = field(default_factory=set)
    deferred: list[tuple[int, Tensor]] = field(default_factory=list)
    pause_hooks: Callable[[bool], None] = field(default=lambda pausing: None)

    def safely(self, name: str, function: Callable[..., Any], *arguments: Any) -> None:
        """Calls a function of the recorder and measures its time; catches all errors, so that none reaches the user's
        script.
        """
        began = self.clock()
        try:
            function(*arguments)
        except Exception as error:  # An error in gnomon's recorder must not stop the user's training.
            self.failures.setdefault(name, f"{type(error).__name__}: {error}"[:200])
        self.spent += self.clock() - began

    @property
    def total_spent(self) -> float:
        """Returns the seconds that recording has taken so far."""
        return self.spent + self.hook_calls * self.hook_seconds

    @property
    def running_time(self) -> float:
        """Returns the seconds since the script started."""
        return self.clock() - self.started

    # optimizers ------------------------------------------------------------------------------------------------------

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Records that the script created an optimizer; marks an earlier one with the same parameters as replaced."""
        self._record_of(optimizer)

    def _record_of(self, optimizer: Optimizer) -> OptimizerRecord:
        seen = self.optimizers.get(id(optimizer))
        if seen is not None and seen.ref() is optimizer:
            return seen
        new = OptimizerRecord.of(optimizer, len(self.optimizers) + len(self.retired))
        for key, other in list(self.optimizers.items()):
            if other.has_parameters_of(new):
                new.rebuilt, new.steps = max(other.rebuilt, 1) + 1, other.steps
                new.rebuilt_alike = other.rebuilt_alike + (new.settings == other.settings)
                new.judged, new.stale, new.sampled, new.empty = other.judged, other.stale, other.sampled, other.empty
                new.missing, new.zero, new.rates, new.changed = other.missing, other.zero, other.rates, other.changed
                new.pending, new.cleared, new.probe = other.pending, other.cleared, other.probe
                other.replaced = True
                del self.optimizers[key]
        if id(optimizer) in self.optimizers:  # Another optimizer with other parameters had this address before.
            self.retired.append(self.optimizers.pop(id(optimizer)))
        self.optimizers[id(optimizer)] = new
        return new

    def note_step(self, optimizer: Optimizer) -> None:
        """Records an optimizer step that just ended, before the script clears the gradients."""
        seen = self._record_of(optimizer)
        self.steps += 1
        seen.steps += 1
        rate = optimizer.param_groups[0]["lr"] if optimizer.param_groups else 0.0
        if rate is not seen.rate and float(rate) != seen.rate:
            seen.rate = float(rate)
            seen.rates.add(seen.steps, seen.rate)
        if seen.cleared is not None and seen.probe is not None:
            seen.judged += 1
            seen.stale += not seen.cleared
        seen.note_settings(optimizer, self.backwards)
        self.batches.note_step(in_eval=self.models.trained_in_eval)
        self.details.note_step(optimizer)
        seen.cleared = False
        self.used.update(seen.pending)
        seen.pending.clear()
        self.gradients_fresh = False
        if seen.steps <= FIRST_STEPS or self._time_for_sample(seen):
            self._sample(seen, optimizer)

    def count_step(self, optimizer: Optimizer) -> None:
        """Counts an optimizer step while detailed recording pauses."""
        self.steps += 1
        seen = self._record_of(optimizer)
        seen.steps += 1
        rate = optimizer.param_groups[0]["lr"]
        if rate is not seen.rate and float(rate) != seen.rate:
            seen.rate = float(rate)
            seen.rates.add(seen.steps, seen.rate)

    def _time_for_sample(self, seen: OptimizerRecord) -> bool:
        return seen.steps * SAMPLES_PER_STEP >= seen.sampled - FIRST_STEPS and seen.steps % 5 == 0

    def _sample(self, seen: OptimizerRecord, optimizer: Optimizer) -> None:
        """Reads all gradients of an optimizer: how many are missing or zero, and their norm."""
        seen.sampled += 1
        if sum(len(group["params"]) for group in optimizer.param_groups) != len(seen.parameters):
            seen.grow(optimizer)
        seen.look_for_change()
        if seen.sampled in SAMPLES_OF_MOVEMENT:
            seen.note_movement()
        places, gradients = [], []
        for i, ref in enumerate(seen.parameters):
            parameter = ref()
            gradient = None if parameter is None else parameter.grad
            if gradient is None:
                seen.missing[i] += 1
            elif gradient.layout == torch.strided:
                places.append(i)
                gradients.append(gradient.detach())
        if self.steps <= FIRST_STEPS or seen.sampled % FIRST_STEPS == 0:
            self._look_for_missing()
        if not gradients:
            seen.empty += len(seen.parameters) > 0 and all(
                p is None or p.grad is None for p in (ref() for ref in seen.parameters)
            )
            return
        with torch.no_grad():
            norms = torch.stack([g.float() for g in torch._foreach_norm(gradients)]).tolist()
        zeros = [i for i, norm in zip(places, norms, strict=True) if norm == 0]
        for i in zeros:
            seen.zero[i] += 1
        seen.empty += len(zeros) == len(places)
        total = sum(norm * norm for norm in norms) ** 0.5
        self.norms.add(self.steps, total)
        if total > self.largest[0] or not isfinite(total):
            worst = max(range(len(norms)), key=lambda i: norms[i] if isfinite(norms[i]) else float("inf"))
            if isfinite(self.largest[0]):
                self.largest = (total, seen.parameters[places[worst]])

    def _look_for_missing(self) -> None:
        """Finds trainable parameters of the script's models that are in no optimizer."""
        held = {id(p) for one in self.optimizers.values() for ref in one.parameters if (p := ref()) is not None}
        self.models.look_for_missing(held)

    # backward --------------------------------------------------------------------------------------------------------

    def before_backward(self, tensors: Any) -> None:
        """Records the loss before a backward pass, and whether each optimizer's gradients were cleared."""
        loss = tensors if isinstance(tensors, Tensor) else next(iter(tensors), None)
        self.backwards += 1
        self.observed_backwards += 1
        for seen in self.optimizers.values():
            self._note_cleared(seen)
        if isinstance(loss, Tensor):
            if not loss.requires_grad:
                self.graphless = self.steps if self.graphless is None else self.graphless
            elif self.graphs.is_cut_off(loss, self.optimizers.values()):
                self.leaf_losses += 1
                self.first_leaf = self.first_leaf or self.steps + 1
            self.details.before_backward(loss, self.steps)
            if loss.numel() == 1:
                self._note_loss(loss)
        self.models.note_backward(self.steps + 1, by_hand=not self.optimizers)
        self.trail.clear()
        self.batches.note_backward()
        self.gradients_fresh = True

    def after_backward(self) -> None:
        """Records which optimizers' parameters got gradients in a backward pass."""
        for seen in self.optimizers.values():
            probe = seen.find_probe()
            gradient = None if probe is None else probe.grad
            mark = (0, 0) if gradient is None else (id(gradient), gradient._version)
            new = gradient is not None and (mark != seen.mark or seen.cleared is None)
            # Backward passes inside optimizer.step(closure) do not count, because the optimizer uses their gradients
            # itself.
            if new and not self.inside_step:
                seen.pending.append(self.backwards)
            seen.mark = mark

    def _note_cleared(self, seen: OptimizerRecord) -> None:
        probe = None if seen.probe is None else seen.probe()
        if probe is None:
            return
        gradient = probe.grad
        if gradient is None or seen.zeroed or is_zero(gradient):
            lost = [n for n in seen.pending if n not in self.used]
            others = [one for one in self.optimizers.values() if one is not seen]
            self.discarded += sum(not any(n in one.pending for one in others) for n in lost)
            seen.pending.clear()
            seen.cleared, seen.mark, seen.zeroed = True, (0, 0), False
            if len(self.used) > 1000 and not any(one.pending for one in others):
                self.used.clear()
        else:
            seen.mark = (id(gradient), gradient._version)

    def gradients_zeroed(self, optimizer: Optimizer) -> None:
        """Records a call of zero_grad, so that gradients on other devices need not be read."""
        seen = self.optimizers.get(id(optimizer))
        if seen is not None:
            seen.zeroed = True

    def _note_loss(self, loss: Tensor) -> None:
        if loss.device.type != "cpu":
            self.deferred.append((self.steps + 1, loss.detach()))
            if len(self.deferred) >= DEFERRED_LOSSES:
                self.read_deferred()
            return
        value = loss.item()
        self.losses.add(self.steps + 1, value)
        if not isfinite(value) and self.not_finite is None:
            self.not_finite = (self.steps + 1, value, *locate_first_not_finite(self.trail, self.models.name_of))

    def script_failed(self) -> None:
        """Looks for NaN in the last forward pass before the script failed, because NaN may have caused the error."""
        if self.not_finite is not None or not self.trail.ends_with_nan:
            return
        cause, *place = locate_first_not_finite(self.trail, self.models.name_of)
        self.not_finite = (self.steps + 1, nan, "failure" if cause == "module" else cause, *place)

    def read_deferred(self) -> None:
        """Reads stored loss values from other devices, all at once."""
        if not self.deferred:
            return
        values = torch.stack([loss.reshape(()).float() for _, loss in self.deferred]).tolist()
        for (step, _), value in zip(self.deferred, values, strict=True):
            self.losses.add(step, value)
            if not isfinite(value) and self.not_finite is None:
                self.not_finite = (step, value, "", "", "")
        self.deferred.clear()

    def after_forward(self, module: nn.Module, inputs: Any, output: Any) -> None:
        """Records a forward pass of any module; modules that no other module calls are the script's models."""
        graph = torch.is_grad_enabled()
        if graph:
            self.trail.add(module, output)
        model = self.models.note_call(module, graph=graph, step=self.steps)
        if model is not None:
            began = self.clock()  # The calls of layers are so short that only their number is counted.
            self._after_model(module, model, inputs, graph=graph)
            self.spent += self.clock() - began

    def _after_model(self, module: nn.Module, model: ModelRecord, inputs: Any, *, graph: bool) -> None:
        self.details.after_model(module, model, inputs, graph=graph)
        if graph:
            if module.training:
                self.batches.note_forward(inputs, self.steps)
            self.trail.end_of_model(inputs)

    # pauses ----------------------------------------------------------------------------------------------------------

    def look_at_clock(self) -> None:
        """Pauses recording if it takes more than its limit of the running time, and continues at half of this limit."""
        elapsed = self.running_time
        if elapsed < MIN_SECONDS_TO_JUDGE_TIME:
            return
        share = self.total_spent / elapsed
        if self.active and share > self.limit:
            self.active = False
            self.pauses += 1
            self.pause_hooks(True)
        elif not self.active and share < self.limit / 2:
            self._forget()
            self.active = True
            self.pause_hooks(False)

    def _forget(self) -> None:
        """Forgets unfinished training steps when recording pauses."""
        for seen in self.optimizers.values():
            seen.cleared, seen.mark = None, (0, 0)
            seen.pending.clear()
        self.models.forget()
        self.trail.clear()
        self.batches.forget()
        self.details.forget()
