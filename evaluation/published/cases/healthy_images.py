"""Healthy image models from public example code."""

import torch
from torch import nn, optim
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, healthy, sgd
from evaluation.published.data.load import digits, flat_digits, mnist, small_mnist
from evaluation.published.data.made import shapes
from evaluation.published.networks import SmallCNN, UNet, mlp
from evaluation.published.scores import mean_iou


class ExampleNet(nn.Module):
    """The network of pytorch/examples mnist: two convolutions, dropout, two dense layers, log-softmax."""

    def __init__(self, size=14):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 16, 3), nn.Conv2d(16, 32, 3)
        self.dropout1, self.dropout2 = nn.Dropout(0.25), nn.Dropout(0.5)
        self.fc1, self.fc2 = nn.Linear(32 * ((size - 4) // 2) ** 2, 64), nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = self.dropout1(F.max_pool2d(x, 2)).flatten(1)
        return F.log_softmax(self.fc2(self.dropout2(F.relu(self.fc1(x)))), dim=1)


@healthy("pytorch-examples-mnist", "pytorch/examples, mnist/main.py", score=0.9)
def examples_mnist():
    """The MNIST example on 2 x 2 pooled images, with Adadelta and StepLR as in the example."""
    train, test = small_mnist()
    return Recipe(
        network=ExampleNet, train=train, test=test, loss=F.nll_loss, batch=64, epochs=10,
        optimizer=lambda p: optim.Adadelta(p, lr=1.0), schedule=lambda o: optim.lr_scheduler.StepLR(o, 1, gamma=0.8),
    )  # fmt: skip


@healthy("pytorch-tutorial-fashion-mlp", "PyTorch quickstart tutorial (beginner/basics/quickstart)", score=0.88)
def quickstart():
    """The dense network of the quickstart, with SGD at a rate that suits 1500 images."""
    train, test = mnist(1500, 800)
    return Recipe(
        network=lambda: nn.Sequential(nn.Flatten(), mlp(784, 128, 128, 10)),
        train=train,
        test=test,
        optimizer=sgd(0.1),
        batch=64,
        epochs=30,
    )


@healthy("keras-mnist-convnet", "keras.io, vision/mnist_convnet", score=0.9)
def keras_convnet():
    """Convolutions, pooling and dropout before the dense output, with Adam."""
    train, test = small_mnist()

    def network():
        return nn.Sequential(
            nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Dropout(0.5), nn.Linear(128, 10),
        )  # fmt: skip

    return Recipe(network=network, train=train, test=test, batch=32, epochs=10, optimizer=adam(2e-3))


@healthy("lenet-digits", "LeCun et al. 1998; d2l.ai, chapter convolutional-neural-networks/lenet", score=0.93)
def lenet():
    """LeNet with tanh and average pooling on small digits."""
    train, test = digits()

    def network():
        return nn.Sequential(
            nn.Conv2d(1, 6, 3, padding=1), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 3, padding=1), nn.Tanh(), nn.AvgPool2d(2),
            nn.Flatten(), nn.Linear(64, 60), nn.Tanh(), nn.Linear(60, 10),
        )  # fmt: skip

    return Recipe(network=network, train=train, test=test, epochs=25, optimizer=adam(3e-3))


class ResidualBlock(nn.Module):
    """Two normalized convolutions with a shortcut."""

    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width),
        )  # fmt: skip

    def forward(self, x):
        return F.relu(x + self.body(x))


@healthy("resnet-digits", "pytorch/vision, torchvision/models/resnet.py (small)", score=0.95)
def resnet():
    """A small residual network with batch normalization, SGD with momentum and cosine schedule."""
    train, test = digits()

    def network():
        stem = [nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
        return nn.Sequential(
            *stem,
            ResidualBlock(16),
            nn.MaxPool2d(2),
            ResidualBlock(16),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
            nn.Linear(64, 10),
        )

    return Recipe(
        network=network, train=train, test=test, optimizer=sgd(0.05, momentum=0.9, weight_decay=1e-4), batch=64, epochs=8,
        schedule=lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 8),
    )  # fmt: skip


