"""Forms of an equation as a linear regression: tested with smooth bumps, or at points."""

from gnomon.discovery.forms.base import AbstractForm, System
from gnomon.discovery.forms.pointwise import Pointwise
from gnomon.discovery.forms.weak import WeakForm

__all__ = ["AbstractForm", "Pointwise", "System", "WeakForm"]
