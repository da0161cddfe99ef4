"""Finds labels that look wrong because the most similar examples clearly have another class.

Kernel regression of one-hot labels gives a vote v(c) for each class at each example that leaves the example itself out
(`leave_one_out_kernel_predictions`). Examples are ranked by the margin of their label, the most suspect first:

    margin_i = v_i(given class) - max over other classes of v_i(c)                                                (1)

Wrong labels differ from hard examples in their votes: hard examples have weak votes, while wrong labels are as
frequent among the firmest votes as among others. With the examples sorted by how firm the vote is (its largest value
minus the second), and e(a, b) the share of those from place a n to b n whose vote is not their label,

    floor = e(0, 1/2),    evenness = 5 / n * mean place of the errors among the first 2 n / 5                     (2)

the floor is about the rate of wrong labels and the evenness 1 if labels are wrong by chance. If classes overlap
errors come late, and the evenness is larger: 1.26 for a logistic law of slope two, 1.38 for slope three.

Hypotheses: labels that are wrong independently of the inputs; features in which classes are more or less compact.
Reference: [northcutt2021confident]; [rasmussen2006gaussian], section 5.4.2, for the votes.

>>> import torch
>>> g = torch.Generator().manual_seed(0)
>>> x, y = torch.randn(1000, 4, generator=g), torch.zeros(1000, dtype=torch.long)
>>> y[x[:, 0] > 0] = 1
>>> x[:, 0] += 2 * x[:, 0].sign()
>>> y[:80] = 1 - y[:80]                                                     # eighty wrong labels
>>> found = suspect_labels((x, y))
>>> sorted(found.ranked[:80]) == list(range(80)), [finding.kind for finding in found.findings]
(True, ['noisy-labels'])
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from gnomon.checks.data.kernel_votes import EXAMPLES_PER_FIT, leave_one_out_kernel_predictions
from gnomon.checks.data.rows import example_rows
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import Inputs, count_examples, input_tensors
from gnomon.core.inputs.checks import check_finite_inputs, check_seed
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.source import data_source
from gnomon.core.metrics import binomial_interval
from gnomon.core.results import Axis, Finding, Histogram, Interval, Plot, Result, Value
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.findings import data as kinds

__all__ = ["SuspectLabels", "suspect_labels"]

MIN_EXAMPLES = 150
"""Minimum number of examples for judging labels."""
CLIPPING_DEVIATIONS = 4.0
"""Table entries are clipped at this many standard deviations, so that a rare value does not decide what is near."""
MIN_EXAMPLES_FOR_NOISE_RATE = 1000
"""Minimum number of examples for distinguishing wrong labels from hard examples; with fewer, labels are only ranked."""
MIN_NOISE_RATE = 0.02
"""Share of wrong labels at which there is a finding; clean image data have less than one percent."""
FLOOR_CONFIDENCE = 0.998
"""Confidence of the interval of the floor: its lower end exceeds the true rate with probability 1e-3."""
MAX_EVENNESS = 1.1
"""Evenness (2) up to which errors count as wrong labels; its standard deviation is 0.58 over the root of their number.
"""
MIN_VOTE_MARGIN = 0.4
"""Margin of the votes at which a contradiction counts as firm."""
MIN_SAVED_ERRORS = 0.5
"""Share of the errors of always guessing the largest class that the votes must avoid."""
MAX_ERROR_RATE = 0.25
"""Error rate above which the votes cannot estimate a noise rate."""


@dataclass(frozen=True, slots=True, eq=False)
class SuspectLabels(Result):
    """Result: examples ranked by how likely their labels are wrong, and the estimated fraction of wrong labels.

    ``ranked`` are numbers of examples, the most suspect first, ``margins`` are the margins of all examples in their
    order, ``votes`` the class that each example's neighbors have, ``floor`` is (2) with its interval, ``accuracy`` the
    share of votes that are the label, ``guess`` the share of always predicting the largest class, ``evenness`` (2).
    ``distances`` says that inputs are numbers: tokens and categories have no distances, and votes of neighbors prove
    nothing about labels.
    """

    ranked: tuple[int, ...] = field(repr=False, metadata=HIDDEN_IN_JSON)
    margins: Tensor = field(repr=False, metadata=HIDDEN_IN_JSON)
    votes: Tensor = field(repr=False, metadata=HIDDEN_IN_JSON)
    floor: float
    interval: Interval
    accuracy: float
    guess: float
    evenness: float
    distances: bool = True

    @property
    def rate(self) -> float:
        """Returns a lower estimate of the fraction of wrong labels."""
        return self.floor

    @property
    def noisy(self) -> bool:
        """Checks whether labels are wrong at random: they contradict similar examples even if these clearly agree with
        each other.
        """
        saved = self.accuracy > self.guess + MIN_SAVED_ERRORS * (1 - self.guess)
        known = len(self.ranked) >= MIN_EXAMPLES_FOR_NOISE_RATE and saved and self.floor < MAX_ERROR_RATE
        return self.distances and known and self.interval.low > MIN_NOISE_RATE and self.evenness < MAX_EVENNESS

    @property
    def unrelated(self) -> bool:
        """Checks whether the labels of similar examples predict a label no better than guessing."""
        deviation = (self.guess * (1 - self.guess) / max(1, len(self.ranked))) ** 0.5
        return (
            len(self.ranked) >= MIN_EXAMPLES_FOR_NOISE_RATE
            and self.accuracy < self.guess + 3 * deviation
            and self.guess < 0.6
        )

    @property
    def verdict(self) -> str:
        """Says in one sentence which fraction of the labels contradicts similar examples."""
        if not self.ranked:
            return "There are not enough examples to find wrong labels."
        rate = f"{self.floor:.1%} of the labels contradict similar examples that clearly agree with each other"
        return f"{rate}: about this share of the labels is wrong." if self.noisy else f"{rate}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Reports a problem if many labels are wrong, with the most suspicious examples, or if labels are unrelated to
        the inputs.
        """
        if self.unrelated:
            shares = (
                Value(("accuracy of predictions by neighbors"), self.accuracy),
                Value("accuracy of guessing", self.guess),
            )
            values = {"accuracy": self.accuracy, "guess": self.guess}
            return (Finding(kinds.NO_RELATION_SEEN, "labels", values, shares),)
        if not self.noisy:
            return ()
        first = ", ".join(map(str, self.ranked[:10]))
        evidence = (Value("rate of wrong labels", self.floor, self.interval, "estimate"),)
        return (
            Finding(
                kinds.NOISY_LABELS, "labels", {"share": self.floor, "first": first}, evidence, 1 - FLOOR_CONFIDENCE
            ),
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots a histogram of how well labels agree with the labels of similar examples; suspicious labels are on the
        left.
        """
        marks = (Histogram.of("examples", self.margins),) if self.ranked else ()
        words = "A value below zero means that the neighbors of the example have a different class."
        return (
            Plot(
                "Labels against neighbors",
                marks,
                Axis("margin of the given label"),
                Axis("examples"),
                words,
                id="labels-against-neighbors",
            ),
        )


@add_call_to_errors
def suspect_labels(data: Any, *, seed: int = 0, most: int = EXAMPLES_PER_FIT) -> SuspectLabels:
    """Ranks examples by how much their label contradicts similar examples, and estimates the fraction of wrong labels.

    See equations (1) and (2) of the module docstring.
    ``data`` have inputs and classes: a pair, a ``Dataset``, a ``DataLoader``, batches.

    False alarms: 1e-3 if labels are right and classes apart; if they overlap by a logistic law of slope two, 5 of
    111 tables of 1000 rows were accused, of slope three 1 of 80. Power: 5 % of wrong labels among 1400 digits were
    reported in 28 of 34 cases. 10 % are missed if the evenness, of deviation 0.58 / sqrt(errors), is above 1.1 by
    chance: in 6 % of cases with 2000 examples, 1.5 % with 4000. ``most`` examples are fitted at once: with fewer, more
    examples have their vote in the same time, and each vote is a little weaker.

    Hypotheses: as above; classes (n,) as integers, at least 150 examples, two classes and 10 examples of each.
    Reference: [northcutt2021confident].
    Cost: the same as `leave_one_out_kernel_predictions`, about a second for 2500 examples.

    >>> x = torch.randn(300, 2, generator=torch.Generator().manual_seed(0))
    >>> suspect_labels((x, (x[:, 0] > 0).long())).noisy  # near the border examples are only hard
    False
    """
    seed = check_seed(seed)
    x, y = data_source(data).pair()
    check_finite_inputs(x)
    n = count_examples(x)
    if not are_classes(y):
        what = f"there are {n} inputs and labels of shape {tuple(y.shape)}, {y.dtype}"
        raise InputError(what, accepted="an integer class for each input", fix="Pass y.long() with one class per row")
    kinds, code = torch.unique(y.cpu().long(), return_inverse=True)
    sizes = torch.bincount(code)
    if n < MIN_EXAMPLES or len(kinds) < 2 or int(sizes.max()) > n - 10 or float((sizes >= 10).double().mean()) < 0.5:
        nothing = torch.zeros(0)
        return SuspectLabels((), nothing, nothing.long(), 0.0, Interval(0.0, 1.0, FLOOR_CONFIDENCE), 0.0, 0.0, 0.0)
    table = torch.nn.functional.one_hot(code).double()
    v = leave_one_out_kernel_predictions(_near(x, seed), table, seed=seed, examples_per_fit=most)
    given = v.gather(1, code[:, None])[:, 0]
    others = v.scatter(1, code[:, None], -torch.inf)
    margins = given - others.max(1).values  # (1)
    best = v.topk(2, 1).values
    order = (best[:, 0] - best[:, 1]).argsort(descending=True)
    wrong = (margins < 0)[order]
    firm = wrong[: n // 2]
    floor, first = float(firm.double().mean()), wrong[: int(MIN_VOTE_MARGIN * n)].nonzero()[:, 0].double()
    evenness = float(first.mean() + 0.5) * 2 / int(MIN_VOTE_MARGIN * n) if len(first) else float("inf")  # (2)
    interval = binomial_interval(int(firm.sum()), len(firm), confidence=FLOOR_CONFIDENCE)
    ranked = tuple(margins.argsort().tolist())
    accuracy = 1 - float(wrong.double().mean())
    distances = any(t.is_floating_point() or t.dtype == torch.uint8 for t in input_tensors(x))
    guess = float(sizes.max()) / n
    return SuspectLabels(ranked, margins, kinds[v.argmax(1)], floor, interval, accuracy, guess, evenness, distances)


def _near(x: Inputs, seed: int) -> Tensor:
    """Converts examples to rows of numbers, for finding similar examples by distance; clips outliers in table
    columns.
    """
    parts = [(example_rows(t, seed=seed), t.dim() == 2 and t.is_floating_point()) for t in input_tensors(x)]
    return torch.cat(
        [part.clamp(-CLIPPING_DEVIATIONS, CLIPPING_DEVIATIONS) if is_table else part for part, is_table in parts], 1
    )
