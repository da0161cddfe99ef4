"""Writes the top of a report: the verdict, the main facts, and what was not checked.

>>> verdict_sentence((), partial=False)
'No problem found.'
"""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

from gnomon.core.results import Level, Value
from gnomon.examination.policy import why_inconclusive
from gnomon.report import Section
from gnomon.report.page import first_sentence

__all__ = [
    "advice_on_falling_loss",
    "count_lesser",
    "count_with_noun",
    "summary_facts",
    "verdict_sentence",
    "headline_numbers",
    "round_up_seconds",
    "sections_without_enough_time",
    "so_far",
    "what_is_not_covered",
]


def verdict_sentence(sections: Sequence[Section], *, partial: bool) -> str:
    """Returns the verdict in one sentence, for the top of a page that lists the findings below.

    >>> from gnomon.core.results import Finding
    >>> from gnomon.findings.network import FROZEN
    >>> from gnomon.report import PageContent
    >>> verdict_sentence((Section("a", "A", "?", PageContent("No.", (Finding(FROZEN),))),), partial=False)
    '1 problem found. Fix it before relying on the results of training.'
    """
    levels = [finding.level for section in sections for finding in section.findings]
    problems, lesser = levels.count(Level.PROBLEM), count_lesser(levels)
    if problems:
        rest = f" Also {lesser}." if lesser else ""
        them = "it" if problems == 1 else "them"
        return (
            f"{count_with_noun(problems, 'problem')} found. Fix {them} before relying on the results of training.{rest}"
        )
    if (reason := why_inconclusive(sections)) is not None:
        text = reason.text if reason.finding is None else first_sentence(reason.text)  # The finding is listed below.
        return f"{text[:1].upper()}{text[1:]}"
    parts = [lesser] if lesser else []
    parts += what_is_not_covered(sections)
    head = f"No problem found{so_far(sections, partial=partial)}"
    listed = ", ".join(parts[:-1]) + (", and " if len(parts) > 1 else "") + "".join(parts[-1:])
    return f"{head}; {listed}." if parts else f"{head}."


def count_lesser(levels: Sequence[Level]) -> str:
    """Returns the numbers of warnings and notes as text; an empty string without any.

    >>> count_lesser((Level.WARNING, Level.NOTE, Level.WARNING, Level.PROBLEM))
    '2 warnings and 1 note'
    """
    counts = {"warning": levels.count(Level.WARNING), "note": levels.count(Level.NOTE)}
    return " and ".join(count_with_noun(n, word) for word, n in counts.items() if n)


def so_far(sections: Sequence[Section], *, partial: bool) -> str:
    """Returns what "no problem found" must add if the examination or the training was not finished.

    >>> so_far((), partial=True)
    ' before it was stopped'
    """
    if partial:
        return " before it was stopped"
    return " so far" if any(section.if_unsure and section.state == "unsure" for section in sections) else ""


def what_is_not_covered(sections: Sequence[Section]) -> list[str]:
    """Returns sentences on what was not checked: training that was too short, skipped questions, failed measurements.

    >>> what_is_not_covered(())
    []
    """
    late, failed = sum(s.state == "late" for s in sections), [s.title for s in sections if s.state == "failed"]
    told = [section.if_unsure for section in sections if section.if_unsure and section.state == "unsure"]
    told += [f"{count_with_noun(late, 'question')} did not fit into the budget"] if late else []
    return told + ([f"{count_with_noun(len(failed), 'measurement')} failed ({', '.join(failed)})"] if failed else [])


def sections_without_enough_time(sections: Sequence[Section]) -> list[Section]:
    """Returns the report sections that lacked time and without which the network cannot be judged.

    >>> sections_without_enough_time(())
    []
    """
    late = [section for section in sections if section.state == "late" and (section.essential or section.if_unsure)]
    return late + [section for section in sections if section.state == "unsure" and section.time_factor > 1]


def advice_on_falling_loss(sections: Sequence[Section]) -> str:
    """Returns the advice to train longer if the loss was still falling when training ended; otherwise empty.

    >>> advice_on_falling_loss(())
    ''
    """
    fall = next((v for s in sections if (v := s.value("fall-at-end")) is not None), None)
    if fall is None:
        return ""
    return (
        f"Nothing to fix, but the loss was still falling when training ended: {fall.name} fell by {fall.value} in "
        f"{fall.meaning}. Training for more steps may improve the result."
    )


