"""Observes attention while a network runs, however the network computes it.

    A = softmax(q k^T / sqrt(d) + mask),    output = A v                                                   (1)

Three operations count as attention: ``nn.MultiheadAttention``, ``scaled_dot_product_attention``, and a product of the
result of a softmax with values (``@``, ``matmul``, ``bmm``, ``einsum``). So networks of Hugging Face, of vit-pytorch or
your own need no changes. Linear attention has no matrix A, and is not found.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, count_examples
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.modules.wrappers import inner_module

__all__ = ["AttentionCall", "Head", "observe_attention", "run_without_head"]

SOFTMAX = (torch.softmax, Tensor.softmax, F.softmax, torch.special.softmax)
PRODUCTS = (torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm)
"""Functions whose first argument may be attention weights and whose second argument may be values."""
MULTIHEAD = inspect.signature(F.multi_head_attention_forward)


@dataclass(frozen=True, slots=True, eq=False)
class AttentionCall:
    """One computation of attention: the layer that made it, its weights (n, heads, queries, keys), and the tokens
    (n, tokens, channels) that entered the layer.

    A layer that is called again has a number in its name, "layer (call 2)".

    >>> AttentionCall("layer", torch.ones(3, 2, 5, 5) / 5, torch.zeros(3, 5, 8)).heads
    2
    """

    name: str
    weights: Tensor
    tokens: Tensor

    @property
    def heads(self) -> int:
        """Returns the number of heads."""
        return self.weights.shape[1]


@dataclass(frozen=True, slots=True)
class Head:
    """One attention head: the number of the attention call in a forward pass, and the number of the head.

    >>> Head(call=0, head=1)
    Head(call=0, head=1)
    """

    call: int
    head: int


def observe_attention(module: nn.Module, x: Inputs) -> tuple[AttentionCall, ...]:
    """Runs a module in eval mode and returns all its attention, in the order of the calls.

    Raises an error if the module computes no attention.
    Cost: one forward pass; memory for n x heads x queries x keys numbers per layer.

    >>> layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> [(call.name, tuple(call.weights.shape)) for call in observe_attention(layer, torch.zeros(3, 5, 8))]
    [('self_attn', (3, 2, 5, 5))]
    """
    module = inner_module(module)
    observer = _Observer(count_examples(x))
    with preserve(module, grad=False, seed=0), _module_stack(module, observer), observer:
        run_module(module, x)
    if not observer.calls:
        found = f"{type(module).__name__} computes no softmax of queries and keys that multiplies values"
        fix = "Pass a network with attention, and inputs for which forward reaches it"
        raise InputError(found, accepted="at least one attention layer", fix=fix)
    return tuple(observer.calls)


def run_without_head(module: nn.Module, x: Inputs, head: Head | None) -> Any:
    """Runs a module in eval mode with the output of one attention head set to zero; with all heads for None.

    Cost: one forward pass.

    >>> layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> run_without_head(layer, torch.zeros(3, 5, 8), Head(0, 1)).shape
    torch.Size([3, 5, 8])
    """
    module = inner_module(module)
    with preserve(module, grad=False, seed=0), _Observer(count_examples(x), removed=head, keeps=False):
        return run_module(module, x)


@dataclass(slots=True, eq=False)
class _Weights:
    """The result of a softmax, which becomes attention if it multiplies values."""

    tensor: Tensor
    first: Tensor


@dataclass(slots=True, eq=False)
class _Observer(TorchFunctionMode):
    """Sees every function of torch that a module calls.

    ``removed`` is the head whose output is set to zero. Without ``keeps`` weights are not stored.
    """

    examples: int
    removed: Head | None = None
    keeps: bool = True
    calls: list[AttentionCall] = field(default_factory=list)
    stack: list[tuple[str, Tensor | None]] = field(default_factory=list)
    softmaxes: dict[int, _Weights] = field(default_factory=dict)
    number: int = 0

    def __post_init__(self) -> None:
        super(_Observer, self).__init__()  # slots replace the class, which breaks the short form of super

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is F.multi_head_attention_forward:
            return self._multihead(func, MULTIHEAD.bind(*args, **kwargs))
        if func is F.scaled_dot_product_attention:
            query = args[0] if args else kwargs["query"]
            return self._dot_product(partial(func, *args, **kwargs), query, partial(_weights, *args, **kwargs))
        if func in PRODUCTS and len(args) == 2 and args[0].dim() == args[1].dim():
            return self._product(lambda weights: func(weights, args[1], **kwargs), args[0], args[1])
        if func is torch.einsum and len(args) == 3 and _sums_over_keys(args[0]):
            return self._product(lambda weights: func(args[0], weights, args[2]), args[1], args[2])
        result = func(*args, **kwargs)
        if isinstance(result, Tensor):
            self._follow(func, args, kwargs, result)
        return result

    def _follow(self, func: Any, args: Any, kwargs: Any, result: Tensor) -> None:
        """Remembers the result of a softmax over the last axis, and what dropout, masks and reshapes make of it."""
        if func in SOFTMAX:
            axis = args[1] if len(args) > 1 else kwargs.get("dim")
            if result.dim() > 2 and axis in (-1, result.dim() - 1):
                self.softmaxes[id(result)] = _Weights(result, result)
            return
        known = self.softmaxes.get(id(args[0])) if args and isinstance(args[0], Tensor) else None
        if known is not None and result.shape[-2:] == known.first.shape[-2:] and result.numel() == known.first.numel():
            self.softmaxes[id(result)] = _Weights(result, known.first)

    def _product(self, multiply: Callable[[Tensor], Tensor], weights: Any, values: Any) -> Tensor:
        known = self.softmaxes.get(id(weights))
        if known is None:
            return multiply(weights)
        head = self._next(lambda: self._by_head(known.first.detach()), lambda: _merge_heads(self._by_head(values)))
        if head is None:
            return multiply(weights)
        kept = weights.clone(memory_format=torch.contiguous_format)
        self._by_head(kept)[:, head] = 0.0
        return multiply(kept)

    def _dot_product(self, attend: Callable[[], Tensor], query: Tensor, weights: Callable[[], Tensor]) -> Tensor:
        head = self._next(lambda: self._by_head(weights()), lambda: _merge_heads(self._by_head(query.detach())))
        if head is None:
            return attend()
        kept = attend().clone(memory_format=torch.contiguous_format)
        self._by_head(kept)[:, head] = 0.0
        return kept

    def _multihead(self, func: Any, bound: inspect.BoundArguments) -> Any:
        given, query = bound.arguments, bound.arguments["query"]  # (tokens, n, channels), as torch passes it
        wanted = inspect.BoundArguments(
            bound.signature, type(given)({**given, "need_weights": True, "average_attn_weights": False})
        )

        def weights() -> Tensor:
            found = func(*wanted.args, **wanted.kwargs)[1].detach()
            return found.reshape(-1, *found.shape[-3:])

        def tokens() -> Tensor:
            return query.detach().transpose(0, 1) if query.dim() == 3 else query.detach()[None]

        head = self._next(weights, tokens, use_stack=False)
        if head is not None:
            size = given["embed_dim_to_check"] // given["num_heads"]
            kept = given["out_proj_weight"].detach().clone()
            kept[:, head * size : (head + 1) * size] = 0.0
            given["out_proj_weight"] = kept
        return func(*bound.args, **bound.kwargs)

    def _next(
        self, weights: Callable[[], Tensor], tokens: Callable[[], Tensor], *, use_stack: bool = True
    ) -> int | None:
        """Stores one computation of attention; returns the head to remove from it, if any."""
        number, self.number = self.number, self.number + 1
        if self.keeps:
            name = self.stack[-1][0] if self.stack else ""
            entered = next((t for _, t in reversed(self.stack) if t is not None), None) if use_stack else None
            earlier = sum(call.name.split(" (call ")[0] == name for call in self.calls)
            name = f"{name} (call {earlier + 1})" if earlier else name
            self.calls.append(AttentionCall(name, weights(), tokens() if entered is None else entered))
        return self.removed.head if self.removed is not None and self.removed.call == number else None

    def _by_head(self, t: Tensor) -> Tensor:
        """Returns a view of shape (n, heads, rows, columns); heads may be part of the first axis."""
        if t.dim() == 3 and len(t) % self.examples == 0:
            return t.view(self.examples, -1, *t.shape[1:])
        if t.dim() == 3:
            return t[:, None]
        return t if t.dim() == 4 else t.view(-1, *t.shape[-3:])


@contextmanager
def _module_stack(module: nn.Module, observer: _Observer) -> Iterator[None]:
    """Context manager: the observer knows which layers are running, and the tokens that entered each."""

    def enter(name: str) -> Callable[..., None]:
        def hook(_: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
            found = (t for t in (*args, *options.values()) if isinstance(t, Tensor))
            tokens = next((t.detach() for t in found if t.dim() == 3 and t.is_floating_point()), None)
            observer.stack.append((name, tokens))

        return hook

    def leave(*_: Any) -> None:
        observer.stack.pop()

    hooks: list[Any] = []
    try:
        for name, part in module.named_modules():
            hooks.append(part.register_forward_pre_hook(enter(name), with_kwargs=True, prepend=True))
            hooks.append(part.register_forward_hook(leave, always_call=True))
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Returns the weights that ``scaled_dot_product_attention`` uses for these arguments but does not return.

    See equation (1) of the module docstring.
    """
    query, key = query.detach(), key.detach()
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
    logits = query @ key.transpose(-1, -2) * (1 / sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(logits.shape[-2:], dtype=torch.bool, device=logits.device).tril()
    if attn_mask is not None:
        hidden = attn_mask.dtype == torch.bool
        logits = logits.masked_fill(~attn_mask, float("-inf")) if hidden else logits + attn_mask
    return logits.softmax(-1).nan_to_num(0.0)  # (1); a query that sees no key attends to nothing


def _merge_heads(t: Tensor) -> Tensor:
    """Returns (n, heads, tokens, channels) as (n, tokens, heads * channels)."""
    return t.transpose(1, 2).flatten(2)


def _sums_over_keys(equation: Any) -> bool:
    """Returns whether an einsum of two tensors is a product of weights (..., queries, keys) and values.

    >>> _sums_over_keys("bhij,bhjd->bhid"), _sums_over_keys("bhij,bhjd->bhijd")
    (True, False)
    """
    if not isinstance(equation, str) or "->" not in equation:
        return False
    inputs, result = equation.replace(" ", "").split("->")
    weights, values = inputs.split(",")
    key, query = weights[-1], weights[-2]
    return key in values and key not in result and query in result and query not in values
