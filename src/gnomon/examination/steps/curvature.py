"""The loss where training has ended: sharpness, the sum of curvatures, the noise of gradients."""

from dataclasses import dataclass

from gnomon.core.record import Record
from gnomon.core.results import Definition, Interval, Value
from gnomon.examination.pictures import rate_meter
from gnomon.examination.step import (
    DIVERGED,
    NOT_ENOUGH,
    AbstractStep,
    Context,
    Products,
    Skipped,
    StepResult,
    require_gradients,
)
from gnomon.examination.steps.architecture import Profile
from gnomon.examination.steps.stability import affordable, products_within, timed
from gnomon.examination.subject import Subject
from gnomon.landscape import gradient_noise, hessian
from gnomon.linalg.lanczos import top_eigenpairs
from gnomon.linalg.trace import hutch_plus_plus
from gnomon.report import Content
from gnomon.training import Run
from gnomon.training.native import descent


@dataclass(frozen=True, slots=True)
class CurvatureSummary(Record):
    """The largest curvature and the sum of all curvatures, after training or of the untrained network."""

    sharpness: float
    trace: float


class CurvatureStep(AbstractStep):
    """After training, or of the untrained network."""

    key, title, share = "curvature", "The loss landscape", 0.06
    question = "How steep is the loss here compared with the learning rate, and how noisy are its gradients?"
    needs = (Profile,)
    uses = (Run,)
    gives = CurvatureSummary

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        require_gradients(subject)
        run = products.get(Run)
        if run is not None and run.diverges:
            raise Skipped(DIVERGED)
        model = subject.module if run is None else run.model
        cost = products[Profile].cost
        examples = subject.probe.some(affordable(cost, context))
        y = subject.loss_targets(examples.y)
        operator = timed(hessian(model, examples.x, y, loss=subject.loss), context)
        count = products_within(operator, context, 0.3)
        top = top_eigenpairs(operator, 1, steps=count, seed=context.seed)
        value, residual = float(top.values[0]), float(top.residuals[0])
        trace = hutch_plus_plus(operator, products=max(6, count), confidence=0.95, seed=context.seed)
        values = [
            Value("sharpness", value, Interval(value, value + residual), "estimate"),
            Value("trace of the Hessian", trace.value, trace.interval, "estimate"),
        ]
        if len(examples) >= 8 and len(examples) * cost.passes(1) <= context.seconds:
            noise = gradient_noise(model, examples.x, y, loss=subject.loss)
            name = "batch size of equal signal and noise"
            gains = "batches much larger than this save few steps"
            values.append(Value(name, noise.scale, noise.interval, "estimate", meaning=gains))
        state = "At the end of training" if run is not None else "Before training" if context.fit else "As it was given"
        answer = f"{state} the loss has sharpness {value:.3g}"
        if value > 0:
            answer += f", so that plain gradient descent is stable with learning rates below {2 / value:.2g}"
        way = None if run is None else descent(run.optimizer)
        if way is not None:
            limit = 2 * (1 + way.momentum) / way.lr
            share = f"{value / limit:.0%} of what its learning rate allows"
            most = "as much as its learning rate allows, the edge of stability"
            answer += f"; that is {most if value > 0.8 * limit else share} ({limit:.3g})"
            values.append(Value("limit of the learning rate in use", limit, meaning="2 (1 + β) / lr"))
        definitions = (
            Definition("λ_max(H)", "sharpness: the largest curvature of the mean loss", "cohen2021gradient"),
            Definition("tr H = E[zᵀ H z]", "sum of all curvatures", "hutchinson1989stochastic"),
            Definition("B = tr Σ / |G|²", "noise scale", "mccandlish2018empirical"),
        )
        short = "" if run is None else run.shortage
        answer = f"{NOT_ENOUGH} {short}. {answer}" if short else answer
        plots = rate_meter(way.lr, 2 * (1 + way.momentum) / value) if way is not None and value > 0 else ()
        content = Content(f"{answer}.", (), tuple(values), plots, definitions)
        return StepResult(content, CurvatureSummary(value, trace.value), "unsure" if short else "answered")
