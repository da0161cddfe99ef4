"""Square attack: changes random squares of an image by up to eps and keeps those that lower the margin; no gradients.

    largest entry   a square window of every channel is set to x - eps or x + eps                             (1)
    Euclidean       a window's share of the length eps is moved into a window with a pyramid of one sign      (2)

The side of the windows shrinks with the queries. Other inputs are treated as an image of one row.
Reference: [andriushchenko2020square].
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.results.record import Record
from gnomon.robustness.attacks.base import AbstractAttack, AttackedModel, margin_loss
from gnomon.robustness.attacks.threat import ThreatModel, broadcast_per_example, example_norms

__all__ = ["SquareAttack"]

SHRINKS = (10, 50, 200, 1000, 2000, 4000, 6000, 8000)
"""Numbers of queries, out of 10,000, after which the share of an image that a window covers is halved."""


@dataclass(frozen=True, slots=True)
class SquareAttack(Record, AbstractAttack):
    """The Square attack, which needs no gradients, with at most ``queries`` forward passes for each example.

    See equations (1) and (2) of the module docstring.

    >>> from gnomon.robustness.attacks import attack
    >>> net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 2))
    >>> data = torch.full((1, 1, 2, 2), 0.5), torch.tensor([0])
    >>> attack(net, data, eps=0.1, bounds=(0, 1), method=SquareAttack(queries=5)).examples.shape
    torch.Size([1, 1, 2, 2])
    """

    queries: int = 5000
    share: float = 0.8
    name = "SquareAttack"

    @torch.no_grad()
    def run(  # noqa: D102
        self, classifier: AttackedModel, x: Tensor, y: Tensor, threat: ThreatModel, generator: torch.Generator
    ) -> Tensor:
        shape = x.shape
        images = x if x.dim() == 4 else x.reshape(len(x), 1, 1, -1)
        found, left = images.clone(), torch.arange(len(x))
        z = _stripes(images, threat, generator)
        best = margin_loss(classifier.all_scores(z.reshape(shape)), y)
        with classifier.until_time_is_up():
            for query in with_progress_bar(range(self.queries), "queries"):
                fooled = best < 0
                if bool(fooled.any()):
                    found[left[fooled]] = z[fooled]
                    left, z, best = left[~fooled], z[~fooled], best[~fooled]
                if not len(left):
                    break
                side = self._side(query, images)
                move = _window if threat.norm == "inf" else _pyramid
                tried = move(images[left], z, side, threat, generator)
                value = margin_loss(classifier.all_scores(tried.reshape(len(left), *shape[1:])), y[left])
                better = value < best
                z = torch.where(broadcast_per_example(better, z), tried, z)
                best = torch.minimum(best, value)
        found[left] = z
        return found.reshape(shape)

    def _side(self, query: int, x: Tensor) -> int:
        done = query / self.queries * 10_000
        share = self.share / 2 ** sum(done > at for at in SHRINKS)
        return max(1, round((share * x.shape[2] * x.shape[3]) ** 0.5))


def _signs(*shape: int, like: Tensor, generator: torch.Generator) -> Tensor:
    return (torch.randint(0, 2, shape, generator=generator) * 2 - 1).to(like)


def _stripes(x: Tensor, threat: ThreatModel, generator: torch.Generator) -> Tensor:
    """Returns images with vertical stripes of size eps added, each stripe with one random sign per channel."""
    n, c, _, w = x.shape
    signs = _signs(n, c, 1, w, like=x, generator=generator).expand_as(x)
    if threat.norm == "inf":
        return threat.project(x, x + threat.eps * signs)
    return threat.project(x, x + threat.eps * threat.steepest(signs))


def _places(x: Tensor, height: int, width: int, generator: torch.Generator) -> Tensor:
    """Returns a mask (n, 1, h, w) that is one in a random window of each image and zero elsewhere."""
    n, _, h, w = x.shape
    top = torch.randint(0, h - height + 1, (n, 1, 1, 1), generator=generator)
    left = torch.randint(0, w - width + 1, (n, 1, 1, 1), generator=generator)
    rows, columns = torch.arange(h).reshape(1, 1, h, 1), torch.arange(w).reshape(1, 1, 1, w)
    inside = (rows >= top) & (rows < top + height) & (columns >= left) & (columns < left + width)
    return inside.to(x.device)


def _window(x: Tensor, z: Tensor, side: int, threat: ThreatModel, generator: torch.Generator) -> Tensor:
    n, c, h, w = x.shape
    height = min(side, h)
    mask = _places(x, height, min(max(side, side * side // height), w), generator)
    signs = _signs(n, c, 1, 1, like=x, generator=generator)
    return torch.where(mask, threat.project(x, x + threat.eps * signs), z)  # (1)


def _pyramid(x: Tensor, z: Tensor, side: int, threat: ThreatModel, generator: torch.Generator) -> Tensor:
    n, c, h, w = x.shape
    height = min(max(side, 3), h)
    width = min(max(side, 3, side * side // height), w)
    to, away = (_entries(x, height, width, generator) for _ in range(2))
    move = z - x
    old = move[to]
    move[to], move[away] = 0.0, 0.0
    free = (threat.eps**2 - example_norms(move) ** 2).clamp_min(0).sqrt()
    fresh = _heights(height, width).to(x) * _signs(n, c, 1, 1, like=x, generator=generator)
    fresh = fresh / broadcast_per_example(example_norms(fresh), x) + old / broadcast_per_example(
        example_norms(old), x
    ).clamp_min(1e-30)
    move[to] = broadcast_per_example(free / example_norms(fresh).clamp_min(1e-30), x) * fresh
    return (x + move).clamp(threat.low, threat.high)  # (2)


def _entries(x: Tensor, height: int, width: int, generator: torch.Generator) -> tuple[Tensor, ...]:
    """Returns the indices (n, c, height, width) of a random window of each image."""
    n, c, h, w = x.shape
    top = torch.randint(0, h - height + 1, (n, 1, 1, 1), generator=generator)
    left = torch.randint(0, w - width + 1, (n, 1, 1, 1), generator=generator)
    examples, channels = torch.arange(n).reshape(n, 1, 1, 1), torch.arange(c).reshape(1, c, 1, 1)
    rows, columns = (
        top + torch.arange(height).reshape(1, 1, height, 1),
        left + torch.arange(width).reshape(1, 1, 1, width),
    )
    return tuple(i.to(x.device) for i in (examples, channels, rows, columns))


def _heights(height: int, width: int) -> Tensor:
    """Returns the shape of a perturbation in the Square attack: nested rectangles stacked to a pyramid."""
    total, a, b = torch.zeros(height, width), (height + 1) // 2, (width + 1) // 2
    for k in range(max(a, b)):
        i, j = min(k, a - 1), min(k, b - 1)
        total[i : height - i, j : width - j] += 1.0 / (max(a, b) - k) ** 2
    return total
