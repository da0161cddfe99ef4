"""Shortcuts: single features or single frequencies that carry a network's decisions.

    drop(i)  = accuracy of the network - its accuracy with feature i exchanged between examples                 (1)
    alone(i) = accuracy of the nearest neighbor in feature i alone, each example left out                       (2)

Candidates are the pixels, or frequencies of images, that tell classes apart best by themselves (largest ratio of the
variance between classes to that within), and the features with the largest gradients. A feature is called a shortcut
where the network uses it (1) and it would do by itself (2): single pixels and frequencies of real images do not.
Hypotheses: classes as targets; at least 30 examples.
Reference: [geirhos2020shortcut].
Cost: a forward pass for each of about 24 candidates.

>>> x = torch.randn(200, 4)
>>> net = nn.Linear(4, 2)
>>> _ = net.weight.data.copy_(torch.tensor([[0.0, 0, 0, -1], [0, 0, 0, 1]])), net.bias.data.zero_()
>>> shortcuts(net, (x, (x[:, 3] > 0).long())).named
('feature 3',)
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.attribution.gradient import gradient
from gnomon.attribution.layers import one_tensor
from gnomon.core.checks import check_readable, check_seed
from gnomon.core.errors import InputError, lesson
from gnomon.core.metrics import decisions
from gnomon.core.outputs import outputs
from gnomon.core.record import Record
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.core.source import source

__all__ = ["Reliance", "Shortcuts", "shortcuts"]

CALL = "shortcuts(module, data)"
MOST = 512
"""Examples at most."""
CANDIDATES = 8
"""Features, or frequencies, that each way of looking proposes."""
USED, ALONE = 0.1, 0.75
"""Shares of accuracy - chance: a shortcut is worth the first to the network, and gives the second by itself."""
REPEATS = 2


@dataclass(frozen=True, slots=True)
class Reliance(Record):
    """A feature or a frequency, the accuracy (1) that is lost without it, and the accuracy (2) that it gives alone.

    >>> Reliance("pixel (0, 0)", 0.7, 1.0).name
    'pixel (0, 0)'
    """

    name: str
    drop: float
    alone: float


@dataclass(frozen=True, slots=True)
class Shortcuts(Result):
    """What single features and frequencies are worth to a network, the most important first."""

    reliance: tuple[Reliance, ...]
    accuracy: float
    chance: float

    @property
    def named(self) -> tuple[str, ...]:
        """The shortcuts by name."""
        known = max(self.accuracy - self.chance, 0.05)
        return tuple(r.name for r in self.reliance if r.drop >= USED * known and r.alone >= self.chance + ALONE * known)

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.named:
            return f"The network takes a shortcut, {', '.join(self.named)}: it gives the classes by itself."
        top = self.reliance[0]
        return (
            f"No single feature gives the classes; the most important is {top.name}, worth {top.drop:.1%} of accuracy."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One for all shortcuts."""
        if not self.named:
            return ()
        names = ", ".join(self.named)
        first = next(r for r in self.reliance if r.name in self.named)
        what = f"The network uses {names}, which gives the classes by itself ({first.alone:.0%} right): exchanged "
        what += f"between examples, it costs {first.drop:.0%} of accuracy."
        cure = "Look for a label, mark or artifact of recording there; remove it from the data and train again."
        evidence = tuple(Value(f"accuracy lost without {r.name}", r.drop) for r in self.reliance[:3])
        severity = 0.2 if "feature" in names else 0.6  # one column of a table may well be the task itself
        return (Finding("shortcut", what, cure, severity, "inputs", evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """The accuracy lost without each candidate."""
        bars = Bars("accuracy lost", [r.name for r in self.reliance[:12]], [r.drop for r in self.reliance[:12]])
        words = "A long first bar is a shortcut: the network has learnt one feature instead of the task."
        return (Plot("What single features are worth", (bars,), Axis("accuracy lost without it"), caption=words),)


def shortcuts(module: nn.Module, data: Any, *, seed: int = 0) -> Shortcuts:
    """Look for single features or frequencies that carry a network's decisions, equation (1).

    Hypotheses: see the module.
    Reference: [geirhos2020shortcut].
    Cost: see the module.

    >>> shortcuts(nn.Linear(2, 2), (torch.randn(60, 2), torch.arange(60) % 2)).chance
    0.5
    """
    check_readable(module, call=CALL)
    batch = source(data, module=module, call=CALL).probe(MOST, seed=seed)
    if batch.y is None or batch.y.is_floating_point() or batch.y.dim() != 1 or len(batch) < 30:
        cure = "Pass at least 30 examples with whole numbers as classes"
        raise InputError(lesson(CALL, "there are too few examples, or no classes", "examples with classes", cure))
    x, y = one_tensor(batch.x, module, call=CALL), batch.y.long()
    before = _accuracy(module, x, y)
    draw = torch.Generator().manual_seed(check_seed(seed, call=CALL))
    flat, coded = x.flatten(1), y.unique(return_inverse=True)[1]
    slopes = gradient(module, x).values.flatten(1).abs().mean(0) * flat.std(0)
    most = min(CANDIDATES, len(slopes))
    best = {int(i) for rank in (separation(flat, coded), slopes) for i in rank.topk(most).indices}
    found = []
    for i in sorted(best):
        drops = [before - _accuracy(module, _exchanged(flat, i, draw).reshape(x.shape), y) for _ in range(REPEATS)]
        found.append(Reliance(_pixel(i, x.shape[1:]), sum(drops) / REPEATS, _alone(flat[:, [i]], y)))  # (1)
    if x.dim() == 4:
        found += _frequencies(module, x, y, coded, before, draw)
    chance = float(y.bincount().max()) / len(y)
    return Shortcuts(tuple(sorted(found, key=lambda r: -r.drop)), before, chance)


def separation(flat: Float[Tensor, "n d"], y: Int[Tensor, " n"]) -> Float[Tensor, " d"]:
    """The variance of class means over the mean variance within classes, of each feature; 0 for constant ones."""
    means = torch.stack([flat[y == c].mean(0) for c in range(int(y.max()) + 1)])
    share = (y.bincount().to(flat) / len(y))[:, None]
    between = (share * (means - flat.mean(0)).square()).sum(0)
    within = (flat - means[y]).square().mean(0)
    total = between + within
    ratio = between / (within + 1e-6 * total + 1e-30)
    return torch.where(total > 1e-12 * total.max(), ratio, torch.zeros_like(ratio))


def _frequencies(
    module: nn.Module, x: Tensor, y: Tensor, coded: Tensor, before: float, draw: torch.Generator
) -> list[Reliance]:
    """The same for frequencies other than zero: w and -w are exchanged together, in all channels."""
    waves = torch.fft.rfft2(x)
    n, c, h, w = waves.shape
    parts = torch.stack([waves.real, waves.imag], 1).reshape(n, 2 * c, h * w)
    ratio = torch.stack([separation(parts[:, j], coded) for j in range(2 * c)]).amax(0)
    ratio[0] = 0.0
    found = []
    for i in ratio.topk(min(CANDIDATES, h * w - 1)).indices.tolist():
        row, column = divmod(i, w)
        drops = []
        for _ in range(REPEATS):
            order = torch.randperm(n, generator=draw)
            mixed = waves.clone()
            mixed[:, :, row, column] = waves[order][:, :, row, column]
            if column == 0 or 2 * column == x.shape[3]:  # the mirror frequency is stored as well
                mixed[:, :, -row % h, column] = waves[order][:, :, -row % h, column]
            drops.append(before - _accuracy(module, torch.fft.irfft2(mixed, s=x.shape[2:]), y))
        signed = row if row <= h // 2 else row - h
        alone = _alone(parts[:, :, i], y)
        found.append(Reliance(f"frequency ({signed}, {column})", sum(drops) / REPEATS, alone))
    return found


def _accuracy(module: nn.Module, x: Tensor, y: Tensor) -> float:
    return float((decisions(outputs(module, x, call=CALL)) == y).double().mean())


def _alone(points: Float[Tensor, "n d"], y: Tensor) -> float:
    apart = torch.cdist(points.double(), points.double())
    apart.fill_diagonal_(torch.inf)
    return float((y[apart.argmin(1)] == y).double().mean())  # (2)


def _exchanged(flat: Tensor, i: int, draw: torch.Generator) -> Tensor:
    mixed = flat.clone()
    mixed[:, i] = flat[torch.randperm(len(flat), generator=draw).to(flat.device), i]
    return mixed


def _pixel(i: int, shape: torch.Size) -> str:
    if len(shape) != 3:
        return f"feature {i}"
    channel, row, column = (int(v) for v in torch.unravel_index(torch.tensor(i), shape))
    return f"pixel ({row}, {column})" + (f" of channel {channel}" if shape[0] > 1 else "")