def round_up_seconds(seconds: float) -> float:
    """Rounds seconds up to a simple number, such as 2, 15, 80 or 250.

    >>> round_up_seconds(12.0), round_up_seconds(231.0), round_up_seconds(3.0)
    (15.0, 250.0, 3.0)
    """
    unit = 10.0 ** floor(log10(seconds)) / 2
    return ceil(seconds / unit - 1e-9) * unit


SCORES = ("accuracy", "explained-variance", "perplexity-on-test", "accuracy-on-test", "accuracy-on-train")
"""Ids of the scores, the most informative first."""


def headline_numbers(sections: Sequence[Section]) -> tuple[tuple[str, str], ...]:
    """Returns up to three main numbers: the score on test examples, the score on training examples, and the loss.

    >>> headline_numbers(())
    ()
    """
    known = {value.id: value for section in reversed(sections) for value in section.content.values if value.id}
    rows = (SCORES, ("accuracy-on-train", "explained-on-train", "training-accuracy"), ("test-loss", "training-loss"))
    chosen: list[Value] = []
    for ids in rows:
        chosen += [known[id] for id in ids if id in known and known[id] not in chosen][:1]
    found = []
    for value in chosen:
        share = value.id.startswith("explained") or "accuracy" in value.id
        number = f"{value.value:.1%}" if share and isinstance(value.value, float) else str(value)
        found.append((value.name, f"{number} ({value.meaning})" if value.meaning else number))
    return tuple(found)


def summary_facts(sections: Sequence[Section], manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns short facts as text: class and size of the network, size of the data, training steps, score, time.

    >>> summary_facts((), {"network": "CNN", "wall time": "41.2 s, with imports", "budget": "60 s, used 40 s"})
    ('CNN', 'took 41.2 s (budget 60 s)')
    """

    def value(id: str) -> float | None:
        found = next((v for s in sections if (v := s.value(id)) is not None), None)
        return float(found.value) if found is not None and isinstance(found.value, int | float) else None

    parameters, train, test = value("parameters"), value("training-examples"), value("held-out-examples")
    steps, right, explained = value("steps-taken"), value("accuracy"), value("explained-variance")
    told = [str(manifest[name]) for name in ("network", "data") if manifest.get(name)]
    told += [] if parameters is None else [f"{parameters:,.0f} parameters"]
    if train is not None:
        told.append(f"{train:,.0f} training{'' if test is None else f' and {test:,.0f} test'} examples")
    if steps is not None:
        which = "training" if test is None else "test"
        told.append(f"{steps:,.0f} training steps")
        told += [] if right is None else [f"{right:.1%} of {which} examples right"]
        told += [] if explained is None else [f"{max(explained, 0.0):.1%} of the variance of {which} targets explained"]
        told += _score_at_positions(sections, which) if right is None and explained is None else []
    wall, budget = (str(manifest.get(name, "")).partition(",")[0] for name in ("wall time", "budget"))
    return (*told, f"took {wall} (budget {budget})") if wall else tuple(told)


def _score_at_positions(sections: Sequence[Section], which: str) -> list[str]:
    """Returns as text the accuracy of a network that predicts at each position, and for tokens also the perplexity."""
    data = "train" if which == "training" else which
    found = [next((v for s in sections if (v := s.value(f"{id}-on-{data}")) is not None), None)
             for id in ("accuracy", "perplexity")]  # fmt: skip
    accuracy, perplexity = (None if value is None else float(value.value) for value in found)
    if accuracy is None or found[0] is None:
        return []
    more = "" if perplexity is None else f", perplexity {perplexity:.3g}"
    return [f"{accuracy:.1%} of {found[0].meaning} of the {which} set right{more}"]


def count_with_noun(n: int, word: str) -> str:
    """Returns a number with a noun as text, in the plural if needed, such as "2 problems".

    >>> count_with_noun(1, "problem"), count_with_noun(2, "problem")
    ('1 problem', '2 problems')
    """
    return f"{n} {word}{'' if n == 1 else 's'}"
