"""The largest step that training bears at the start: what the curvature allows."""

from math import inf

from gnomon.examination.step import AbstractStep, Context, Outcome, require_gradients
from gnomon.examination.steps.kernel import probe
from gnomon.examination.subject import Subject
from gnomon.landscape import sharpness
from gnomon.report import Definition, Hypothesis, Section, Status, Value
from gnomon.training import SGD

EXAMPLES = 128


class Stability(AbstractStep):
    """Sharpness before training, and the step against it."""

    key, title, share = "stability", "The step size", 0.1
    question = "Which steps are stable, and is the one in use among them?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        require_gradients(subject)
        points = (context.facts.get("probe") or probe(subject, context)).some(EXAMPLES, context.seed)
        count = products(len(points), context)
        found = sharpness(
            subject.module, points.x, subject.said(points.y), loss=subject.loss, steps=count, seed=context.seed
        )
        limit = found.largest_step
        values = [
            Value("sharpness", found.value, found.value, found.value + found.residuals[0], meaning="largest curvature"),
            Value("largest stable step", limit, meaning="of plain descent on the probe examples, at the start"),
        ]
        used = subject.optimizer
        status: Status = "good"
        if isinstance(used, SGD):
            bound = limit * (1 + used.momentum)
            above = used.step > bound
            relation = f"{used.step / bound:.1f}x above" if above else f"{bound / used.step:.1f}x below"
            values.append(Value("step in use", used.step, meaning=f"momentum {used.momentum:g}: limit {bound:.3g}"))
            answer = f"Step size {used.step:.3g} is {relation} the stable limit {bound:.3g}."
            status = "fault" if above else "good"
        elif limit == inf:
            answer = "No direction curves upward: no step is too large by this measure."
        else:
            answer = f"Descent is stable at the start for steps below {limit:.3g}."
        definition = Definition(
            "step < 2 (1 + β) / λ_max(H)", "H: Hessian of the mean loss, β: momentum", "cohen2021gradient"
        )
        start = Hypothesis("the curvature stays what it is at the start", None, "it is watched during training")
        section = Section(
            self.key, self.title, self.question, answer, status, tuple(values), (), (definition,), (start,)
        )
        return Outcome(section, {"stable step": limit, "sharpness before": found.value})


def products(n: int, context: Context, part: float = 0.6) -> int:
    """Hessian products that the time allows: each costs about three training steps."""
    each = 3 * n * context.facts.get("seconds per example", 1e-3)
    return int(min(30, max(8, part * context.seconds / max(each, 1e-9))))
