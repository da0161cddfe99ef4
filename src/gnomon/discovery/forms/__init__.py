"""Forms of an equation as a linear regression: tested with smooth bumps, or at points."""

from gnomon.discovery.forms.base import AbstractRegressionForm, RegressionSystem
from gnomon.discovery.forms.pointwise import PointwiseForm
from gnomon.discovery.forms.weak import WeakForm

__all__ = ["AbstractRegressionForm", "PointwiseForm", "RegressionSystem", "WeakForm"]
