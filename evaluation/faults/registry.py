"""The registry of all cases, by id and by collection."""

from evaluation.faults.case import Case
from evaluation.faults.cases import (
    architecture,
    evaluation_mode,
    healthy_images,
    healthy_sequences,
    healthy_structured,
    healthy_tables,
    initialization,
    inputs,
    labels,
    loss,
    optimizer,
    outcome,
    train_test,
)

SOURCES = {
    "tuning": "written with the checks; thresholds were chosen on these cases",
    "held-out": "other data and networks, on which no threshold was chosen",
    "unseen": "written without looking at what the checks do: other networks, data and faults",
    "outsider": "written from the README and the documentation only, before reading the code of the checks",
}
"""The fixed collections, in the order in which they were written. Each led to fixes after its first run."""

RANDOM_HEALTHY = "random-healthy"
"""A fifth collection without end: healthy cases drawn from their number (`random_healthy.py`)."""

FILES = (
    healthy_images, healthy_tables, healthy_sequences, healthy_structured, loss, labels, train_test, inputs, architecture,
    evaluation_mode, initialization, optimizer, outcome,
)  # fmt: skip

CASES: dict[str, Case] = {}
"""All fixed cases by id."""

for _file in FILES:
    for _case in _file.CASES:
        if _case.id in CASES:
            raise ValueError(f"two cases have the id {_case.id!r}: give one of them another id")
        CASES[_case.id] = _case


def select(source: str | None = None, kind: str | None = None, texts: list[str] | None = None) -> list[Case]:
    """Cases of one collection and kind whose id is one of the texts, or contains one if none is an id."""
    chosen = [c for c in CASES.values() if source in (None, c.source) and kind in (None, c.kind)]
    if not texts:
        return chosen
    return [c for c in chosen if any(c.id == text or (text not in CASES and text in c.id) for text in texts)]
