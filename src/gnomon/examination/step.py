"""Base class of the steps of an examination; each step answers one question in one section of the report.

A step declares the types of the products it needs and may use, and the type of the one it gives; the runner orders
steps by these declarations, and passes to each the products it has declared and no others.

>>> class Count(AbstractStep):
...     key, title, question, share = "count", "Count", "How many examples?", 0.1
...     gives = int
...     def run(self, subject, products, context):
...         return StepResult(PageContent("60 examples."), 60)
>>> class Double(AbstractStep):
...     key, title, question, share = "double", "Double", "How many twice?", 0.1
...     needs, gives = (int,), float
...     def run(self, subject, products, context):
...         return StepResult(PageContent(f"{2 * products[int]}."), 2.0 * products[int])
>>> [step.key for step in order_steps([Double(), Count()])]
['count', 'double']
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from gnomon.core.errors import GnomonError
from gnomon.core.machine.clock import Clock
from gnomon.core.results import Finding
from gnomon.core.results.record import Record
from gnomon.examination.subject import Subject
from gnomon.report import PageContent
from gnomon.report.page import SectionState

__all__ = [
    "SKIPPED_AFTER_DIVERGENCE", "NOT_TRAINED_LONG_ENOUGH", "TRAINING_NOT_FINISHED",
    "AbstractStep", "StepContext", "OutOfTime", "StepProducts", "StepSkipped",
    "StepResult",
    "SKIPPED_WITHOUT_RESULT", "SKIPPED_WITHOUT_TRAINING", "order_steps", "error_sentence",
]  # fmt: skip

T = TypeVar("T")
NOT_TRAINED_LONG_ENOUGH = "Not trained long enough to say:"
"""The first words of every answer that depends on training, if training was too short."""
TRAINING_NOT_FINISHED = "the network had not finished training."
"""The words that follow `NOT_TRAINED_LONG_ENOUGH`; the section on training gives the reason."""
SKIPPED_AFTER_DIVERGENCE = "Skipped: training diverged, so no useful trained network exists."
"""The reason to skip a question about a trained network whose training diverged."""
SKIPPED_WITHOUT_TRAINING = "Skipped: this needs a trained network, and no training was done."
"""The reason to skip a question about training or the trained network if no training was done."""
SKIPPED_WITHOUT_RESULT = "Skipped: needs the result of"
"""The first words of the reason to skip a question whose answer builds on a result that is missing."""


class StepSkipped(Exception):
    """Raised by an examination step that does not apply or lacks the time; the text is the reason for the report."""


class OutOfTime(StepSkipped):
    """Raised by an examination step that would need more than the remaining time.

    ``time_factor`` says how many times the budget would suffice, roughly.
    """

    def __init__(self, message: str, time_factor: float = 2.0) -> None:
        super().__init__(message)
        self.time_factor = time_factor


@dataclass(frozen=True, slots=True)
class StepContext:
    """What an examination step gets: the random seed, a clock with its deadline, and whether training is requested.

    ``findings`` are what earlier steps would report if the examination ended now.
    """

    seed: int
    deadline: float
    fit: bool
    clock: Clock
    findings: tuple[Finding, ...] = ()

    @property
    def seconds(self) -> float:
        """Returns the remaining seconds of the examination step."""
        return self.deadline - self.clock()


@dataclass(frozen=True, slots=True, eq=False)
class StepProducts(Record):
    """The results of earlier examination steps, stored by their type.

    >>> products = StepProducts({int: 3})
    >>> products[int], products.get(float)
    (3, None)
    """

    items: Mapping[type, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __getitem__(self, kind: type[T]) -> T:
        value: T = self.items[kind]
        return value

    def get(self, kind: type[T]) -> T | None:
        """Returns the stored result of a type; None if there is none or the step did not declare that it uses this
        type.
        """
        return self.items.get(kind)

    def __contains__(self, kind: type) -> bool:
        return kind in self.items

    def __iter__(self) -> Iterator[type]:
        return iter(self.items)

    def only(self, kinds: Sequence[type]) -> "StepProducts":
        """Returns a copy of the stored results that holds only results of some types."""
        return StepProducts({kind: self.items[kind] for kind in kinds if kind in self.items})

    def plus(self, kind: type, value: Any) -> "StepProducts":
        """Returns a copy of the stored results with one more result of an examination step."""
        return StepProducts({**self.items, kind: value})


@dataclass(frozen=True, slots=True, eq=False)
class StepResult(Record):
    """What an examination step returns: the content of its report section, and optionally a result for later steps.

    ``state`` is "unsure" if the measurement is not enough for an answer. ``facts`` are the facts of
    `gnomon.examination.policy.ExaminationFacts` that the step has established, by name. ``time_factor`` says how many
    times the budget would be enough for a sure answer.
    """

    content: PageContent
    product: Any = None
    state: SectionState = "answered"
    facts: Mapping[str, bool] = field(default_factory=dict)
    time_factor: float = 1.0


class AbstractStep(ABC):
    """Base class of the steps of an examination; ``share`` is the relative share of the time that a step gets.

    ``needs`` are types of products without which the step is skipped, ``uses`` are optional products, and
    ``gives`` is the type of the product of the step. ``states`` are names of the facts that the step may establish.

    ``essential``: without this answer the report cannot say that the network has no problem. ``rests_on`` says what
    makes the answer
    unreliable if it is missing: enough "examples", "training" or "decisions" that are better than a guess, a
    "prediction" that no problem contradicts. ``if_unsure`` is what the verdict adds if the answer is unsure.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    share: ClassVar[float]
    needs: ClassVar[tuple[type, ...]] = ()
    uses: ClassVar[tuple[type, ...]] = ()
    gives: ClassVar[type]
    states: ClassVar[tuple[str, ...]] = ()
    essential: ClassVar[bool] = False
    rests_on: ClassVar[tuple[str, ...]] = ("examples",)
    if_unsure: ClassVar[str] = ""

    @abstractmethod
    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:
        """Runs the examination step and returns its result; raises `StepSkipped` with the reason if it does not
        apply.
        """

    def time_share(self, findings: Sequence[Finding], facts: Mapping[str, bool]) -> float:
        """Returns the step's relative share of the time, which may depend on findings and facts so far; by default
        ``share``.
        """
        return self.share

    def comes_first(self, findings: Sequence[Finding], facts: Mapping[str, bool]) -> bool:
        """Returns whether the step may use nearly all of the time left, because of findings and facts so far."""
        return False

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:
        """Checks whether the step can run at all; otherwise other steps get its time."""
        return True


