"""Plots a training run: losses on training and test examples, and how kernel and curvature change meanwhile."""

from math import isfinite, nan

from gnomon.core.results import Axis, Line, Plot, Reference, Scatter
from gnomon.dynamics.trajectory import Trajectory
from gnomon.examination.step import StepProducts
from gnomon.landscape.sharpness import Sharpness
from gnomon.training import TrainingRun
from gnomon.training.torch_optimizers import as_gradient_descent

__all__ = ["loss_plot", "plot_tracked", "predicted_rate"]


def predicted_rate(run: TrainingRun, products: StepProducts) -> float | None:
    """Returns the learning rate for which theory predicts the training loss; None if unknown.

    >>> import torch
    >>> from gnomon.training import SGD, train
    >>> batch = torch.ones(8, 2), torch.zeros(8).long()
    >>> run = train(torch.nn.Linear(2, 3), batch, optimizer=SGD(0.1), steps=5)
    >>> predicted_rate(run, StepProducts())
    0.1
    """
    measured, way = products.get(Sharpness), as_gradient_descent(run.optimizer)
    lr = way.lr if way is not None else None if measured is None else measured.largest_lr / 2
    return lr if lr is not None and isfinite(lr) and lr > 0 else None


def loss_plot(run: TrainingRun, products: StepProducts) -> Plot:
    """Plots measured and predicted losses over the training steps, from the start.

    >>> import torch
    >>> from gnomon.training import SGD, train
    >>> batch = torch.ones(8, 2), torch.zeros(8).long()
    >>> run = train(torch.nn.Linear(2, 3), batch, optimizer=SGD(0.1), steps=5)
    >>> loss_plot(run, StepProducts()).title
    'Your training with gradient descent: loss'
    """
    steps, predicted, lr = run.steps, products.get(Trajectory), predicted_rate(run, products)
    marks: list[Scatter | Line] = [Scatter("measured, training", steps, run.loss, 0)]
    if run.test_loss is not None:
        marks.append(Scatter("measured, test", steps, run.test_loss, 1))
    words = f"Measured while {run.optimizer.name} trained a copy of your network for {int(steps[-1]):,} steps."
    if run.test_loss is not None and int(run.test_loss.argmin()) < len(steps) - 1:
        least = int(run.test_loss.argmin())
        words += f" The test loss was smallest at step {int(steps[least]):,} ({float(run.test_loss[least]):.3g})."
    # Only for gradient descent. The section 'Theory against measurement' covers other optimizers.
    same = as_gradient_descent(run.optimizer) is not None
    if same and predicted is not None and lr is not None and len(steps) > 1:
        there = predicted.times / lr
        inside = there <= float(steps[-1]) * 1.01
        curves = {"predicted, training": predicted.loss, "predicted, test": predicted.test_loss}
        marks += [Line(name, there[inside], v[inside], "solid", i, predicted=True)
                  for i, (name, v) in enumerate(curves.items()) if v is not None]  # fmt: skip
        words = (
            "Dots are measured, lines predicted for a network that keeps its initial features. Both use the probe "
            "examples, a fixed sample of the training set."
        )
    time = ("seconds", run.seconds / max(float(run.steps[-1]), 1.0))
    title = f"Your training with {run.optimizer.name}: loss"
    return Plot(title, tuple(marks), Axis("step", other_unit=time), Axis(run.loss_name, log=True), words, id="loss")


def plot_tracked(run: TrainingRun) -> list[Plot]:
    """Plots how kernel and curvature change during training, if they were measured more than twice.

    >>> import torch
    >>> from gnomon.training import SGD, train
    >>> batch = torch.ones(8, 2), torch.zeros(8).long()
    >>> run = train(torch.nn.Linear(2, 3), batch, optimizer=SGD(0.1), steps=5)
    >>> plot_tracked(run)  # without measurements of kernel and curvature
    []
    """
    rows = [i for i, value in enumerate(run.watched.get("sharpness", ())) if value == value]
    if len(rows) < 3:
        return []

    def line(name: str, key: str) -> Line:
        return Line(name, [max(1, int(run.steps[i])) for i in rows], [run.watched[key][i] for i in rows])

    axis = Axis("step", log=True)
    words = (
        "If the kernel changes by less than 0.1, the network keeps its features (lazy training); above 0.5 it "
        "learns new ones."
    )
    moved = line("change of the tangent kernel", "kernel drift")
    drift = Line(moved.name, moved.x, [value if value > 0 else nan for value in moved.y])
    kernel = Plot(
        "Features during training",
        (drift,),
        axis,
        Axis("relative change", log=True),
        words,
        id="features-during-training",
    )
    words = "How well the labels match the modes that the network learns fastest (alignment)."
    marks = (line("alignment", "alignment"),)
    fit = Plot(
        "Fit to the labels during training", marks, axis, Axis("alignment"), words, id="alignment-during-training"
    )
    curved = line("sharpness", "sharpness")
    positive = Line(curved.name, curved.x, [value if value > 0 else nan for value in curved.y])
    way = as_gradient_descent(run.optimizer)
    limit = () if way is None else (Reference("limit of this learning rate", 2 * (1 + way.momentum) / way.lr),)
    above = "above the dashed line, plain gradient descent oscillates"
    words = "The largest curvature of the loss (sharpness)" + (f": {above}." if limit else ".")
    curvature = Plot(
        "Curvature during training",
        (positive, *limit),
        axis,
        Axis("sharpness", log=True),
        words,
        id="curvature-during-training",
    )
    changed = any(value == value for value in drift.y)  # NaN means a linear network, whose features cannot change.
    return [kernel, fit, curvature] if changed else [fit, curvature]
