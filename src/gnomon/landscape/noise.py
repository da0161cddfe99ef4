"""Measures the gradient noise scale: the batch size above which a larger batch hardly helps.

With gradients g_i of single examples, drawn from a distribution with mean G and covariance S,

    B = trace S / |G|^2                                                                                (1)

is the batch size at which noise and signal in a batch's gradient are equally large. From n examples, without bias,

    trace S ~ s = sum_i |g_i - g|^2 / (n - 1),    |G|^2 ~ |g|^2 - s / n,    g = mean g_i               (2)

The interval is a Student's t interval of the jackknife of sqrt(|g|^2 / s), whose spread hardly depends on its value;
|G|^2 / trace S is its square less 1 / n. If its lower end is zero or less, the mean gradient may be zero, and the upper
end for B is infinite.

Hypotheses: examples are independent draws; a loss that is a mean over examples.
Reference: [mccandlish2018empirical], section 2.2; [efron1981jackknife] for the interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import grad, vmap

from gnomon.core.errors import InputError, NotFiniteError, add_call_to_errors
from gnomon.core.inputs.arguments import Inputs, map_tensors, take_examples
from gnomon.core.inputs.checks import check_module_is_callable, check_number
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.pure import PureFunction
from gnomon.core.results import Axis, Interval, Line, Plot, Reference, Result
from gnomon.training.evaluate import Loss, Objective

MAX_GRADIENT_BYTES = 256 * 2**20
"""Maximum memory in bytes for per-example gradients that are held at once."""


@dataclass(frozen=True, slots=True)
class GradientNoise(Result):
    """The gradient noise scale (critical batch size) with its interval, and the gradient's variance and squared mean.

    ``scale`` is infinite if the estimate of |G|^2 is zero or less.

    >>> result = GradientNoise(20.0, Interval(15.0, 30.0, 0.95), 40.0, 2.0, 500)
    >>> print(result)
    The gradient noise scale is 20 (15 to 30 at 95% confidence): much larger batches waste examples, much smaller
    batches need more steps.
    """

    scale: float
    interval: Interval
    variance: float
    signal: float
    examples: int

    @property
    def verdict(self) -> str:
        """A sentence with the gradient noise scale and what it means for the batch size."""
        low, high = self.interval.low, self.interval.high
        where = f"({low:.3g} to {high:.3g} at {self.interval.confidence:.0%} confidence)"
        if self.scale == inf:
            what = f"The mean gradient of {self.examples} examples cannot be distinguished from noise"
            return f"{what}: the noise scale is above {low:.3g}."
        advice = "much larger batches waste examples, much smaller batches need more steps"
        return f"The gradient noise scale is {self.scale:.3g} {where}: {advice}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the relative numbers of steps and of examples that training needs, over the batch size.

        If the scale is infinite, the plot is for the lower end of its interval.
        """
        scale, name = (
            (self.interval.low, "lower end of the interval") if self.scale == inf else (self.scale, "noise scale")
        )
        if not 0 < scale < inf:
            return Result.plots(self)
        sizes = [scale * 2.0 ** (k / 4) for k in range(-24, 25)]
        marks = (
            Line("steps needed", sizes, [1 + scale / b for b in sizes]),
            Line("examples needed", sizes, [1 + b / scale for b in sizes]),
            Reference(name, scale, vertical=True),
        )
        axes = Axis("batch size", log=True), Axis("relative to the minimum", log=True)
        return (Plot("Gradient noise", marks, *axes, caption=self.verdict),)


@add_call_to_errors
def gradient_noise(
    module: nn.Module,
    data: Any,
    *,
    loss: Loss | None = None,
    parameters: str | Sequence[str] | None = None,
    confidence: float = 0.95,
) -> GradientNoise:
    """Estimates the gradient noise scale, the batch size above which a larger batch hardly helps, with an interval.

        B = trace cov(g_i) / |mean g_i|^2                                                        (1)

    Arguments are the same as for `hessian`; the module is read in eval mode and left as it was.

    Hypotheses: the examples are independent draws from the training distribution; at least three of them.
    Reference: [mccandlish2018empirical].
    Cost: one backward pass on all examples, then one for each example, many at once.

    >>> net, x = nn.Linear(1, 1, bias=False), torch.ones(4, 1)
    >>> with torch.no_grad():
    ...     _ = net.weight.zero_()
    >>> noise = gradient_noise(net, (x, torch.tensor([1.0, 1.0, 1.0, 5.0])))  # g = -(1, 1, 1, 5): mean 2, variance 4
    >>> round(noise.scale, 4)                                                   # 4 / (4 - 4 / 4)
    1.3333
    """
    check_module_is_callable(module)
    confidence = check_number("confidence", confidence, above=0, below=1)
    with preserve(module, all_derivatives=True):
        objective = Objective.of(data, module, loss)
        if len(objective) < 3:
            raise InputError(f"there must be at least 3 examples, but there are {len(objective)}")
        squares, products, total = _moments(PureFunction.of(module, parameters), objective)
    if not bool(squares.isfinite().all()):
        fix = "Look for NaN in the weights or the data"
        raise NotFiniteError("gradients are not finite", accepted="finite gradients", fix=fix)
    return _estimate(squares, products, total, confidence)


