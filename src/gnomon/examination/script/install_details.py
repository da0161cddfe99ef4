"""Connects the records of single facts (`LoopDetails`) to torch.

>>> patches, before = Patches(), torch.amp.GradScaler.step
>>> patch_details(patches, LoopRecorder())
>>> torch.amp.GradScaler.step is before
False
>>> patches.undo()
>>> torch.amp.GradScaler.step is before
True
"""

from typing import Any

import torch
from torch import Tensor, nn

from gnomon.examination.script.dropout_calls import DROPOUT_FUNCTIONS
from gnomon.examination.script.patches import Patches
from gnomon.examination.script.precision import scaler_wrappers
from gnomon.examination.script.recorder import LoopRecorder

__all__ = ["patch_details", "patch_functions"]


def patch_details(patches: Patches, recorder: LoopRecorder) -> None:
    """Replaces `GradScaler`, clipping of values, ``load_state_dict`` and gradients of inputs by recording versions.

    >>> patches, before = Patches(), nn.Module.load_state_dict
    >>> patch_details(patches, LoopRecorder())
    >>> changed = nn.Module.load_state_dict is not before
    >>> patches.undo()
    >>> changed, nn.Module.load_state_dict is before
    (True, True)
    """

    def make_clip(original: Any) -> Any:
        def clip_grad_value_(parameters: Any, clip_value: Any, *more: Any, **options: Any) -> Any:
            if not recorder.active or not recorder.details.wants_values():
                return original(parameters, clip_value, *more, **options)
            held = [parameters] if isinstance(parameters, Tensor) else list(parameters)
            result = original(held, clip_value, *more, **options)
            recorder.safely("clip", recorder.details.note_values, held, float(clip_value))
            return result

        return clip_grad_value_

    def make_load(original: Any) -> Any:
        def load_state_dict(module: Any, state_dict: Any, *arguments: Any, **options: Any) -> Any:
            if recorder.steps:
                recorder.safely("state", recorder.models.note_load, module, state_dict)
            result = original(module, state_dict, *arguments, **options)
            recorder.loaded.add(id(module))
            recorder.safely("state", recorder.details.note_state, module, state_dict, result)
            return result

        return load_state_dict

    def make_grad(original: Any) -> Any:
        def grad(*arguments: Any, **options: Any) -> Any:
            recorder.safely("grad", recorder.models.note_input_gradients)
            return original(*arguments, **options)

        return grad

    patches.put(torch.autograd, "grad", make_grad)
    clip = make_clip(torch.nn.utils.clip_grad.clip_grad_value_)
    for owner in (torch.nn.utils, torch.nn.utils.clip_grad):
        patches.put(owner, "clip_grad_value_", lambda original: clip)
    patches.put(nn.Module, "load_state_dict", make_load)
    for name, make in scaler_wrappers(recorder.details.precision, recorder.safely).items():
        patches.put(torch.amp.GradScaler, name, make)


def patch_functions(patches: Patches, recorder: LoopRecorder) -> None:
    """Replaces dropout functions by counting ones. Compilers need the original functions, so undo this first.

    >>> patches, before = Patches(), torch.nn.functional.dropout
    >>> patch_functions(patches, LoopRecorder())
    >>> changed = torch.nn.functional.dropout is not before
    >>> patches.undo()
    >>> changed, torch.nn.functional.dropout is before
    (True, True)
    """
    dropout = recorder.details.dropout
    for name in DROPOUT_FUNCTIONS:
        patches.put(torch.nn.functional, name, dropout.wrap_dropout)
    patches.put(torch.nn.functional, "scaled_dot_product_attention", dropout.wrap_attention)
