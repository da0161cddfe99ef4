"""Finds equal inputs with different labels; no network can classify all of them correctly.

    least error = (1 / n) sum over groups of equal inputs of (size - count of the most frequent label)          (1)

In a coarse table rows coincide by chance, and their labels then agree at least as often as the labels of any two rows.
Where of m groups of equal rows the first two have one label in a of them, and classes have shares p_c,

    (m sum_c p_c^2 - a - 1) / sqrt(m sum_c p_c^2 (1 - sum_c p_c^2)) > `DISAGREEMENT_Z`                               (2)

says that rows were copied and given other labels.

Reference: [bishop2006pattern], section 1.5, on the least error that any classifier has.

>>> import torch
>>> found = label_conflicts((torch.tensor([[1.0], [1.0], [2.0], [3.0]]), torch.tensor([0, 1, 1, 1])))
>>> found.groups, found.least_error
(((0, 1),), 0.25)
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from gnomon.checks.data.rows import bits_per_example, example_hashes
from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.source import data_source
from gnomon.core.results import Finding, Result, Value
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.findings import data as kinds

__all__ = ["LabelConflicts", "label_conflicts"]

MIN_CONFLICT_SHARE = 0.005
"""Share of examples at which conflicts are reported: they cost half a point of accuracy."""
MIN_BITS_OF_COPIES = 100.0
"""Minimum information of an example, in bits, at which equal inputs are copies; in coarser tables they are
coincidences,
and different labels are noise."""

DISAGREEMENT_Z = 4.0
"""One-sided z-score of (2): exceeded in 3e-5 of tables in which equal rows agree as often as any two rows."""


@dataclass(frozen=True, slots=True)
class LabelConflicts(Result):
    """Result: groups of equal examples with different labels (as indices), and the smallest error rate that they
    allow.
    """

    groups: tuple[tuple[int, ...], ...] = field(repr=False, metadata=HIDDEN_IN_JSON)
    examples: int
    least_error: float
    rich: bool

    @property
    def share(self) -> float:
        """Returns the fraction of examples that have a copy with another label."""
        return sum(map(len, self.groups)) / max(1, self.examples)

    @property
    def verdict(self) -> str:
        """Says in one sentence how many examples have a copy with another label, and which accuracy this still
        allows.
        """
        if not self.groups:
            return "No two equal examples have different labels."
        numbers = f"{self.share:.1%} of the examples have a copy with another label"
        return f"{numbers}, so no network can get more than {1 - self.least_error:.1%} of train right."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Reports a problem if copies of an example have different labels; only a warning for tables with few distinct
        rows.
        """
        if self.share < MIN_CONFLICT_SHARE:
            return ()
        pairs = "; ".join(" = ".join(map(str, group[:3])) for group in self.groups[:5])
        evidence = (Value("least training error", self.least_error), Value("first examples", pairs))
        values = {"share": self.share, "best": 1 - self.least_error}
        return (
            Finding(kinds.CONFLICTING_COPIES if self.rich else kinds.COARSE_EXAMPLES, "labels", values, evidence, 0.0),
        )


@add_call_to_errors
def label_conflicts(data: Any) -> LabelConflicts:
    """Finds equal inputs with different labels, and the lowest error rate that they allow.

    See equation (1) of the module docstring.
    ``data`` have inputs and classes: a pair, a ``Dataset``, a ``DataLoader``, batches.

    Hypotheses: integer classes. Equal inputs are found by digests of 128 bits: no false alarms.
    Reference: [bishop2006pattern].
    Cost: one digest of each example.

    >>> import torch
    >>> label_conflicts((torch.eye(3), torch.tensor([0, 1, 1]))).findings
    ()
    """
    x, y = data_source(data).pair()
    groups: dict[bytes, list[int]] = defaultdict(list)
    for i, one in enumerate(example_hashes(x)):
        groups[one].append(i)
    labels: list[Any] = y.tolist()
    several = [g for g in groups.values() if len({labels[i] for i in g}) > 1]
    copied = bits_per_example(x) >= MIN_BITS_OF_COPIES or _is_contradicted(
        [g for g in groups.values() if len(g) > 1], labels
    )
    wrong = sum(len(g) - Counter(labels[i] for i in g).most_common(1)[0][1] for g in several)
    return LabelConflicts(tuple(map(tuple, several)), len(y), wrong / len(y), copied)  # (1)


def _is_contradicted(groups: list[list[int]], labels: list[Any]) -> bool:
    """Checks whether equal examples have equal labels significantly less often than random pairs of examples do.

    See equation (2) of the module docstring.
    """
    agree = sum(labels[g[0]] == labels[g[1]] for g in groups)
    chance = sum((count / len(labels)) ** 2 for count in Counter(labels).values())
    m = len(groups)
    return chance * m - agree > DISAGREEMENT_Z * (m * chance * (1 - chance)) ** 0.5 + 1
