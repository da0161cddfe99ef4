"""A sixth set of healthy public examples: autoencoders, pairs, graphs, tables and images."""

import torch
from torch import nn, optim
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, healthy, sgd
from evaluation.published.cases.sixth_losses import VAE, SiameseNet, cosine_ranking, digit_pairs
from evaluation.published.cases.sixth_networks import NodeGCN, communities
from evaluation.published.data.load import digits, flat_digits, small_mnist, split, standardized, uci
from evaluation.published.data.made import generator, housing, reviews, shapes
from evaluation.published.networks import mlp
from evaluation.published.scores import logit_accuracy, mean_iou, r2


@healthy("sixth-vae", "pytorch/examples, vae/main.py", score=0.45)
def vae():
    """A variational autoencoder with both terms summed over their axes."""
    (x, _), (xt, _) = small_mnist()
    x, xt = x.flatten(1), xt.flatten(1)

    def loss(outputs, x):
        scores, mu, log_var = outputs.split((196, 8, 8), 1)
        bce = F.binary_cross_entropy_with_logits(scores, x, reduction="sum")
        return (bce - 0.5 * torch.sum(1 + log_var - mu.pow(2) - log_var.exp())) / len(x)

    def score(outputs, x):
        return r2(outputs[:, :196].sigmoid(), x)

    return Recipe(network=VAE, train=(x, x), test=(xt, xt), loss=loss, batch=64, epochs=25, score=score)


@healthy("sixth-siamese", "pytorch/examples, siamese_network/main.py; nn.CosineEmbeddingLoss", score=0.95)
def siamese():
    """A siamese network with the cosine embedding loss and labels 1 and -1."""
    (train, same), (test, test_same) = digit_pairs(n=2000)

    def loss(outputs, same):
        return F.cosine_embedding_loss(outputs[:, 0], outputs[:, 1], same, margin=0.3)

    def score(outputs, same):
        return cosine_ranking(outputs, (same + 1) // 2)

    return Recipe(
        network=SiameseNet, train=(train, 2 * same - 1), test=(test, 2 * test_same - 1), loss=loss, score=score
    )


@healthy("sixth-node-gcn", "Kipf and Welling 2017; pytorch/examples, gcn/main.py", score=0.7)
def node_gcn():
    """Two graph convolutions that predict the community of each node."""
    train, test = communities()
    return Recipe(network=lambda: NodeGCN(2), train=train, test=test, optimizer=adam(1e-2, 5e-4), batch=20, epochs=25)


@healthy("sixth-pixel-shuffle", "pytorch/examples, super_resolution/model.py", score=0.78)
def pixel_shuffle():
    """Images of 7 x 7 pixels are enlarged to 14 x 14 by convolutions and a pixel shuffle."""
    (x, _), (xt, _) = small_mnist()

    class Net(nn.Module):
        """Three convolutions and a pixel shuffle."""

        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 32, 5, padding=2), nn.Conv2d(32, 32, 3, padding=1)
            self.conv3, self.shuffle = nn.Conv2d(32, 4, 3, padding=1), nn.PixelShuffle(2)
            nn.init.orthogonal_(self.conv1.weight, nn.init.calculate_gain("relu"))
            nn.init.orthogonal_(self.conv2.weight, nn.init.calculate_gain("relu"))
            nn.init.orthogonal_(self.conv3.weight)

        def forward(self, x):
            return self.shuffle(self.conv3(F.relu(self.conv2(F.relu(self.conv1(x))))))

    small, small_test = F.avg_pool2d(x, 2), F.avg_pool2d(xt, 2)
    return Recipe(network=Net, train=(small, x), test=(small_test, xt), loss=nn.MSELoss(), epochs=20)


@healthy("sixth-mean-and-variance", "Nix and Weigend 1994; PyTorch documentation of nn.GaussianNLLLoss", score=0.8)
def mean_and_variance():
    """A regression that predicts a mean and a variance with GaussianNLLLoss."""
    g = generator(81)
    x = 2 * torch.rand(1200, 4, generator=g) - 1
    noise = 0.05 + 0.3 * (x[:, 1] > 0)
    y = torch.sin(3 * x[:, 0]) + x[:, 2] * x[:, 3] + noise * torch.randn(1200, generator=g)
    train, test = split(x, y[:, None], 800)
    nll = nn.GaussianNLLLoss()

    def loss(outputs, y):
        return nll(outputs[:, :1], y, F.softplus(outputs[:, 1:]) + 1e-4)

    def score(outputs, y):
        return r2(outputs[:, :1], y)

    return Recipe(network=lambda: mlp(4, 64, 64, 2), train=train, test=test, loss=loss, epochs=40, score=score)


