"""The noise of gradients: from which batch size on a larger batch hardly helps.

With gradients g_i of single points, drawn from a distribution with mean G and covariance S,

    B = trace S / |G|^2                                                                                (1)

is the batch at which noise and signal in a batch's gradient are of one size. From n points, without bias,

    trace S ~ s = sum_i |g_i - g|^2 / (n - 1),    |G|^2 ~ |g|^2 - s / n,    g = mean g_i               (2)

The interval is that of Student's t around the jackknife of sqrt(|g|^2 / s), whose spread hardly depends on its value;
|G|^2 / trace S is its square less 1 / n. Where the lower end of that is zero or less, the signal cannot be told from
nothing, and the upper end for B is infinite.

Hypotheses: points are independent draws; a loss that is a mean over points.
Reference: [mccandlish2018empirical], section 2.2; [efron1981jackknife] for the interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor, nn
from torch.func import grad, vmap

from gnomon.core.arrays import Array
from gnomon.core.checks import check_readable, number
from gnomon.core.errors import InputError, lesson
from gnomon.core.inputs import Inputs, take, transform
from gnomon.core.pure import Pure, evaluating, plain_kernels, undisturbed
from gnomon.core.record import Record
from gnomon.training.evaluate import Loss, Points, by_targets

CALL = "gradient_noise(module, x, y)"
BYTES = 256 * 2**20
"""Of gradients of single points that are held at once."""


@dataclass(frozen=True, slots=True)
class GradientNoise(Record):
    """The noise scale B of equation (1) with its interval, and what it is made of.

    ``scale`` is infinite where the estimate of |G|^2 is zero or less.

    >>> found = GradientNoise(20.0, (15.0, 30.0), 0.95, 40.0, 2.0, 500)
    >>> found.verdict
    'The gradient noise scale is 20 (15 to 30 at 95% confidence): batches far above it waste work, far below it, steps.'
    """

    scale: float
    interval: tuple[float, float]
    confidence: float
    variance: float
    signal: float
    points: int

    @property
    def verdict(self) -> str:
        """One sentence."""
        low, high = self.interval
        where = f"({low:.3g} to {high:.3g} at {self.confidence:.0%} confidence)"
        if self.scale == inf:
            return f"The mean gradient of {self.points} points drowns in noise: the noise scale is over {low:.3g}."
        advice = "batches far above it waste work, far below it, steps"
        return f"The gradient noise scale is {self.scale:.3g} {where}: {advice}."

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON; infinity becomes None."""
        finite = [None if value == inf else value for value in (self.scale, *self.interval)]
        return {
            "scale": finite[0],
            "interval": finite[1:],
            "confidence": self.confidence,
            "variance": self.variance,
            "signal": self.signal,
            "points": self.points,
            "verdict": self.verdict,
        }


def gradient_noise(
    module: nn.Module,
    x: Inputs,
    y: Array,
    *,
    loss: Loss | None = None,
    parameters: str | Sequence[str] | None = None,
    confidence: float = 0.95,
) -> GradientNoise:
    """The simple noise scale of the gradients of single points, with an interval.

        B = trace cov(g_i) / |mean g_i|^2                                                        (1)

    Arguments are those of `hessian`; the module is read in eval mode and left as it was.

    Hypotheses: the points are independent draws from what is trained on; at least three of them.
    Reference: [mccandlish2018empirical].
    Cost: one backward pass on all points, then one for each point, batched in tiles.

    >>> net, x = nn.Linear(1, 1, bias=False), torch.ones(4, 1)
    >>> with torch.no_grad():
    ...     _ = net.weight.zero_()
    >>> found = gradient_noise(net, x, torch.tensor([1.0, 1.0, 1.0, 5.0]))      # g = -(1, 1, 1, 5): mean 2, variance 4
    >>> round(found.scale, 4)                                                   # 4 / (4 - 4 / 4)
    1.3333
    """
    check_readable(module, call=CALL)
    confidence = number("confidence", confidence, call=CALL, above=0, below=1)
    loss = by_targets(y, call=CALL) if loss is None else loss
    with undisturbed(module), evaluating(module), plain_kernels(module):
        points = Points.of(x, y, module, loss, CALL)
        if points.n < 3:
            raise InputError(lesson(CALL, f"{points.n} points", "a sample with a spread", "Pass at least 3 points"))
        squares, products, total = _moments(Pure.of(module, parameters, call=CALL), points)
    return _estimate(squares, products, total, confidence)


