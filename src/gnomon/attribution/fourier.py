"""Finds the frequencies that a trained network needs: the sparsest Fourier mask that keeps its decisions.

    M* = argmin_M  mean_x e^{[L(f(F^-1 M F x), y) - L(f(x), y)]^2} + lam mean_w |M_w|^p,    0 <= M_w <= 1        (1)

The mask is symmetric, M(w) = M(-w), so that images stay real. It is found by stochastic descent over the data, then
thresholded at half of its largest entry.
Hypotheses: a frozen network; images (n, channels, height, width).
Reference: [karantzas2022understanding].
Cost: ``epochs`` passes forward and backward over the data.

>>> net = nn.Sequential(nn.Flatten(), nn.Linear(16, 2))
>>> x = torch.rand(8, 1, 4, 4)
>>> fourier_mask(net, (x, torch.zeros(8, dtype=torch.long)), epochs=1).mask.shape
torch.Size([4, 4])
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from gnomon.attribution.layers import images
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_integer, check_module_is_callable, check_number
from gnomon.core.inputs.source import data_source
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Image, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON

__all__ = ["FourierMask", "fourier_mask", "keep_frequencies"]

MAX_SQUARED_DIFFERENCE = 20.0
"""Upper limit for squared loss differences before the exponential in (1): larger ones add no information."""
MASK_LEARNING_RATE = 0.1
"""Learning rate of Adam for the mask."""
MASK_INITIAL_LOGIT = 2.0
"""Initial value of every entry of the mask, before the sigmoid."""
MAX_NAMED_FREQUENCIES = 9
"""Maximum number of frequencies that are named along a side of the plot."""


@dataclass(frozen=True, slots=True, eq=False)
class FourierMask(Result):
    """Result: a mask over image frequencies, and the accuracy on images that keep only the masked frequencies.

    >>> FourierMask(torch.eye(2) > 0, 0.9, 0.88, 0.95).kept
    0.5
    """

    mask: Tensor = field(repr=False, metadata=HIDDEN_IN_JSON)
    accuracy: float
    masked_accuracy: float
    agreement: float

    @property
    def kept(self) -> float:
        """Returns the fraction of frequencies that the mask keeps."""
        return float(self.mask.double().mean())

    def ambiguous(self, x: Tensor, other: Tensor) -> Tensor:
        """Returns images that mix the frequencies of x that the mask keeps with the other frequencies of other
        images.
        """
        return keep_frequencies(x, self.mask) + other - keep_frequencies(other, self.mask)

    @add_call_to_errors("fourier_mask(module, data)")
    def on(self, module: nn.Module, data: Any) -> "FourierMask":
        """Measures the accuracy on other images of which only the frequencies in the mask are kept."""
        with preserve(module):
            return FourierMask(self.mask, *_measure(module, data_source(data, module=module), self.mask))

    def frequencies(self) -> tuple[tuple[int, int], ...]:
        """Returns the frequencies that the mask keeps, in cycles per image; of opposite frequencies w and -w only
        one.
        """
        h, w = self.mask.shape
        found = set()
        for i, j in self.mask.nonzero().tolist():
            a, b = (i if i <= h // 2 else i - h), (j if j <= w // 2 else j - w)
            found.add(max((a, b), (-a, -b), key=lambda pair: (pair[1], pair[0])))
        return tuple(sorted(found))

    @property
    def verdict(self) -> str:
        """States in one sentence which fraction of image frequencies suffices for the network's predictions."""
        if bool(self.mask.all()):
            return "The network needs every frequency of the images: leaving any out changes decisions."
        return (
            f"With only {self.kept:.0%} of the frequencies of the images, {self.agreement:.0%} of the decisions stay "
            f"the same; accuracy goes from {self.accuracy:.1%} to {self.masked_accuracy:.1%}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the mask over image frequencies, with frequency zero in the middle."""
        (h, w), unit = self.mask.shape, "frequency (cycles per image)"
        shown = Image("kept", torch.fft.fftshift(self.mask.double()), _frequency_labels(h), _frequency_labels(w))
        axes = Axis(f"horizontal {unit}"), Axis(f"vertical {unit}")
        return (Plot("Frequencies the network needs", (shown,), *axes, self.verdict),)


@add_call_to_errors
@limit_time
def fourier_mask(
    module: nn.Module,
    data: Any,
    *,
    sparsity_weight: float = 1.0,
    sparsity_power: float = 1.0,
    epochs: int = 20,
    budget: float | None = None,
) -> FourierMask:
    """Finds the smallest set of image frequencies (a mask) that keeps a network's predictions unchanged.

    See equation (1) of the module docstring.

    ``budget`` is the number of seconds after which the call ends with an error that says how long it would take.

    Hypotheses: see the module; ``data`` are images with their classes.
    Reference: [karantzas2022understanding].
    Cost: ``epochs`` passes forward and backward.

    >>> x = torch.rand(8, 1, 4, 4)
    >>> net = nn.Sequential(nn.Flatten(), nn.Linear(16, 2))
    >>> fourier_mask(net, (x, torch.ones(8).long()), sparsity_weight=1e-6).kept          # no price, nothing is left out
    1.0
    """
    check_module_is_callable(module)
    given = data_source(data, module=module)
    first = images(given.first(1).x, module)
    weight, power = (
        check_number("sparsity_weight", sparsity_weight, above=-1e-300),
        check_number("sparsity_power", sparsity_power, above=0),
    )
    theta = torch.full(first.shape[2:], MASK_INITIAL_LOGIT, dtype=first.dtype, device=first.device, requires_grad=True)
    optimizer = torch.optim.Adam([theta], MASK_LEARNING_RATE)
    with preserve(module):
        for _ in with_progress_bar(range(check_integer("epochs", epochs)), "epochs"):
            for batch in given.batches():
                x, y = images(batch.x, module), _classes(batch.y)
                mask = symmetric(theta.sigmoid())
                with torch.no_grad():
                    before = functional.cross_entropy(_logits(module, x), y, reduction="none")
                after = functional.cross_entropy(_logits(module, keep_frequencies(x, mask)), y, reduction="none")
                apart = (after - before).square().clamp(max=MAX_SQUARED_DIFFERENCE)
                loss = apart.exp().mean() + weight * mask.clamp(min=1e-12).pow(power).mean()  # (1)
                (theta.grad,) = torch.autograd.grad(loss, theta)
                optimizer.step()
        last = symmetric(theta.detach().sigmoid())
        final = last > last.max() / 2
        return FourierMask(final, *_measure(module, given, final))


@add_call_to_errors
def keep_frequencies(x: Any, mask: Float[Tensor, "h w"] | Tensor) -> Float[Tensor, "n c h w"]:
    """Multiplies each Fourier frequency of images (n, c, h, w) by its entry of a symmetric mask.

    Cost: two fast Fourier transforms.

    >>> x = torch.rand(1, 1, 4, 4)
    >>> bool(torch.allclose(keep_frequencies(x, torch.ones(4, 4)), x))
    True
    """
    return torch.fft.ifft2(torch.fft.fft2(as_numbers(x, "x")) * mask).real


def _frequency_labels(size: int) -> list[str]:
    """Returns axis labels for the frequencies along an image side, with zero in the middle; leaves some out if many.

    >>> _frequency_labels(4), _frequency_labels(32)[::8]
    (['-2', '-1', '0', '1'], ['-16', '-8', '0', '8'])
    """
    step = -(-size // MAX_NAMED_FREQUENCIES)
    return ["" if i % step else str(i) for i in range(-(size // 2), size - size // 2)]


def symmetric(mask: Tensor) -> Tensor:
    """Returns the mean of a frequency mask and its mirror image, which treats opposite frequencies equally."""
    return (mask + mask.flip(0, 1).roll((1, 1), (0, 1))) / 2


def _measure(module: nn.Module, given: Any, mask: Tensor) -> tuple[float, float, float]:
    right = still = alike = total = 0
    with torch.no_grad():
        for batch in given.batches():
            x, y = images(batch.x, module), _classes(batch.y)
            a, b = _logits(module, x).argmax(1), _logits(module, keep_frequencies(x, mask)).argmax(1)
            right, still, alike = right + int((a == y).sum()), still + int((b == y).sum()), alike + int((a == b).sum())
            total += len(y)
    return right / total, still / total, alike / total


def _logits(module: nn.Module, x: Tensor) -> Tensor:
    return run_to_rows(module, x)


def _classes(y: Tensor | None) -> Tensor:
    if y is None or y.is_floating_point() or y.dim() != 1:
        raise InputError("the targets are not classes", accepted="a class for each image", fix="Pass (images, classes)")
    return y.long()
