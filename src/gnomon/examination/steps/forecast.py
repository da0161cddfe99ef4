"""Training told in advance: the curves of a network whose kernel does not move."""

from math import isinf

import torch
from torch import Tensor

from gnomon.dynamics import Trajectory
from gnomon.examination.score import right
from gnomon.examination.step import AbstractStep, Context, Outcome
from gnomon.examination.subject import Subject
from gnomon.forecast import predict
from gnomon.report import COLORS, Definition, Hypothesis, Section, Value, figure
from gnomon.training.native import descent

TEST = 128


class Forecast(AbstractStep):
    """Predicted loss on training and test points."""

    key, title, share = "forecast", "Training, predicted", 0.15
    question = "If the kernel stayed as it is, how would training go?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        k, points = context.fact("kernel", "A forecast"), context.fact("probe", "A forecast")
        test = None if subject.test is None else subject.test.some(TEST, context.seed)
        way = descent(subject.optimizer)
        run = predict(
            subject.module, points.x, _numbers(subject, points.y), None if test is None else test.x,
            y_test=None if test is None else _numbers(subject, test.y), loss=subject.loss, optimizer=way,
            times=_times(k, None if way is None else way.lr), outputs="trace",
        )  # fmt: skip
        values = [
            Value("training loss at the start", float(run.loss[0])),
            Value("training loss at the end", float(run.loss[-1]), meaning=f"time {float(run.times[-1]):.3g}"),
        ]
        if run.test_loss is not None:
            values.append(Value("test loss, least", float(run.test_loss.min())))
        if run.test is not None and subject.classes and test is not None:
            last = run.test[-1].reshape(len(test), -1)
            values.append(Value("test accuracy at the end", right(last, subject.targets(test.y).double())))
        same = Hypothesis("outputs do not influence each other", subject.outputs == 1, "the mean over outputs is used")
        still = Hypothesis("the kernel does not move", None, "checked after training, under 'regime'")
        section = Section(
            self.key, self.title, self.question, run.verdict, "fault" if run.diverges else "good", tuple(values),
            (_curves(run),), (Definition("f′ = −(1/n) Θ ∂l/∂f", "time is learning rate × steps", "lee2019wide"),),
            (still, same), data={"times": run.times.tolist(), "loss": run.loss.tolist()},
        )  # fmt: skip
        return Outcome(section, {"forecast": run})


def _numbers(subject: Subject, y: Tensor) -> Tensor:
    return subject.said(y) if subject.classes else y.double()


def _times(k: Tensor, lr: float | None) -> Tensor:
    """From a tenth of the fastest mode's time to some thousands of it; whole steps where there are steps."""
    fastest = len(k) / float(torch.linalg.eigvalsh(k)[-1])
    times = torch.cat([torch.zeros(1, dtype=torch.float64), fastest * torch.logspace(-1, 3.5, 40, dtype=torch.float64)])
    return times if lr is None else (times / lr).ceil().clamp(max=3000).unique() * lr


def _curves(run: Trajectory):  # type: ignore[no-untyped-def]
    def draw(axes):  # type: ignore[no-untyped-def]
        shown = [(t, i) for i, t in enumerate(run.times.tolist()) if t > 0 and not isinf(t)]
        times, at = [t for t, _ in shown], [i for _, i in shown]
        axes.plot(times, [float(run.loss[i]) for i in at], color=COLORS["first"], label="training points")
        if run.test_loss is not None:
            axes.plot(times, [float(run.test_loss[i]) for i in at], color=COLORS["second"], label="test points")
        axes.set(xscale="log", yscale="log", xlabel="time (learning rate × steps)", ylabel=run.loss_name)
        axes.legend()

    return figure("forecast", "The loss that theory predicts for gradient descent on the probe examples.", draw)
