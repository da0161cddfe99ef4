"""Replaces fused layers by plain versions, for which torch can compute derivatives of every order.

>>> import torch
>>> with plain_kernels(nn.LayerNorm(3)):
...     y = nn.LayerNorm(3)(torch.eye(3))
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode

__all__ = ["plain_kernels"]


@contextmanager
def plain_kernels(module: nn.Module) -> Iterator[None]:
    """Runs attention, recurrent and normalization layers in plain versions that support derivatives of every order.

    The fused forms have no forward mode, or no second derivative, or, for layer norm, a wrong third derivative.

    Cost: these layers are slower inside.

    >>> with plain_kernels(nn.Linear(1, 1)):
    ...     pass
    """
    with ExitStack() as stack:
        stack.enter_context(_PlainLayerNorm())
        stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        stack.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", message=".*torch.jit.script")  # raised while torch loads its forward mode
        warnings.filterwarnings("ignore", message="TF32 acceleration")  # torch sets a flag and then warns about it
        if any(isinstance(part, nn.RNNBase) for part in module.modules()):
            stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
        yield


class _PlainLayerNorm(TorchFunctionMode):
    """Layer norm from its definition; torch's kernel saves mean and scale as if they were constants."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return (_layer_norm if func is nn.functional.layer_norm else func)(*args, **(kwargs or {}))


def _layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    axes = tuple(range(-len(normalized_shape), 0))
    centered = input - input.mean(axes, keepdim=True)
    found = centered * (centered.square().mean(axes, keepdim=True) + eps).rsqrt()
    found = found if weight is None else found * weight
    return found if bias is None else found + bias
