"""A watch for any training loop: the kernel of a few probe examples, looked at every so many steps.

    drift = |Theta_t - Theta_0| / |Theta_0|,    alignment = cos(Theta_t, y y^T)                            (1)

The loop does not notice: the model is measured in eval mode, and modes, buffers, gradients and random states are then
as they were, so that training goes on to the last bit as it would have. Nothing is raised into the loop: what could
not be measured is in ``missing``, with the reason.

>>> import torch
>>> w = watch(nn.Linear(2, 1), (torch.eye(2), torch.tensor([0.5, 1.0])))
>>> isinstance(w, Watch), w.every
(True, 50)
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.checks import integer, number
from gnomon.core.clock import Clock
from gnomon.core.errors import GnomonError, InputError, MissingExtraError, lesson
from gnomon.core.record import Record
from gnomon.core.untouched import untouched
from gnomon.examination.subject import Points, Subject, subject
from gnomon.examination.writers import Log, writer
from gnomon.landscape import sharpness
from gnomon.tangent import alignment, ntk

CALL = "watch(model, probe=(x, y))"
LABELS = ("labels", "label")
"""Names of the targets in a batch of Hugging Face's."""


def watch(
    model: nn.Module,
    probe: Any,
    *,
    every: int = 50,
    examples: int = 16,
    overhead: float | None = None,
    log: Any = None,
    clock: Clock = perf_counter,
) -> "Watch":
    """Watch a model that is being trained elsewhere: call ``w.step(loss)`` once per step of any loop.

        drift = |Theta_t - Theta_0| / |Theta_0|                                                              (1)

    Steps 0, ``every``, 2 ``every``, ... are measured, exactly; what that costs is said in ``w.rows`` and in
    ``w.verdict``. With ``overhead=0.05`` a measurement that would take more than 5 % of the running time is left out.
    The first one is always taken: all others are compared with it.

    ``probe`` is (inputs, targets), targets being numbers or integer classes, or one batch as a dict with "labels".
    ``log`` may be a path of a CSV file, anything with ``add_scalar`` (TensorBoard), anything with ``log`` (W&B), or a
    function (values, step). ``w.lightning()`` and ``w.huggingface()`` give callbacks for those trainers. ``clock`` is
    what ``overhead`` is read from.

    Hypotheses: the loop changes the model in place.
    Reference: [chizat2019lazy], [cohen2021gradient].
    Cost: for each measurement the tangent kernel of ``examples`` points and 8 Hessian products.

    >>> import torch
    >>> net, x = nn.Linear(2, 2), torch.eye(2)
    >>> w = watch(net, (x, torch.tensor([0, 1])), every=10)
    >>> for _ in range(25):
    ...     w.step(0.7)
    >>> [row["step"] for row in w.rows], w.rows[0]["kernel drift"], w.missing
    ([0.0, 10.0, 20.0], 0.0, [])
    """
    every, examples = integer("every", every, call=CALL), integer("examples", examples, call=CALL, least=2)
    if overhead is not None and not 0 < number("overhead", overhead, call=CALL) <= 1:
        cure = "Pass a share of the time, for instance overhead=0.05"
        raise InputError(lesson(CALL, f"overhead is {overhead}", "0 < overhead <= 1", cure))
    given = subject(model, _pair(probe), None, optimizer=None, seed=0, call=CALL)
    return Watch(given, given.train.some(examples, 0), every, overhead, writer(log, CALL), clock)


