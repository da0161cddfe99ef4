"""Training, measured: the losses beside their prediction, and the kernel and the curvature on the way."""

from math import inf, nan

import torch

from gnomon.core.results import Axis, Definition, Finding, Line, Plot, Reference, Scatter, Value
from gnomon.dynamics import Trajectory
from gnomon.examination.step import AbstractStep, Context, Products, Skipped, StepResult, require_gradients
from gnomon.examination.steps.data import DataSummary
from gnomon.examination.steps.forecast import TIME
from gnomon.examination.steps.kernel import ProbeKernel
from gnomon.examination.steps.limit import LimitScore
from gnomon.examination.subject import Subject
from gnomon.examination.tracker import Tracker
from gnomon.landscape import Sharpness
from gnomon.report import Content
from gnomon.training import SGD, AbstractOptimizer, Run, train
from gnomon.training.native import descent

STEPS, RECORDS, BATCH, WHOLE = 2000, 24, 64, 512
TRACKED, PRODUCTS = 48, 12
"""Examples whose kernel is measured during training, and Hessian products for each measurement of the sharpness."""
SHARE = 0.25
"""Of the stable learning rate at the start: training sharpens the loss, and batches add noise."""


class TrainingStep(AbstractStep):
    """One run of the one training loop on a copy of the network."""

    key, title, share = "training", "Training, measured", 0.35
    question = "How does training really go, and how does that compare with the prediction?"
    uses = (DataSummary, Sharpness, ProbeKernel, LimitScore, Trajectory)
    gives = Run

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        if not context.fit:
            raise Skipped("Training was not asked for: pass fit=True (--fit), or a function that builds the network.")
        require_gradients(subject)
        run, batch = _trained(subject, subject.optimizer or default(products.get(Sharpness)), context)
        if run.stopped == "interrupted":
            raise KeyboardInterrupt
        predicted = products.get(Trajectory) if descent(run.optimizer) else None
        plots = [_losses(run, predicted)]
        if len(run.steps) > 2:
            plots += _tracked(run)
        definition = Definition(
            "2 / lr", "with a sharpness above this line plain gradient descent oscillates", "cohen2021gradient"
        )
        data = {"steps": run.steps, "loss": run.loss, "watched": dict(run.watched)}
        findings = (*run.findings, *_below_kernel(run, products), *_overfit(run), *_below_limit(run, products))
        content = Content(run.verdict, findings, _values(run, batch), tuple(plots), (definition,), data=data)
        return StepResult(content, run)


def _trained(subject: Subject, optimizer: AbstractOptimizer, context: Context) -> tuple[Run, int | None]:
    task, examples = subject.task, subject.examples(subject.train.whole())
    test = None if subject.test is None else subject.examples(subject.test.whole())
    batch = None if len(examples) <= WHOLE else BATCH
    tracker = Tracker(subject, subject.probe.some(TRACKED), products=PRODUCTS)
    run = train(
        subject.module, examples.x, task.loss_targets(examples.y), x_test=None if test is None else test.x,
        y_test=None if test is None else task.loss_targets(test.y), loss=task.loss, optimizer=optimizer, steps=STEPS,
        batch=batch, record=moments(STEPS), watch=tracker.watchers(), seconds=0.8 * context.seconds, seed=context.seed,
        clock=context.clock,
    )  # fmt: skip
    return run, batch


def default(measured: Sharpness | None) -> AbstractOptimizer:
    """Gradient descent with a share of the largest stable learning rate, where the user names no optimizer."""
    return SGD(0.1) if measured is None or measured.largest_lr == inf else SGD(SHARE * measured.largest_lr)


def moments(steps: int) -> list[int]:
    """Recorded steps, closer together at the beginning."""
    recorded = torch.logspace(0, torch.log10(torch.tensor(float(steps))), RECORDS).round().int().unique()
    return [0, *recorded.tolist()]


