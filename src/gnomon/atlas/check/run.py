"""Checks which statements of the theory hold for a network and its data, and reports the verdicts.

>>> import torch
>>> from torch import nn
>>> x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
>>> told = check_network(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)), (x, (x[:, 0] > 0).long()),
...     steps=20)
>>> told.rows["hidden-unit-permutation-symmetry"]["verdict"]
'holds'
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from gnomon.atlas.catalog import catalog
from gnomon.atlas.check import kernel, layers
from gnomon.atlas.check.trial import MAX_SECONDS, TrainingTrial, train_trial
from gnomon.core.errors import GnomonError, InputError, add_call_to_errors
from gnomon.core.machine.clock import Clock
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.core.results.svg import plots_svg
from gnomon.lab import Judgment

__all__ = ["NetworkCheck", "check_network"]

OTHERS: dict[str, tuple[str, Callable[[TrainingTrial], Judgment]]] = {
    "kernel-alignment-growth": ("The tangent kernel turns towards the targets", kernel.check_alignment_growth),
    "hidden-unit-permutation-symmetry": ("Hidden units can be exchanged", layers.check_permutation_symmetry),
    "lipschitz-product-bound": (
        "The product of spectral norms bounds how outputs differ",
        layers.check_lipschitz_bound,
    ),
}
"""Statements that no claim of the catalog names."""
LATE = "Not measured: the budget of {:g} s ran out before this statement. Pass a larger budget."
ORDER = ("holds", "refuted", "inconclusive")


@dataclass(frozen=True, slots=True, eq=False)
class NetworkCheck(Result):
    """Result of checking statements of the theory on a network: title, verdict, reason, numbers and figure of each."""

    network: str
    examples: int
    lr: float
    loss: tuple[float, float]
    rows: dict[str, dict[str, Any]]

    @property
    def verdict(self) -> str:
        """Says in one sentence how many statements of the theory hold, fail, or remain undecided on this network."""
        counts = [sum(row["verdict"] == word for row in self.rows.values()) for word in ORDER]
        return (
            f"Of {len(self.rows)} statements for {self.network}, holding: {counts[0]}, not holding: {counts[1]}, "
            f"undecided or not applicable: {counts[2]}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots how many statements of the theory hold, fail, or remain undecided on this network."""
        counts = [sum(row["verdict"] == word for row in self.rows.values()) for word in ORDER]
        return (Plot("Statements", (Bars("statements", ORDER, counts),), Axis("statements")),)


@add_call_to_errors
def check_network(
    network: Any,
    data: Any,
    ids: Sequence[str] = (),
    *,
    lr: float | None = None,
    steps: int = 300,
    seconds: float = MAX_SECONDS,
    seed: int = 0,
    clock: Clock = perf_counter,
) -> NetworkCheck:
    """Checks statements of the theory on a network and its data; trains a copy of the network for a short time.

    Args:
        network: a module, or a function that builds one; it stays as it was.
        data: a pair (inputs, targets), a ``Dataset``, a ``DataLoader`` or batches.
        ids: statements to check; all if left out.
        lr: of the run; by default 1 / (largest curvature of the loss).
        steps: of full-batch descent on at most 512 examples.
        seconds: of all; half of it ends the run earlier, and statements for which no time is left are inconclusive.
        seed: of the choice of examples.

    Hypotheses: a statement that does not apply to the network is inconclusive, with the reason.
    Reference: the references of the claims.
    Cost: the same as `train_trial`, six tangent kernels of at most 64 examples.

    >>> import torch
    >>> from torch import nn
    >>> told = check_network(nn.Linear(2, 1), (torch.eye(2), torch.ones(2)), ["linearised-model"], steps=5)
    >>> told.rows["linearised-model"]["verdict"]                                # a linear network is its own tangent
    'holds'
    """
    known = statements()
    unknown = [name for name in ids if name not in known]
    if unknown:
        raise InputError(f"no statement {unknown[0]!r} can be checked. Known: {', '.join(known)}")
    deadline = clock() + seconds
    told = train_trial(network, data, lr=lr, steps=steps, seconds=seconds / 2, seed=seed, clock=clock)
    rows = {}
    for name in ids or known:
        title, judge = known[name]
        late = {"title": title, "verdict": "inconclusive", "reason": LATE.format(seconds), "values": []}
        rows[name] = _row(name, title, judge, told) if clock() < deadline else late
    label = getattr(network, "__name__", type(network).__name__)
    loss = (float(told.run.loss[0]), float(told.run.loss[-1]))
    return NetworkCheck("network" if label == "Sequential" else label, len(told.examples), told.lr, loss, rows)


def statements() -> dict[str, tuple[str, Callable[[TrainingTrial], Judgment]]]:
    """Returns the id and title of every statement of the theory that can be checked on a user's network.

    Cost: the import of all claims.

    >>> "ntk-constancy" in statements()
    True
    """
    named = {
        name: (entry.claim.title, entry.claim.check)
        for name, entry in catalog().items()
        if entry.claim.check is not None
    }
    return named | {name: row for name, row in OTHERS.items() if name not in named}


def _row(name: str, title: str, judge: Callable[[TrainingTrial], Judgment], told: TrainingTrial) -> dict[str, Any]:
    try:
        judgment = judge(told)
    except (GnomonError, RuntimeError, NotImplementedError) as error:
        words = " ".join(str(error).split())[:300]
        return {"title": title, "verdict": "inconclusive", "reason": f"Not measured: {words}", "values": []}
    row: dict[str, Any] = {"title": title, "verdict": judgment.verdict.value, "reason": judgment.reason}
    row["values"] = [value.to_dict() for value in judgment.values]
    return row | ({} if judgment.plot is None else {"figure": plots_svg((judgment.plot,), name)})
