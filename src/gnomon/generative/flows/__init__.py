"""Normalizing flows: invertible maps from noise to examples, one kind in each file, and the model that chains them."""

from gnomon.generative.flows.autoregressive import (
    AbstractAutoregressive,
    Autoregressive,
    MaskedNetwork,
    SplineAutoregressive,
)
from gnomon.generative.flows.base import AbstractTransform, Flow, InverseTransform, ShiftTransform
from gnomon.generative.flows.coupling import AbstractCoupling, Coupling, alternating_mask, coupling_network
from gnomon.generative.flows.mixing import InvertibleMixing
from gnomon.generative.flows.planar import PlanarTransform
from gnomon.generative.flows.spline import SplineCoupling, rational_spline, rational_spline_inverse
from gnomon.generative.flows.standard_flows import (
    autoregressive_flow,
    autoregressive_spline_flow,
    coupling_flow,
    spline_flow,
)

__all__ = [
    "AbstractAutoregressive",
    "AbstractCoupling",
    "AbstractTransform",
    "Autoregressive",
    "Coupling",
    "Flow",
    "InverseTransform",
    "MaskedNetwork",
    "InvertibleMixing",
    "PlanarTransform",
    "ShiftTransform",
    "SplineAutoregressive",
    "SplineCoupling",
    "alternating_mask",
    "autoregressive_flow",
    "autoregressive_spline_flow",
    "coupling_flow",
    "coupling_network",
    "rational_spline",
    "rational_spline_inverse",
    "spline_flow",
]
