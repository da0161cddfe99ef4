"""First floor: the function over its inputs, and how signals travel through its layers.

Lives here: signal propagation, measured on any module by hooks on its layers (`signal`), with the faults it shows, and
told by mean-field theory for a fully connected network (`mean_field`); the gain of an activation (`activation_gain`).
Does not live here: exact kernels of infinite width (`gnomon.kernels`); theory and measurement meet upstairs.
May import: core, the ground floor; torch; matplotlib inside the method that draws.
"""

from gnomon.geometry.faults import Fault, Layer, faults
from gnomon.geometry.gain import ActivationGain, activation_gain
from gnomon.geometry.meanfield import MeanField, critical_weight_std, mean_field
from gnomon.geometry.regularity import LabelRegularity, label_regularity
from gnomon.geometry.signal import Signal, signal

__all__ = [
    "ActivationGain",
    "Fault",
    "LabelRegularity",
    "Layer",
    "MeanField",
    "Signal",
    "activation_gain",
    "critical_weight_std",
    "faults",
    "label_regularity",
    "mean_field",
    "signal",
]
