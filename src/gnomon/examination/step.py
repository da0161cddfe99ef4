"""A step of an examination: one question, one file, one section of the report.

Steps come in a list (`gnomon.examination.steps`); each sees the subject and what earlier steps have found, and gives a
section, the facts that later steps and the advice may use, or a reason why it was skipped.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gnomon.core.clock import Clock
from gnomon.examination.subject import Subject
from gnomon.report import Section


class Skipped(Exception):
    """A premise of the step fails, or it cannot be afforded; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a step may use: facts of earlier steps, the seed, whether to train, and its share of time on a clock."""

    facts: Mapping[str, Any]
    seed: int
    deadline: float
    fit: bool
    clock: Clock

    @property
    def seconds(self) -> float:
        """Time that is left for this step."""
        return self.deadline - self.clock()

    def fact(self, name: str, needed_for: str) -> Any:
        """A fact that must be there."""
        if self.facts.get(name) is None:
            raise Skipped(f"{needed_for} needs '{name}', which no earlier step has found.")
        return self.facts[name]


def require_gradients(subject: Subject) -> None:
    """Skip where nothing can be differentiated."""
    if not subject.trainable:
        raise Skipped("No parameter requires a gradient.")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A section and the facts behind it."""

    section: Section
    facts: dict[str, Any] = field(default_factory=dict)


class AbstractStep(ABC):
    """One question. ``share`` is the part of the whole time budget that it may take."""

    key: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    share: ClassVar[float]

    @abstractmethod
    def run(self, subject: Subject, context: Context) -> Outcome:
        """Answer it, or raise `Skipped` with the reason."""
