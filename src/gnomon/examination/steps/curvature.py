"""The landscape where training has ended: sharpness, the sum of curvatures, the noise of gradients."""

from gnomon.examination.step import AbstractStep, Context, Outcome, require_gradients
from gnomon.examination.steps.kernel import probe
from gnomon.examination.steps.stability import EXAMPLES, products
from gnomon.examination.subject import Subject
from gnomon.landscape import gradient_noise, hessian
from gnomon.report import Definition, Section, Value
from gnomon.training.native import descent


class Curvature(AbstractStep):
    """After training, or of the network as it came."""

    key, title, share = "curvature", "The landscape", 0.1
    question = "How curved is the loss here, against the learning rate, and how noisy are its gradients?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        require_gradients(subject)
        run = context.facts.get("run")
        model = subject.module if run is None else run.model
        points = (context.facts.get("probe") or probe(subject, context)).some(EXAMPLES, context.seed)
        count = products(len(points), context, 0.5)
        y = subject.said(points.y)
        operator = hessian(model, points.x, y, loss=subject.loss)
        found = operator.top(1, steps=count, seed=context.seed)
        value, residual = float(found.values[0]), float(found.residuals[0])
        trace = operator.trace(products=max(6, count), seed=context.seed)
        values = [
            Value("sharpness", value, value, value + residual),
            Value(
                "trace of the Hessian", trace.value, trace.interval.low, trace.interval.high, meaning="95 % interval"
            ),
        ]
        if len(points) >= 8:
            noise = gradient_noise(model, points.x, y, loss=subject.loss)
            name = "batch size of equal signal and noise"
            values.append(Value(name, noise.scale, noise.interval.low, noise.interval.high, meaning="tr Σ / |G|²"))
        state = "At the end of training" if run is not None else "Before training"
        answer = f"{state} the sharpness is {value:.3g}"
        optimizer = descent(context.facts.get("optimizer"))
        if run is not None and optimizer is not None:
            limit = 2 * (1 + optimizer.momentum) / optimizer.lr
            relation = (
                "at its edge of stability"
                if value > 0.8 * limit
                else f"{value / limit:.0%} of what its learning rate allows"
            )
            answer += f": {relation} ({limit:.3g})."
            values.append(Value("limit of the learning rate in use", limit, meaning="2 (1 + β) / lr"))
        else:
            answer += "."
        definitions = (
            Definition("λ_max(H)", "sharpness: the largest curvature of the mean loss", "cohen2021gradient"),
            Definition("tr H = E[zᵀ H z]", "sum of all curvatures", "hutchinson1989stochastic"),
            Definition("B = tr Σ / |G|²", "noise scale", "mccandlish2018empirical"),
        )
        section = Section(self.key, self.title, self.question, answer, "good", tuple(values), (), definitions)
        return Outcome(section, {"sharpness after": value})
