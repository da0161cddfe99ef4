"""A watch for any training loop: the kernel of a few probe examples, looked at now and then, at a bounded cost.

    drift = |Theta_t - Theta_0| / |Theta_0|,    alignment = cos(Theta_t, y y^T)                            (1)

Measurements never take more than ``cost`` of the time since the watch was started: one that would is put off.

>>> import torch
>>> w = watch(nn.Linear(2, 1), (torch.eye(2), torch.tensor([0.5, 1.0])))
>>> isinstance(w, Watch), w.every
(True, 50)
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from torch import Tensor, nn

from gnomon.core.checks import integer, number
from gnomon.core.clock import Clock
from gnomon.core.errors import GnomonError, InputError, MissingExtraError, lesson
from gnomon.examination.subject import Subject, subject
from gnomon.landscape import sharpness
from gnomon.tangent import alignment, ntk

CALL = "watch(model, probe=(x, y))"
Log = Callable[[dict[str, float], int], None]


def watch(
    model: nn.Module,
    probe: tuple[Any, Any],
    *,
    every: int = 50,
    examples: int = 16,
    cost: float = 0.05,
    log: Any = None,
    clock: Clock = perf_counter,
) -> "Watch":
    """Watch a model that is being trained elsewhere: call ``w.step(loss)`` once per step of any loop.

        drift = |Theta_t - Theta_0| / |Theta_0|                                                              (1)

    ``log`` may be a path of a CSV file, anything with ``add_scalar`` (TensorBoard), anything with ``log`` (W&B), or a
    function (values, step). ``w.lightning()`` and ``w.huggingface()`` give callbacks for those trainers. ``clock`` is
    what ``cost`` is read from.

    Hypotheses: the loop changes the model in place.
    Reference: [chizat2019lazy], [cohen2021gradient].
    Cost: at most ``cost`` of the running time, whatever ``every`` is.

    >>> import torch
    >>> net, x = nn.Linear(2, 2), torch.eye(2)
    >>> w = watch(net, (x, torch.tensor([0, 1])), every=1, cost=1.0)
    >>> w.step(0.7)
    >>> w.rows[0]["kernel drift"]
    0.0
    """
    every, examples = integer("every", every, call=CALL), integer("examples", examples, call=CALL)
    if not 0 < number("cost", cost, call=CALL) <= 1:
        raise InputError(lesson(CALL, f"cost={cost}", "0 < cost <= 1", "Pass for instance cost=0.05"))
    given = subject(model, probe, None, optimizer=None, seed=0, call=CALL)
    return Watch(given, every, examples, cost, clock, _logger(log))


@dataclass(slots=True, eq=False)
class Watch:
    """Made by `watch`; ``rows`` is what was measured."""

    given: Subject
    every: int
    examples: int
    cost: float
    clock: Clock
    log: Log | None = None
    rows: list[dict[str, float]] = field(default_factory=list)
    count: int = 0
    spent: float = 0.0
    _first: Tensor | None = None
    _start: float = field(init=False)

    def __post_init__(self) -> None:
        self._start = self.clock()

    def step(self, loss: float | Tensor | None = None) -> None:
        """Count a step, and measure if it is time to."""
        due = self.count % self.every == 0 and (not self.rows or self.spent <= self.cost * (self.clock() - self._start))
        if due:
            self.measure(loss.detach().item() if isinstance(loss, Tensor) else loss)
        self.count += 1

    def measure(self, loss: float | None = None) -> dict[str, float]:
        """Measure now, whatever it costs; the model is left as it was."""
        began = self.clock()
        points = self.given.train.some(self.examples, 0)
        k = cast(Tensor, ntk(self.given.module, points.x)).double()
        self._first = k if self._first is None else self._first
        y = self.given.targets(points.y).double()
        row = {"step": float(self.count)}
        if loss is not None:
            row["loss"] = loss
        row["kernel drift"] = float((k - self._first).norm() / self._first.norm().clamp(min=1e-300))  # (1)
        try:
            row["alignment"] = float(alignment(k, y - y.mean(0)))
            row["sharpness"] = float(
                sharpness(self.given.module, points.x, self.given.said(points.y), loss=self.given.loss, steps=8).value
            )
        except GnomonError:
            pass  # a kernel without alignment, or a loss that is not finite, has no number
        self.rows.append(row)
        if self.log is not None:
            self.log({k: v for k, v in row.items() if k != "step"}, self.count)
        self.spent += self.clock() - began
        return row

    def lightning(self) -> Any:
        """A Lightning callback that calls `step` after each batch."""
        try:
            from lightning.pytorch import Callback
        except ImportError:
            try:
                from pytorch_lightning import Callback  # type: ignore[assignment, unused-ignore]
            except ImportError:
                raise _missing("lightning") from None
        me = self

        class Watching(Callback):
            def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, batch: Any, number: int) -> None:
                found = outputs.get("loss") if isinstance(outputs, dict) else outputs
                me.step(found if isinstance(found, Tensor) else None)

        return Watching()

    def huggingface(self) -> Any:
        """A Hugging Face ``TrainerCallback`` that calls `step` after each step."""
        try:
            from transformers import TrainerCallback
        except ImportError:
            raise _missing("transformers") from None
        me = self

        class Watching(TrainerCallback):
            def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> Any:
                history = getattr(state, "log_history", None) or [{}]
                me.step(history[-1].get("loss"))
                return control

        return Watching()


def _logger(log: Any) -> Log | None:
    """By what it can do, not by what it is."""
    if log is None:
        return None
    if isinstance(log, str | Path):
        return _Csv(Path(log))
    if hasattr(log, "add_scalar"):
        return _Board(log)
    if hasattr(log, "log"):
        return lambda row, step: log.log({f"gnomon/{k}": v for k, v in row.items()}, step=step)
    if callable(log):
        return cast(Log, log)
    found = f"log is a {type(log).__name__}"
    raise InputError(lesson(CALL, found, "a path, a writer or a function", "Pass log='watch.csv'"))


@dataclass(frozen=True, slots=True)
class _Board:
    writer: Any

    def __call__(self, row: dict[str, float], step: int) -> None:
        for name, value in row.items():
            self.writer.add_scalar(f"gnomon/{name}", value, step)


@dataclass(frozen=True, slots=True)
class _Csv:
    path: Path
    columns: tuple[str, ...] = ("step", "loss", "kernel drift", "alignment", "sharpness")

    def __call__(self, row: dict[str, float], step: int) -> None:
        new = not self.path.exists()
        with self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self.columns, restval="")
            if new:
                writer.writeheader()
            writer.writerow({"step": step, **row})


def _missing(package: str) -> MissingExtraError:
    return MissingExtraError(
        lesson(CALL, f"{package} is not installed", f"the package {package}", f"pip install {package}")
    )