@healthy("group-norm-cnn", "Wu and He 2018; pytorch-image-models style", score=0.94)
def group_norm():
    """A convolutional network with group normalization and SiLU."""
    train, test = digits()

    def network():
        def block(n, m):
            return [nn.Conv2d(n, m, 3, padding=1), nn.GroupNorm(4, m), nn.SiLU(), nn.MaxPool2d(2)]

        return nn.Sequential(*block(1, 16), *block(16, 32), nn.Flatten(), nn.Linear(128, 10))

    return Recipe(network=network, train=train, test=test, optimizer=lambda p: optim.AdamW(p, lr=3e-3), epochs=10)


@healthy("depthwise-cnn", "MobileNet (Howard et al. 2017); torchvision/models/mobilenetv2.py", score=0.92)
def depthwise():
    """Depthwise separable convolutions with batch normalization and ReLU6."""
    train, test = digits()

    def separable(n, m):
        return [
            nn.Conv2d(n, n, 3, padding=1, groups=n, bias=False),
            nn.BatchNorm2d(n),
            nn.ReLU6(),
            nn.Conv2d(n, m, 1, bias=False),
            nn.BatchNorm2d(m),
            nn.ReLU6(),
        ]

    def network():
        stem = [nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU6()]
        return nn.Sequential(
            *stem,
            *separable(16, 32),
            nn.MaxPool2d(2),
            *separable(32, 32),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(128, 10),
        )

    return Recipe(network=network, train=train, test=test, optimizer=adam(3e-3), epochs=10)


class PatchTransformer(nn.Module):
    """A vision transformer on 2 x 2 patches with a class token."""

    def __init__(self, width=32):
        super().__init__()
        self.patch = nn.Conv2d(1, width, 2, stride=2)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(0.02 * torch.randn(1, 17, width))
        block = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        patches = self.patch(x).flatten(2).transpose(1, 2)
        h = torch.cat((self.token.expand(len(x), -1, -1), patches), 1) + self.places
        return self.head(self.encoder(h)[:, 0])


@healthy(
    "vision-transformer-digits",
    "keras.io, vision/image_classification_with_vision_transformer; lucidrains/vit-pytorch style",
    score=0.9,
)
def vision_transformer():
    """A small vision transformer on digits."""
    train, test = digits()
    return Recipe(
        network=PatchTransformer,
        train=train,
        test=test,
        optimizer=lambda p: optim.AdamW(p, lr=2e-3, weight_decay=0.01),
        epochs=12,
    )


@healthy("unet-shapes", "Ronneberger et al. 2015; milesial/Pytorch-UNet style", score=0.75)
def unet():
    """A small U-Net that labels each pixel of noisy shapes."""
    train, test = shapes()
    return Recipe(
        network=UNet,
        train=train,
        test=test,
        score=mean_iou,
        optimizer=adam(5e-3),
        batch=16,
        epochs=20,
        task="class per pixel",
    )


@healthy("segmentation-default-task", "keras.io, vision/oxford_pets_image_segmentation (small)", score=0.7)
def segmentation():
    """A plain convolutional network that labels each pixel, without saying the task."""
    train, test = shapes(seed=1)

    def network():
        return nn.Sequential(
            nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 3, 1)
        )

    return Recipe(network=network, train=train, test=test, score=mean_iou, optimizer=adam(5e-3), batch=16, epochs=12)


@healthy("segmentation-ignore-label", "pytorch/vision, references/segmentation (ignore_index=255)", score=0.65)
def ignored_pixels():
    """Pixels with label 255 are unknown and ignored by the loss."""
    (x, y), (xt, yt) = shapes(seed=2)
    void = torch.rand(y.shape, generator=torch.Generator().manual_seed(1)) < 0.05

    def loss(o, t):
        return F.cross_entropy(o, t, ignore_index=255)

    return Recipe(
        network=UNet,
        train=(x, torch.where(void, 255, y)),
        test=(xt, yt),
        loss=loss,
        score=mean_iou,
        optimizer=adam(5e-3),
        batch=16,
        epochs=15,
        task="class per pixel",
    )


