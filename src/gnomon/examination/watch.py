"""Watches any training loop: measures kernel and curvature of a few examples every n steps.

    drift = |Theta_t - Theta_0| / |Theta_0|,    alignment = cos(Theta_t, y y^T)                            (1)

Watching does not change training: the model is measured in eval mode, and modes, buffers, gradients and random states
are restored afterwards, so training continues bit by bit as without the watch. The loop never sees an exception:
``missing`` lists failed measurements with their reasons.

>>> import torch
>>> w = watch(nn.Linear(2, 1), (torch.eye(2), torch.tensor([0.5, 1.0])))
>>> isinstance(w, Watch), w.every
(True, 50)
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

from torch import Tensor, nn

from gnomon.adapter.reading import TaskName
from gnomon.adapter.view import OutputSelection
from gnomon.core.errors import GnomonError, MissingExtraError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.machine.clock import Clock
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.examination.cost import with_one_thread
from gnomon.examination.recipe import build_recipe
from gnomon.examination.subject import build_subject
from gnomon.examination.tracker import KERNEL_TIMER_NAME, OVERHEAD_TIMER_NAME, ModelTracker, TimeSpent
from gnomon.examination.writers import Log, make_writer
from gnomon.training.evaluate import Loss

HESSIAN_PRODUCTS = 8
"""Hessian products for each measurement of the sharpness."""
DEFAULT_INTERVAL = 50
"""Steps between two measurements if the user does not say."""
DEFAULT_OVERHEAD = 0.05
"""Share of the time that measuring may take if the user does not say."""


@add_call_to_errors
def watch(
    module: nn.Module,
    data: Any,
    *,
    every: int | None = None,
    examples: int = 16,
    overhead: float | None = None,
    loss: Loss | None = None,
    task: TaskName | None = None,
    output: OutputSelection | None = None,
    log: Any = None,
    clock: Clock = perf_counter,
) -> "Watch":
    """Creates an object that measures a model during your own training loop: call ``w.step(loss)`` once per training
    step.

        drift = |Theta_t - Theta_0| / |Theta_0|                                                              (1)

    By default every 50th step is measured, within 5 % of the running time. With ``every=10`` exactly the steps 0, 10,
    20, ... are measured; ``w.rows`` and ``w.verdict`` report the cost. ``overhead=0.02`` skips measurements that would
    take more than 2 % of the training time: half of that for the kernel and half for the sharpness, which is measured
    later and less often. The first kernel is always measured because all others are compared with it. Measurements
    use one thread: on a shared machine, several threads that wait for each other can take ten times as long.

    ``probe`` is data in any form that `gnomon.examine` accepts: (inputs, targets), one batch as a dict with "labels", a
    ``DataLoader``, ...; ``examples`` of them are drawn, stratified by class. ``loss`` is the loss of your training
    loop, a function (outputs, targets) -> mean loss; without it gnomon uses the loss of the task, which it
    recognizes from outputs and targets, or which ``task`` names. ``output`` chooses a part of what the model returns.
    ``log`` may be a path of a CSV file, anything with ``add_scalar`` (TensorBoard), anything with ``log`` (W&B), or a
    function (values, step). ``w.lightning()`` and ``w.huggingface()`` give callbacks for those trainers. ``clock``
    measures ``overhead``.

    Hypotheses: the loop changes the model in place.
    Reference: [chizat2019lazy], [cohen2021gradient].
    Cost: for each measurement the tangent kernel of ``examples`` points (of one random combination of the outputs if
    there are more than 32) and 8 Hessian products.

    >>> import torch
    >>> net, x = nn.Linear(2, 2), torch.eye(2)
    >>> w = watch(net, (x, torch.tensor([0, 1])), every=10)
    >>> for _ in range(25):
    ...     w.step(0.7)
    >>> [row["step"] for row in w.rows], w.rows[0]["kernel drift"], w.missing
    ([0.0, 10.0, 20.0], 0.0, [])
    """
    if every is None:
        every, overhead = DEFAULT_INTERVAL, DEFAULT_OVERHEAD if overhead is None else overhead
    every, examples = check_integer("every", every), check_integer("examples", examples, least=2)
    if overhead is not None and not 0 < check_number("overhead", overhead) <= 1:
        raise out_of_range_error("overhead", "a share of the time, above 0 and at most 1", overhead)
    with with_one_thread():
        plan = partial(build_recipe, loss=loss)
        network = build_subject(module, data, None, seed=0, probe=examples, plan=plan, reading=task, output=output)
    tracker = ModelTracker(network, network.probe, products=HESSIAN_PRODUCTS, time=TimeSpent(clock, overhead))
    return Watch(tracker, every, make_writer(log))


@dataclass(slots=True, eq=False)
class Watch(Result):
    """Result of `watch`: ``rows`` holds the measurements, ``missing`` the failed ones as (step, name, reason).

    In a row, ``loss`` is the loss that the loop passed, ``probe loss`` the loss of the probe examples in eval mode, and
    ``overhead`` the share of the time since the first step that was spent on watching. ``time.skipped`` counts
    measurements that were skipped because of the limit. A row without ``sharpness`` had no time for it.
    """

    tracker: ModelTracker = field(repr=False, metadata=HIDDEN_IN_JSON)
    every: int
    log: Log | None = field(repr=False, metadata=HIDDEN_IN_JSON)
    rows: list[dict[str, float]] = field(default_factory=list)
    missing: list[tuple[int, str, str]] = field(default_factory=list)
    count: int = 0

    def step(self, loss: float | Tensor | None = None) -> None:
        """Counts one training step, and measures the model every n steps; raises nothing except KeyboardInterrupt."""
        self.time.start()
        if self.count % self.every == 0:
            if self.time.affordable(KERNEL_TIMER_NAME):
                self._look(loss, limited=True)
            else:
                self.time.skipped += 1
        self.count += 1

    def measure(self, loss: float | Tensor | None = None) -> dict[str, float]:
        """Measures the model now, whatever the cost; leaves the model unchanged and raises nothing except
        KeyboardInterrupt.
        """
        return self._look(loss, limited=False)

    @property
    def time(self) -> TimeSpent:
        """Returns the object that counts and limits the time spent on measurements."""
        return self.tracker.time

    @property
    def overhead(self) -> float:
        """Returns the fraction of the time since the first step that was spent on watching."""
        return self.time.share

    @property
    def verdict(self) -> str:
        """States in one sentence the number of watched steps, the cost, and failed measurements."""
        limit, spent = self.time.limit, self.time.total
        head = f"Watched {self.count} steps: {len(self.rows)} measurements, {spent:.2g} s"
        head += f" or {self.overhead:.1%} of the time"
        head += f", {self.time.skipped} skipped to keep the overhead below {limit:.1%}" if limit is not None else ""
        if not self.missing:
            return f"{head}."
        kinds = list(dict.fromkeys(what for _, what, _ in self.missing))
        counts = [f"{what} {sum(w == what for _, w, _ in self.missing)} times" for what in kinds]
        step, what, why = self.missing[0]
        return f"{head}. Not measured: {', '.join(counts)}; first {what} at step {step}: {why}"

    def plots(self) -> tuple[Plot, ...]:
        """Plots losses, kernel and curvature over the training steps, each if it was measured."""
        groups = (
            ("Loss", "loss", ("loss", "probe loss")),
            ("Kernel", "relative change; alignment", ("kernel drift", "alignment")),
            ("Curvature", "largest Hessian eigenvalue", ("sharpness",)),
        )
        drawn = tuple(
            Plot(title, tuple(self._line(name) for name in names), Axis("step"), Axis(unit))
            for title, unit, names in groups
            if any(name in row for name in names for row in self.rows)
        )
        return drawn or (Plot("Loss", (), Axis("step"), Axis("loss"), self.verdict),)

    def lightning(self) -> Any:
        """Returns a Lightning callback that counts and measures each training step."""
        try:
            from lightning.pytorch import Callback
        except ImportError:
            try:
                from pytorch_lightning import Callback  # type: ignore[assignment, unused-ignore]
            except ImportError:
                raise _missing("lightning") from None
        watching = self

        class LightningWatch(Callback):
            def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, batch: Any, number: int) -> None:
                loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
                watching.step(loss if isinstance(loss, Tensor) else None)

        return LightningWatch()

    def huggingface(self) -> Any:
        """Returns a Hugging Face ``TrainerCallback`` that counts and measures each training step."""
        try:
            from transformers import TrainerCallback
        except ImportError:
            raise _missing("transformers") from None
        watching = self

        class TrainerWatch(TrainerCallback):
            def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> Any:
                logged = [entry["loss"] for entry in getattr(state, "log_history", None) or () if "loss" in entry]
                watching.step(logged[-1] if logged else None)
                return control

        return TrainerWatch()

    def _look(self, loss: float | Tensor | None, *, limited: bool) -> dict[str, float]:
        row = {"step": float(self.count)}
        with warnings.catch_warnings(), self.time.on(OVERHEAD_TIMER_NAME), with_one_thread():
            warnings.simplefilter("ignore")
            if loss is not None and (value := self._attempt("loss", lambda: float(loss))) is not None:
                row["loss"] = value
            row |= self._attempt("the model", lambda: self._measure_model(limited)) or {}
        row["overhead"] = self.overhead
        self.rows.append(row)
        if self.log is not None:
            log = self.log
            self._attempt("log", lambda: log({k: v for k, v in row.items() if k != "step"}, self.count))
        return row

    def _measure_model(self, limited: bool) -> dict[str, float]:
        model = self.tracker.subject.module
        with preserve(model):
            return self.tracker.measure(model, self._attempt, limited=limited)

    def _line(self, name: str) -> Line:
        known = [(row["step"], row[name]) for row in self.rows if name in row]
        return Line(name, [step for step, _ in known], [value for _, value in known])

    def _attempt(self, name: str, function: Callable[[], Any]) -> Any:
        """Calls a measurement function; if the function fails, stores the reason and returns None, so that training
        continues.
        """
        try:
            return function()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # BaseException, because the user's forward may even call sys.exit().
            words = (str(error).splitlines() or [""])[0]
            why = words if isinstance(error, GnomonError) else f"{type(error).__name__}: {words}"
            self.missing.append((self.count, name, why))
            return None


def _missing(package: str) -> MissingExtraError:
    return MissingExtraError(
        f"{package} is not installed", accepted=f"the package {package}", fix=f"pip install {package}"
    )
