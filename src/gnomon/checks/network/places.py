"""Checks whether a network uses positions in images and the order of tokens, and ignores padding.

A network is run on the same examples with shuffled positions of a feature map, with the tokens in another order, and
with the padding cut off. What should matter must change the outputs, and padding must not:

    change = max |f(x') - f(x)| / max |f(x) - mean f|                                                          (1)

Hypotheses: the task needs positions, which shows in results far below the ones that a simple model reaches.

>>> x = torch.randint(1, 9, (20, 6))
>>> token_order_findings(nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(24, 2)), x)
()
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from gnomon.checks.network.chance import relative_output_distance
from gnomon.core.inputs.arguments import Inputs, take_examples
from gnomon.core.modules.layer_classes import RECURRENT
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Finding, Value
from gnomon.findings import design as kinds

__all__ = ["token_order_findings", "padding_findings", "early_pooling_findings"]

EXAMPLES_IN_PASS = 64
"""Examples in a pass."""
SAME_OUTPUTS = 1e-3
"""Change (1) that counts as none: rounding of float32."""
MIN_POSITIONS = 9
"""Fewest positions of a feature map that is averaged."""
MAX_LAYERS_BEFORE_POOLING = 2
"""Convolutions after which averaging over all positions is early; deeper networks may do so at their end."""
MIN_PADDING = 0.2
"""Smallest mean share of padding that matters."""
MIN_CHANGE_BY_PADDING = 0.1
"""Change (1) by cutting off the padding from which the network reads it."""
CUT_EXAMPLES = 8
"""Examples whose padding is cut off."""


def token_order_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports a problem if a network with attention ignores the order of its tokens.

    Chance raises no false alarm.
    Cost: two forward passes.

    >>> token_order_findings(nn.Linear(3, 1), torch.zeros(9, 3))                 # no tokens
    ()
    """
    if not _are_tokens(x) or not _attends(module, take_examples(x, slice(0, 2))):
        return ()
    few = take_examples(x, slice(0, EXAMPLES_IN_PASS))
    assert isinstance(few, Tensor)
    order = torch.randperm(few.shape[1], generator=torch.Generator().manual_seed(0))
    with preserve(module, grad=False, seed=0):
        change = relative_output_distance(run_to_rows(module, few), run_to_rows(module, few[:, order]))
    if change > SAME_OUTPUTS:
        return ()
    return (Finding(kinds.ORDER_IGNORED, "inputs", {}, (Value("change of the outputs", change),), 0.0),)


def early_pooling_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports a problem if an image network averages over all positions after only one or two convolutions.

    The positions in the output of a convolution are shuffled; equal outputs of the network show that it averages over
    them. Chance raises no false alarm.
    Cost: three forward passes.

    >>> early_pooling_findings(nn.Sequential(nn.Flatten(), nn.Linear(64, 2)), torch.randn(20, 1, 8, 8))
    ()
    """
    few = take_examples(x, slice(0, EXAMPLES_IN_PASS))
    layers = [name for name, part in module.named_modules() if isinstance(part, nn.Conv2d)]
    if not isinstance(few, Tensor) or few.dim() != 4:
        return ()
    with preserve(module, grad=False, seed=0):
        f = run_to_rows(module, few)
        for number, name in enumerate(layers[:MAX_LAYERS_BEFORE_POOLING], start=1):
            shuffle = _ShuffledPositions()
            handle = module.get_submodule(name).register_forward_hook(shuffle)
            try:
                change = relative_output_distance(f, run_to_rows(module, few))
            finally:
                handle.remove()
            if shuffle.calls == 1 and change <= SAME_OUTPUTS:
                values = {"layers": number, "plural": "s" if number > 1 else ""}
                return (Finding(kinds.PLACES_IGNORED, name, values, (Value("change of the outputs", change),), 0.0),)
    return ()


class _ShuffledPositions:
    """A forward hook that shuffles the spatial positions of a layer's feature maps."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, _: nn.Module, __: Any, output: Tensor) -> Tensor:
        positions = output.shape[-2] * output.shape[-1]
        if positions < MIN_POSITIONS:
            return output
        order = torch.randperm(positions, generator=torch.Generator().manual_seed(0)).to(output.device)
        moved = output.flatten(-2)[..., order].reshape(output.shape)
        # Counts calls whose output changes when its positions move; an output of zeros does not.
        self.calls += bool((moved != output).any())
        return moved


def padding_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports a problem if a recurrent network's outputs depend on the padding at the ends of sequences.

    Cost: a forward pass, and two passes of single examples for each of 8 examples.

    >>> padding_findings(nn.Linear(3, 1), torch.zeros(9, 3))
    ()
    """
    if not _are_tokens(x) or not any(isinstance(part, RECURRENT) for part in module.modules()):
        return ()
    few = take_examples(x, slice(0, EXAMPLES_IN_PASS))
    assert isinstance(few, Tensor)
    value = int(few[:, -1].mode().values)
    padded = (few.flip(1) == value).long().cumprod(1).sum(1)
    share = float(padded.double().mean()) / few.shape[1]
    chosen = [i for i in padded.argsort(descending=True)[:CUT_EXAMPLES].tolist() if padded[i] < few.shape[1]]
    if share < MIN_PADDING or not chosen:
        return ()
    try:
        with preserve(module, grad=False, seed=0):
            f = run_to_rows(module, few)
            cut = torch.cat([run_to_rows(module, few[i : i + 1, : few.shape[1] - int(padded[i])]) for i in chosen])
            whole = torch.cat([run_to_rows(module, few[i : i + 1]) for i in chosen])
    except Exception:  # The network accepts inputs of one length only.
        return ()
    spread = max(float((f - f.mean(0)).double().abs().max()), SAME_OUTPUTS * float(f.double().abs().max()), 1e-30)
    change = float((cut - whole).double().abs().max()) / spread
    if change < MIN_CHANGE_BY_PADDING:
        return ()
    values = {"padding": share, "value": value, "change": change}
    evidence = (Value("share of padding", share), Value("change of the outputs", change))
    return (Finding(kinds.READS_PADDING, "inputs", values, evidence, 0.0),)


def _are_tokens(x: Inputs) -> bool:
    return isinstance(x, Tensor) and x.dim() == 2 and not x.is_floating_point() and x.shape[1] > 2


def _attends(module: nn.Module, x: Inputs) -> bool:
    """Checks whether the network uses attention, as a layer or as a call of torch's function."""
    if any(isinstance(part, nn.MultiheadAttention) for part in module.modules()):
        return True
    with preserve(module, grad=False, seed=0), _AttentionCalls() as calls:
        run_to_rows(module, x)
    return calls.seen


class _AttentionCalls(TorchFunctionMode):
    """Context manager that records whether scaled dot-product attention is called in its block."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen |= getattr(func, "__name__", "") == "scaled_dot_product_attention"
        return func(*args, **(kwargs or {}))