@healthy("digits-with-augmentation", "PyTorch transfer learning tutorial: random crops", score=0.9)
def augmented():
    """Digits with random shifts of one pixel during training."""
    train, test = digits()

    def shift(x):
        dx, dy = torch.randint(-1, 2, (2,)).tolist()
        return x.roll((dx, dy), (2, 3))

    return Recipe(network=SmallCNN, train=train, test=test, augment=shift, epochs=40, optimizer=adam(2e-3))


@healthy("digits-sigmoid-shallow", "Nielsen, Neural Networks and Deep Learning, network.py", score=0.9)
def nielsen():
    """One hidden layer of sigmoid units with SGD at 0.5."""
    train, test = flat_digits()
    return Recipe(
        network=lambda: mlp(64, 30, 10, activation=nn.Sigmoid),
        train=train,
        test=test,
        optimizer=sgd(0.5),
        batch=10,
        epochs=15,
    )


@healthy("digits-label-smoothing", "pytorch/vision, references/classification (label smoothing)", score=0.93)
def label_smoothing():
    """Label smoothing of 0.1 with AdamW and a one-cycle-like linear decay."""
    train, test = digits()

    def loss(o, t):
        return F.cross_entropy(o, t, label_smoothing=0.1)

    def decay(o):
        return optim.lr_scheduler.LinearLR(o, 1.0, 0.1, total_iters=10)

    return Recipe(
        network=SmallCNN,
        train=train,
        test=test,
        loss=loss,
        optimizer=lambda p: optim.AdamW(p, lr=3e-3),
        schedule=decay,
        epochs=10,
    )


@healthy(
    "digits-small-data", "scikit-learn, auto_examples/classification/plot_digits_classification (small)", score=0.8
)
def small_data():
    """Only 150 images for training: less accurate, but nothing is wrong."""
    train, test = digits(150)
    return Recipe(network=SmallCNN, train=train, test=test, batch=16, epochs=30)


@healthy("digits-squared-error-one-hot", "Hui and Belkin 2021: squared loss for classification works", score=0.93)
def squared_loss():
    """Squared error on one-hot targets with linear outputs, a known alternative."""
    (x, y), (xt, yt) = flat_digits()
    train, test = (x, F.one_hot(y, 10).float()), (xt, F.one_hot(yt, 10).float())

    def score(o, t):
        return float((o.argmax(1) == t.argmax(1)).double().mean())

    return Recipe(
        network=lambda: mlp(64, 128, 10),
        train=train,
        test=test,
        loss=F.mse_loss,
        score=score,
        epochs=20,
        optimizer=adam(2e-3),
    )


@healthy("denoising-autoencoder", "keras.io, vision/autoencoder", score=0.6)
def denoising():
    """A convolutional autoencoder that removes noise from digits."""
    (x, _), (xt, _) = digits()
    g = torch.Generator().manual_seed(0)
    noisy, noisy_t = (t + 0.2 * torch.randn(t.shape, generator=g) for t in (x, xt))

    def network():
        return nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 1, 3, padding=1),
        )

    return Recipe(network=network, train=(noisy, x), test=(noisy_t, xt), epochs=15, optimizer=adam(3e-3))


@healthy("autoencoder-dense", "pytorch/examples, vae (without sampling); keras blog autoencoders", score=0.7)
def dense_autoencoder():
    """A dense autoencoder with 16 code units and a sigmoid output for pixels from 0 to 1."""
    (x, _), (xt, _) = flat_digits()
    return Recipe(
        network=lambda: nn.Sequential(mlp(64, 48, 16, 48, 64), nn.Sigmoid()),
        train=(x, x),
        test=(xt, xt),
        epochs=80,
        optimizer=adam(3e-3),
    )
