"""Examination step that computes the largest stable learning rate before training, from the curvature of the loss."""

from math import inf

from gnomon.checks.run.stable_rate import stable_rate_findings
from gnomon.core.results import Finding, Hypothesis, Interval, QuantityDefinition, Value
from gnomon.examination.cost import StepCost, largest_size_up_to
from gnomon.examination.pictures import learning_rate_scale_plot
from gnomon.examination.step import AbstractStep, StepContext, StepProducts, StepResult, require_gradients
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.subject import Subject
from gnomon.examination.timed import TimedOperator, out_of_time_error, stop_at_deadline
from gnomon.landscape import hessian
from gnomon.landscape.sharpness import Sharpness, sharpness_of
from gnomon.linalg.operator import AbstractOperator
from gnomon.report import PageContent
from gnomon.training.torch_optimizers import as_gradient_descent

EXAMPLES = (16, 32, 64, 128)
"""Numbers of examples for measuring the curvature; the largest affordable one is taken."""
PRODUCTS = (8, 12, 20, 30)
"""Numbers of Hessian products."""
MAX_LANCZOS_BYTES = 2**30
"""Bytes of the Lanczos vectors, each as long as all parameters."""


class StabilityStep(AbstractStep):
    """Examination step that measures the curvature of the loss before training and compares the learning rate with
    it.
    """

    key, title, share = "stability", "The learning rate", 0.06
    question = "What is the largest learning rate at which training is stable?"
    needs = (NetworkProfile,)
    gives = Sharpness

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        require_gradients(subject)
        examples = subject.probe.some(affordable_hessian_examples(products[NetworkProfile].cost, context))
        y = subject.loss_targets(examples.y)
        operator = with_time_limit(hessian(subject.module, (examples.x, y), loss=subject.loss), context)
        measured = sharpness_of(operator, steps=products_within(operator, context, 0.6), seed=context.seed)
        limit, value = measured.largest_lr, measured.value
        within = Interval(value, value + measured.residuals[0])
        start = "of plain gradient descent on the probe, at the start"
        values = [
            Value("sharpness", value, within, "estimate", meaning="largest curvature of the mean loss", id="sharpness"),
            Value("largest stable learning rate", limit, meaning=start, id="largest-stable-learning-rate"),
        ]
        used = as_gradient_descent(subject.optimizer)
        findings: tuple[Finding, ...] = ()
        if used is not None:
            bound = limit * (1 + used.momentum)
            ratio = f"{used.lr / bound:.1f}x above" if used.lr > bound else f"{bound / used.lr:.1f}x below"
            meaning = f"momentum {used.momentum:g}: limit {bound:.3g}"
            values.append(Value("learning rate in use", used.lr, meaning=meaning, id="learning-rate-in-use"))
            answer = f"Learning rate {used.lr:.3g} is {ratio} the stable limit {bound:.3g}."
            findings = stable_rate_findings(used.lr, used.momentum, bound)
        elif limit == inf:
            answer = (
                "The loss has no positive curvature in any direction, so curvature sets no limit for the learning rate."
            )
        else:
            answer = (
                f"At the start, plain gradient descent (SGD) is stable with learning rates below {limit:.3g}; Adam "
                "rescales its steps and has no such limit."
            )
        definition = QuantityDefinition(
            "lr < 2 (1 + β) / λ_max(H)", "H: Hessian of the mean loss, β: momentum", "cohen2021gradient"
        )
        same = Hypothesis("the curvature stays constant", None, "it is measured during training")
        plots = (
            learning_rate_scale_plot(None, limit)
            if used is None
            else learning_rate_scale_plot(used.lr, limit * (1 + used.momentum))
        )
        return StepResult(
            PageContent(answer, findings, tuple(values), plots, (definition,), (same,), stated=findings), measured
        )


def affordable_hessian_examples(cost: StepCost, context: StepContext) -> int:
    """Returns on how many examples eight Hessian-vector products fit into the time left; raises `OutOfTime` if on
    none.
    """
    each = 3 * min(PRODUCTS)
    fits = [n for n in EXAMPLES if each * cost.passes(n) <= 0.5 * context.seconds]
    if not fits:
        raise out_of_time_error(f"{min(PRODUCTS)} Hessian products", each * cost.passes(min(EXAMPLES)), context)
    return max(fits)


def with_time_limit(operator: AbstractOperator, context: StepContext) -> TimedOperator:
    """Wraps a linear operator so that a product with it raises `OutOfTime` after the deadline."""
    return TimedOperator(operator, stop_at_deadline(context, "The curvature"))


def products_within(operator: TimedOperator, context: StepContext, part: float) -> int:
    """Times one Hessian-vector product; returns how many fit into a given part of the time, and into memory."""
    seconds = max(operator.seconds(context.clock), 1e-9)
    if seconds * min(PRODUCTS) > max(part, 0.8) * context.seconds:
        raise out_of_time_error(f"{min(PRODUCTS)} Hessian products", seconds * min(PRODUCTS), context)
    vectors = MAX_LANCZOS_BYTES / (operator.size * operator.like.element_size())
    return min(largest_size_up_to(PRODUCTS, min(part * context.seconds / seconds, vectors)), max(2, int(vectors)))
