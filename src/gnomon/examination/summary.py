"""The first lines of a report: what was looked at, how it came out, and what the answer does not cover.

>>> headline((), partial=False)
'No fault found.'
"""

from collections.abc import Sequence

from gnomon.core.results import Level
from gnomon.examination.inconclusive import inconclusive
from gnomon.report import Section

__all__ = ["counted", "facts", "headline", "shortcomings"]


def headline(sections: Sequence[Section], *, partial: bool) -> str:
    """The verdict in one sentence, for a page that goes on with the findings.

    >>> from gnomon.core.results import Finding
    >>> from gnomon.report import Content
    >>> frozen = Finding("frozen", "Nothing can be trained.", "Call requires_grad_().", 0.9)
    >>> headline((Section("a", "A", "?", Content("No.", (frozen,))),), partial=False)
    '1 fault found: mend it before you trust the result of training.'
    """
    levels = [finding.level for section in sections for finding in section.findings]
    faults = levels.count(Level.FAULT)
    lesser = len(levels) - faults
    if faults:
        rest = f"; {counted(lesser, 'more thing')} could be better" if lesser else ""
        them = "it" if faults == 1 else "them"
        return f"{counted(faults, 'fault')} found: mend {them} before you trust the result of training{rest}."
    if (reason := inconclusive(sections)) is not None:
        return f"{reason.text[:1].upper()}{reason.text[1:]}"
    parts = [f"{counted(lesser, 'thing')} could be better"] if lesser else []
    parts += shortcomings(sections)
    head = f"No fault found{' before it was stopped' if partial else ''}"
    listed = ", ".join(parts[:-1]) + (", and " if len(parts) > 1 else "") + "".join(parts[-1:])
    return f"{head}; {listed}." if parts else f"{head}."


def shortcomings(sections: Sequence[Section]) -> list[str]:
    """What the answer does not cover: a training that was too short, questions without time, measurements that failed.

    >>> shortcomings(())
    []
    """
    short = any(s.key == "training" and s.state == "unsure" for s in sections)
    late, failed = sum(s.state == "late" for s in sections), [s.title for s in sections if s.state == "failed"]
    told = ["it was not trained long enough to say how training ends"] if short else []
    told += [f"{counted(late, 'question')} did not fit into the budget"] if late else []
    return told + ([f"{counted(len(failed), 'measurement')} failed ({', '.join(failed)})"] if failed else [])


def facts(sections: Sequence[Section], budget: str) -> tuple[str, ...]:
    """What was looked at, in a few words each: the size of the network and of the data, training, its result, the time.

    >>> facts((), "60 s, used 41.2 s")
    ('budget 60 s, used 41.2 s',)
    """

    def value(key: str, name: str) -> float | None:
        found = next((s.value(name) for s in sections if s.key == key), None)
        return float(found.value) if found is not None and isinstance(found.value, int | float) else None

    parameters, train = value("architecture", "parameters"), value("data", "training examples")
    test, steps = value("split", "test examples"), value("training", "steps taken")
    right, explained = value("margins", "accuracy"), value("margins", "explained variance")
    told = [] if parameters is None else [f"{parameters:,.0f} parameters"]
    if train is not None:
        told.append(f"{train:,.0f} training{'' if test is None else f' and {test:,.0f} test'} examples")
    if steps is not None:
        which = "training" if test is None else "test"
        told.append(f"{steps:,.0f} training steps")
        told += [] if right is None else [f"{right:.1%} of {which} examples right"]
        told += [] if explained is None else [f"{max(explained, 0.0):.1%} of the variance of {which} targets explained"]
    return (*told, f"budget {budget}") if budget else tuple(told)


def counted(n: int, word: str) -> str:
    """A number with its word, in the plural where there are several.

    >>> counted(1, "fault"), counted(2, "fault")
    ('1 fault', '2 faults')
    """
    return f"{n} {word}{'' if n == 1 else 's'}"
