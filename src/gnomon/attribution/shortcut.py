"""Finds shortcuts: single features or frequencies that alone determine a network's predictions.

    lost(i)  = share of right decisions that change when feature i comes from an example of another class         (1)
    alone(i) = accuracy of the nearest neighbors in feature i alone, on examples that are not among them          (2)

Feature i stands out if one hypothesis is rejected: that (2) is at most `MAX_ACCURACY_LEAD` above the accuracy of the
best other candidate of its kind, or leaves half of the errors of chance. It is a shortcut of the network if a second
hypothesis is rejected too: that (1) is at most `MAX_LOST_DECISIONS`. If only the first is rejected, the data offer a
shortcut that the network does not use, or not yet. Both are exact binomial tests at a share of the level, divided by
two and by the number of candidates. Donors alone choose the candidates, and the tests count what happens to
recipients, which are
independent of the donors. So the false-alarm probability is at most the stated level, even if features depend on each
other. Recipients and donors are two halves of the data, each used once, so the trials are independent. Neighboring
pixels are not compared, because a mark may be larger than a pixel.
Hypotheses: classes as targets; at least 30 examples, drawn independently.
Reference: [geirhos2020shortcut]; [holm1979simple] for many tests at once.
Cost: a forward pass of at most 512 examples for each of about 24 candidates.

>>> x = torch.randn(200, 4, generator=torch.Generator().manual_seed(0))
>>> net = nn.Linear(4, 2)
>>> _ = net.weight.data.copy_(torch.tensor([[0.0, 0, 0, -1], [0, 0, 0, 1]])), net.bias.data.zero_()
>>> shortcuts(net, (x, (x[:, 3] > 0).long())).named
('feature 3',)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.attribution.gradient import gradient
from gnomon.attribution.layers import one_tensor
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable, check_number, check_seed
from gnomon.core.inputs.source import data_source
from gnomon.core.metrics import predicted_classes
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.core.results.record import Record
from gnomon.findings import decisions as kinds

__all__ = ["FeatureReliance", "Shortcuts", "shortcuts"]

MAX_EXAMPLES = 1024
"""Maximum number of examples used."""
CANDIDATES_PER_SEARCH = 8
"""Number of features or frequencies that each search proposes."""
MAX_LOST_DECISIONS = 0.02
"""Share of decisions that a single feature may carry without being a shortcut."""
MAX_ACCURACY_LEAD = 0.1
"""Lead in accuracy that one feature may have over all others without being a shortcut."""
MIN_RIVAL_DISTANCE = 0.25
"""Minimum distance between compared pixels, as a share of the image sides."""
NEIGHBOR_COUNT = 5
"""Number of nearest neighbors that vote."""


@dataclass(frozen=True, slots=True)
class FeatureReliance(Record):
    """How much a network relies on one feature: predictions lost without it, accuracy from it alone, and two p-values.

    See equations (1) and (2) of the module docstring.
    ``apart`` is the p-value for standing out in the data; ``p`` is the larger of ``apart`` and the p-value for (1).
    Both are multiplied by twice the number of candidates. ``column`` is False for pixels and frequencies of images;
    columns of a table may be intended features.

    >>> FeatureReliance("pixel (0, 0)", 0.7, 1.0, 1e-12, 1e-9).name
    'pixel (0, 0)'
    """

    name: str
    lost: float
    alone: float
    apart: float
    p: float
    column: bool = False


@dataclass(frozen=True, slots=True)
class Shortcuts(Result):
    """Result: how much a network relies on single features and frequencies, the most important first.

    ``level`` bounds the probability of a report on data in which no candidate stands out.
    """

    reliance: tuple[FeatureReliance, ...]
    accuracy: float
    chance: float
    level: float

    @property
    def named(self) -> tuple[str, ...]:
        """Returns the names of all shortcuts that the network uses."""
        return tuple(r.name for r in self.reliance if r.p <= self.level)

    @property
    def offered(self) -> tuple[str, ...]:
        """Returns features that alone predict the class, so that a network could use them, but that this network does
        not use.
        """
        # Leaves out table columns, because a table's column may be a feature that the network should use.
        return tuple(r.name for r in self.reliance if r.apart <= self.level < r.p and not r.column)

    @property
    def verdict(self) -> str:
        """States in one sentence which shortcuts the network uses."""
        if self.named:
            return f"The network uses a shortcut, {', '.join(self.named)}, which predicts the classes by itself."
        if not self.reliance:
            return "No feature was tested: none can be exchanged between examples."
        if self.offered:
            them = ", ".join(self.offered)
            return (
                f"The data offer a shortcut, {them}, which predicts the classes by itself; the network does not use it."
            )
        top = max(self.reliance, key=lambda r: r.lost)
        if top.lost <= 0:
            return "No shortcut was found: no correct decision changes if one feature is taken from another example."
        effect = f"taking it from another example changes {top.lost:.1%} of the correct decisions"
        return f"No shortcut was found. The most important single feature is {top.name}: {effect}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns one finding about the shortcuts that the network uses or, if there are none, that the
        data contain.
        """
        if not (self.named or self.offered):
            return ()
        names = ", ".join(self.named or self.offered)
        first = next(r for r in self.reliance if r.name in (self.named or self.offered))
        row = (
            kinds.SHORTCUT_OFFERED
            if not self.named
            else kinds.STRONG_FEATURE
            if any(r.column for r in self.reliance if r.name in self.named)
            else kinds.SHORTCUT
        )
        values = {"names": names, "alone": first.alone, "lost": first.lost, "chance": self.chance}
        evidence = tuple(Value(f"decisions lost without {r.name}", r.lost) for r in self.reliance[:3])
        return (Finding(row, "inputs", values, evidence, self.level),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots, for each candidate feature, the fraction of predictions that change without it."""
        bars = Bars("decisions lost", [r.name for r in self.reliance[:12]], [r.lost for r in self.reliance[:12]])
        words = (
            "Share of the right decisions that change if one feature comes from another example. One bar much longer "
            "than the rest means that the network relies on this feature alone."
        )
        return (
            Plot(
                "Decisions that depend on single features",
                (bars,),
                Axis("share of changed decisions"),
                caption=words,
                id="what-single-features-are-worth",
            ),
        )


@add_call_to_errors
def shortcuts(
    module: nn.Module, data: Any, *, level: float = 0.005, columns: Sequence[str] = (), seed: int = 0
) -> Shortcuts:
    """Finds single features or frequencies on which a network's predictions depend.

    See equations (1) and (2) of the module docstring.

    ``columns`` names the columns of a table; without names they are "feature 0", "feature 1", ...

    Also reports shortcuts that the data offer and the network does not use, for instance before training.
    Hypotheses: see the module. ``level`` bounds the probability of a false alarm.
    Reference: [geirhos2020shortcut].
    Cost: see the module.

    >>> shortcuts(nn.Linear(2, 2), (torch.randn(60, 2), torch.arange(60) % 2)).chance
    0.5
    """
    check_module_is_callable(module)
    batch = data_source(data, module=module).probe(MAX_EXAMPLES, seed=seed)
    if batch.y is None or batch.y.is_floating_point() or batch.y.dim() != 1 or len(batch) < 30:
        fix = "Pass at least 30 examples with whole numbers as classes"
        raise InputError(
            "there are too few examples, or their targets are not classes", accepted="examples with classes", fix=fix
        )
    allowed = check_number("level", level, above=0, below=1)
    x, y = one_tensor(batch.x, module), batch.y.long()
    pairs = _Pairs.of(module, x, y, check_seed(seed))
    if columns and len(columns) != x[0].numel():
        fix = "Pass one name for each column, in order"
        raise InputError(
            f"columns has {len(columns)} names and the inputs have {x[0].numel()} columns",
            accepted="one name for each column", fix=fix,
        )  # fmt: skip
    kinds = [_features(module, pairs, tuple(columns))]
    if x.dim() == 4:
        kinds.append(_frequencies(module, pairs))
    tests = 2 * sum(len(trials) for trials in kinds)
    rated = [_judge(trial, trials, pairs, allowed, tests) for trials in kinds for trial in trials]
    return Shortcuts(tuple(sorted(rated, key=lambda r: (r.p, r.apart, -r.lost))), pairs.accuracy, pairs.chance, allowed)


@dataclass(frozen=True, slots=True)
class _Trial:
    """Counts for one feature that is exchanged between examples: changed predictions, and predictions right from it
    alone.
    """

    name: str
    place: tuple[float, ...]
    lost: int
    correct: int
    column: bool = False


def _judge(trial: _Trial, trials: Sequence[_Trial], pairs: "_Pairs", level: float, tests: int) -> FeatureReliance:
    """Tests whether the network relies on one feature, and whether the feature alone predicts the class."""
    from scipy.stats import beta, binom

    n, used = len(pairs.y), int(pairs.right.sum())
    rivals = [t.correct for t in trials if t is not trial and math.dist(t.place, trial.place) > MIN_RIVAL_DISTANCE]
    bound = (1 + pairs.chance) / 2
    if rivals and max(rivals) < n:
        # `best` becomes the upper confidence bound on the accuracy of the best feature other than the shortcut.
        best = float(beta.ppf(1 - level / tests, max(rivals) + 1, n - max(rivals)))
        bound = max(bound, best + MAX_ACCURACY_LEAD)
    elif rivals:
        bound = 1.0
    stands_out = tests * float(binom.sf(trial.correct - 1, n, bound)) if bound < 1 else 1.0
    carries = tests * float(binom.sf(trial.lost - 1, used, MAX_LOST_DECISIONS))
    shares = trial.lost / max(used, 1), trial.correct / n
    p_values = min(1.0, stands_out), min(1.0, max(stands_out, carries))
    return FeatureReliance(trial.name, *shares, *p_values, trial.column)


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Pairs of examples from different classes between which features are exchanged, to find shortcuts."""

    x: Tensor
    y: Tensor
    donor: Tensor
    theirs: Tensor
    right: Tensor
    accuracy: float
    chance: float

    @classmethod
    def of(cls, module: nn.Module, x: Tensor, y: Tensor, seed: int) -> "_Pairs":
        order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
        a, b = order[: len(y) // 2].to(x.device), order[len(y) // 2 : 2 * (len(y) // 2)].to(x.device)
        y = y.to(x.device)
        correct = _decide(module, x[a]) == y[a]
        chance = float(y.bincount().max()) / len(y)
        return cls(x[a], y[a], x[b], y[b], correct & (y[a] != y[b]), float(correct.double().mean()), chance)

    def trial(
        self, module: nn.Module, name: str, place: tuple[float, ...], mixed: Tensor, parts: tuple[Tensor, Tensor]
    ) -> _Trial:
        """Counts predictions that change if a feature is copied from another example, and predictions right from it
        alone.
        """
        lost = int((_decide(module, mixed[self.right]) != self.y[self.right]).sum()) if self.right.any() else 0  # (1)
        near = torch.cdist(parts[0].double(), parts[1].double())
        votes = self.theirs[near.topk(min(NEIGHBOR_COUNT, near.shape[1]), largest=False).indices]
        return _Trial(name, place, lost, int((votes.mode(1).values == self.y).sum()))  # (2)


def _features(module: nn.Module, pairs: _Pairs, columns: tuple[str, ...]) -> list[_Trial]:
    own, theirs, shape = pairs.x.flatten(1), pairs.donor.flatten(1), pairs.x.shape[1:]
    coded = pairs.theirs.unique(return_inverse=True)[1]
    slopes = gradient(module, pairs.donor).values.flatten(1).abs().mean(0) * theirs.std(0)
    most = min(CANDIDATES_PER_SEARCH, len(slopes))
    found = []
    for i in sorted({int(i) for rank in (separation(theirs, coded), slopes) for i in rank.topk(most).indices}):
        mixed = own.clone()
        mixed[:, i] = theirs[:, i]
        name, place = _pixel(i, shape)
        name = columns[i] if columns else name
        trial = pairs.trial(module, name, place, mixed.reshape(pairs.x.shape), (own[:, [i]], theirs[:, [i]]))
        found.append(replace(trial, column=len(shape) != 3))
    return found


def separation(flat: Float[Tensor, "n d"], y: Int[Tensor, " n"]) -> Float[Tensor, " d"]:
    """Returns for each feature how well it separates classes: variance of class means over variance within classes."""
    means = torch.stack([flat[y == c].mean(0) for c in range(int(y.max()) + 1)])
    share = (y.bincount().to(flat) / len(y))[:, None]
    between = (share * (means - flat.mean(0)).square()).sum(0)
    within = (flat - means[y]).square().mean(0)
    total = between + within
    ratio = between / (within + 1e-6 * total + 1e-30)
    return torch.where(total > 1e-12 * total.max(), ratio, torch.zeros_like(ratio))


def _frequencies(module: nn.Module, pairs: _Pairs) -> list[_Trial]:
    """Exchanges each Fourier frequency between paired images and counts the changed predictions."""
    size = pairs.x.shape[2:]
    own, theirs = torch.fft.rfft2(pairs.x), torch.fft.rfft2(pairs.donor)
    n, c, h, w = own.shape
    coded = pairs.theirs.unique(return_inverse=True)[1]
    parts = torch.stack([theirs.real, theirs.imag], 1).reshape(n, 2 * c, h, w)
    ratio = torch.stack([separation(parts[:, j].flatten(1), coded) for j in range(2 * c)]).amax(0).reshape(h, w)
    # In these columns of the FFT both a frequency w and its opposite -w occur; together they are one real frequency.
    alike = [0, size[1] // 2] if size[1] % 2 == 0 else [0]
    ratio[h // 2 + 1 :, alike] = 0.0
    ratio[0, 0] = 0.0
    found = []
    for i in ratio.flatten().topk(min(CANDIDATES_PER_SEARCH, h * w - 1)).indices.tolist():
        row, column = divmod(i, w)
        mixed = own.clone()
        mixed[:, :, row, column] = theirs[:, :, row, column]
        if column in alike:
            mixed[:, :, -row % h, column] = theirs[:, :, -row % h, column]
        rows = tuple(torch.view_as_real(v[:, :, row, column].contiguous()).flatten(1) for v in (own, theirs))
        signed = row if row <= h // 2 else row - h
        name, place = f"frequency ({signed}, {column})", (float(signed), float(column))
        found.append(pairs.trial(module, name, place, torch.fft.irfft2(mixed, s=size), (rows[0], rows[1])))
    return found


def _decide(module: nn.Module, x: Tensor) -> Tensor:
    return predicted_classes(outputs_in_eval_mode(module, x))


def _pixel(i: int, shape: torch.Size) -> tuple[str, tuple[float, ...]]:
    """Returns the name of a feature, such as "pixel (3, 4)", and its position."""
    if len(shape) != 3:
        return f"feature {i}", (float(i),)
    channel, row, column = (int(v) for v in torch.unravel_index(torch.tensor(i), shape))
    name = f"pixel ({row}, {column})" + (f" of channel {channel}" if shape[0] > 1 else "")
    return name, (row / shape[1], column / shape[2])