def _values(run: Run, batch: int | None) -> tuple[Value, ...]:
    steps = "all examples at once" if batch is None else f"batches of {batch}"
    values = [
        Value("optimizer", f"{run.optimizer.name}, learning rate {run.optimizer.lr:.3g}"),
        Value("steps taken", int(run.steps[-1]), meaning=steps),
        Value("training loss", float(run.loss[-1]), meaning=f"{float(run.loss[0]):.3g} before"),
    ]
    if run.accuracy is not None:
        values.append(Value("training accuracy", float(run.accuracy[-1])))
    if run.test_accuracy is not None:
        values.append(Value("test accuracy", float(run.test_accuracy[-1])))
    if run.test_loss is not None:
        least = f"least: {float(run.test_loss.min()):.3g}"
        values.append(Value("test loss", float(run.test_loss[-1]), meaning=least))
    return tuple(values)


def _below_kernel(run: Run, products: Products) -> tuple[Finding, ...]:
    """Training that ended below what a kernel already scores on examples that it was not fitted to."""
    data, limit, kernel = products.get(DataSummary), products.get(LimitScore), products.get(ProbeKernel)
    prediction = limit.prediction if limit is not None else kernel.prediction if kernel is not None else None
    known = prediction is not None and data is not None and data.largest_class is not None
    if run.accuracy is None or run.diverges or run.stopped != "finished" or prediction is None or not known:
        return ()
    last, score = float(run.accuracy[-1]), prediction.accuracy
    if score is None or score - last <= 0.1:
        return ()
    what = (
        f"Training got {last:.1%} of its own examples right, while the features that it starts with suffice for "
        f"{score:.1%} of examples left out."
    )
    return (Finding("undertrained", what, "Train longer or with a larger learning rate.", 0.45, "optimizer"),)


def _overfit(run: Run) -> tuple[Finding, ...]:
    if run.test_loss is None or run.diverges:
        return ()
    least, last = float(run.test_loss.min()), float(run.test_loss[-1])
    if last <= 1.2 * least or last - least <= 0.02:
        return ()
    step = int(run.steps[int(run.test_loss.argmin())])
    what = f"The test loss was {least:.3g} at step {step} and is {last:.3g} at the end."
    return (Finding("overfit", what, f"Stop near step {step}, or add weight decay.", 0.4, "optimizer"),)


def _below_limit(run: Run, products: Products) -> tuple[Finding, ...]:
    score = products.get(LimitScore)
    wide = None if score is None else score.test_accuracy
    if wide is None or run.test_accuracy is None or wide <= float(run.test_accuracy[-1]) + 0.02:
        return ()
    what = (
        f"A very wide version of this network scores {wide:.1%} on the test examples, the trained network "
        f"{float(run.test_accuracy[-1]):.1%}."
    )
    cure = "Train longer or widen the layers; `gnomon.estimators.NTKClassifier` already reaches that score."
    return (Finding("below-limit", what, cure, 0.35),)


def _losses(run: Run, predicted: Trajectory | None) -> Plot:
    times = run.times[1:]
    marks: list[Scatter | Line] = [Scatter("measured, training", times, run.loss[1:])]
    if run.test_loss is not None:
        marks.append(Scatter("measured, test", times, run.test_loss[1:]))
    if predicted is not None and len(times):
        inside = (predicted.times > 0) & (predicted.times <= float(times[-1]) * 1.01)
        curves = {"predicted, training": predicted.loss, "predicted, test": predicted.test_loss}
        marks += [Line(name, predicted.times[inside], v[inside]) for name, v in curves.items() if v is not None]
    words = "Dots are measured, lines predicted for a network that keeps its features, on the probe examples."
    return Plot("Loss", tuple(marks), TIME, Axis(run.loss_name, log=True), words)


def _tracked(run: Run) -> tuple[Plot, Plot]:
    steps = [max(1, step) for step in run.steps.tolist()]
    axis = Axis("step", log=True)
    marks = (
        Line("change of the features", steps, run.watched["kernel rotation"]),
        Line("fit to the labels", steps, run.watched["alignment"]),
    )
    words = "No change of the features (tangent kernel) is lazy training; their fit to the labels is the alignment."
    kernel = Plot("Features during training", marks, axis, caption=words)
    positive = [value if value > 0 else nan for value in run.watched["sharpness"]]
    way = descent(run.optimizer)
    limit = () if way is None else (Reference("limit of this learning rate", 2 * (1 + way.momentum) / way.lr),)
    words = "Above the dashed line plain gradient descent oscillates (sharpness)."
    curvature = Plot(
        "Curvature during training", (Line("sharpness", steps, positive), *limit), axis, Axis(log=True), words
    )
    return kernel, curvature
