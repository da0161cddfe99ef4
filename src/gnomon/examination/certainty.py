"""States how certain the result of an examination is: intervals of scores, training runs, and what is unexamined."""

from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.core.results import Value, format_number
from gnomon.examination.summary import count_with_noun, round_up_seconds
from gnomon.report import Section

__all__ = ["certainty_text"]

SCORES = (
    ("accuracy",), ("explained-variance",), ("accuracy-on-test", "perplexity-on-test"),
    ("accuracy-on-train", "perplexity-on-train"), ("test-loss",), ("training-loss",),
)  # fmt: skip
"""Ids of scores; the report states the scores of the first row that was measured."""
SHARES = ("accuracy", "explained-variance", "accuracy-on-test", "accuracy-on-train")
"""Ids of scores that are written in percent."""


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
    return " ".join([*told, *_what_was_not_examined(sections, budget, trained="steps-taken" in known)])


def _score(value: Value) -> str:
    """Describes a score with its interval and the number of examples."""
    share = value.id in SHARES

    def text(number: float | int | str) -> str:
        return f"{number:.1%}" if share and isinstance(number, float) else format_number(number)

    if value.interval is None:
        return f"{value.name} {text(value.value)} (no interval: the loss is known only as a mean over all examples)"
    ends = f"{text(value.interval.low)} to {text(value.interval.high)}"
    seen = f" ({value.meaning})" if value.meaning else ""
    return f"{value.name} {text(value.value)}, 95 % interval {ends}{seen}"


def _what_was_not_examined(sections: Sequence[Section], budget: float | None, *, trained: bool) -> list[str]:
    """Says how many questions were not examined, why, and which budget would be enough for all of them."""
    untrained = "" if trained else "need a trained network or "
    late = [section for section in sections if section.state == "late"]
    other = sum(section.state == "skipped" for section in sections)
    failed = sum(section.state == "failed" for section in sections)
    if not sections:
        return []
    if not late and not other and not failed:
        return [f"All {len(sections)} questions were examined."]
    missing = len(late) + other + failed
    head = f"{missing} of {count_with_noun(len(sections), 'question')} not examined"
    if other == missing:
        return [
            f"{head}, because {'it does' if trained and other == 1 else f'they {untrained}do'} not apply to "
            "this network or its data."
        ]
    reasons = []
    if late:
        enough = "a larger one would be enough"
        if budget is not None:
            needed = round_up_seconds(budget * max(section.time_factor for section in late))
            enough = f"about {needed:g} s would be enough for all"
        size = "the budget" if budget is None else f"the budget of {budget:g} s"
        many = "" if len(late) == missing else f"{len(late)} "
        reasons.append(f"{many}did not fit into {size} ({enough})")
    if other:
        reasons.append(
            f"{other} {'does' if trained and other == 1 else f'{untrained}do'} not apply to this network or its data"
        )
    if failed:
        reasons.append(f"{count_with_noun(failed, 'measurement')} failed")
    return [f"{head}: {', '.join(reasons)}."]
