"""The loss where training has ended: sharpness, the sum of curvatures, the noise of gradients."""

from dataclasses import dataclass

from gnomon.core.record import Record
from gnomon.core.results import Definition, Interval, Value
from gnomon.examination.pictures import rate_meter
from gnomon.examination.step import AbstractStep, Context, Products, StepResult, require_gradients
from gnomon.examination.steps.architecture import Profile
from gnomon.examination.steps.stability import EXAMPLES, hessian_products
from gnomon.examination.subject import Subject
from gnomon.landscape import gradient_noise, hessian
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

    key, title, share = "curvature", "The loss landscape", 0.1
    question = "How steep is the loss here compared with the learning rate, and how noisy are its gradients?"
    needs = (Profile,)
    uses = (Run,)
    gives = CurvatureSummary

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        require_gradients(subject)
        run, task = products.get(Run), subject.task
        model = subject.module if run is None else run.model
        examples = subject.probe.some(EXAMPLES)
        count = hessian_products(len(examples), products[Profile], context, 0.5)
        y = task.loss_targets(examples.y)
        operator = hessian(model, examples.x, y, loss=task.loss)
        top = operator.top(1, steps=count, seed=context.seed)
        value, residual = float(top.values[0]), float(top.residuals[0])
        trace = operator.trace(products=max(6, count), seed=context.seed)
        values = [
            Value("sharpness", value, Interval(value, value + residual), "estimate"),
            Value("trace of the Hessian", trace.value, trace.interval, "estimate"),
        ]
        if len(examples) >= 8:
            noise = gradient_noise(model, examples.x, y, loss=task.loss)
            name = "batch size of equal signal and noise"
            values.append(Value(name, noise.scale, noise.interval, "estimate", meaning="tr Σ / |G|²"))
        state = "At the end of training" if run is not None else "Before training"
        answer = f"{state} the loss has sharpness {value:.3g}"
        way = None if run is None else descent(run.optimizer)
        if way is not None:
            limit = 2 * (1 + way.momentum) / way.lr
            share = f"{value / limit:.0%} of what its learning rate allows"
            most = "as much as its learning rate allows, the edge of stability"
            answer += f": {most if value > 0.8 * limit else share} ({limit:.3g})"
            values.append(Value("limit of the learning rate in use", limit, meaning="2 (1 + β) / lr"))
        definitions = (
            Definition("λ_max(H)", "sharpness: the largest curvature of the mean loss", "cohen2021gradient"),
            Definition("tr H = E[zᵀ H z]", "sum of all curvatures", "hutchinson1989stochastic"),
            Definition("B = tr Σ / |G|²", "noise scale", "mccandlish2018empirical"),
        )
        plots = rate_meter(way.lr, 2 * (1 + way.momentum) / value) if way is not None and value > 0 else ()
        content = Content(f"{answer}.", (), tuple(values), plots, definitions)
        return StepResult(content, CurvatureSummary(value, trace.value))
