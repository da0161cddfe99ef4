"""The largest learning rate that training bears at the start: what the curvature allows."""

from math import inf

from gnomon.examination.step import AbstractStep, Context, Outcome, require_gradients
from gnomon.examination.steps.kernel import probe
from gnomon.examination.subject import Subject
from gnomon.landscape import sharpness
from gnomon.report import Definition, Hypothesis, Section, Status, Value
from gnomon.training.native import descent

EXAMPLES = 128


class Stability(AbstractStep):
    """Sharpness before training, and the learning rate against it."""

    key, title, share = "stability", "The learning rate", 0.1
    question = "Which learning rates are stable, and is the one in use among them?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        require_gradients(subject)
        points = (context.facts.get("probe") or probe(subject, context)).some(EXAMPLES, context.seed)
        count = products(len(points), context)
        found = sharpness(
            subject.module, points.x, subject.said(points.y), loss=subject.loss, steps=count, seed=context.seed
        )
        limit = found.largest_lr
        values = [
            Value("sharpness", found.value, found.value, found.value + found.residuals[0], meaning="largest curvature"),
            Value(
                "largest stable learning rate", limit, meaning="of plain descent on the probe examples, at the start"
            ),
        ]
        used = descent(subject.optimizer)
        status: Status = "good"
        if used is not None:
            bound = limit * (1 + used.momentum)
            above = used.lr > bound
            relation = f"{used.lr / bound:.1f}x above" if above else f"{bound / used.lr:.1f}x below"
            values.append(
                Value("learning rate in use", used.lr, meaning=f"momentum {used.momentum:g}: limit {bound:.3g}")
            )
            answer = f"Learning rate {used.lr:.3g} is {relation} the stable limit {bound:.3g}."
            status = "fault" if above else "good"
        elif limit == inf:
            answer = "No direction curves upward: no learning rate is too large by this measure."
        else:
            answer = f"Descent is stable at the start for learning rates below {limit:.3g}."
        definition = Definition(
            "lr < 2 (1 + β) / λ_max(H)", "H: Hessian of the mean loss, β: momentum", "cohen2021gradient"
        )
        start = Hypothesis("the curvature stays what it is at the start", None, "it is watched during training")
        section = Section(
            self.key, self.title, self.question, answer, status, tuple(values), (), (definition,), (start,)
        )
        return Outcome(section, {"stable lr": limit, "sharpness before": found.value})


def products(n: int, context: Context, part: float = 0.6) -> int:
    """Hessian products that the time allows: each costs about three training steps."""
    each = 3 * n * context.facts.get("seconds per example", 1e-3)
    return int(min(30, max(8, part * context.seconds / max(each, 1e-9))))