@dataclass(slots=True, eq=False)
class Watch(Record):
    """Made by `watch`. ``rows`` is what was measured; ``missing`` is what could not be, as (step, what, why).

    ``loss`` is what the loop passed, ``probe loss`` that of the probe examples in eval mode, ``overhead`` the share of
    the time since the first step that was spent on watching. ``skipped`` counts measurements that were left out for
    the limit ``limit``, where there is one.
    """

    given: Subject = field(repr=False)
    points: Points = field(repr=False)
    every: int
    limit: float | None
    log: Log | None = field(repr=False)
    clock: Clock = field(repr=False)
    rows: list[dict[str, float]] = field(default_factory=list)
    missing: list[tuple[int, str, str]] = field(default_factory=list)
    count: int = 0
    skipped: int = 0
    spent: float = 0.0
    _first: Tensor | None = field(default=None, repr=False)
    _start: float | None = field(default=None, repr=False)
    _last: float = field(default=0.0, repr=False)

    def step(self, loss: float | Tensor | None = None) -> None:
        """Count a step, and measure if it is time to; never raises but for Ctrl-C."""
        if self._start is None:
            self._start = self.clock()
        if self.count % self.every == 0:
            if self._affordable():
                self.measure(loss)
            else:
                self.skipped += 1
        self.count += 1

    def measure(self, loss: float | Tensor | None = None) -> dict[str, float]:
        """Measure now, whatever it costs; the model is left as it was, and nothing is raised but for Ctrl-C."""
        began = self.clock()
        self._start = began if self._start is None else self._start
        row = {"step": float(self.count)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if loss is not None:
                self._take(row, "loss", lambda: float(loss))
            self._attempt("the model", lambda: self._look(row))
        self._last = self.clock() - began
        self.spent += self._last
        row["overhead"] = self.overhead
        self.rows.append(row)
        if self.log is not None:
            log = self.log
            self._attempt("log", lambda: log({k: v for k, v in row.items() if k != "step"}, self.count))
        return row

    @property
    def overhead(self) -> float:
        """The share of the time since the first step that was spent on watching."""
        elapsed = 0.0 if self._start is None else self.clock() - self._start
        return self.spent / elapsed if elapsed > 0 else 0.0

    @property
    def verdict(self) -> str:
        """How many steps were watched at what price, and what could not be measured."""
        head = f"Watched {self.count} steps: {len(self.rows)} measurements, {self.spent:.2g} s"
        head += f" or {self.overhead:.1%} of the time"
        head += f", {self.skipped} left out to stay below {self.limit:.1%}" if self.limit is not None else ""
        if not self.missing:
            return f"{head}."
        kinds = list(dict.fromkeys(what for _, what, _ in self.missing))
        told = [f"{what} {sum(w == what for _, w, _ in self.missing)} times" for what in kinds]
        step, what, why = self.missing[0]
        return f"{head}. Not measured: {', '.join(told)}; first {what} at step {step}: {why}"

    def __str__(self) -> str:
        return self.verdict

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
                found = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
                me.step(found if isinstance(found, Tensor) else None)

        return Watching()

    def huggingface(self) -> Any:
        """A Hugging Face ``TrainerCallback`` that calls `step` after each step, with the loss that was logged last."""
        try:
            from transformers import TrainerCallback
        except ImportError:
            raise _missing("transformers") from None
        me = self

        class Watching(TrainerCallback):
            def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> Any:
                logged = [entry["loss"] for entry in getattr(state, "log_history", None) or () if "loss" in entry]
                me.step(logged[-1] if logged else None)
                return control

        return Watching()

    def _affordable(self) -> bool:
        """Whether one more like the last keeps the share below the limit; the first is the measure of all others."""
        if self.limit is None or self._first is None or self._start is None:
            return True
        return self.spent + self._last <= self.limit * (self.clock() - self._start + self._last)

    def _look(self, row: dict[str, float]) -> None:
        given, points = self.given, self.points
        with untouched(given.module):
            self._take(row, "probe loss", lambda: self._loss(points))
            kernel = self._attempt("the kernel", lambda: ntk(given.module, points.x).double())
            if kernel is not None:
                first = self._first = kernel if self._first is None else self._first
                y = given.targets(points.y).to(kernel)
                self._take(
                    row, "kernel drift", lambda: float((kernel - first).norm() / first.norm().clamp(min=1e-300))
                )  # (1)
                self._take(row, "alignment", lambda: alignment(kernel, y))
            self._take(row, "sharpness", lambda: self._sharpness(points))

    def _loss(self, points: Points) -> float:
        outputs = self.given.run(points.x)
        return float(self.given.loss.value(outputs, self.given.targets(points.y).to(outputs)))

    def _sharpness(self, points: Points) -> float:
        given = self.given
        return sharpness(given.module, points.x, given.said(points.y), loss=given.loss, steps=8).value

    def _take(self, row: dict[str, float], name: str, measure: Callable[[], float]) -> None:
        found = self._attempt(name, measure)
        if found is not None:
            row[name] = found

    def _attempt(self, what: str, act: Callable[[], Any]) -> Any:
        """What the act gives, or None with the reason written down: no failure of ours may end the user's training."""
        try:
            return act()
        except KeyboardInterrupt:
            raise
        except BaseException as reason:  # a forward may even call sys.exit
            words = (str(reason).splitlines() or [""])[0]
            told = words if isinstance(reason, GnomonError) else f"{type(reason).__name__}: {words}"
            self.missing.append((self.count, what, told))
            return None


def _pair(probe: Any) -> Any:
    """Inputs and targets; a batch that is one dict has the targets among its entries."""
    if not isinstance(probe, Mapping):
        return probe
    name = next((name for name in LABELS if name in probe), None)
    if name is None:
        found = f"probe is a dict with {', '.join(map(str, probe))[:80]}"
        raise InputError(lesson(CALL, found, "targets", "Pass (inputs, targets), or a batch with 'labels'"))
    return {key: value for key, value in probe.items() if key != name}, torch.as_tensor(probe[name])


def _missing(package: str) -> MissingExtraError:
    return MissingExtraError(
        lesson(CALL, f"{package} is not installed", f"the package {package}", f"pip install {package}")
    )
