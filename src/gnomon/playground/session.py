"""Runs one training of a user's network for the playground page, with theory's prediction made before training.

The prediction is ``gnomon.predict``, the kernel ``gnomon.ntk`` and the run ``gnomon.train`` on a copy of the network;
the page only draws them.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import GnomonError, InputError, add_call_to_errors
from gnomon.core.losses import AbstractLoss
from gnomon.forecast import predict
from gnomon.playground.drawing import picture_grid
from gnomon.tangent import ntk
from gnomon.training import SGD, Adam, CrossEntropy, Squared, train

__all__ = ["MAX_EXAMPLES", "PlaygroundSession", "PlaygroundSettings"]

MAX_EXAMPLES = 128
"""Examples that are shown and trained on: kernels and their modes are computed before every run."""
MAX_RECORDS = 120
RECORDS_PER_KERNEL = 8
"""The kernel of the trained network is computed at every eighth record, because it costs more than the steps."""
WAIT_SECONDS = 20.0
"""How long one request waits for the next record."""


@dataclass(frozen=True, slots=True)
class PlaygroundSettings:
    """The training options that the user can choose on the playground page.

    >>> PlaygroundSettings(rate=0.5).steps
    1000
    """

    rate: float = 0.5
    momentum: float = 0.0
    optimizer: str = "gd"
    steps: int = 1000
    seed: int = 1
    batch: int = 0


class PlaygroundSession:
    """A user's network and data, and the training run that the playground page shows.

    Args:
        network: a module, or a function that builds one.
        x: inputs.
        y: targets: real numbers or integer classes.

    >>> session = PlaygroundSession(lambda: nn.Linear(2, 1), torch.eye(2), torch.tensor([1.0, -1.0]))
    >>> sorted(session.setup(PlaygroundSettings(steps=10)))
    ['frame', 'setup']
    """

    def __init__(self, network: nn.Module | Callable[[], nn.Module], x: Tensor, y: Tensor) -> None:
        self.network = network
        self.x, self.y = x[:MAX_EXAMPLES], y[:MAX_EXAMPLES]
        classes = not self.y.is_floating_point()
        self.loss: AbstractLoss = CrossEntropy() if classes else Squared()
        self._cancel = threading.Event()
        self._lock = threading.Condition()
        self._frames: list[dict[str, Any]] = []
        self._thread: threading.Thread | None = None
        self._shown = 0

    @add_call_to_errors("playground")
    def setup(self, settings: PlaygroundSettings) -> dict[str, Any]:
        """Predicts the training run with these settings; ends an earlier run."""
        self.stop()
        torch.manual_seed(settings.seed)
        module = self.network if isinstance(self.network, nn.Module) else self.network()
        self._module, self._settings = module.double().eval(), settings
        outputs = self._outputs(self._module)
        targets = self.loss.targets(self.y, outputs=outputs.shape[1]).to(outputs)
        targets = targets.reshape(len(outputs), -1)
        kernel = ntk(self._module, self._inputs())
        self._kernel, self._targets = kernel, targets
        self._drawing = picture_grid(self.x, targets, classes=None if self.y.is_floating_point() else self.y.flatten())
        rates, vectors = torch.linalg.eigh(kernel / len(kernel))
        self._vectors = vectors.flip(1)
        top = float(rates[-1])
        largest = 2 * (1 + settings.momentum) / (top * self.loss.curvature) if top > 0 else None
        self._lr = 0.05 * settings.rate if settings.optimizer == "adam" else settings.rate * (largest or 1.0)
        self._records = _record_steps(settings.steps)
        messages = [self._drawing.message] if self._drawing.message else []
        messages += [] if self._lr > 0 else ["The learning rate is 0, so the weights will not change."]
        predicted = self._predict(messages)
        self._frames, self._shown = [self._frame(0, self._module)], 0
        setup = self._drawn_setup() | {
            "y": targets.flatten().tolist(), "f0": outputs.flatten().tolist(), "lr": self._lr, "largest": largest,
            "parameters": sum(p.numel() for p in self._module.parameters()),
            "rates": rates.flip(0).clamp_min(0).tolist(),
            "coefficients": self._pulls(outputs),
            "kernel": kernel.flatten().tolist(), "alignment": None, "records": self._records, "cross": [], "best": None,
            "predicted": predicted, "messages": messages, "own": True,
        }  # fmt: skip
        return {"setup": setup, "frame": self._frames[0]}

    def _drawn_setup(self) -> dict[str, Any]:
        """Returns what the page draws before training: the examples, and the network's output."""
        drawing = self._drawing
        return {
            "dimension": drawing.dimension, "x": self.x.flatten().tolist() if drawing.dimension else [],
            "marks": drawing.marks, "grid": drawing.grid[:, 0].tolist() if drawing.dimension == 1 else [],
            "start": self._frames[0]["curve"], "coordinates": drawing.coordinates(),
        }  # fmt: skip

    def advance(self, records: int = 1) -> dict[str, Any]:
        """Returns the next measurements of the training run, which the first call starts in the background."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._train, daemon=True)
            self._thread.start()
        with self._lock:
            wanted = min(self._shown + records, len(self._records) - 1)
            self._lock.wait_for(lambda: len(self._frames) > wanted or self._frames[-1]["diverged"], WAIT_SECONDS)
            self._shown = min(wanted, len(self._frames) - 1)
            return self._frames[self._shown]

    def stop(self) -> None:
        """Ends the training run in the background."""
        if self._thread is not None:
            self._cancel.set()
            self._thread.join()
        self._thread = None
        self._cancel.clear()

    def _inputs(self) -> Tensor:
        return self.x.double() if self.x.is_floating_point() else self.x

    def _outputs(self, module: nn.Module) -> Tensor:
        return _matrix(module, self._inputs())

    def _pulls(self, outputs: Tensor) -> list[float]:
        """Returns the size of the loss gradient along each eigenvector of the kernel; for squared loss, the size of the
        error.
        """
        return (self._vectors.T @ self.loss.gradient(outputs, self._targets)).norm(dim=1).tolist()

    def _curve(self, module: nn.Module) -> list[float]:
        """Returns the number that the page draws at every point of its grid."""
        drawing = self._drawing
        return drawing.values(_matrix(module, drawing.grid)) if drawing.dimension else []

    def _optimizer(self) -> SGD | Adam:
        if self._settings.optimizer == "adam":
            return Adam(self._lr)
        return SGD(self._lr, momentum=self._settings.momentum)

    def _predict(self, messages: list[str]) -> dict[str, Any] | None:
        rule = self._optimizer() if self._lr > 0 else None
        if not isinstance(rule, SGD):
            messages += ["Adam rescales every gradient, so the kernel cannot predict training with Adam."] * (
                rule is not None
            )
            return None
        times = [self._lr * step for step in self._records]
        drawing = self._drawing
        elsewhere = drawing.grid if drawing.dimension else None
        try:
            run = predict(
                self._module, (self._inputs(), self.y), test=elsewhere, loss=self.loss, optimizer=rule, times=times
            )
        except GnomonError as reason:
            messages.append(str(reason))
            return None
        assert run.train is not None
        outputs = run.train.reshape(len(times), len(self.x), -1)
        left = [self._pulls(f) for f in outputs]
        shown: Any = [] if run.test is None else run.test.reshape(len(times), len(drawing.grid), -1)
        curves = [drawing.values(f) for f in (shown if drawing.dimension == 1 else shown[-1:])]
        return {"loss": run.loss.tolist(), "outputs": outputs.flatten(1).tolist(), "curves": curves, "modes": left}

    def _train(self) -> None:
        def watch(step: int, model: nn.Module, _: float) -> None:
            if step > 0:
                frame = self._frame(step, model)
                with self._lock:
                    self._frames.append(frame)
                    self._lock.notify_all()

        def progress(_: int, __: int) -> None:
            if self._cancel.is_set():
                raise KeyboardInterrupt  # The function `train` catches this error, ends the run and returns its result.

        run = train(
            self._module, (self._inputs(), self.y), loss=self.loss, optimizer=self._optimizer(),
            steps=self._settings.steps, record=self._records, watch={"frame": watch}, mode="eval",
            seed=self._settings.seed, progress=progress,
        )  # fmt: skip
        with self._lock:
            if run.stopped == "diverged":
                self._frames.append({**self._frames[-1], "diverged": True, "loss": None})
            self._lock.notify_all()

    def _frame(self, step: int, model: nn.Module) -> dict[str, Any]:
        outputs = self._outputs(model)
        record = self._records.index(step)
        if record % RECORDS_PER_KERNEL == 0 or step == self._records[-1]:
            size = float(self._kernel.norm())
            change = 0.0 if step == 0 else float((ntk(model, self._inputs()) - self._kernel).norm())
            self._drift = change / size if size > 0 else 0.0
        return {
            "step": step, "record": record, "loss": float(self.loss.value(outputs, self._targets)),
            "outputs": outputs.flatten().tolist(), "curve": self._curve(model), "sharpness": None, "alignment": None,
            "modes": self._pulls(outputs), "diverged": False,
            "drift": self._drift,
        }  # fmt: skip


@torch.no_grad()
def _matrix(module: nn.Module, x: Tensor) -> Tensor:
    """Returns the outputs of a module as a matrix, one row for each input."""
    out = module(x)
    if not isinstance(out, Tensor):
        raise InputError("gnomon playground: the network must return one tensor.")
    return out.reshape(len(x), -1).double()


def _record_steps(steps: int) -> list[int]:
    """Returns the training steps at which the run is recorded: the first ones, then evenly spaced on a logarithmic
    scale.
    """
    return sorted({0, *(round((steps + 1) ** (k / (MAX_RECORDS - 1)) - 1) for k in range(MAX_RECORDS))})
