"""Training, really done: predicted and measured on one axis, the kernel and the curvature watched on the way."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import GnomonError
from gnomon.core.inputs import take
from gnomon.examination.step import AbstractStep, Context, Outcome, Skipped, require_gradients
from gnomon.examination.subject import Subject
from gnomon.landscape import sharpness
from gnomon.report import COLORS, Definition, Section, Status, Value, figure
from gnomon.tangent import alignment, ntk, rotation
from gnomon.training import SGD, AbstractOptimizer, Run, train
from gnomon.training.native import descent

STEPS, RECORDS, BATCH, WHOLE = 2000, 24, 64, 512
WATCHED = 48  # examples of the kernel that is watched


class Training(AbstractStep):
    """One run of the one training loop on a copy of the network."""

    key, title, share = "training", "Training, measured", 0.35
    question = "How does training really go, and does the network change its mind on the way?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        if not context.fit:
            raise Skipped("Training was not asked for: pass fit=True (--fit), or a function that builds the network.")
        require_gradients(subject)
        optimizer = subject.optimizer or default(context)
        batch = None if len(subject.train) <= WHOLE else BATCH
        points = subject.train.some(WATCHED, context.seed + 1)
        x_test, y_test = (None, None) if subject.test is None else (subject.test.x, subject.said(subject.test.y))
        run = train(
            subject.module, subject.train.x, subject.said(subject.train.y), x_test=x_test, y_test=y_test,
            loss=subject.loss, optimizer=optimizer, steps=STEPS, batch=batch, record=moments(STEPS),
            watch=watchers(subject, points.x, points.y), seconds=0.8 * context.seconds, seed=context.seed,
            clock=context.clock,
        )  # fmt: skip
        if run.stopped == "interrupted":
            raise KeyboardInterrupt
        values = [
            Value("optimizer", f"{optimizer.name}, learning rate {optimizer.lr:.3g}"),
            Value(
                "steps taken",
                int(run.steps[-1]),
                meaning="all examples at once" if batch is None else f"batches of {batch}",
            ),
            Value("training loss", float(run.loss[-1]), meaning=f"{float(run.loss[0]):.3g} before"),
        ]
        if run.accuracy is not None:
            values.append(Value("training accuracy", float(run.accuracy[-1])))
        if run.test_accuracy is not None:
            values.append(Value("test accuracy", float(run.test_accuracy[-1])))
        if run.test_loss is not None:
            values.append(
                Value("test loss", float(run.test_loss[-1]), meaning=f"least: {float(run.test_loss.min()):.3g}")
            )
        figures = [_curves(run, context.facts.get("forecast") if descent(optimizer) else None)]
        if len(run.steps) > 2:
            figures.append(_watched(run, optimizer))
        status: Status = "fault" if run.diverges else "good"
        definition = Definition(
            "2 / lr", "a sharpness above this line makes plain descent oscillate", "cohen2021gradient"
        )
        section = Section(
            self.key, self.title, self.question, run.verdict, status, tuple(values), tuple(figures), (definition,),
            data={"steps": run.steps.tolist(), "loss": run.loss.tolist(), "watched": dict(run.watched)},
        )  # fmt: skip
        return Outcome(section, {"run": run, "optimizer": optimizer})


SHARE = 0.25
"""Of the stable learning rate at the start: descent sharpens the landscape, and batches add noise."""


def default(context: Context) -> AbstractOptimizer:
    """Plain descent with a share of the largest stable learning rate, where the user names no optimizer."""
    limit = context.facts.get("stable lr")
    return SGD(0.1) if not limit or limit == inf else SGD(SHARE * float(limit))


def moments(steps: int) -> list[int]:
    """Recorded steps, closer together at the beginning."""
    found = torch.logspace(0, torch.log10(torch.tensor(float(steps))), RECORDS).round().int().unique()
    return [0, *found.tolist()]


def watchers(subject: Subject, x: Any, y: Tensor) -> dict[str, Callable[[int, nn.Module, float], float]]:
    """Drift and turn of the kernel, its alignment with the labels, and the sharpness, on a few examples."""
    first: list[Tensor] = []
    targets, said = subject.targets(y).double(), subject.said(y)

    def kernel(model: nn.Module) -> Tensor:
        return ntk(model, take(x, slice(0, WATCHED))).double()

    state: dict[str, Tensor] = {}

    def drift(step: int, model: nn.Module, loss: float) -> float:
        state["k"] = kernel(model)
        if not first:
            first.append(state["k"])
        return float((state["k"] - first[0]).norm() / first[0].norm().clamp(min=1e-300))

    def careful(measure: Callable[[nn.Module], float]) -> Callable[[int, nn.Module, float], float]:
        """A network may die on the way: what has no number then is NaN, and training goes on."""

        def watch(step: int, model: nn.Module, loss: float) -> float:
            try:
                return measure(model)
            except GnomonError:
                return nan

        return watch

    return {
        "kernel drift": drift,
        "kernel rotation": careful(lambda model: float(rotation(first[0], state["k"]))),
        "alignment": careful(lambda model: float(alignment(state["k"], targets))),
        "sharpness": careful(lambda model: sharpness(model, x, said, loss=subject.loss, steps=12).value),
    }


def _curves(run: Run, forecast: Any):  # type: ignore[no-untyped-def]
    def draw(axes):  # type: ignore[no-untyped-def]
        times = run.times[1:].tolist()
        axes.plot(times, run.loss[1:].tolist(), "o", markersize=3, color=COLORS["first"], label="measured, training")
        if run.test_loss is not None:
            axes.plot(
                times, run.test_loss[1:].tolist(), "o", markersize=3, color=COLORS["second"], label="measured, test"
            )
        if forecast is not None and times:
            shown = [i for i, t in enumerate(forecast.times.tolist()) if 0 < t <= times[-1] * 1.01]
            at = [float(forecast.times[i]) for i in shown]
            axes.plot(at, [float(forecast.loss[i]) for i in shown], color=COLORS["first"], label="predicted, training")
            if forecast.test_loss is not None:
                axes.plot(
                    at, [float(forecast.test_loss[i]) for i in shown], color=COLORS["second"], label="predicted, test"
                )
        axes.set(xscale="log", yscale="log", xlabel="time (learning rate × steps)", ylabel=run.loss_name)
        axes.legend()

    words = "Dots are measured; lines are the forecast for a kernel that does not move, on the probe examples."
    return figure("training", words, draw)


def _watched(run: Run, optimizer: AbstractOptimizer):  # type: ignore[no-untyped-def]
    def draw(axes):  # type: ignore[no-untyped-def]
        steps = [max(1, s) for s in run.steps.tolist()]
        axes[0].plot(steps, run.watched["kernel rotation"], color=COLORS["first"], label="turn of the kernel")
        axes[0].plot(steps, run.watched["alignment"], color=COLORS["second"], label="alignment with labels")
        axes[0].set(xscale="log", xlabel="step", title="the kernel")
        axes[0].legend()
        axes[1].plot(steps, run.watched["sharpness"], color=COLORS["third"], label="sharpness")
        if (way := descent(optimizer)) is not None:
            axes[1].axhline(
                2 * (1 + way.momentum) / way.lr,
                color=COLORS["fourth"],
                linestyle="--",
                label="limit of this learning rate",
            )
        axes[1].set(xscale="log", yscale="symlog", xlabel="step", title="the curvature")
        axes[1].legend()

    return figure(
        "watched",
        "A kernel that stays means lazy training; sharpness above its limit means oscillation.",
        draw,
        parts=2,
    )
