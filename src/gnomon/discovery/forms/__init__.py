"""Ways to write an equation as a linear regression: in weak form with test functions, or at grid points."""

from gnomon.discovery.forms.base import AbstractRegressionForm, RegressionSystem
from gnomon.discovery.forms.pointwise import PointwiseForm
from gnomon.discovery.forms.weak import WeakForm

__all__ = ["AbstractRegressionForm", "PointwiseForm", "RegressionSystem", "WeakForm"]
