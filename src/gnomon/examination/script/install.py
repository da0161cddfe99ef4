"""Connects the recorder of `gnomon watch` to torch by hooks and wrapped functions, and removes these at the end.

Each wrapper calls the original function with the same arguments and returns its result unchanged.
"""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.optim import Optimizer, lr_scheduler
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils.data import DataLoader
from torch.utils.data.dataloader import _BaseDataLoaderIter

from gnomon.examination.script.install_details import patch_details, patch_functions
from gnomon.examination.script.patches import Patches
from gnomon.examination.script.recorder import LoopRecorder
from gnomon.examination.script.seen import SchedulerRecord

__all__ = ["record_training_loop"]

STEPS_BETWEEN_CLOCKS = 8
"""Steps after which the recorder looks at the clock."""
CALLS_TO_CALIBRATE = 300
"""Calls of an empty module that measure the cost of a hook."""
CLIP_SAMPLES = 200
"""Observed calls of clipping whose norm is read."""


@contextmanager
def record_training_loop(recorder: LoopRecorder) -> Iterator[None]:
    """Context manager that records every training event (forward, backward, step, batch) inside its block.

    >>> before = torch.autograd.backward
    >>> with record_training_loop(LoopRecorder()):
    ...     changed = torch.autograd.backward is not before
    >>> changed, torch.autograd.backward is before
    (True, True)
    """
    patches, functions, hook = Patches(), Patches(), ModuleHook(recorder)
    recorder.hook_seconds = hook.calibrate()
    recorder.pause_hooks = hook.pause
    before = register_optimizer_step_pre_hook(functools.partial(_before_step, recorder))
    after = register_optimizer_step_post_hook(functools.partial(_after_step, recorder))
    try:
        _patch_gradients(patches, recorder)
        _patch_schedulers(patches, recorder)
        _patch_data(patches, recorder)
        patch_details(patches, recorder)
        patch_functions(functions, recorder)
        _patch_compilers(patches, functions, hook)
        hook.pause(False)
        recorder.started = recorder.clock()
        yield
    finally:
        hook.end()
        before.remove()
        after.remove()
        functions.undo()
        patches.undo()


@dataclass(slots=True, eq=False)
class ModuleHook:
    """The forward hook on all modules by which `gnomon watch` sees calls; it is removed while recording pauses."""

    recorder: LoopRecorder
    handle: Any = None
    ended: bool = False

    def calibrate(self) -> float:
        """Measures how many seconds the forward hook adds to each call of a module."""
        module, x, clock = nn.Identity(), torch.zeros(1), self.recorder.clock
        spare = LoopRecorder()
        times = []
        for hooked in (False, True):
            handle = register_module_forward_hook(functools.partial(_after_forward, spare)) if hooked else None
            began = clock()
            for _ in range(CALLS_TO_CALIBRATE):
                module(x)
            times.append(clock() - began)
            if handle is not None:
                handle.remove()
            spare.trail.clear()
        return max(0.0, times[1] - times[0]) / CALLS_TO_CALIBRATE

    def pause(self, pausing: bool) -> None:
        """Removes the forward hook while recording pauses, or installs it again."""
        if pausing and self.handle is not None:
            self.handle.remove()
            self.handle = None
        elif not pausing and self.handle is None and not self.ended:
            self.handle = register_module_forward_hook(functools.partial(_after_forward, self.recorder))

    def end(self) -> None:
        """Removes the forward hook permanently, because the script compiles modules or has ended."""
        self.ended = True
        self.pause(True)


def _after_forward(recorder: LoopRecorder, module: nn.Module, inputs: Any, output: Any) -> None:
    recorder.hook_calls += 1
    try:
        recorder.after_forward(module, inputs, output)
    except Exception as error:  # An error in gnomon's recorder must not stop the user's training.
        recorder.failures.setdefault("forward", f"{type(error).__name__}: {error}"[:200])


def _before_step(recorder: LoopRecorder, optimizer: Optimizer, arguments: Any, options: Any) -> None:
    recorder.inside_step = True


def _after_step(recorder: LoopRecorder, optimizer: Optimizer, arguments: Any, options: Any) -> None:
    recorder.inside_step = False
    if recorder.active:
        recorder.safely("step", recorder.note_step, optimizer)
    else:
        recorder.safely("step", recorder.count_step, optimizer)
    if recorder.steps % STEPS_BETWEEN_CLOCKS == 0:
        recorder.look_at_clock()


def _patch_gradients(patches: Patches, recorder: LoopRecorder) -> None:
    inside = [False]

    def make_backward(original: Any) -> Any:
        def backward(tensors: Any, *more: Any, **options: Any) -> Any:
            if inside[0] or not recorder.active:
                recorder.backwards += not inside[0]
                if not recorder.backwards % STEPS_BETWEEN_CLOCKS and not inside[0]:
                    recorder.look_at_clock()
                return original(tensors, *more, **options)
            recorder.safely("backward", recorder.before_backward, tensors)
            recorder.retained += bool(more[1] if len(more) > 1 else options.get("retain_graph"))
            inside[0] = True  # Counts nested calls once, because checkpointing calls backward inside backward.
            try:
                result = original(tensors, *more, **options)
            finally:
                inside[0] = False
            recorder.safely("backward", recorder.after_backward)
            if not recorder.backwards % STEPS_BETWEEN_CLOCKS:
                recorder.look_at_clock()
            return result

        return backward

    def make_clip(original: Any) -> Any:
        def clip_grad_norm_(parameters: Any, max_norm: Any, *more: Any, **options: Any) -> Any:
            result = original(parameters, max_norm, *more, **options)
            if recorder.active:
                recorder.safely("clip", _note_clip, recorder, max_norm, result)
            return result

        return clip_grad_norm_

    def make_zero_grad(original: Any) -> Any:
        def zero_grad(optimizer: Any, set_to_none: bool = True) -> Any:
            if not set_to_none:
                recorder.safely("zero_grad", recorder.gradients_zeroed, optimizer)
            return original(optimizer, set_to_none)

        return zero_grad

    def make_init(original: Any) -> Any:
        def __init__(optimizer: Any, *arguments: Any, **options: Any) -> None:
            original(optimizer, *arguments, **options)
            recorder.safely("optimizer", recorder.optimizer_built, optimizer)

        return __init__

    patches.put(torch.autograd, "backward", make_backward)
    clip = make_clip(torch.nn.utils.clip_grad.clip_grad_norm_)
    for owner in (torch.nn.utils, torch.nn.utils.clip_grad):
        patches.put(owner, "clip_grad_norm_", lambda original: clip)
    patches.put(Optimizer, "zero_grad", make_zero_grad)
    patches.put(Optimizer, "__init__", make_init)