def _moments(f: PureFunction, objective: Objective) -> tuple[Tensor, Tensor, float]:
    """Returns for each example its squared gradient norm and its inner product with the mean gradient g, and |g|^2."""
    size, n = sum(w.numel() for w in f.leaves.values()), len(objective)
    tile = max(1, MAX_GRADIENT_BYTES // (size * next(iter(f.leaves.values())).element_size()))
    # The full gradient is computed in parts as well, so that its autograd graph stays small.
    parts = [_gradient(f, objective, x, y).double() * (len(y) / n) for x, y in objective.batches(tile)]
    mean = torch.stack(parts).sum(0)
    squares, products = [], []
    for x, y in objective.batches(tile):
        rows = _rows(f, objective, x, y).double()
        squares.append(rows.square().sum(1))
        products.append(rows @ mean)
    return torch.cat(squares), torch.cat(products), float(mean.square().sum())


def _gradient(f: PureFunction, objective: Objective, x: Inputs, y: Tensor) -> Tensor:
    value = objective.loss_of(f.module_output(x), y)
    gradients = torch.autograd.grad(value, list(f.leaves.values()), allow_unused=True, materialize_grads=True)
    return torch.cat([g.flatten() for g in gradients])


def _rows(f: PureFunction, objective: Objective, x: Inputs, y: Tensor) -> Tensor:
    """Returns per-example gradients (n, p), all at once if vmap supports the module, otherwise one by one."""
    leaves = {name: w.detach() for name, w in f.leaves.items()}

    def single(w: dict[str, Tensor], one: Inputs, target: Tensor) -> Tensor:
        return objective.loss_of(f.module_output(map_tensors(lambda t: t.unsqueeze(0), one), w), target.unsqueeze(0))

    try:
        gradients = vmap(grad(single), in_dims=(None, _axes(x), 0))(leaves, x, y)
        return torch.cat([g.reshape(len(y), -1) for g in gradients.values()], 1)
    except (RuntimeError, ValueError, NotImplementedError):
        return torch.stack(
            [_gradient(f, objective, take_examples(x, slice(i, i + 1)), y[i : i + 1]) for i in range(len(y))]
        )


def _axes(x: object) -> object:
    """Returns the vmap axes of the inputs: 0 for tensors, None for anything else."""
    if isinstance(x, Tensor):
        return 0 if x.dim() > 0 else None
    if isinstance(x, dict):
        return {key: _axes(value) for key, value in x.items()}
    return tuple(_axes(value) for value in x) if isinstance(x, tuple) else None


def _estimate(squares: Tensor, products: Tensor, total: float, confidence: float) -> GradientNoise:
    from scipy.special import stdtrit  # Imported here, because scipy is slow to import.

    n, whole = len(squares), squares.sum()

    def ratio(square: Tensor, mean: Tensor, m: int) -> Tensor:
        """Returns the squared norm of the mean gradient over the gradient's variance, for m examples."""
        return mean * (m - 1) / (square - m * mean)

    variance = float(whole - n * total) / (n - 1)
    if variance <= torch.finfo(torch.float64).eps * float(whole):
        return GradientNoise(0.0, Interval(0.0, 0.0, confidence), 0.0, total, n)
    # Squared norm of the mean of all other gradients, for a jackknife estimate of the error.
    without = (n * n * total - 2 * n * products + squares) / (n - 1) ** 2
    left = ratio(whole - squares, without.clamp_min(0), n - 1).sqrt()
    error = float(((n - 1) / n * (left - left.mean()).square().sum()).sqrt())
    width = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    signal, middle = total - variance / n, (total / variance) ** 0.5  # (2)
    inverses = [max(end, 0.0) ** 2 - 1 / n for end in (middle + width, middle - width)]
    low, high = (1 / v if v > 0 else inf for v in inverses)
    scale = variance / signal if signal > 0 else inf  # (1)
    return GradientNoise(scale, Interval(low, high, confidence), variance, signal, n)
