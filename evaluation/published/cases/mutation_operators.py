"""DeepCrime's mutation operators (Humbatova, Jahangirova, Tonella, ISSTA 2021).

Four of the 24 operators are left out. Removing the validation set (VRM), adding a bias (WAB) and changing the patience of
early stopping (RCP) cannot be seen in a model, its data and its options; changing a regularizer (RCW) equals adding one.
"""

from dataclasses import replace

import torch
from torch import nn, optim
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty, sgd
from evaluation.published.data.load import digits, flat_digits, small_mnist, standardized
from evaluation.published.data.made import generator, housing, rings, waves
from evaluation.published.networks import LastState, SmallCNN, mlp


def _cropped_mnist(n=1500):
    (x, y), (xt, yt) = small_mnist(n)
    return (x[..., 1:13, 1:13], y), (xt[..., 1:13, 1:13], yt)


@faulty(
    "deepcrime-tcl", "DeepCrime operator TCL: change labels of training data", fix="Correct or remove the wrong labels."
)
def half_of_the_labels_changed():
    """Half of the training labels of the digits are replaced by random classes."""
    (x, y), test = flat_digits()
    g = generator(1)
    wrong = torch.rand(len(y), generator=g) < 0.5
    labels = torch.where(wrong, torch.randint(10, y.shape, generator=g), y)
    given = Recipe(network=lambda: mlp(64, 128, 10), train=(x, labels), test=test, epochs=40)
    return given, replace(given, train=(x, y))


@faulty(
    "deepcrime-trd",
    "DeepCrime operator TRD: remove portion of training data",
    fix="Collect more training images: there are two per class.",
)
def twenty_images():
    """Only 20 images of digits are left for training."""
    (x, y), test = digits()
    keep = torch.cat([(y == c).nonzero()[:2, 0] for c in range(10)])
    given = Recipe(network=SmallCNN, train=(x[keep], y[keep]), test=test, batch=10, epochs=60)
    return given, replace(given, train=(x, y), epochs=8, batch=32)


@faulty(
    "deepcrime-tud",
    "DeepCrime operator TUD: unbalance training data",
    fix="Keep the classes balanced, or weight the loss.",
)
def rare_classes():
    """Half of the classes lose 98 % of their training images, while the test set is balanced."""
    (x, y), test = flat_digits()
    g = generator(2)
    keep = (y < 5) | (torch.rand(len(y), generator=g) < 0.02)
    given = Recipe(network=lambda: mlp(64, 64, 10), train=(x[keep], y[keep]), test=test, epochs=20)
    return given, replace(given, train=(x, y))


@faulty(
    "deepcrime-tan",
    "DeepCrime operator TAN: add noise to training data",
    fix="Remove the noise from the training images.",
)
def noisy_training_images():
    """Noise with a standard deviation of 1.2 is added to training images with values from 0 to 1; test images are clean."""
    (x, y), test = digits()
    noisy = x + 1.2 * torch.randn(x.shape, generator=generator(3))
    given = Recipe(network=SmallCNN, train=(noisy, y), test=test, epochs=10)
    return given, replace(given, train=(x, y))


@faulty(
    "deepcrime-tco",
    "DeepCrime operator TCO: make output classes overlap",
    fix="Remove the copies that carry another label.",
)
def copies_with_other_labels():
    """80 % of the training rows appear a second time, labeled as the next class."""
    (x, y), test = flat_digits()
    g = generator(4)
    twice = torch.rand(len(y), generator=g) < 0.8
    other = (y[twice] + 1) % 10
    given = Recipe(
        network=lambda: mlp(64, 256, 10), train=(torch.cat((x, x[twice])), torch.cat((y, other))), test=test, epochs=20
    )
    return given, replace(given, train=(x, y))


@faulty("deepcrime-hbs", "DeepCrime operator HBS: change batch size", fix="Use batches of about 32.")
def batch_of_one():
    """Batches of one example with SGD at 0.1 and momentum make training too noisy to settle."""
    train, test = flat_digits(500)
    given = Recipe(
        network=lambda: mlp(64, 32, 10), train=train, test=test, optimizer=sgd(0.1, momentum=0.9), batch=1, epochs=4
    )
    return given, replace(given, batch=32, epochs=20)


