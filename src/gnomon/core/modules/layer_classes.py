"""Lists torch's layer classes by kind, such as convolutions, poolings and activations.

>>> isinstance(nn.Conv2d(1, 1, 1), CONVOLUTIONS), isinstance(nn.ConvTranspose2d(1, 1, 1), CONVOLUTIONS)
(True, False)
"""

from torch import nn

__all__ = [
    "ACTIVATIONS",
    "AVERAGE_POOLS",
    "BATCH_NORMS",
    "CHANNEL_NORMS",
    "CONVOLUTIONS",
    "DROPOUTS",
    "AFFINE_LAYERS",
    "LINEAR_OR_CONVOLUTION",
    "MAX_POOLS",
    "RECURRENT",
    "SMOOTH_OR_BOUNDED_ACTIVATIONS",
]

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
"""Convolution layers, without transposed convolutions."""

LINEAR_OR_CONVOLUTION = (nn.Linear, *CONVOLUTIONS)
"""Layers that are affine in their input, without transposed convolutions."""

AFFINE_LAYERS = (nn.Linear, nn.modules.conv._ConvNd)
"""Layers that are affine in their input, with transposed and lazy convolutions."""

BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
"""Batch norm layers, without synchronized ones."""

CHANNEL_NORMS = (nn.modules.batchnorm._BatchNorm, nn.modules.instancenorm._InstanceNorm)
"""Norms with one mean and one scale per channel."""

DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)
"""Layers that set random units to zero in training mode."""

RECURRENT = (nn.RNN, nn.LSTM, nn.GRU)
"""Recurrent layers that run over whole sequences."""

MAX_POOLS = (nn.modules.pooling._MaxPoolNd, nn.modules.pooling._AdaptiveMaxPoolNd)
"""Pooling layers that return the largest value of a window."""

AVERAGE_POOLS = (nn.modules.pooling._AvgPoolNd, nn.modules.pooling._AdaptiveAvgPoolNd)
"""Pooling layers that return the mean of a window."""

SMOOTH_OR_BOUNDED_ACTIVATIONS = (
    nn.Tanh, nn.Sigmoid, nn.GELU, nn.SiLU, nn.ELU, nn.SELU, nn.CELU, nn.Softplus, nn.Softsign, nn.Mish, nn.Hardswish,
    nn.Hardtanh, nn.ReLU6, nn.Hardsigmoid,
)  # fmt: skip
"""Activations that are not positively homogeneous: f(2 x) is not 2 f(x)."""

ACTIVATIONS = (nn.ReLU, nn.LeakyReLU, nn.PReLU, *SMOOTH_OR_BOUNDED_ACTIVATIONS)
"""Activations that act on each element separately."""
