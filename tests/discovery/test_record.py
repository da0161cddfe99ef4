"""Findings of a discovery, on both sides of their thresholds."""

import pytest

from gnomon.discovery.equation import Equation, Residuals
from gnomon.discovery.record import Discovery


@pytest.mark.parametrize(
    ("misfit", "inclusion", "kinds"),
    [
        (0.29, 0.81, []),
        (0.31, 0.81, [("no-law", "PROBLEM")]),
        (0.29, 0.79, [("unsure-terms", "WARNING")]),
        (0.31, 0.79, [("no-law", "PROBLEM"), ("unsure-terms", "WARNING")]),
    ],
)
def test_too_much_unexplained_and_unsure_terms_are_reported(misfit, inclusion, kinds):
    e = Equation("u_t", ("u",), (1.0,), (0.1,), {"u": inclusion, "v": 0.1}, (), Residuals(misfit, misfit, "", 0.0))
    sure = Equation("v_t", ("v",), (2.0,), (0.1,), {}, (), Residuals(0.02, 0.02, "", 0.0))
    found = Discovery((sure, e))
    assert [(f.kind, f.level.name) for f in found.findings] == kinds
    assert "2 % of v_t" in found.verdict and found.terms == ("v",) and found.coefficients == (2.0,)
