"""A case: a network, its data and its training recipe, either healthy or with one known fault."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Built = tuple[Any, Any, Any, dict[str, Any]]
"""A network or a function that builds it, the training data, the test data, and the options of `gnomon.examine`."""


@dataclass(frozen=True, slots=True)
class Case:
    """One examination with a known answer.

    ``build`` is a function of a seed, which draws the examples. A faulty case is found if the examination reports one of
    the kinds in ``expected``, or refuses the data with an error that contains ``error_text``. ``source`` is the
    collection that the case was written for; `evaluation.faults.registry.SOURCES` says what each of them is.
    """

    id: str
    kind: Literal["faulty", "healthy"]
    expected: tuple[str, ...]
    source: str
    build: Callable[[int], Built]
    error_text: str = ""


def healthy(id, source, network, data, *, change=None, draw=0, **options) -> Case:
    """A healthy case; ``change`` is a function of (train, test), ``draw`` selects other examples of the same data."""
    return Case(id, "healthy", (), source, _builder(network, data, change, draw, options))


def faulty(id, source, network, data, expected=(), *, error_text="", change=None, **options) -> Case:
    """A faulty case; ``expected`` is one kind of finding, or several that all name the fault."""
    expected = (expected,) if isinstance(expected, str) else tuple(expected)
    return Case(id, "faulty", expected, source, _builder(network, data, change, 0, options), error_text)


def _builder(network, data, change, draw, options) -> Callable[[int], Built]:
    def build(seed: int) -> Built:
        train, test = data(seed=seed + 1000 * draw)
        if change is not None:
            train, test = change(train, test)
        return network, train, test, dict(options)

    return build