@healthy("sixth-text-cnn", "Kim 2014; d2l.ai, sentiment analysis: using convolutional neural networks", score=0.85)
def text_cnn():
    """Convolutions of three widths over word vectors, with the mean over time and dropout."""
    train, test = reviews(n=2200)

    class TextCNN(nn.Module):
        """Parallel convolutions over word vectors."""

        def __init__(self):
            super().__init__()
            self.embedding, self.dropout = nn.Embedding(60, 24), nn.Dropout(0.3)
            self.convs = nn.ModuleList(nn.Conv1d(24, 32, k) for k in (1, 2, 3))
            self.decoder = nn.Linear(96, 2)

        def forward(self, x):
            h = self.embedding(x).permute(0, 2, 1)
            pooled = [F.adaptive_avg_pool1d(F.relu(conv(h)), 1).squeeze(-1) for conv in self.convs]
            return self.decoder(self.dropout(torch.cat(pooled, 1)))

    return Recipe(network=TextCNN, train=train, test=test, optimizer=adam(3e-3), epochs=10)


@healthy("sixth-deep-fm", "d2l.ai, deep factorization machines; rixwew/pytorch-fm", score=0.8)
def deep_fm():
    """Clicks from three categorical fields: a factorization machine plus a dense network, one logit."""
    g = generator(82)
    sizes = (40, 30, 12)
    x = torch.stack([torch.randint(size, (4000,), generator=g) for size in sizes], 1)
    vectors = [torch.randn(size, 2, generator=g) for size in sizes]
    a, b, c = (v[x[:, i]] for i, v in enumerate(vectors))
    y = ((a * b).sum(1) + (b * c).sum(1) + 0.3 * torch.randn(4000, generator=g) > 0).float()
    train, test = split(x, y, 3200)

    class DeepFM(nn.Module):
        """Linear terms, products of field vectors and a dense network."""

        def __init__(self, width=8):
            super().__init__()
            self.register_buffer("offsets", torch.tensor([0, 40, 70]))
            self.embedding, self.linear = nn.Embedding(82, width), nn.Embedding(82, 1)
            nn.init.normal_(self.embedding.weight, std=0.1)
            nn.init.zeros_(self.linear.weight)
            self.dense = nn.Sequential(nn.Linear(3 * width, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))

        def forward(self, x):
            x = x + self.offsets
            e = self.embedding(x)
            products = 0.5 * (e.sum(1).pow(2) - e.pow(2).sum(1)).sum(1)
            return self.linear(x).sum((1, 2)) + products + self.dense(e.flatten(1)).squeeze(1)

    return Recipe(
        network=DeepFM, train=train, test=test, loss=nn.BCEWithLogitsLoss(), optimizer=adam(1e-2, 1e-5), batch=128,
        epochs=15, score=logit_accuracy,
    )  # fmt: skip


@healthy("sixth-fcn", "d2l.ai, fully convolutional networks: transposed convolution for segmentation", score=0.7)
def fcn():
    """Two convolutions with stride, a 1 x 1 convolution to the classes and a transposed convolution to full size."""
    train, test = shapes(n=500)

    def network():
        return nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, stride=2, padding=1),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(64, 3, 1),
            nn.ConvTranspose2d(3, 3, 4, stride=2, padding=1),
        )

    return Recipe(
        network=network, train=train, test=test, optimizer=adam(3e-3, weight_decay=1e-4), epochs=12, score=mean_iou
    )


@healthy("sixth-dense-net", "d2l.ai, densely connected networks (DenseNet)", score=0.95)
def dense_net():
    """Two dense blocks whose layers see all earlier outputs, with a transition layer between them."""
    train, test = digits()

    class DenseBlock(nn.Module):
        """Each convolution gets the inputs and all earlier outputs."""

        def __init__(self, layers, channels, growth):
            super().__init__()
            widths = [channels + i * growth for i in range(layers)]
            self.net = nn.ModuleList(
                nn.Sequential(nn.BatchNorm2d(w), nn.ReLU(), nn.Conv2d(w, growth, 3, padding=1)) for w in widths
            )

        def forward(self, x):
            for layer in self.net:
                x = torch.cat((x, layer(x)), 1)
            return x

    def network():
        between = [nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 16, 1), nn.AvgPool2d(2)]
        end = [nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)]
        blocks = nn.Conv2d(1, 16, 3, padding=1), DenseBlock(2, 16, 8), *between, DenseBlock(2, 16, 8)
        return nn.Sequential(*blocks, *end)

    return Recipe(network=network, train=train, test=test, optimizer=sgd(0.1, momentum=0.9), batch=64, epochs=10)