def order_steps(steps: Sequence[AbstractStep]) -> tuple[AbstractStep, ...]:
    """Sorts examination steps so that each runs after the steps whose results it uses; otherwise keeps their order.

    >>> order_steps([])
    ()
    """
    givers: dict[type, int] = {}
    for i, step in enumerate(steps):
        if step.gives in givers:
            other = steps[givers[step.gives]]
            raise ValueError(f"the steps '{other.key}' and '{step.key}' both give {step.gives.__name__}")
        givers[step.gives] = i
    for step in steps:
        for kind in step.needs:
            if kind not in givers:
                raise ValueError(f"the step '{step.key}' needs {kind.__name__}, which no step gives")
    graph = {i: {givers[kind] for kind in (*s.needs, *s.uses) if kind in givers} for i, s in enumerate(steps)}
    sorter = TopologicalSorter(graph)
    try:
        sorter.prepare()
    except CycleError as error:
        names = " -> ".join(steps[i].key for i in error.args[1])
        raise ValueError(f"these steps need each other's results in a circle: {names}") from None
    order: list[int] = []
    waiting: list[int] = []
    while sorter.is_active():
        waiting = sorted([*waiting, *sorter.get_ready()])
        order.append(waiting.pop(0))
        sorter.done(order[-1])
    return tuple(steps[i] for i in order)


def error_sentence(error: Exception) -> str:
    """Returns the message of an error as a sentence for the report.

    >>> from gnomon.core.errors import InputError
    >>> error_sentence(InputError("two passes differ", fix="Call net.eval()"))
    'Two passes differ. Call net.eval().'
    """
    text = error.advice if isinstance(error, GnomonError) else (str(error).splitlines() or [""])[0]
    return f"{text[:1].upper()}{text[1:]}"


def require_gradients(subject: Subject) -> None:
    """Raises `StepSkipped` if no parameter requires a gradient."""
    if not subject.trainable:
        raise StepSkipped("Skipped: no parameter requires a gradient.")
