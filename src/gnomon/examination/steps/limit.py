"""The network of infinite width: what it would score, and so what is left for the learning of features."""

from math import sqrt

from torch import Tensor

from gnomon.core.errors import GnomonError
from gnomon.examination.score import leave_one_out, right
from gnomon.examination.step import AbstractStep, Context, Outcome, Skipped
from gnomon.examination.subject import Subject
from gnomon.kernels import Limit
from gnomon.report import Definition, Hypothesis, Section, Value

MOST, LEAST, SMALL = 800, 50, 16


class InfiniteWidth(AbstractStep):
    """Leave-one-out of the exact kernel, and its score on the test points."""

    key, title, share = "limit", "The infinitely wide network", 0.2
    question = "What would this architecture score without learning features?"

    def run(self, subject: Subject, context: Context) -> Outcome:  # noqa: D102
        if context.facts.get("program") is None:
            raise Skipped(f"The limit cannot be read off the module: {context.facts.get('unread', 'not tried')}")
        assert isinstance(subject.train.x, Tensor)  # a program has one input
        limit = Limit(subject.module)
        n = self._size(limit, subject, context)
        points = subject.train.some(n, context.seed)
        try:
            k = limit.ntk(points.x)
        except GnomonError as reason:
            raise Skipped(str(reason)) from reason
        y = subject.targets(points.y).double()
        score = leave_one_out(k, y)
        values = [Value("examples used", len(points), meaning=f"of {len(subject.train)}")]
        facts: dict[str, object] = {"limit examples": len(points)}
        if subject.classes:
            accuracy = score.accuracy(y)
            half = 1.96 * sqrt(max(accuracy * (1 - accuracy), 1 / len(points)) / len(points))
            values.append(Value("leave-one-out accuracy", accuracy, max(0, accuracy - half), min(1, accuracy + half)))
            facts["limit accuracy"] = accuracy
            answer = (
                f"Without learning features it would be right on {accuracy:.1%} (leave-one-out, {len(points)} examples)"
            )
            ending = f"; {1 - accuracy:.1%} is left to gain."
        else:
            error = score.error(y)
            values.append(Value("leave-one-out error", error, meaning="of the targets' variance"))
            facts["limit error"] = error
            answer = (
                f"Without learning features it would explain {1 - error:.1%} of the targets' variance (leave-one-out)"
            )
            ending = "."
        if subject.test is not None:
            test = subject.test.some(MOST, context.seed)
            found, t = score.at(limit.ntk(test.x, points.x)), subject.targets(test.y).double()
            if subject.classes:
                values.append(Value("test accuracy", right(found, t), meaning=f"{len(test)} test examples"))
                facts["limit test accuracy"] = right(found, t)
            else:
                error = float((found - t).square().mean() / t.var(0, correction=0).mean().clamp(min=1e-30))
                values.append(Value("test error", error, meaning="of the targets' variance"))
        definition = Definition("Θ∞(x, x′) = lim E[∇f(x)·∇f(x′)]", "all widths to infinity", "jacot2018neural")
        readable = Hypothesis("every layer has a rule for its infinite-width limit", True)
        section = Section(
            self.key, self.title, self.question, answer + ending, "good", tuple(values), (), (definition,), (readable,)
        )
        return Outcome(section, facts)

    def _size(self, limit: Limit, subject: Subject, context: Context) -> int:
        """As many examples as the time allows: a fixed cost and one per pair, from small kernels.

        The first one compiles, where nothing is kept from an earlier run; that time is not the network's fault.
        """
        times = [self._seconds(limit, subject, SMALL, context) for _ in range(2)]
        left = context.seconds + max(times[0] - times[1], 0.0)
        if left > 9 * times[1]:
            times.append(self._seconds(limit, subject, 3 * SMALL, context))
            pair = max(times[2] - times[1], 1e-6) / (8 * SMALL**2)
            fixed = max(times[1] - pair * SMALL**2, 0.0)
            n = min(MOST, int((max(0.5 * (left - times[2]) - fixed, 0.0) / pair) ** 0.5))
            if n >= LEAST:
                return n
        raise Skipped(f"{SMALL} examples take {times[1]:.1f} s, and {max(left, 0):.1f} s are left.")

    def _seconds(self, limit: Limit, subject: Subject, n: int, context: Context) -> float:
        few = subject.train.some(n, context.seed)
        start = context.clock()
        try:
            limit.ntk(few.x)
        except GnomonError as reason:
            raise Skipped(str(reason)) from reason
        return context.clock() - start
