"""Networks with the interfaces of the public scripts in pytorch/examples, written again."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class MnistCnn(nn.Module):
    """Two convolutions and two dense layers for MNIST; returns log-probabilities."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
        self.dropout1, self.dropout2 = nn.Dropout(0.25), nn.Dropout(0.5)
        self.fc1, self.fc2 = nn.Linear(9216, 128), nn.Linear(128, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Log-probabilities of images (n, 1, 28, 28)."""
        x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
        x = self.dropout2(F.relu(self.fc1(torch.flatten(self.dropout1(x), 1))))
        return F.log_softmax(self.fc2(x), dim=1)


class MnistRnn(nn.Module):
    """An LSTM over the rows of an image, with two-dimensional dropout on vectors, as published."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(input_size=28, hidden_size=64, batch_first=True)
        self.batchnorm = nn.BatchNorm1d(64)
        self.dropout1, self.dropout2 = nn.Dropout2d(0.25), nn.Dropout2d(0.5)
        self.fc1, self.fc2 = nn.Linear(64, 32), nn.Linear(32, 10)

    def forward(self, input: Tensor) -> Tensor:
        """Log-probabilities of images (n, 1, 28, 28)."""
        output, _ = self.rnn(input.reshape(-1, 28, 28))
        output = self.dropout1(self.batchnorm(output[:, -1, :]))
        return F.log_softmax(self.fc2(self.dropout2(F.relu(self.fc1(output)))), dim=1)


class Vae(nn.Module):
    """A variational autoencoder; returns (reconstruction, mean, log-variance) and samples in eval mode too."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc21, self.fc22 = nn.Linear(784, 400), nn.Linear(400, 20), nn.Linear(400, 20)
        self.fc3, self.fc4 = nn.Linear(20, 400), nn.Linear(400, 784)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Of images (n, 1, 28, 28)."""
        hidden = F.relu(self.fc1(x.view(-1, 784)))
        mean, log_variance = self.fc21(hidden), self.fc22(hidden)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z)))), mean, log_variance


def vae_loss(outputs: tuple[Tensor, Tensor, Tensor], images: Tensor) -> Tensor:
    """Binary cross-entropy of pixels plus the divergence of the code from a standard normal, for each image."""
    reconstruction, mean, log_variance = outputs
    errors = F.binary_cross_entropy(reconstruction, images.reshape(-1, 784), reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.square() - log_variance.exp())
    return (errors + divergence) / len(images)


class Siamese(nn.Module):
    """Do two images show the same digit? One feature extractor for both; returns a probability (n, 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4)
        )
        self.fc = nn.Sequential(nn.Linear(2 * 64 * 16, 256), nn.ReLU(inplace=True), nn.Linear(256, 1))
        self.sigmoid = nn.Sigmoid()

    def forward_once(self, x: Tensor) -> Tensor:
        """Features of one image."""
        return self.features(x).flatten(1)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """The probability that both show the same."""
        return self.sigmoid(self.fc(torch.cat((self.forward_once(input1), self.forward_once(input2)), 1)))


class TimeSequence(nn.Module):
    """Two LSTM cells in a loop over time, in double precision; ``future`` continues the series."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm1, self.lstm2 = nn.LSTMCell(1, 51), nn.LSTMCell(51, 51)
        self.linear = nn.Linear(51, 1)

    def forward(self, input: Tensor, future: int = 0) -> Tensor:
        """The next value after each of the values (n, length)."""
        states = [torch.zeros(len(input), 51, dtype=torch.double) for _ in range(4)]
        outputs: list[Tensor] = []
        for step in range(input.shape[1] + future):
            now = input[:, step : step + 1] if step < input.shape[1] else outputs[-1]
            states[:2] = self.lstm1(now, tuple(states[:2]))
            states[2:] = self.lstm2(states[0], tuple(states[2:]))
            outputs.append(self.linear(states[2]))
        return torch.cat(outputs, dim=1)


class WordLstm(nn.Module):
    """The LSTM of word_language_model: needs a hidden state, reads (steps, columns), returns flat log-probabilities."""

    def __init__(self, tokens: int, width: int = 64, layers: int = 2, dropout: float = 0.2) -> None:
        super().__init__()
        self.ntoken, self.nhid, self.nlayers = tokens, width, layers
        self.drop, self.encoder = nn.Dropout(dropout), nn.Embedding(tokens, width)
        self.rnn = nn.LSTM(width, width, layers, dropout=dropout)
        self.decoder = nn.Linear(width, tokens)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)

    def forward(self, input: Tensor, hidden: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Log-probabilities (steps * columns, tokens) and the new hidden state."""
        output, hidden = self.rnn(self.drop(self.encoder(input)), hidden)
        return F.log_softmax(self.decoder(self.drop(output)).view(-1, self.ntoken), dim=1), hidden

    def init_hidden(self, bsz: int) -> tuple[Tensor, Tensor]:
        """The state before the first word."""
        weight = next(self.parameters())
        return weight.new_zeros(self.nlayers, bsz, self.nhid), weight.new_zeros(self.nlayers, bsz, self.nhid)


class WordTransformer(nn.Transformer):
    """The Transformer of word_language_model: reads (steps, columns), returns log-probabilities of each word."""

    def __init__(self, tokens: int, width: int = 64, heads: int = 2, hidden: int = 128, layers: int = 2) -> None:
        super().__init__(d_model=width, nhead=heads, dim_feedforward=hidden, num_encoder_layers=layers)
        self.src_mask: Tensor | None = None
        self.input_emb, self.ninp = nn.Embedding(tokens, width), width
        self.drop = nn.Dropout(0.2)
        times = torch.arange(500.0)[:, None] * torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        self.register_buffer("pe", torch.stack((times.sin(), times.cos()), -1).flatten(1)[:, None])
        self.decoder = nn.Linear(width, tokens)
        nn.init.uniform_(self.input_emb.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)

    def forward(self, src: Tensor, has_mask: bool = True) -> Tensor:
        """Log-probabilities (steps, columns, tokens)."""
        if has_mask and (self.src_mask is None or len(self.src_mask) != len(src)):
            self.src_mask = torch.log(torch.tril(torch.ones(len(src), len(src)))).to(src.device)
        x = self.drop(self.input_emb(src) * math.sqrt(self.ninp) + self.pe[: len(src)])
        return F.log_softmax(self.decoder(self.encoder(x, mask=self.src_mask if has_mask else None)), dim=-1)


class SuperResolution(nn.Module):
    """Four convolutions and a pixel shuffle, which enlarge an image."""

    def __init__(self, upscale_factor: int = 2) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 64, 5, padding=2), nn.Conv2d(64, 64, 3, padding=1)
        self.conv3 = nn.Conv2d(64, 32, 3, padding=1)
        self.conv4 = nn.Conv2d(32, upscale_factor**2, 3, padding=1)
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        gain = nn.init.calculate_gain("relu")
        for layer in (self.conv1, self.conv2, self.conv3):
            nn.init.orthogonal_(layer.weight, gain)
        nn.init.orthogonal_(self.conv4.weight)

    def forward(self, x: Tensor) -> Tensor:
        """An image of twice the size."""
        return self.pixel_shuffle(self.conv4(F.relu(self.conv3(F.relu(self.conv2(F.relu(self.conv1(x))))))))
