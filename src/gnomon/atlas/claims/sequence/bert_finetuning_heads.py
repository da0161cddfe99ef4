"""A pretrained encoder, fine-tuned with three new heads, labels the sequence, each token, and the span of an answer.

    W_c x_0,   W_t x_i,   softmax_i(w_s.x_i) and softmax_i(w_e.x_i):   each right in at least 90 %            (1)

x_i is the encoder's output at position i, position 0 is [CLS], and the W and w are the weights of the heads.
The encoder is pretrained to fill in masked tokens; fine-tuning then trains all weights.
Reference: [devlin2019bert].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by

TOKEN_COUNT = 12  # 0 is [CLS], 1 and 2 open and close an answer, 3 decides the label of the sequence
MASK = TOKEN_COUNT
SEQUENCE_LENGTH = 8


def predicted():
    """The smallest accuracies."""
    return np.full(4, 0.9)


def batch(count, true_labels):
    """Tokens; whether word 3 occurs, the parity of each token, and where the answer starts and ends."""
    x = torch.randint(4, TOKEN_COUNT, (count, SEQUENCE_LENGTH))
    x[:, 0] = 0
    place = torch.rand(count, SEQUENCE_LENGTH - 1).argsort(1)[:, :3] + 1
    edges = place[:, :2].sort(1).values
    x[torch.arange(count), edges[:, 0]], x[torch.arange(count), edges[:, 1]] = 1, 2
    mood = torch.randint(2, (count,))
    x[torch.arange(count), place[:, 2]] = torch.where(mood == 1, 3, 4)
    labels = (mood, x % 2, edges[:, 0], edges[:, 1])
    other = torch.randperm(count)
    return x, labels if true_labels else tuple(y[other] for y in labels)


class ThreeHeadEncoder(nn.Module):
    """One transformer layer and three heads, equation (1)."""

    def __init__(self, width):
        super().__init__()
        self.embed, self.places = nn.Embedding(MASK + 1, width), nn.Parameter(torch.randn(SEQUENCE_LENGTH, width))
        self.layer = nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, batch_first=True, norm_first=True)
        self.fill = nn.Linear(width, TOKEN_COUNT)
        self.whole, self.tag, self.span = nn.Linear(width, 2), nn.Linear(width, 2), nn.Linear(width, 2)

    def encode(self, tokens):
        """The output at each position."""
        return self.layer(self.embed(tokens) + self.places)

    def forward(self, tokens):
        """Outputs of the heads."""
        x = self.encode(tokens)
        span = self.span(x)
        return self.whole(x[:, 0]), self.tag(x).transpose(1, 2), span[..., 0], span[..., 1]


def shares(true_labels, pretraining, steps, seed):
    """Accuracies of the four outputs on fresh sequences, after pretraining and fine-tuning."""
    torch.manual_seed(seed)
    net = ThreeHeadEncoder(32)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for step in range(pretraining + steps):
        x, labels = batch(64, true_labels)
        if step < pretraining:
            masked = torch.where(torch.rand(x.shape) < 0.15, MASK, x)
            loss = nn.functional.cross_entropy(net.fill(net.encode(masked)).mT, x)
        else:
            loss = sum(nn.functional.cross_entropy(out, y) for out, y in zip(net(x), labels, strict=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        x, labels = batch(1000, true_labels)
        rights = [(out.argmax(1) == y).double().mean() for out, y in zip(net(x), labels, strict=True)]
    return torch.stack(rights).numpy()


observed = partial(shares, true_labels=True)  # True labels.
control = partial(shares, true_labels=False)  # Labels of other sequences.

CLAIM = Claim(
    id="bert-finetuning-heads",
    question="Can one pretrained encoder serve several tasks?",
    equation=r"W_c x_0, \quad W_t x_i, \quad \mathrm{softmax}_i(w_s \cdot x_i)",
    axes=("task (whole sequence, tokens, start, end)", "accuracy"),
    source=Source("observed", "devlin2019bert"),
    premises=(Premise("labels of fine-tuning depend on the tokens"),),
    parameters={"pretraining": 80, "steps": 100},
    full={"pretraining": 600, "steps": 600},
    judge=bounded_by("below"),
)
