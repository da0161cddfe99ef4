"""Which cases of a parametrized test run by default; the others run with ``make test-full``."""

from collections.abc import Iterable
from typing import Any

import pytest


def in_full(cases: Iterable[Any], *, except_for: Iterable[Any]) -> list[Any]:
    """All cases as parameters, those outside ``except_for`` marked full.

    Cases are compared by equality, so names do best.
    """
    cases, kept = list(cases), list(except_for)
    unknown = [case for case in kept if case not in cases]
    assert not unknown, f"no such cases: {unknown}"
    return [case if case in kept else pytest.param(case, marks=pytest.mark.full) for case in cases]