@healthy(
    "sixth-squeeze-and-excitation", "Hu et al. 2018; pytorch-image-models: SE blocks, SiLU, AdamW, cosine", score=0.95
)
def squeeze_and_excitation():
    """Convolutions with squeeze-and-excitation, SiLU and batch norm, AdamW with a cosine schedule and label smoothing."""
    train, test = digits()

    class SEBlock(nn.Module):
        """A residual block whose channels are weighted by a small network."""

        def __init__(self, c):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c)
            self.down, self.up = nn.Linear(c, c // 4), nn.Linear(c // 4, c)

        def forward(self, x):
            h = F.silu(self.norm(self.conv(x)))
            weight = torch.sigmoid(self.up(F.silu(self.down(h.mean((2, 3))))))
            return x + h * weight[:, :, None, None]

    def network():
        first = nn.Conv2d(1, 24, 3, padding=1, bias=False), nn.BatchNorm2d(24), nn.SiLU(), SEBlock(24), nn.MaxPool2d(2)
        return nn.Sequential(*first, SEBlock(24), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(96, 10))

    return Recipe(
        network=network, train=train, test=test, loss=nn.CrossEntropyLoss(label_smoothing=0.1),
        optimizer=lambda p: optim.AdamW(p, lr=3e-3, weight_decay=0.05), epochs=10,
        schedule=lambda o: optim.lr_scheduler.CosineAnnealingLR(o, T_max=10),
    )  # fmt: skip


@healthy(
    "sixth-fastai-tabular",
    "fast.ai, tabular_learner: batch norm of the inputs, BatchNorm and Dropout, one cycle",
    score=0.85,
)
def fastai_tabular():
    """The tabular network of fast.ai on the image segmentation table."""
    train, test = standardized(*uci("statlog-image"))
    columns, classes = train[0].shape[1], int(train[1].max()) + 1

    def network():
        first = nn.Linear(columns, 128, bias=False), nn.ReLU(), nn.BatchNorm1d(128), nn.Dropout(0.1)
        second = nn.Linear(128, 64, bias=False), nn.ReLU(), nn.BatchNorm1d(64), nn.Dropout(0.1)
        return nn.Sequential(nn.BatchNorm1d(columns), *first, *second, nn.Linear(64, classes))

    return Recipe(
        network=network, train=train, test=test, batch=64, epochs=15,
        optimizer=lambda p: optim.AdamW(p, lr=4e-3, betas=(0.9, 0.99), weight_decay=0.01),
        schedule=lambda o: optim.lr_scheduler.OneCycleLR(o, max_lr=4e-3, total_steps=15, pct_start=0.3),
    )  # fmt: skip


@healthy("sixth-ordinal-levels", "Cao et al. 2020, CORAL; Raschka-research-group/coral-pytorch", score=0.75)
def ordinal_levels():
    """Five ordered grades, each written as four questions 'is it above this level', with one shared score and four biases."""
    g = generator(83)
    x = torch.randn(3000, 8, generator=g)
    ability = x[:, 0] + 0.7 * torch.sin(2 * x[:, 1]) + 0.5 * x[:, 2] * x[:, 3] + 0.15 * torch.randn(3000, generator=g)
    levels = (ability[:, None] > torch.tensor([-1.2, -0.4, 0.4, 1.2])).float()
    train, test = split(x, levels, 2200)

    class Coral(nn.Module):
        """One score for all levels, and a bias for each."""

        def __init__(self):
            super().__init__()
            self.body, self.biases = mlp(8, 64, 64, 1), nn.Parameter(torch.tensor([1.0, 0.3, -0.3, -1.0]))

        def forward(self, x):
            return self.body(x) + self.biases

    def score(outputs, levels):
        return float(((outputs > 0).sum(1) == levels.sum(1)).double().mean())

    return Recipe(
        network=Coral, train=train, test=test, loss=nn.BCEWithLogitsLoss(), optimizer=adam(3e-3), epochs=30, score=score
    )


@healthy("sixth-linear-svm", "Stanford CS231n, linear classification: multiclass SVM with weight decay", score=0.92)
def linear_svm():
    """A linear classifier of digits with the multiclass hinge loss and momentum."""
    train, test = flat_digits()
    return Recipe(
        network=lambda: nn.Linear(64, 10), train=train, test=test, loss=nn.MultiMarginLoss(),
        optimizer=sgd(0.1, momentum=0.9, weight_decay=1e-4), epochs=25,
    )  # fmt: skip


@healthy(
    "sixth-log-price",
    "d2l.ai, predicting house prices on Kaggle: standardized columns, logarithm of the price",
    score=0.85,
)
def log_price():
    """A dense network with dropout predicts the logarithm of the price from standardized columns."""
    (x, y), (xt, yt) = housing(n=1800)
    (x, _), (xt, _) = standardized((x, y), (xt, yt))
    y, yt = (torch.log1p(a.clamp(min=0)) for a in (y, yt))
    return Recipe(
        network=lambda: mlp(8, 64, 32, 1, dropout=0.05), train=(x, y), test=(xt, yt), loss=nn.MSELoss(),
        optimizer=adam(5e-3, weight_decay=1e-4), batch=64, epochs=40,
    )  # fmt: skip
