"""Defines a theory claim: prediction, measurement, control experiment that must fail, and a function that compares
them.

    verdict = judge(predicted(p), observed(p, seed)),    judge(predicted(p), control(p, seed)) is not "holds"     (1)

``predicted`` and ``observed`` share no code; the control breaks one named hypothesis. All three are plain functions
that name the parameters they use; the reader may set those to other values.

>>> from gnomon.lab.judges import equals
>>> doubling = Claim(
...     id="doubling", title="A sum with itself is twice the number", equation="x + x = 2 x",
...     source=Source("derived"), premises=(Premise("two equal terms"),), parameters={"x": 3.0},
...     judge=equals(rounding=2), predicted=lambda x: 2 * x, observed=lambda x: x + x, control=lambda x: x + x + 1,
... )
>>> doubling.settings({"x": "5"})
{'x': 5.0}
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import ModuleType
from typing import Any, Literal

from gnomon.core.errors import InputError
from gnomon.core.results import Plot
from gnomon.core.results.record import Record
from gnomon.lab.verdict import Judgment

__all__ = ["Claim", "Grade", "Premise", "Scale", "Source", "parameters_of"]

Grade = Literal["theorem", "derived", "observed", "folklore", "definition"]
"""How sure the statement was before it was measured here: proven, derived here, seen in experiments, or only said.