def _note_clip(recorder: LoopRecorder, max_norm: Any, norm: Any) -> None:
    recorder.clip_calls += 1
    recorder.clip_misplaced += not recorder.gradients_fresh
    recorder.details.precision.note_clip()
    recorder.clip_limit = float(max_norm)
    if len(recorder.clip_norms) < CLIP_SAMPLES and getattr(norm, "device", torch.device("cpu")).type == "cpu":
        recorder.clip_norms.append(float(norm))


def _patch_schedulers(patches: Patches, recorder: LoopRecorder) -> None:
    depth = [0]

    def make_init(original: Any) -> Any:
        def __init__(scheduler: Any, *arguments: Any, **options: Any) -> None:
            depth[0] += 1
            try:
                original(scheduler, *arguments, **options)
            finally:
                depth[0] -= 1
            if not depth[0]:
                recorder.safely("scheduler", _note_scheduler, recorder, scheduler)

        return __init__

    def make_step(original: Any) -> Any:
        def step(scheduler: Any, *arguments: Any, **options: Any) -> Any:
            depth[0] += 1
            try:
                result = original(scheduler, *arguments, **options)
            finally:
                depth[0] -= 1
            if not depth[0]:
                metric = arguments[0] if arguments else options.get("metrics")
                recorder.safely("scheduler", _note_schedule, recorder, scheduler, metric)
            return result

        return step

    kinds = [kind for kind in vars(lr_scheduler).values() if isinstance(kind, type)]
    for kind in kinds:
        if issubclass(kind, lr_scheduler.LRScheduler) and kind.__name__ != "_LRScheduler":
            if "__init__" in vars(kind):
                patches.put(kind, "__init__", make_init)
            if "step" in vars(kind):
                patches.put(kind, "step", make_step)


def _note_scheduler(recorder: LoopRecorder, scheduler: Any) -> SchedulerRecord | None:
    """Starts the record of a learning rate scheduler that the script has created."""
    known = recorder.schedulers.get(scheduler)
    if known is not None:
        return known
    optimizer = getattr(scheduler, "optimizer", None)
    if not isinstance(optimizer, Optimizer):
        return None
    seen = recorder.optimizers.get(id(optimizer))
    length = getattr(scheduler, "T_max", None) or getattr(scheduler, "total_steps", None)
    group = optimizer.param_groups[0]
    initial = float(group["lr"])
    new = SchedulerRecord(type(scheduler).__name__, seen, length if isinstance(length, int) else None, initial)
    new.mode = getattr(scheduler, "mode", "") if isinstance(scheduler, lr_scheduler.ReduceLROnPlateau) else ""
    recorder.schedulers[scheduler] = new
    recorder.all_schedulers.append(new)
    return new


def _note_schedule(recorder: LoopRecorder, scheduler: Any, metric: Any) -> None:
    known = _note_scheduler(recorder, scheduler)
    if known is None:
        return
    known.note_call(float(scheduler.optimizer.param_groups[0]["lr"]), metric)


def _patch_data(patches: Patches, recorder: LoopRecorder) -> None:
    def make_iter(original: Any) -> Any:
        def __iter__(loader: Any) -> Any:
            iterator = original(loader)
            recorder.safely("loader", recorder.batches.pass_begins, loader, iterator)
            return iterator

        return __iter__

    def make_next(original: Any) -> Any:
        def __next__(iterator: Any) -> Any:
            batch = original(iterator)
            note = recorder.batches.batch_drawn if recorder.active else recorder.batches.count_batch
            recorder.safely("batch", note, iterator, batch)
            return batch

        return __next__

    def make_seed(original: Any) -> Any:
        def manual_seed(seed: Any) -> Any:
            if recorder.backwards:
                recorder.seeds += 1
                recorder.seed = int(seed)
            return original(seed)

        return manual_seed

    patches.put(DataLoader, "__iter__", make_iter)
    patches.put(_BaseDataLoaderIter, "__next__", make_next)
    patches.put(torch, "manual_seed", make_seed)


def _patch_compilers(patches: Patches, functions: Patches, hook: ModuleHook) -> None:
    """Makes torch's compilers remove the forward hook and wrapped functions first, because they would compile them into
    the model.
    """

    def make_compiler(original: Any) -> Any:
        def compiler(*arguments: Any, **options: Any) -> Any:
            functions.undo()
            if original is not torch_script or (arguments and isinstance(arguments[0], nn.Module)):
                hook.end()  # Libraries also call torch.jit.script with plain functions instead of modules.
            return original(*arguments, **options)

        return compiler

    torch_script = torch.jit.script
    patches.put(torch, "compile", make_compiler)
    patches.put(torch.jit, "script", make_compiler)
