"""Detects networks whose eval-mode outputs are random, or depend on other examples of the batch.

In eval mode, two passes with different random seeds must agree, and so must a pass over each example alone. If they
do not agree, dropout is on (``F.dropout(x)`` without ``self.training`` is), or the network mixes examples: an LSTM
without ``batch_first=True``, softmax or a norm over axis 0, a reshape that moves numbers between examples, or batch
norm kept in training mode.

    difference = max |f - f'| / max |f - mean f|                                                               (1)

is about 1e-6 for sums in another order; `OUTPUT_TOLERANCE` is a thousand times that.

Hypotheses: eval mode.
Reference: [srivastava2014dropout] for what eval mode means for dropout.

>>> import torch
>>> class Forgetful(nn.Module):
...     def forward(self, x):
...         return nn.functional.dropout(x)
>>> randomness_findings(Forgetful(), torch.randn(8, 4))[0].kind
'random-in-eval'
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.overrides import TorchFunctionMode

from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.modules.preserve import preserve, random_state
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding, Value
from gnomon.findings import design
from gnomon.findings import network as kinds

__all__ = ["parameters_made_in_forward", "randomness_findings", "relative_output_distance"]

OUTPUT_TOLERANCE = 1e-3
"""Difference (1) up to which outputs agree: float32 loses up to this much in deep networks."""
MAX_ROUNDINGS = 16
"""Roundings of the largest output by which two passes may differ if outputs hardly vary over examples."""
EXAMPLES_PER_PASS = 8
"""Examples in a pass."""
REPEATED_PASSES = 5
"""Passes with the same seed after the first one: a random choice among ten is the same in all of them with probability
1e-5."""
GAUSSIAN = {"randn", "randn_like", "normal", "normal_"}
"""Functions that draw Gaussian numbers."""
ORDERING = {"argsort", "sort", "topk", "multinomial", "randperm"}
"""Functions with which a network draws which parts of an example it hides or keeps, as a masked autoencoder does."""
DROPPING = {"dropout", "dropout_", "alpha_dropout", "feature_dropout", "bernoulli", "bernoulli_", "rand", "rand_like"}
"""Functions with which units are dropped."""

UNIFORM = {"rand", "rand_like"}
"""Functions that draw uniform numbers, to drop units or to draw an order."""


def randomness_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports a problem if a network's outputs in eval mode are random, or depend on other examples of the batch.

    Cost: eight forward passes of at most eight examples.

    >>> randomness_findings(nn.Sequential(nn.Dropout(), nn.Linear(4, 2)), torch.randn(8, 4))
    ()
    """
    few = take_examples(x, slice(0, EXAMPLES_PER_PASS))
    if made := parameters_made_in_forward(module, few):
        return (Finding(design.LAYER_IN_FORWARD, "forward", {"parameters": made}, (), 0.0),)
    first, *again = _repeat(module, few)
    apart = max(relative_output_distance(first, other) for other in again)
    if apart > OUTPUT_TOLERANCE:
        return (Finding(kinds.NOT_DETERMINISTIC, "outputs", {"apart": apart}, (Value("difference", apart),), 0.0),)
    apart = relative_output_distance(first, _outputs(module, few, 1))
    if apart > OUTPUT_TOLERANCE and not _samples(module, few):
        return (Finding(kinds.RANDOM_IN_EVAL, "outputs", {"apart": apart}, (Value("difference", apart),), 0.0),)
    return () if apart > OUTPUT_TOLERANCE else _mixing(module, few, first)


def parameters_made_in_forward(module: nn.Module, x: Inputs) -> int:
    """Returns the number of parameters that the module wrongly creates anew in each forward pass.

    Cost: two forward passes.

    >>> parameters_made_in_forward(nn.Linear(2, 1), torch.zeros(4, 2))
    0
    """
    sizes: list[int] = []

    def count_new(part: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        sizes.append(0 if parameter is None else parameter.numel())

    with preserve(module, grad=False, seed=0):
        run_module(module, x)  # Lazy layers get their parameters in the first forward pass.
        handle = register_module_parameter_registration_hook(count_new)
        try:
            run_module(module, x)
        finally:
            handle.remove()
    return sum(sizes)


def _samples(module: nn.Module, x: Inputs) -> bool:
    """Checks whether the network samples by design, such as a VAE, and not because dropout is on in eval mode."""
    with preserve(module, grad=False, seed=0), _Calls() as calls:
        run_module(module, x)
    if calls.names & ORDERING:
        return not calls.names & (DROPPING - UNIFORM)
    return bool(calls.names & GAUSSIAN) and not calls.names & DROPPING


class _Calls(TorchFunctionMode):
    """Context manager that records the names of all torch functions called in its block; dropout counts only if it is
    on.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if (kwargs or {}).get(
            "training", True
        ):  # Dropout layers call the dropout function also in eval mode, in which it changes nothing
            self.names.add(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


def _mixing(module: nn.Module, few: Inputs, first: Tensor) -> tuple[Finding, ...]:
    n = count_examples(few)
    if n < 3:
        return ()
    # Compares the second half of the outputs: a recurrence over examples would not change the first ones.
    part = slice(n // 2, n)
    try:
        alone = _outputs(module, take_examples(few, part), 0)
    except Exception:  # The network accepts only this batch size, which other checks report.
        return ()
    apart = relative_output_distance(first[part], alone) if len(alone) == n - n // 2 else 0.0
    if apart <= OUTPUT_TOLERANCE:
        return ()
    return (Finding(kinds.EXAMPLES_MIXED, "outputs", {"apart": apart}, (Value("difference", apart),), 0.0),)


def relative_output_distance(a: Tensor, b: Tensor) -> float:
    """Returns the distance of two output matrices, relative to how much the first varies over examples.

    See equation (1) of the module docstring.
    Cost: one pass.

    >>> relative_output_distance(torch.tensor([[0.0], [2.0]]), torch.tensor([[0.0], [2.0]]))
    0.0
    """
    rounding = MAX_ROUNDINGS * torch.finfo(a.dtype if a.is_floating_point() else torch.float32).eps
    a, b = a.double(), b.double()
    if not bool(a.isfinite().all()) or not bool(b.isfinite().all()):
        return 0.0
    spread = float((a - a.mean(0)).abs().max())
    size = max(
        spread, rounding / OUTPUT_TOLERANCE * float(a.abs().max()), 1e-30
    )  # At least as large as rounding errors, because nearly constant outputs differ only by rounding
    return float((a - b).abs().max()) / size  # (1)


def _repeat(module: nn.Module, x: Inputs) -> list[Tensor]:
    """Runs the network several times with the same torch seed, to find other sources of randomness such as numpy."""
    with preserve(module):
        return [_pass(module, x, 0) for _ in range(1 + REPEATED_PASSES)]


def _outputs(module: nn.Module, x: Inputs, seed: int) -> Tensor:
    with preserve(module):
        return _pass(module, x, seed)


def _pass(module: nn.Module, x: Inputs, seed: int) -> Tensor:
    with random_state(seed), torch.no_grad():
        return run_to_rows(module, x).detach().clone()
