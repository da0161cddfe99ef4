"""Converts images to the form that a module takes: bytes scaled to [0, 1], and channels in the dimension that torch
expects.

A module that takes the inputs as they are gets them as they are: bytes for an embedding, or for a forward that scales
by itself, are left alone. What is changed is said in one line.

>>> import torch
>>> images, notes = adapt_images(torch.zeros(2, 8, 8, dtype=torch.uint8), nn.Conv2d(1, 4, 3))
>>> images.shape, images.dtype, notes
(torch.Size([2, 1, 8, 8]), torch.float32, ('uint8 inputs were scaled to [0, 1]', 'a channel axis was added'))
"""

import sys
import warnings
from types import FrameType

import torch
from torch import Tensor, nn

from gnomon.core.inputs.arguments import Inputs, detached_on_device_of
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import call_with_inputs

__all__ = ["AdaptedInputWarning", "adapt_images"]

CONVOLUTIONS = {nn.Conv1d: 3, nn.Conv2d: 4, nn.Conv3d: 5}
"""Number of axes of a batch for each kind of convolution."""


class AdaptedInputWarning(UserWarning):
    """A warning that gnomon changed the inputs so that the module accepts them; the message says how."""


def adapt_images(x: Inputs, module: nn.Module) -> tuple[Inputs, tuple[str, ...]]:
    """Converts images to the form that the module takes; also returns a sentence about each change.

    Only inputs that are one tensor are scaled or given an axis.
    Cost: none for floating-point inputs with all axes; otherwise one forward pass on two examples.

    >>> adapt_images(torch.zeros(2, 3), nn.Linear(3, 1))[1]
    ()
    """
    if not isinstance(x, Tensor) or x.dim() == 0 or len(x) == 0:
        return x, ()
    if x.dtype == torch.uint8 and isinstance(_first_layer(module), nn.Embedding | nn.EmbeddingBag):
        return x.long(), ()  # Embedding layers do not accept uint8 tensors, so they become int64.
    axis, last = _lacks_channels(x, module), _channels_last(x, module)
    if not (x.dtype == torch.uint8 or axis or last) or _runs(module, x):
        return x, ()
    notes = []
    if x.dtype == torch.uint8:
        x = x.to(_floating(module)) / 255
        notes.append("uint8 inputs were scaled to [0, 1]")
    if axis and not _runs(module, x):
        x = x.unsqueeze(1)
        notes.append("a channel axis was added")
    if last and not _runs(module, x):
        x = x.movedim(-1, 1).contiguous()
        notes.append("the channel axis was moved from the end to the front")
    return x, tuple(notes)


def warn(notes: tuple[str, ...]) -> None:
    """Warns that inputs were changed; the warning points to a line of the user's program.

    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     warn(("a channel axis was added",))
    >>> str(seen[0].message)
    'a channel axis was added.'
    """
    if notes:
        frame, level = sys._getframe(1), 2
        while frame.f_back is not None and _is_ours(frame):
            frame, level = frame.f_back, level + 1
        warnings.warn(f"{' and '.join(notes)}.", AdaptedInputWarning, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).split(".")[0] in ("gnomon", "jaxtyping", "beartype")


def _floating(module: nn.Module) -> torch.dtype:
    return next((p.dtype for p in module.parameters() if p.is_floating_point()), torch.get_default_dtype())


def _first_layer(module: nn.Module) -> nn.Module | None:
    kinds = (nn.Linear, nn.Embedding, nn.EmbeddingBag, *CONVOLUTIONS)
    return next((part for part in module.modules() if isinstance(part, kinds)), None)


def _lacks_channels(x: Tensor, module: nn.Module) -> bool:
    """Checks whether gray images lack the channel dimension that the module's first convolution expects."""
    first = _first_layer(module)
    axes = next((n for kind, n in CONVOLUTIONS.items() if isinstance(first, kind)), None)
    return axes is not None and x.dim() == axes - 1 and getattr(first, "in_channels", 0) == 1


def _channels_last(x: Tensor, module: nn.Module) -> bool:
    """Checks whether images have their channels in the last dimension, as in Keras, so that the first convolution
    rejects them.
    """
    first = _first_layer(module)
    axes = next((n for kind, n in CONVOLUTIONS.items() if isinstance(first, kind)), None)
    channels = getattr(first, "in_channels", 0)
    return axes is not None and x.dim() == axes and x.shape[-1] == channels != x.shape[1]


def _runs(module: nn.Module, x: Tensor) -> bool:
    """Checks whether the module runs on two examples without an error. (A single one could pass as an image without
    batch.)
    """
    two = x[:2] if len(x) > 1 else torch.cat([x, x])
    try:
        with preserve(module, grad=False):
            call_with_inputs(module, detached_on_device_of(two, module))
    except Exception:  # The module's forward may raise any error for inputs that it does not accept.
        return False
    return True
