"""Examination step that measures the loss landscape after training: sharpness, trace of the Hessian, gradient noise."""

from dataclasses import dataclass

from gnomon.core.results import Finding, Interval, QuantityDefinition, Value
from gnomon.core.results.record import Record
from gnomon.examination.pictures import learning_rate_scale_plot
from gnomon.examination.step import (
    NOT_TRAINED_LONG_ENOUGH,
    SKIPPED_AFTER_DIVERGENCE,
    TRAINING_NOT_FINISHED,
    AbstractStep,
    StepContext,
    StepProducts,
    StepResult,
    StepSkipped,
    require_gradients,
)
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.steps.stability import affordable_hessian_examples, products_within, with_time_limit
from gnomon.examination.subject import Subject
from gnomon.findings import training as kinds
from gnomon.landscape import gradient_noise, hessian
from gnomon.linalg.lanczos import top_eigenpairs
from gnomon.linalg.trace import hutch_plus_plus
from gnomon.report import PageContent
from gnomon.training import SGD, TrainingRun
from gnomon.training.torch_optimizers import as_gradient_descent

EDGE_SHARE = 0.8
"""Share of the stability limit above which training is at the edge of stability."""


@dataclass(frozen=True, slots=True)
class CurvatureSummary(Record):
    """Result: the largest eigenvalue and the trace of the Hessian of the loss, after or without training."""

    sharpness: float
    trace: float


class CurvatureStep(AbstractStep):
    """Examination step that measures the curvature of the loss after training, or of the untrained network."""

    key, title, share = "curvature", "The loss landscape", 0.06
    question = "How sharply is the loss curved compared with the learning rate, and how noisy are its gradients?"
    needs = (NetworkProfile,)
    uses = (TrainingRun,)
    gives = CurvatureSummary
    rests_on = ("examples", "training")

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        require_gradients(subject)
        run = products.get(TrainingRun)
        if run is not None and run.diverges:
            raise StepSkipped(SKIPPED_AFTER_DIVERGENCE)
        model = subject.module if run is None else run.model
        cost = products[NetworkProfile].cost
        examples = subject.probe.some(affordable_hessian_examples(cost, context))
        y = subject.loss_targets(examples.y)
        operator = with_time_limit(hessian(model, (examples.x, y), loss=subject.loss), context)
        count = products_within(operator, context, 0.3)
        top = top_eigenpairs(operator, 1, steps=count, seed=context.seed)
        value, residual = float(top.values[0]), float(top.residuals[0])
        trace = hutch_plus_plus(operator, products=max(6, count), confidence=0.95, seed=context.seed)
        values = [
            Value("sharpness", value, Interval(value, value + residual), "estimate", id="final-sharpness"),
            Value("trace of the Hessian", trace.value, trace.interval, "estimate", id="trace-of-the-hessian"),
        ]
        if len(examples) >= 8 and len(examples) * cost.passes(1) <= context.seconds:
            noise = gradient_noise(model, (examples.x, y), loss=subject.loss)
            name = "batch size at which signal and noise are equal"
            gains = "batches much larger than this hardly reduce the number of steps"
            values.append(Value(name, noise.scale, noise.interval, "estimate", meaning=gains, id="noise-scale"))
        way = None if run is None else as_gradient_descent(run.optimizer)
        if way is not None:
            limit = 2 * (1 + way.momentum) / way.lr
            values.append(
                Value("limit of the learning rate in use", limit, meaning="2 (1 + β) / lr", id="sharpness-limit")
            )
        answer = _answer(value, way, trained=run is not None)
        definitions = (
            QuantityDefinition("λ_max(H)", "sharpness: the largest curvature of the mean loss", "cohen2021gradient"),
            QuantityDefinition("tr H = E[zᵀ H z]", "sum of all curvatures", "hutchinson1989stochastic"),
            QuantityDefinition("B = tr Σ / |G|²", "noise scale", "mccandlish2018empirical"),
        )
        short = "" if run is None else run.shortage
        answer = f"{NOT_TRAINED_LONG_ENOUGH} {TRAINING_NOT_FINISHED} {answer}" if short else answer
        plots = (
            learning_rate_scale_plot(way.lr, 2 * (1 + way.momentum) / value) if way is not None and value > 0 else ()
        )
        findings = () if short else _findings(value, way)
        content = PageContent(answer, findings, tuple(values), plots, definitions)
        return StepResult(content, CurvatureSummary(value, trace.value), "unsure" if short else "answered")


def _findings(sharpness: float, way: SGD | None) -> tuple[Finding, ...]:
    """Returns a note if the curvature is too large for the learning rate, so that longer training would leave this
    minimum.
    """
    if way is None or sharpness * way.lr <= 2 * (1 + way.momentum) / EDGE_SHARE:
        return ()
    limit = 2 * (1 + way.momentum) / sharpness

    evidence = (Value("sharpness", sharpness), Value("learning rate in use", way.lr))
    return (Finding(kinds.ENDS_UNSTABLE, "", {"limit": limit, "lr": way.lr}, evidence),)


def _answer(sharpness: float, way: SGD | None, *, trained: bool) -> str:
    """Returns the report's answer on curvature, compared with the learning rate if gradient descent was used."""
    state = "At the end of training" if trained else "At the current weights"
    if sharpness <= 0:
        return f"{state} the loss has no positive curvature in any direction (sharpness {sharpness:.3g})."
    if way is None:
        rate = f"plain gradient descent (SGD) is stable with learning rates below {2 / sharpness:.2g}"
        return f"{state} {rate} (sharpness {sharpness:.3g}); Adam has no such limit."
    limit = 2 * (1 + way.momentum) / way.lr
    share = f"{sharpness / limit:.0%} of the limit of its learning rate"
    if sharpness > EDGE_SHARE * limit:
        share = "about as much as its learning rate allows (the edge of stability)"
    if sharpness > limit / EDGE_SHARE:
        share = f"{sharpness / limit:.1f} times what the learning rate allows, so training cannot stay at these weights"
    return f"{state} the loss is curved (sharpness {sharpness:.3g}) by {share} ({limit:.3g})."
