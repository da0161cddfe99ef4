"""States how certain the result of an examination is: intervals of scores, training runs, and what is unexamined."""

from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.core.results import Value, format_number
from gnomon.examination.step import SKIPPED_WITHOUT_RESULT, SKIPPED_WITHOUT_TRAINING
from gnomon.examination.summary import count_with_noun, round_up_seconds
from gnomon.examination.timed import MAX_TIME_FACTOR
from gnomon.report import Section

__all__ = ["certainty_text"]

SCORES = (
    ("accuracy",), ("explained-variance",), ("accuracy-on-test", "perplexity-on-test"),
    ("accuracy-on-train", "perplexity-on-train"), ("test-loss",), ("training-loss",),
)  # fmt: skip
"""Ids of scores; the report states the scores of the first row that was measured."""
SHARES = ("accuracy", "explained-variance", "accuracy-on-test", "accuracy-on-train")
"""Ids of scores that are written in percent."""
ALMOST_ALL = 0.9995
"""Share from which rounding to a tenth of a percent would write 100.0%."""


def certainty_text(sections: Sequence[Section], manifest: Mapping[str, Any], budget: float | None) -> str:
    """Returns sentences on the certainty of the scores, on the number of training runs, and on unexamined questions.

    >>> certainty_text((), {}, None)
    'No score was measured. Nothing was trained.'
    """
    known = {value.id: value for section in reversed(sections) for value in section.content.values if value.id}
    row = next((row for row in SCORES if any(id in known for id in row)), ())
    scores = "; ".join(_score(known[id]) for id in row if id in known)
    told = [f"{scores[:1].upper()}{scores[1:]}." if scores else "No score was measured."]
    if scores and "held-out-examples" not in known:
        told.append("No test examples were given, so this says little about new data.")
    if "steps-taken" in known:
        told.append(f"One training run (seed {manifest.get('seed', 0)}); other seeds may end differently.")
    else:
        told.append("Nothing was trained.")
    return " ".join([*told, *_what_was_not_examined(sections, budget)])


def _score(value: Value) -> str:
    """Describes a score with its interval and the number of examples."""
    share = value.id in SHARES

    def text(number: float | int | str) -> str:
        if not share or not isinstance(number, float):
            return format_number(number)
        return "above 99.9%" if ALMOST_ALL <= number < 1 else f"{number:.1%}"  # 100.0% would contradict an error

    if value.interval is None:
        return f"{value.name} {text(value.value)} (no interval: the loss is known only as a mean over all examples)"
    ends = f"{text(value.interval.low)} to {text(value.interval.high)}"
    seen = f" ({value.meaning})" if value.meaning else ""
    return f"{value.name} {text(value.value)}, 95 % interval {ends}{seen}"


def _what_was_not_examined(sections: Sequence[Section], budget: float | None) -> list[str]:
    """Says how many questions were not examined, why, and which budget would be enough for all of them."""
    late = [section for section in sections if section.state == "late"]
    skipped = [section for section in sections if section.state == "skipped"]
    untrained = sum(section.content.answer.startswith(SKIPPED_WITHOUT_TRAINING) for section in skipped)
    unfounded = sum(section.content.answer.startswith(SKIPPED_WITHOUT_RESULT) for section in skipped)
    other, failed = len(skipped) - untrained - unfounded, sum(section.state == "failed" for section in sections)
    if not sections:
        return []
    missing, asked = len(late) + untrained + unfounded + failed, len(sections) - other
    if not missing:
        apply = f" that {'applies' if asked == 1 else 'apply'} here" if other else ""
        return [
            f"All {asked} questions{apply} were examined." if asked != 1 else f"The one question{apply} was examined."
        ]
    reasons = [f"{len(late)} did not fit into {_size(budget)} ({_enough(late, budget)})"] if late else []
    reasons += [f"{untrained} {'needs' if untrained == 1 else 'need'} a trained network"] if untrained else []
    reasons += [f"{unfounded} {'builds' if unfounded == 1 else 'build'} on a missing result"] if unfounded else []
    reasons += [f"{count_with_noun(failed, 'measurement')} failed"] if failed else []
    return [f"{missing} of {count_with_noun(asked, 'question')} not examined: {', '.join(reasons)}."]


def _size(budget: float | None) -> str:
    return "the budget" if budget is None else f"the budget of {budget:g} s"


def _enough(late: Sequence[Section], budget: float | None) -> str:
    """Says which budget would be enough for all questions without an answer, if that is known."""
    factor = max(section.time_factor for section in late)
    if budget is None or not 1 < factor < MAX_TIME_FACTOR:
        return "give a larger one"
    return f"about {round_up_seconds(budget * factor):g} s would be enough for all"
