"""Methods that turn a differential equation into a linear regression: at grid points, or with test functions."""

from gnomon.discovery.forms.base import AbstractRegressionForm, RegressionSystem
from gnomon.discovery.forms.pointwise import PointwiseForm
from gnomon.discovery.forms.weak import WeakForm

__all__ = ["AbstractRegressionForm", "PointwiseForm", "RegressionSystem", "WeakForm"]
