"""Diffusion models: schedules of noise, the model, its exact network on mixtures, its flow without noise."""

from gnomon.generative.diffusion.exact import ExactNetwork
from gnomon.generative.diffusion.flow import flow_log_prob, flow_samples
from gnomon.generative.diffusion.model import Diffusion
from gnomon.generative.diffusion.schedule import Schedule, cosine_schedule, linear_schedule

__all__ = [
    "Diffusion",
    "ExactNetwork",
    "Schedule",
    "cosine_schedule",
    "flow_log_prob",
    "flow_samples",
    "linear_schedule",
]
