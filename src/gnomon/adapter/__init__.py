"""Adapts the user's model and data: detects how the model takes inputs, what its outputs mean, and which loss fits.

`read_output_meaning` tries a few examples and returns a `Reading`: which axes of the outputs are examples, positions,
members of an ensemble and classes, which loss that means, and one sentence that says so. Instruments that get a loss
from the user do not need it.

Contains: `read_output_meaning` and its options, the losses of outputs with positions or members, scores such as
perplexity. Does not contain: how a module is called (`gnomon.core.modules`), how data are read (`gnomon.core.inputs`).

May import: core.
"""

from gnomon.adapter.read import read_output_meaning

__all__ = ["read_output_meaning"]
