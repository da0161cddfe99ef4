"""Diffusion models: noise schedules, the trainable model, the exact solution for mixtures, and the diffusion
equations.
"""

from gnomon.generative.diffusion.exact import ExactDenoiser
from gnomon.generative.diffusion.flow import flow_log_prob, flow_samples
from gnomon.generative.diffusion.model import Diffusion
from gnomon.generative.diffusion.schedule import NoiseSchedule, cosine_schedule, linear_schedule
from gnomon.generative.diffusion.stochastic import forward_path, reverse_samples

__all__ = [
    "Diffusion",
    "ExactDenoiser",
    "NoiseSchedule",
    "cosine_schedule",
    "flow_log_prob",
    "flow_samples",
    "forward_path",
    "linear_schedule",
    "reverse_samples",
]
