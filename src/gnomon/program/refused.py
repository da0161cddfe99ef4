"""What the reader understands and theory refuses: calls that have no closed-form limit, and why."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a family of calls has no limit: what was found, the hypothesis it breaks, the cure; and their names."""

    found: str
    hypothesis: str
    cure: str
    names: str


REFUSALS = (
    Refusal(
        "takes a maximum over positions",
        "pooling is linear: a maximum of Gaussians is not Gaussian",
        "Use AvgPool",
        "MaxPool1d MaxPool2d MaxPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d FractionalMaxPool2d LPPool2d "
        "max_pool1d max_pool2d adaptive_max_pool1d adaptive_max_pool2d max amax min amin",
    ),
    Refusal(
        "is a nonlinearity across features",
        "no nonlinearity across features: elementwise functions only",
        "Return the logits and put the softmax in the loss",
        "Softmax softmax Softmax2d Softmin LogSoftmax log_softmax logsumexp normalize GLU glu",
    ),
    Refusal(
        "normalizes each channel or the batch alone",
        "statistics are means over many channels",
        "Use LayerNorm or GroupNorm(1, C)",
        "InstanceNorm1d InstanceNorm2d InstanceNorm3d LocalResponseNorm batch_norm instance_norm",
    ),
    Refusal(
        "applies the same weights at every time step",
        "independent weights in every layer: no weight sharing across depth",
        "Unroll it with its own weights per step",
        "RNN LSTM GRU RNNCell LSTMCell GRUCell",
    ),
    Refusal(
        "has softmax of random logits (scaled by 1/sqrt(d_k))",
        "attention logits are deterministic in the limit (1/d_k scaling)",
        "Use gnomon.models.SelfAttention",
        "MultiheadAttention scaled_dot_product_attention TransformerEncoderLayer TransformerDecoderLayer",
    ),
)

REFUSED: dict[str, Refusal] = {name: r for r in REFUSALS for name in r.names.split()}
