"""Replaces fused layer implementations by plain formulas, which torch can differentiate any number of times.

>>> import torch
>>> with use_differentiable_layers(nn.LayerNorm(3)):
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

__all__ = ["use_differentiable_layers"]


@contextmanager
def use_differentiable_layers(module: nn.Module) -> Iterator[None]:
    """Context manager that makes attention, recurrent and normalization layers differentiable any number of times.

    The fused forms have no forward mode, or no second derivative, or, for layer norm, a wrong third derivative.

    Cost: these layers are slower inside.

    >>> with use_differentiable_layers(nn.Linear(1, 1)):
    ...     pass
    """
    with ExitStack() as stack:
        stack.enter_context(_PlainOperations())
        stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        stack.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        stack.enter_context(warnings.catch_warnings())
        # Hides a warning about torch's own deprecated jit, which torch gives when it loads forward-mode derivatives.
        warnings.filterwarnings("ignore", message=".*torch.jit.script")
        # Hides torch's warning about a TF32 flag that torch sets itself.
        warnings.filterwarnings("ignore", message="TF32 acceleration")
        if any(isinstance(part, nn.RNNBase) for part in module.modules()):
            stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
        yield


class _PlainOperations(TorchFunctionMode):
    """Context manager in which layer norm and attention are computed by plain formulas instead of fused
    implementations.

    torch's layer norm saves mean and scale as if they were constants. Some models choose the kernel of their attention
    themselves, and a fused kernel has no second derivative.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return PLAIN.get(func, func)(*args, **(kwargs or {}))


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Computes scaled dot-product attention by its plain formula, softmax(scale q k^T + mask) v."""
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(groups, -3), value.repeat_interleave(groups, -3)
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~allowed, -torch.inf)
    if attn_mask is not None:
        masked = attn_mask.dtype == torch.bool
        scores = scores.masked_fill(~attn_mask, -torch.inf) if masked else scores + attn_mask
    weights = scores.softmax(-1)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        # As in torch, a query that may attend to no key gets the output zero.
        weights = weights.masked_fill(~attn_mask.any(-1, keepdim=True), 0.0)
    return nn.functional.dropout(weights, dropout_p, training=dropout_p > 0) @ value


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


PLAIN: dict[Any, Any] = {
    nn.functional.layer_norm: _layer_norm,
    nn.functional.scaled_dot_product_attention: _attention,
}
"""Plain versions of fused operations."""
