"""Normalizing flows: invertible maps, one kind in each file, and the model that chains them."""

from gnomon.generative.flows.autoregressive import Autoregressive, MaskedNetwork
from gnomon.generative.flows.base import AbstractTransform, Flow, Inverse, Shift
from gnomon.generative.flows.coupling import AbstractCoupling, Coupling, alternating, coupling_network
from gnomon.generative.flows.mixing import Mixing
from gnomon.generative.flows.planar import Planar
from gnomon.generative.flows.ready import autoregressive_flow, coupling_flow, spline_flow
from gnomon.generative.flows.spline import SplineCoupling, rational_spline, rational_spline_inverse

__all__ = [
    "AbstractCoupling",
    "AbstractTransform",
    "Autoregressive",
    "Coupling",
    "Flow",
    "Inverse",
    "MaskedNetwork",
    "Mixing",
    "Planar",
    "Shift",
    "SplineCoupling",
    "alternating",
    "autoregressive_flow",
    "coupling_flow",
    "coupling_network",
    "rational_spline",
    "rational_spline_inverse",
    "spline_flow",
]
