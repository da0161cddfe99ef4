"""Examines two networks on the same data and shows the results side by side.

>>> from gnomon.examination.record import Examination
>>> print(Comparison(Examination("small", (), {}), Examination("wide", (), {})))
small: no problem found. wide: no problem found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_number
from gnomon.core.machine.clock import Clock
from gnomon.core.machine.files import write_file
from gnomon.core.results import Bars, Finding, Plot, Result
from gnomon.examination.paired import paired_p_value
from gnomon.examination.record import SCHEMA_VERSION, Examination
from gnomon.examination.run import Progress, examine
from gnomon.examination.steps.margins import Decisions
from gnomon.report.page import BadgeStatus
from gnomon.report.side_by_side import differing_values, overlay_plots, side_by_side_html
from gnomon.training.torch_optimizers import OptimizerChoice

__all__ = ["Comparison", "compare"]

SCORES = ("accuracy", "explained-variance", "test-accuracy")
"""Ids of values that decide which network is better (larger is better). The first one that both networks have
counts."""
SIGNIFICANCE_LEVEL = 0.05
"""Probability of calling one of two equally good networks better."""
MAIN = (
    "accuracy", "explained-variance", "root-mean-square-error", "test-loss", "training-loss", "steps-taken",
    "parameters", "training-step", "calibration-error", "modes-for-90-percent", "largest-stable-learning-rate",
)  # fmt: skip
"""Ids of the values to show first."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Result):
    """Result: the examinations of two networks side by side; can be printed, saved as an HTML page, and shown in a
    notebook.
    """

    left: Examination
    right: Examination

    @property
    def verdict(self) -> str:
        """Says in one sentence which network scores better; without scores, repeats the verdicts on both."""
        for id in SCORES:
            values = [_value(examined, id) for examined in (self.left, self.right)]
            if values[0] is not None and values[1] is not None:
                return self._better(values[0], values[1], values[0].name)
        both = (self.left, self.right)
        conclusive = not any(e.problems or e.inconclusive for e in both)
        if conclusive and any(s.state == "unsure" for e in both for s in e.sections):
            return "Too early to say which is better: the networks were not trained long enough."
        return f"{self.left.verdict} {self.right.verdict}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns the problems found in both networks."""
        return (*self.left.findings, *self.right.findings)

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Returns the measured values that differ between the two networks: name, and both values as text."""
        shared = differing_values(self.left.page(), self.right.page())
        return [(f"{title}, {one.name}", str(one), str(two)) for _, title, one, two in shared]

    @property
    def main_rows(self) -> list[tuple[str, str, str]]:
        """Returns the most important rows of the comparison: size, cost, training and scores."""
        shared = differing_values(self.left.page(), self.right.page())
        return [(one.name, str(one), str(two)) for id in MAIN for _, _, one, two in shared if one.id == id]

    def __str__(self) -> str:
        lines = [f"{name}: {one} | {two}" for name, one, two in self.rows]
        return "\n".join([self.verdict, *([f"{self.left.name} | {self.right.name}"] if lines else []), *lines])

    def plots(self) -> tuple[Plot, ...]:
        """Plots the curves of both networks on the same axes."""
        names = self.left.name, self.right.name
        theirs = {plot.id: plot for plot in self.right.plots()}
        shared = [overlay_plots(p, theirs[p.id], names) for p in self.left.plots() if p.id in theirs]
        drawn = tuple(plot for plot in shared if plot is not None)
        counts = [float(len(examined.findings)) for examined in (self.left, self.right)]
        return drawn or (Plot("Findings", (Bars("findings", names, counts),), caption=self.verdict),)

    def to_dict(self) -> dict[str, Any]:
        """Returns the results of both networks as plain values for JSON."""
        return {
            "schema": SCHEMA_VERSION,
            "verdict": self.verdict,
            "networks": [self.left.to_dict(), self.right.to_dict()],
        }

    def html(self) -> str:
        """Returns one self-contained HTML page with the results of both networks side by side."""
        names = self.left.name, self.right.name
        both = (self.left, self.right)
        status: BadgeStatus = (
            "problem" if any(e.problems for e in both) else "unsure" if any(e.inconclusive for e in both) else "note"
        )
        return side_by_side_html(
            self.left.page(), self.right.page(), names, verdict=self.verdict, main=MAIN, status=status
        )  # fmt: skip

    @add_call_to_errors
    def save(self, path: str | Path) -> Path:
        """Writes the comparison to an HTML file; creates the folder if it does not exist."""
        return write_file(path, self.html())

    def _repr_html_(self) -> str:
        rows = [f"<tr><th>{escape(name)}</th><td>{escape(one)}</td><td>{escape(two)}</td></tr>"
                for name, one, two in self.main_rows]  # fmt: skip
        names = f"<tr><th></th><th>{escape(self.left.name)}</th><th>{escape(self.right.name)}</th></tr>"
        return f"<p><b>{escape(self.verdict)}</b></p><table>{names}{''.join(rows)}</table>"

    def _better(self, one: Any, two: Any, name: str) -> str:
        a, b = float(one.value), float(two.value)
        scores = f"{name} {a:.1%} against {b:.1%}"
        if a == b:
            return f"{self.left.name} and {self.right.name} score the same: {scores}."
        chance, where = self._chance(one, two)
        if chance > SIGNIFICANCE_LEVEL:
            return f"{self.left.name} and {self.right.name} do not differ significantly{where}: {scores}."
        better = self.left.name if a > b else self.right.name
        return f"{better} scores better{where}: {name} {max(a, b):.1%} against {min(a, b):.1%}."

    def _chance(self, one: Any, two: Any) -> tuple[float, str]:
        """Returns the p-value for equal performance of both networks, from a paired test on the same examples if
        possible.
        """
        left, right = self.left.products.get(Decisions), self.right.products.get(Decisions)
        if left is not None and right is not None and torch.equal(left.index, right.index):
            p = paired_p_value(left.errors, right.errors)
            return p, f" on the same {len(left.index):,} examples (p = {p:.2g})"
        if one.interval is None or two.interval is None:
            return 0.0, ""
        overlap = one.interval.low <= two.interval.high and two.interval.low <= one.interval.high
        return (1.0, " on these examples") if overlap else (0.0, "")


@add_call_to_errors
def compare(
    networks: Mapping[str, Any],
    train: Any,
    test: Any = None,
    *,
    optimizer: OptimizerChoice | None = None,
    batch: int | None = None,
    epochs: int | None = None,
    fit: bool | None = None,
    budget: float = 120.0,
    seed: int = 0,
    notes: Sequence[str] = (),
    command: str = "",
    progress: Progress | None = None,
    clock: Clock = perf_counter,
) -> Comparison:
    """Examines two networks on the same data with half of the time each, and shows the results side by side.

    Args:
        networks: two networks, or functions that build them, by name.
        train: as `gnomon.examine` takes it; so are ``test``, ``optimizer``, ``fit``, ``seed``, ``command``,
            ``progress`` and ``clock``.
        test: never trained on.
        optimizer: of both; so are ``batch``, the examples in a batch, and ``epochs``, passes over the data at most.
        batch: by default the batches of the ``DataLoader``, or a number chosen by the cost of a step.
        epochs: by default as many as settle training, if the time allows them.
        fit: whether to train a copy of each; by default if a function was given.
        budget: seconds for both.
        seed: of everything random.
        notes: what was done to the data before, as `gnomon.examine` takes it.
        command: what was typed, for the manifest.
        progress: called with the title of each step, its number, and how many there are for one network.
        clock: what ``budget`` is read from.

    The verdict calls one network better if a paired test on their common examples is significant at 5 %, or, if they
    have no common examples, if the 95 % intervals of their accuracies do not overlap. The verdict is about these two
    networks as they were trained: with another seed the order of two designs may be reversed.
    Cost: ``budget`` seconds at most, as `gnomon.examine`.

    >>> import torch
    >>> x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    >>> nets = {"one": torch.nn.Linear(3, 2), "two": torch.nn.Linear(3, 2, bias=False)}
    >>> compared = compare(nets, (x, (x[:, 0] > 0).long()), budget=2)
    >>> compared.left.name, compared.right.name
    ('one', 'two')
    """
    if not isinstance(networks, Mapping) or len(networks) != 2:
        found = f"{len(networks)} networks" if isinstance(networks, Mapping) else f"a {type(networks).__name__}"
        fix = "Pass {'small': net, 'wide': other}"
        raise InputError(f"networks holds {found}", accepted="two networks by name", fix=fix)
    half = check_number("budget", budget, above=0) / 2
    done: list[Examination] = []
    for name, network in networks.items():
        if done and done[0].partial:  # Ctrl-C during the first network's examination stops the whole comparison.
            done.append(Examination(name, (), {}, partial=True))
            break
        done.append(examine(
            network, train, test, optimizer=optimizer, batch=batch, epochs=epochs, fit=fit, budget=half, seed=seed,
            name=name, notes=notes, command=command, progress=progress, clock=clock,
        ))  # fmt: skip
    return Comparison(*done)


def _value(examined: Examination, id: str) -> Any:
    value = next((v for s in examined.sections if s.state == "answered" and (v := s.value(id)) is not None), None)
    return value if value is not None and isinstance(value.value, int | float) else None
