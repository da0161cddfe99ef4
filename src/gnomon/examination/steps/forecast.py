"""Examination step that predicts the loss during training, assuming that the tangent kernel stays constant."""

from math import inf, isfinite

import torch
from torch import Tensor

from gnomon.core.errors import NotFiniteError
from gnomon.core.metrics import accuracy
from gnomon.core.results import Axis, Finding, Hypothesis, Line, Plot, QuantityDefinition, Value, format_number
from gnomon.dynamics import predict_from_kernel
from gnomon.dynamics.trajectory import Trajectory
from gnomon.examination.step import AbstractStep, StepContext, StepProducts, StepResult, StepSkipped, error_sentence
from gnomon.examination.steps.kernel import ProbeKernel
from gnomon.examination.subject import Subject
from gnomon.findings import training as kinds
from gnomon.landscape.sharpness import Sharpness
from gnomon.report import PageContent
from gnomon.training import SGD
from gnomon.training.torch_optimizers import as_gradient_descent

MAX_TEST_EXAMPLES = 128
"""Test examples used, at most."""
TIME = Axis("time (learning rate × steps)", log=True)


class ForecastStep(AbstractStep):
    """Examination step that predicts the loss on training and test examples during training."""

    key, title, share = "forecast", "Training, predicted", 0.06
    question = "How would the loss fall if the network used only its initial features?"
    needs = (ProbeKernel,)
    uses = (Sharpness,)
    gives = Trajectory
    rests_on = ("examples", "prediction")

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        product = products[ProbeKernel]
        examples = product.examples
        way = as_gradient_descent(subject.optimizer)
        if subject.recipe.own_loss is not None:
            raise StepSkipped("Skipped: theory has no equations of training for your own loss.")
        if way is not None and way.decay:
            raise StepSkipped("Skipped: the prediction by the tangent kernel does not include weight decay.")
        test = (
            None if subject.test is None else subject.examples(subject.test.probe(MAX_TEST_EXAMPLES, seed=context.seed))
        )
        if product.means.estimate(MAX_TEST_EXAMPLES) > 0.5 * context.seconds:
            test = None  # Too little time is left for the prediction on test examples.
        y_test = None if test is None else subject.targets(test.y)
        try:
            run = predict_from_kernel(
                add_rounding_to_diagonal(product.kernel, next(subject.module.parameters()).dtype),
                subject.targets(examples.y),
                test=None if test is None else product.means.kernel(test.x, context, examples.x),
                y_test=y_test,
                f0=subject.outputs(examples.x).double(),
                f0_test=None if test is None else subject.outputs(test.x).double(),
                loss=subject.task.loss,
                optimizer=way,
                times=_times(product, None if way is None else way.lr),
            )
        except NotFiniteError as error:  # The learning rate is far too large, which other sections report.
            raise StepSkipped(error_sentence(error)) from error
        values = [
            Value("training loss at the start", float(run.loss[0]), id="predicted-loss-at-start"),
            Value(
                "training loss at the end",
                float(run.loss[-1]),
                meaning=f"when learning rate × steps is {format_number(float(run.times[-1]))}",
                id="predicted-loss-at-end",
            ),
        ]
        if run.test_loss is not None:
            values.append(Value("smallest test loss", float(run.test_loss.min()), id="predicted-test-loss"))
        if run.test is not None and y_test is not None and subject.task.classes:
            last = run.test[-1].reshape(y_test.shape)
            values.append(
                Value("test accuracy at the end", accuracy(last, y_test) or 0.0, id="predicted-test-accuracy")
            )
        hypotheses = (
            Hypothesis(
                "the tangent kernel does not change", None, "checked after training, under 'Features: kept or learned'"
            ),
            Hypothesis(
                "outputs do not influence each other", subject.task.outputs == 1, "the mean over outputs is used"
            ),
        )
        definition = QuantityDefinition("f′ = −(1/n) Θ ∂l/∂f", "time is learning rate × steps", "lee2019wide")
        data = {"times": run.times, "loss": run.loss}
        answer, holds = _answer(run, way, products.get(Sharpness))
        content = PageContent(answer, _findings(run), tuple(values), (_plot(run),), (definition,), hypotheses, data)
        return StepResult(content, run, "answered" if holds else "unsure")


def add_rounding_to_diagonal(kernel: Tensor, dtype: torch.dtype) -> Tensor:
    """Adds the largest possible rounding error of a kernel matrix to its diagonal, so that small eigenvalues are not
    noise.

    Eigenvalues of that size are undecided, also their sign; theory needs them positive.
    Cost: a copy.

    >>> k = add_rounding_to_diagonal(torch.ones(3, 3).double() - 1e-7 * torch.eye(3).double(), torch.float32)
    >>> bool(torch.linalg.eigvalsh(k)[0] > 0), float(k[0, 1])
    (True, 1.0)
    """
    bound = len(kernel) * torch.finfo(dtype).eps * float(kernel.diagonal().abs().max())
    return kernel + bound * torch.eye(len(kernel), dtype=kernel.dtype, device=kernel.device)


def _answer(run: Trajectory, way: SGD | None, sharpness: Sharpness | None) -> tuple[str, bool]:
    """Returns a sentence on the predicted loss, at the user's learning rate or at half of the largest stable one.

    Also whether the prediction can hold: it cannot at a learning rate above the stable limit.
    """
    limit = inf if sharpness is None else sharpness.largest_lr * (1 if way is None else 1 + way.momentum)
    lr = way.lr if way is not None else limit / 2 if isfinite(limit) else None
    end = float(run.times[-1])
    when = f"until learning rate × steps is {format_number(end)}" if lr is None else f"in {end / lr:,.0f} steps"
    rule = "plain gradient descent" if lr is None else f"gradient descent with learning rate {lr:.3g}"
    chosen = "" if way is not None or lr is None else " (half of the largest stable one)"
    change = f"the {run.loss_name} from {float(run.loss[0]):.3g} to {float(run.loss[-1]):.3g}"
    told = f"If the network kept its initial features, {rule}{chosen} would take {change} {when}."
    if way is not None and way.lr > limit and not run.diverges:
        return f"{told} This prediction will not hold because the learning rate is above the stable limit.", False
    return told, True


def _findings(run: Trajectory) -> tuple[Finding, ...]:
    if not run.diverges:
        return ()
    return (Finding(kinds.PREDICTED_DIVERGENCE, "optimizer", {"start": float(run.loss[0])}),)


def _times(product: ProbeKernel, lr: float | None) -> Tensor:
    """Returns the training times at which to predict the loss, up to ten thousand times the fastest mode's learning
    time.
    """
    fastest = len(product.kernel) / float(product.spectrum.values[0])
    times = torch.cat([torch.zeros(1, dtype=torch.float64), fastest * torch.logspace(-1, 4, 40, dtype=torch.float64)])
    return times if lr is None else (times / lr).ceil().clamp(max=3000).unique() * lr


def _plot(run: Trajectory) -> Plot:
    inside = (run.times > 0) & run.times.isfinite()
    losses = {"training examples": run.loss, "test examples": run.test_loss}
    marks = tuple(Line(name, run.times[inside], v[inside]) for name, v in losses.items() if v is not None)
    words = (
        "Predicted loss of gradient descent on the probe examples (a fixed sample of the training set) if the "
        "network keeps its initial features."
    )
    return Plot("Predicted loss", marks, TIME, Axis(run.loss_name, log=True), words, id="predicted-loss")
