"""A classifier on the first token learns whether two sentences belong together, if related ones share a topic.

    [CLS] a [SEP] b:   accuracy of a head on [CLS] >= 0.9 if sentences    that follow each other share a topic (1)

[CLS] and [SEP] are marker tokens, a and b two sentences. Reference: [devlin2019bert].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by

WORDS_PER_TOPIC = 6
WORDS_PER_SENTENCE = 3


def predicted():
    """Returns 0.9, the lower bound on the accuracy."""
    return 0.9


def pairs(count, related):
    """Returns tokens [CLS] a [SEP] b of two topics, and whether b follows a."""
    first, follows = torch.randint(2, (count,)), torch.randint(2, (count,))
    second = torch.where((follows == 1) | torch.tensor(not related), first, 1 - first)
    shape = (count, WORDS_PER_SENTENCE)
    a, b = (2 + WORDS_PER_TOPIC * t[:, None] + torch.randint(WORDS_PER_TOPIC, shape) for t in (first, second))
    marks = torch.tensor([0, 1]).expand(count, 2)
    return torch.cat([marks[:, :1], a, marks[:, 1:], b], 1), follows


class SentencePairEncoder(nn.Module):
    """Embeddings, positions, two transformer layers, and a head on the first token."""

    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(2 + 2 * WORDS_PER_TOPIC, width)
        self.places = nn.Parameter(torch.randn(2 * WORDS_PER_SENTENCE + 2, width))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, batch_first=True, norm_first=True) for _ in range(2)
        )
        self.head = nn.Linear(width, 2)

    def forward(self, tokens):
        """Returns the logits of the two answers, "follows" and "does not follow"."""
        x = self.embed(tokens) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(x[:, 0])


def accuracy(related, steps, seed):
    """Returns the accuracy on new sentence pairs, after training with Adam."""
    torch.manual_seed(seed)
    net = SentencePairEncoder(16)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for _ in range(steps):
        x, y = pairs(32, related)
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        x, y = pairs(1000, related)
        return np.float64((net(x).argmax(1) == y).double().mean())


observed = partial(accuracy, related=True)  # A sentence that follows another one has the same topic.
control = partial(accuracy, related=False)  # Control: all pairs share their topic, so the topic says nothing.

CLAIM = Claim(
    id="bert-next-sentence",
    question="Can one token say whether two sentences belong together?",
    equation=r"P(\text{follows} \mid [\mathrm{CLS}]) \text{ is right in } 90\,\%",
    axes=("one training run", "accuracy"),
    source=Source("observed", "devlin2019bert"),
    premises=(Premise("sentences that follow each other share a topic"),),
    parameters={"steps": 200},
    full={"steps": 1000},
    judge=bounded_by("below"),
)