def _moments(f: Pure, points: Points) -> tuple[Tensor, Tensor, float]:
    """|g_i|^2 and g_i . g for each point, and |g|^2, in float64."""
    size = sum(w.numel() for w in f.leaves.values())
    tile = max(1, BYTES // (size * next(iter(f.leaves.values())).element_size()))
    # The whole gradient is taken in tiles as well, so that its graph stays small.
    mean = torch.stack([_batch(f, points, start, tile) for start in range(0, points.n, tile)]).sum(0)
    squares, products = [], []
    for start in range(0, points.n, tile):
        part = slice(start, start + tile)
        rows = _rows(f, points, take(points.x, part), points.targets[part]).double()
        squares.append(rows.square().sum(1))
        products.append(rows @ mean)
    return torch.cat(squares), torch.cat(products), float(mean.square().sum())


def _batch(f: Pure, points: Points, start: int, tile: int) -> Tensor:
    part = slice(start, start + tile)
    y = points.targets[part]
    value = points.loss_of(f.returned(take(points.x, part)), y) * (len(y) / points.n)
    found = torch.autograd.grad(value, list(f.leaves.values()), allow_unused=True, materialize_grads=True)
    return torch.cat([g.flatten() for g in found]).double()


def _rows(f: Pure, points: Points, x: Inputs, y: Tensor) -> Tensor:
    """Gradients of single points, (n, p): all at once where the module bears it, else one by one."""
    leaves = {name: w.detach() for name, w in f.leaves.items()}

    def single(w: dict[str, Tensor], one: Inputs, target: Tensor) -> Tensor:
        return points.loss_of(f.returned(transform(lambda t: t.unsqueeze(0), one), w), target.unsqueeze(0))

    try:
        found = vmap(grad(single), in_dims=(None, _axes(x), 0))(leaves, x, y)
        return torch.cat([g.reshape(len(y), -1) for g in found.values()], 1)
    except (RuntimeError, ValueError, NotImplementedError):
        return torch.stack([_one(f, points, take(x, slice(i, i + 1)), y[i : i + 1]) for i in range(len(y))])


def _axes(x: object) -> object:
    """0 for tensors, None for whatever else is among the arguments."""
    if isinstance(x, Tensor):
        return 0 if x.dim() > 0 else None
    if isinstance(x, dict):
        return {key: _axes(value) for key, value in x.items()}
    return tuple(_axes(value) for value in x) if isinstance(x, tuple) else None


def _one(f: Pure, points: Points, x: Inputs, y: Tensor) -> Tensor:
    value = points.loss_of(f.returned(x), y)
    found = torch.autograd.grad(value, list(f.leaves.values()), allow_unused=True, materialize_grads=True)
    return torch.cat([g.flatten() for g in found])


def _estimate(squares: Tensor, products: Tensor, total: float, confidence: float) -> GradientNoise:
    from scipy.special import stdtrit  # here and not above: scipy is slow to import

    n, whole = len(squares), squares.sum()

    def ratio(square: Tensor, mean: Tensor, m: int) -> Tensor:
        """|g|^2 / s of m points, from the sum of their |g_i|^2 and from |g|^2."""
        return mean * (m - 1) / (square - m * mean)

    variance = float(whole - n * total) / (n - 1)
    if variance <= torch.finfo(torch.float64).eps * float(whole):
        return GradientNoise(0.0, (0.0, 0.0), confidence, 0.0, total, n)
    without = (n * n * total - 2 * n * products + squares) / (n - 1) ** 2  # |mean of the others|^2
    left = ratio(whole - squares, without.clamp_min(0), n - 1).sqrt()
    error = float(((n - 1) / n * (left - left.mean()).square().sum()).sqrt())
    width = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    signal, middle = total - variance / n, (total / variance) ** 0.5  # (2)
    inverses = [max(end, 0.0) ** 2 - 1 / n for end in (middle + width, middle - width)]
    low, high = (1 / v if v > 0 else inf for v in inverses)
    return GradientNoise(variance / signal if signal > 0 else inf, (low, high), confidence, variance, signal, n)  # (1)
