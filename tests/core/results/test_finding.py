"""Levels of findings, on both sides of each threshold."""

import pytest

from gnomon.core.results import Finding, Level


@pytest.mark.parametrize(
    ("severity", "level"),
    [(0.0, "NOTE"), (0.24, "NOTE"), (0.25, "WARNING"), (0.49, "WARNING"), (0.5, "FAULT"), (0.9, "FAULT")],
)
def test_the_level_follows_the_severity(severity, level):
    assert Finding("name", "What.", "Cure.", severity).level == Level[level]
