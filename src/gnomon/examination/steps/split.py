"""Train against test: copies in both, and whether both are drawn alike."""

from dataclasses import dataclass

from gnomon.core.inputs import tensors
from gnomon.core.record import Record
from gnomon.core.results import Definition, Value
from gnomon.examination.cost import pace
from gnomon.examination.step import AbstractStep, Context, OutOfTime, Products, Skipped, StepResult
from gnomon.examination.subject import Subject
from gnomon.generalization import Leaks, Shift, leaks, shift
from gnomon.report import Content

SHIFT, EACH = 0.7, 6e-8
"""Seconds of a free core that telling shifts takes, about, and looking for copies for each number of each example."""
LONGER, LEAST = 20, 1.5
"""Times its share that the step may take, and seconds that it may take in any case."""


@dataclass(frozen=True, slots=True, eq=False)
class Split(Record):
    """What train and test have in common, and how they differ."""

    leaks: Leaks
    shift: Shift


class SplitStep(AbstractStep):
    """Leaks and shift."""

    key, title, share = "split", "Train and test", 0.01
    question = "Is the test set new to the network, and drawn like the training set?"
    gives = Split

    def possible(self, subject: Subject, products: Products, *, fit: bool) -> bool:  # noqa: D102
        return subject.test is not None

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        if subject.test is None:
            raise Skipped("There are no test examples: pass test=(x, y).")
        allowed = max(LONGER * context.seconds, LEAST)
        numbers = sum(t[0].numel() for t in tensors(subject.probe.x)) * (len(subject.train) + len(subject.test))
        cost = pace(context.clock) * (SHIFT + EACH * numbers)
        if cost > allowed:
            raise OutOfTime(f"Comparing train with test would take about {cost:.2g} s: give a larger budget.")
        copies = leaks(subject.train, subject.test, seed=context.seed)
        apart = shift(subject.train, subject.test, seed=context.seed)
        findings = (*copies.findings, *apart.findings)
        values = (
            Value("test examples", len(subject.test)),
            Value("equal examples in train", copies.exact, meaning=f"by chance: {copies.expected:.3g}"),
            Value("nearly equal examples in train", copies.near),
            Value("pairs of train and test told apart", apart.auc, meaning="0.5 where they are drawn alike"),
            Value("difference in shares of classes", apart.classes),
        )
        said = (copies.verdict, apart.verdict)
        answer = " ".join(said if copies.leaked or not apart.shifted else reversed(said))  # what is wrong comes first
        definitions = (
            Definition("r = d₁ / d₂", "distances to the two nearest training examples; near 0 for a copy"),
            Definition("AUC", "pairs of a test and a training example told apart", "lopez2017revisiting"),
        )
        return StepResult(Content(answer, findings, values, (), definitions), Split(copies, apart))