@faulty(
    "deepcrime-hlr",
    "DeepCrime operator HLR: decrease learning rate",
    fix="Raise the learning rate of Adam from 1e-5 to 1e-3.",
)
def rate_hundred_times_too_small():
    """Adam runs at 0.00001 for 8 epochs."""
    train, test = _cropped_mnist()
    given = Recipe(network=lambda: SmallCNN(12, width=8), train=train, test=test, optimizer=adam(1e-5), epochs=6)
    return given, replace(given, optimizer=adam(1e-3))


@faulty("deepcrime-hne", "DeepCrime operator HNE: change number of epochs", fix="Train for 15 epochs instead of one.")
def one_epoch():
    """Training stops after a single epoch."""
    train, test = digits()
    given = Recipe(network=SmallCNN, train=train, test=test, epochs=1)
    return given, replace(given, epochs=15)


@faulty("deepcrime-hdb", "DeepCrime operator HDB: disable data batching", fix="Use minibatches.")
def no_batching():
    """All rows form one batch and SGD at 0.01 makes 20 steps."""
    train, test = standardized(*housing())
    given = Recipe(
        network=lambda: mlp(8, 32, 1), train=train, test=test, optimizer=sgd(0.01), batch=len(train[1]), epochs=20
    )
    return given, replace(given, batch=32, epochs=40)


@faulty(
    "deepcrime-ach",
    "DeepCrime operator ACH: change activation function",
    fix="Use ReLU instead of the sigmoid in the six hidden layers.",
)
def sigmoid_in_a_deep_network():
    """Six hidden layers use the sigmoid, through which gradients vanish."""
    train, test = flat_digits()
    widths = (64, *[48] * 6, 10)
    given = Recipe(network=lambda: mlp(*widths, activation=nn.Sigmoid), train=train, test=test, epochs=20)
    return given, replace(given, network=lambda: mlp(*widths))


@faulty(
    "deepcrime-arm", "DeepCrime operator ARM: remove activation function", fix="Put ReLU between the linear layers."
)
def no_nonlinearity():
    """Four linear layers follow each other without an activation, so the network is linear."""
    train, test = rings()
    given = Recipe(network=lambda: mlp(2, 64, 64, 32, 2, activation=None), train=train, test=test, epochs=20)
    return given, replace(given, network=lambda: mlp(2, 64, 64, 32, 2))


@faulty(
    "deepcrime-aal", "DeepCrime operator AAL: add activation function to layer", fix="Remove the tanh after the output."
)
def tanh_on_output():
    """A tanh is added to the output of a regression with targets from 1 to 6."""
    train, test = standardized(*housing())
    given = Recipe(network=lambda: nn.Sequential(mlp(8, 64, 1), nn.Tanh()), train=train, test=test, epochs=30)
    return given, replace(given, network=lambda: mlp(8, 64, 1))


@faulty(
    "deepcrime-raw",
    "DeepCrime operator RAW: add weights regularisation",
    fix="Lower weight_decay from 1.0 to 1e-4 or less.",
)
def weight_decay_of_one():
    """Weight decay of 1.0 in Adam pulls all weights to zero."""
    train, test = digits()
    given = Recipe(network=SmallCNN, train=train, test=test, optimizer=adam(1e-3, weight_decay=1.0), epochs=10)
    return given, replace(given, optimizer=adam(1e-3))


@faulty(
    "deepcrime-rrw",
    "DeepCrime operator RRW: remove weights regularisation",
    fix="Add weight decay of about 0.03: there are almost as many columns as rows.",
)
def missing_regularization():
    """A wide network without weight decay memorizes 80 noisy rows with 60 columns."""
    g = generator(5)
    x = torch.randn(680, 60, generator=g)
    y = x[:, :6].sum(1, keepdim=True) / 2.4 + 0.5 * torch.randn(680, 1, generator=g)
    given = Recipe(network=lambda: mlp(60, 256, 1), train=(x[:80], y[:80]), test=(x[80:], y[80:]), batch=20, epochs=100)
    return given, replace(given, optimizer=adam(1e-3, weight_decay=0.03))