A definition or a worked example is true by itself: its run checks code and arithmetic, and its verdict says no more.
"""
Scale = Literal["smoke", "full"]
"""About one second, or as long as a good measurement takes."""

ROLES = ("predicted", "observed", "control")
"""The three functions of a claim."""


@dataclass(frozen=True, slots=True)
class Source(Record):
    """Where a statement of theory comes from: how well it is established, the publication, and the place in it."""

    grade: Grade
    reference: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Premise(Record):
    """An assumption of a theory claim; ``holds`` decides from the parameters whether it is satisfied, if possible.

    >>> wide = Premise("the network is wide", lambda width: width >= 64)
    >>> wide.check({"width": 8, "depth": 3}), Premise("inputs on the sphere").check({})
    (False, None)
    """

    statement: str
    holds: Callable[..., bool] | None = None

    def check(self, parameters: Mapping[str, Any]) -> bool | None:
        """Checks whether the parameters satisfy the assumption; None if the parameters do not determine this."""
        return None if self.holds is None else bool(self.holds(**parameters_of(self.holds, parameters)))


def _in_module() -> None:
    """Placeholder for a function of a claim; the real one is defined in the claim's file and looked up there by
    name.
    """


@dataclass(frozen=True, slots=True)
class Claim(Record):
    """A statement of theory that code can test: prediction, measurement, control experiment, and a function that
    compares them.

    ``title`` states the theorem in one sentence; by default it is the first line of the docstring of the claim's file.
    ``question`` is what the statement answers, the heading of its page. ``axes`` names what the plot shows, with units:
    what varies, what is measured, and, if the plot has one point for each value of a parameter, that parameter.
    ``parameters`` are for the smoke scale, ``full`` replaces some of them at full scale; ``seed`` is always there.
    ``covers`` are the ids of the scope beyond the claim's own. The control breaks the first premise.
    ``expected`` is "refuted" for a saying that does not survive its measurement. ``remark`` is for what the reader
    should know, such as an error in the literature. ``grid`` has the values of one or two parameters at which the atlas
    stores results for its sliders; without it they are chosen automatically. ``plot`` draws prediction and measurement;
    without it the judge does. ``predicted``, ``observed`` and ``control`` are the functions of these names in the
    claim's file unless others are given. ``loose_because`` says why every measurement stays below half of a bound. A
    bound without this reason is nearly reached: a prediction that is wrong by a factor 2 is refuted. ``check`` judges
    the same statement on a user's own model and data, from a short training run of them (a
    `gnomon.atlas.check.TrainingTrial`), if a check makes sense.
    """

    id: str
    equation: str
    source: Source
    premises: tuple[Premise, ...]
    judge: Callable[[Any, Any], Judgment]
    title: str = ""
    question: str = ""
    axes: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    predicted: Callable[..., Any] = _in_module
    observed: Callable[..., Any] = _in_module
    control: Callable[..., Any] = _in_module
    full: Mapping[str, Any] = field(default_factory=dict)
    covers: tuple[str, ...] = ()
    expected: Literal["holds", "refuted"] = "holds"
    remark: str = ""
    loose_because: str = ""
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    plot: Callable[[Any, Any], Plot] | None = None
    check: Callable[[Any], Judgment] | None = None

    def __post_init__(self) -> None:
        if not self.premises:
            raise InputError(f"Claim({self.id!r}): premises is empty, but the control must break the first premise.")
        if self.axes and (len(self.axes) not in (2, 3) or self.axes[2:] and self.axes[2] not in self.parameters):
            raise InputError(
                f"Claim({self.id!r}): axes must be (what varies, what is measured) or (what varies, what is measured, "
                f"name of a parameter), but it is {self.axes!r}."
            )
        if len(self.grid) > 2 or set(self.grid) - set(self.parameters):
            raise InputError(
                f"Claim({self.id!r}): grid must have the values of one or two parameters out of "
                f"{list(self.parameters)}, but it names {list(self.grid)}."
            )
        known = {*self.parameters, "seed"}
        for role in ROLES:
            function = getattr(self, role)
            unknown = set() if function is _in_module else _open(function) - known
            if unknown:
                raise InputError(
                    f"Claim({self.id!r}): {role} uses {sorted(unknown)}, which are not parameters of the claim."
                )

    @property
    def breaks(self) -> str:
        """Returns the assumption that the control experiment violates, which is the first one."""
        return self.premises[0].statement

    def with_functions_of(self, module: ModuleType) -> "Claim":
        """Completes a claim with the title and the functions that its file defines."""
        missing = [role for role in ROLES if getattr(self, role) is _in_module]
        if absent := [role for role in missing if not callable(getattr(module, role, None))]:
            raise InputError(f"{module.__name__}: the claim {self.id!r} needs a function {absent[0]!r} in its file.")
        title = self.title or (module.__doc__ or "").partition("\n")[0].rstrip(".")
        return replace(self, title=title, **{role: getattr(module, role) for role in missing})

    def settings(self, chosen: Mapping[str, Any], scale: Scale = "smoke") -> dict[str, Any]:
        """Returns the claim's parameters with the user's changes; converts text to the type of the default value."""
        values = dict(self.parameters) | (dict(self.full) if scale == "full" else {})
        for name, value in chosen.items():
            if name not in values:
                names = ", ".join(values) or "none"
                raise InputError(f"{self.id}: the claim has no parameter {name!r}. The parameters are: {names}.")
            values[name] = _read(self.id, name, value, values[name])
        return values


def parameters_of(function: Callable[..., Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Selects the parameters that a function accepts and that are not already fixed by ``functools.partial``.

    >>> parameters_of(lambda width, seed: None, {"width": 8, "depth": 2, "seed": 0})
    {'width': 8, 'seed': 0}
    >>> parameters_of(partial(lambda width, broken: None, broken=True), {"width": 8})
    {'width': 8}
    """
    return {name: value for name, value in parameters.items() if name in _open(function)}


def _open(function: Callable[..., Any]) -> set[str]:
    """Returns the names of a function's arguments that are not already fixed by ``functools.partial``."""
    filled = function.keywords if isinstance(function, partial) else {}
    return set(inspect.signature(function).parameters) - set(filled)


def _read(claim: str, name: str, value: Any, default: Any) -> Any:
    """Converts text to the type of a default value: a number, a word, or several separated by commas."""
    if not isinstance(value, str):
        return value
    try:
        if isinstance(default, tuple):
            return tuple(type(default[0])(part) for part in value.split(",") if part)
        if isinstance(default, bool):
            return {"true": True, "false": False}[value.lower()]
        return type(default)(value)
    except (ValueError, KeyError) as error:
        kind = (
            f"{type(default[0]).__name__}s separated by commas"
            if isinstance(default, tuple)
            else type(default).__name__
        )
        raise InputError(f"{claim}: {name} must be {kind}, as in {default!r}, but it is {value!r}.") from error
