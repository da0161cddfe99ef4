"""The registry of all cases by id."""

from evaluation.public_models.case import Case
from evaluation.public_models.cases import fourth, images, language, pixels, second, structured, tables, text, third

FILES = (images, pixels, tables, text, language, structured, second, third, fourth)

CASES: dict[str, Case] = {}
"""All cases by id, in the order of the table."""

for _file in FILES:
    for _case in _file.CASES:
        if _case.id in CASES:
            raise ValueError(f"two cases have the id {_case.id!r}: give one of them another id")
        CASES[_case.id] = _case


def select(texts: list[str] | None = None) -> list[Case]:
    """Cases whose id is one of the texts, or contains one if none is an id; all by default."""
    if not texts:
        return list(CASES.values())
    return [c for c in CASES.values() if any(c.id == text or (text not in CASES and text in c.id) for text in texts)]
