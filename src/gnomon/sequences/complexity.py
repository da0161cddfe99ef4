"""Measures how operations and memory grow with the length of a sequence.

    operations(T) = c + l T + q T^2,    the same for the bytes kept                                        (1)
    T* = l / q                          the length beyond which the quadratic part is the larger one       (2)

Both are counted in one forward pass at each length, so every machine gives the same answer. Counted are matrix products
and convolutions (as torch counts them, two operations for each multiply-add) and the tensors that autograd keeps.
Attention compares all pairs of positions, so q > 0; a recurrence takes one step after the other, so q = 0.
Reference: [vaswani2017attention], table 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.sequences.batch import first_examples

__all__ = ["ComplexityProfile", "complexity_profile"]


@dataclass(frozen=True, slots=True)
class ComplexityProfile(Result):
    """Result: operations and memory for each sequence length, split into constant, linear and quadratic parts.

    See equation (1) of the module docstring.

    >>> found = ComplexityProfile((10, 20, 40), (300, 800, 2400), (10, 20, 40), (0.0, 20.0, 1.0), (0.0, 1.0, 0.0))
    >>> found.crossover, round(found.power, 2)
    (20.0, 1.58)
    """

    lengths: tuple[int, ...]
    operations: tuple[float, ...]
    kept: tuple[float, ...]
    parts: tuple[float, float, float]
    kept_parts: tuple[float, float, float]

    @property
    def power(self) -> float:
        """Returns the power of the sequence length with which operations grow between the last two lengths."""
        (a, b), (s, t) = self.operations[-2:], self.lengths[-2:]
        return log(b / a) / log(t / s)

    @property
    def crossover(self) -> float:
        """Returns the sequence length at which quadratic and linear cost are equal; infinite without a quadratic part.

        See equation (2) of the module docstring.
        """
        return self.parts[1] / self.parts[2] if self.parts[2] > 0 else float("inf")

    @property
    def verdict(self) -> str:
        """Says how the network's operations grow with the sequence length."""
        last = f"From {self.lengths[-2]} to {self.lengths[-1]} steps"
        grows = f"{last} operations grow as the length to the power {self.power:.2f}"
        if self.crossover == float("inf"):
            return f"{grows}: {self.parts[1]:.3g} for each step, and none for pairs of steps."
        if self.crossover < 1:
            return f"{grows}: {self.parts[2]:.3g} for each pair of steps."
        pairs = f"{self.parts[1]:.3g} for each step and {self.parts[2]:.3g} for each pair of steps"
        return f"{grows}: {pairs}. From {self.crossover:.0f} steps on, the pairs cost more."

    def plots(self) -> tuple[Plot, ...]:
        """Plots operations and memory over the sequence length."""
        axes = Axis("steps", log=True), Axis("cost of one sequence", log=True)
        marks = (
            Line("operations", self.lengths, self.operations),
            Line("bytes kept for the gradient", self.lengths, self.kept, "dashed"),
        )
        return (Plot("Cost against length", marks, *axes, self.verdict),)


@add_call_to_errors
def complexity_profile(module: nn.Module, data: Any, *, lengths: Sequence[int] | None = None) -> ComplexityProfile:
    """Measures how operations and memory of a network grow with the length of its sequences.

    See equations (1) and (2) of the module docstring.

    Args:
        module: takes sequences (n, times, ...) of numbers or tokens.
        data: sequences at least as long as the largest length; shorter sequences are cut from their beginnings.
        lengths: at least three lengths; by default the length of x, its half, its quarter and its eighth.

    Hypotheses: forward takes sequences of any length up to the length of x. Element-wise operations are not counted.
    Reference: [vaswani2017attention].
    Cost: one forward pass of one sequence at each length.

    >>> found = complexity_profile(nn.Sequential(nn.Linear(4, 8), nn.ReLU()), torch.zeros(1, 64, 4))
    >>> found.operations, found.crossover                                                # 2 x 4 x 8 for each step
    ((512.0, 1024.0, 2048.0, 4096.0), inf)
    """
    check_module(module)
    x = first_examples(data, module)
    if not isinstance(x, Tensor) or x.dim() < 2:
        found = f"x has shape {tuple(x.shape)}" if isinstance(x, Tensor) else f"x is a {type(x).__name__}"
        raise InputError(found, accepted="sequences (n, times, ...)", fix="Pass a batch of sequences")
    longest = x.shape[1]
    asked = [longest // 2**j for j in range(4)] if lengths is None else list(lengths)
    chosen = sorted({check_integer("lengths", t) for t in asked})
    if len(chosen) < 3 or chosen[0] < 1 or chosen[-1] > longest:
        found = f"the lengths are {chosen}; x has {longest} steps"
        raise InputError(
            found, accepted=f"at least three lengths from 1 to {longest}", fix="Pass longer sequences in x"
        )
    counted = [_count(module, x[:1, :t]) for t in chosen]
    operations, kept = (tuple(float(c[i]) for c in counted) for i in range(2))
    if not operations[0]:
        what = "forward contains no matrix product and no convolution"
        raise InputError(what, accepted="operations that torch counts", fix="Pass a network with such layers")
    return ComplexityProfile(tuple(chosen), operations, kept, _parts(chosen, operations), _parts(chosen, kept))


def _count(module: nn.Module, x: Tensor) -> tuple[int, int]:
    """Returns the operations of one forward pass, and the bytes that autograd stores in addition to the parameters."""
    own = {p.untyped_storage().data_ptr() for p in module.parameters()}
    seen: dict[int, int] = {}

    def pack(t: Tensor) -> Tensor:
        place = t.untyped_storage().data_ptr()
        if place not in own:
            seen[place] = t.untyped_storage().nbytes()
        return t

    counter = FlopCounterMode(display=False, custom_mapping={torch.ops.aten.mkldnn_rnn_layer: _fused_operations})
    # Uses torch's plain attention kernels, because torch does not count the operations of fused ones.
    with preserve(module), sdpa_kernel(SDPBackend.MATH), counter:
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            made = run_module(module, x)
    del made
    return counter.get_total_flops(), sum(seen.values())


def _fused_operations(
    x: Sequence[int], w: Sequence[int], u: Sequence[int], *_: Any, out_shape: Any = None, **__: Any
) -> int:
    """Returns the operations of a fused LSTM layer, from the shapes of its inputs and weights."""
    return 2 * x[0] * x[1] * (w[0] * w[1] + u[0] * u[1])


def _parts(lengths: list[int], counts: tuple[float, ...]) -> tuple[float, float, float]:
    """Fits the number of operations by c + l T + q T^2 at several sequence lengths T."""
    t = torch.tensor(lengths, dtype=torch.float64)
    y = torch.tensor(counts, dtype=torch.float64)
    design = torch.stack([torch.ones_like(t), t, t**2], 1)
    scale = y.clamp_min(1.0)[:, None]
    found = torch.linalg.lstsq(design / scale, (y[:, None] / scale)).solution[:, 0]
    share = found * design[-1] / max(float(y[-1]), 1.0)
    constant, linear, quadratic = torch.where(share.abs() < 1e-6, 0.0, found).tolist()
    return constant, linear, quadratic
