"""Lists calls that have no closed-form infinite-width limit, with the reason for each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason why layers have no infinite-width limit: the problem, the violated hypothesis, a fix, the layers'
    names."""

    found: str
    hypothesis: str
    fix: str
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
        "keeps a state that is a product over time of gates, which are correlated from step to step",
        "covariances are expectations over two Gaussian variables; covariances of a gated state after t steps are "
        "over 6 t",
        "Use nn.RNN(..., batch_first=True), which has a limit",
        "LSTM GRU LSTMCell GRUCell",
    ),
    Refusal(
        "applies the same weights at every call",
        "independent weights in every layer: no weight sharing across depth",
        "Use nn.RNN(..., batch_first=True), which applies the cell to a whole sequence",
        "RNNCell",
    ),
    Refusal(
        "has softmax of products of two outputs of layers",
        "attention is read whole, from a module that says what its parts are",
        "Use nn.MultiheadAttention or gnomon.models.SelfAttention",
        "scaled_dot_product_attention TransformerDecoderLayer TransformerDecoder Transformer",
    ),
)

REFUSED: dict[str, Refusal] = {name: r for r in REFUSALS for name in r.names.split()}