@faulty("deepcrime-rcd", "DeepCrime operator RCD: change dropout rate", fix="Lower the dropout rate from 0.95 to 0.2.")
def too_much_dropout():
    """Dropout of 0.95 after each of two narrow layers leaves one or two units."""
    train, test = flat_digits()
    given = Recipe(network=lambda: mlp(64, 48, 48, 10, dropout=0.95), train=train, test=test, epochs=20)
    return given, replace(given, network=lambda: mlp(64, 48, 48, 10, dropout=0.2))


@faulty(
    "deepcrime-wci-ones",
    "DeepCrime operator WCI: change weights initialisation (ones)",
    fix="Initialize with random weights, for example PyTorch's default.",
)
def constant_weights():
    """All weights start at the same value, so the units of a layer stay equal."""
    train, test = flat_digits()

    def network():
        net = mlp(64, 64, 64, 10)
        for layer in net:
            if isinstance(layer, nn.Linear):
                nn.init.constant_(layer.weight, 0.05)
                nn.init.zeros_(layer.bias)
        return net

    given = Recipe(network=network, train=train, test=test, epochs=15)
    return given, replace(given, network=lambda: mlp(64, 64, 64, 10))


@faulty(
    "deepcrime-wci-zeros",
    "DeepCrime operator WCI: change weights initialisation (zeros)",
    fix="Initialize with random weights.",
)
def zero_weights():
    """All weights and biases of a convolutional network start at zero, so no gradient reaches them."""
    train, test = digits()

    def network():
        net = SmallCNN()
        for p in net.parameters():
            nn.init.zeros_(p)
        return net

    given = Recipe(network=network, train=train, test=test, epochs=6)
    return given, replace(given, network=SmallCNN)


@faulty(
    "deepcrime-wrb",
    "DeepCrime operator WRB: remove bias from layer",
    fix="Give the layers their biases back: the function is not zero at zero.",
)
def no_biases():
    """No layer has a bias, so the network is 0 at the center, where the class changes."""
    train, test = rings(noise=0.08)

    def bare():
        return nn.Sequential(nn.Linear(2, 64, bias=False), nn.ReLU(), nn.Linear(64, 2, bias=False))

    given = Recipe(network=bare, train=train, test=test, epochs=40, optimizer=adam(3e-3))
    return given, replace(given, network=lambda: mlp(2, 64, 2))


@faulty("deepcrime-lch", "DeepCrime operator LCH: change loss function", fix="Use cross-entropy on the logits.")
def hinge_without_margin():
    """The loss is the mean absolute difference between logits and one-hot targets, which zero outputs nearly minimize."""
    train, test = flat_digits()

    def loss(outputs, targets):
        return (outputs - F.one_hot(targets, 10)).abs().mean()

    given = Recipe(network=lambda: mlp(64, 32, 32, 10), train=train, test=test, loss=loss, epochs=8)
    return given, replace(given, loss=None)


@faulty(
    "deepcrime-och",
    "DeepCrime operator OCH: change optimisation function",
    fix="Use Adam, or Adadelta with its rate of 1.0.",
)
def adadelta_with_adams_rate():
    """Adadelta runs with Adam's rate of 0.001 although its own rate is 1.0."""
    train, test = _cropped_mnist()
    given = Recipe(
        network=lambda: SmallCNN(12, width=8),
        train=train,
        test=test,
        optimizer=lambda p: optim.Adadelta(p, lr=1e-3),
        epochs=6,
    )
    return given, replace(given, optimizer=lambda p: optim.Adadelta(p, lr=1.0))


@faulty("deepcrime-ocg", "DeepCrime operator OCG: change gradient clip", fix="Clip gradients at 1, not at 0.001.")
def clipped_to_nothing():
    """Gradients are clipped to 0.001 by hooks before SGD at 0.1, so weights hardly move."""
    train, test = waves()

    def network():
        net = LastState(nn.GRU, 1, 24, 3)
        for p in net.parameters():
            p.register_hook(lambda grad: grad.clamp(-1e-5, 1e-5))
        return net

    given = Recipe(network=network, train=train, test=test, optimizer=sgd(0.5, momentum=0.9), epochs=10)
    return given, replace(given, network=lambda: LastState(nn.GRU, 1, 24, 3))
