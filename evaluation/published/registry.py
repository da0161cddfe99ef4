"""All published cases by id."""

from importlib import import_module
from pkgutil import iter_modules

from evaluation.published import cases
from evaluation.published.case import PublishedCase


def all_cases() -> dict[str, PublishedCase]:
    """Every case in the files of `evaluation/published/cases`, by id."""
    found: dict[str, PublishedCase] = {}
    for file in iter_modules(cases.__path__, cases.__name__ + "."):
        for value in vars(import_module(file.name)).values():
            if isinstance(value, PublishedCase):
                if value.id in found:
                    raise ValueError(f"two cases have the id {value.id!r}: give one of them another id")
                found[value.id] = value
    return found


def select(kind: str | None = None, texts: list[str] | None = None) -> list[PublishedCase]:
    """Cases of one kind whose id contains one of the texts."""
    return [
        case
        for case in all_cases().values()
        if kind in (None, case.kind) and (not texts or any(text in case.id for text in texts))
    ]
