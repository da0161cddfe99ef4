"""A third set of faults, of kinds that are not in the first two sets: their first run is an unseen figure."""

from dataclasses import replace

import torch
from torch import nn, optim
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty, sgd
from evaluation.published.data.load import digits, flat_digits, split
from evaluation.published.data.made import generator, imbalanced, regression, reviews
from evaluation.published.networks import LastState, MeanEmbedding, SmallCNN, mlp
from evaluation.published.scores import r2


@faulty(
    "third-kl-of-probabilities",
    "PyTorch documentation of nn.KLDivLoss: the input must be log-probabilities",
    fix="Pass log_softmax(outputs) to kl_div.",
)
def kl_of_probabilities():
    """kl_div gets probabilities where it needs log-probabilities, so its gradient is almost flat."""
    train, test = flat_digits()

    def loss(outputs, y, inputs=F.softmax):
        return F.kl_div(inputs(outputs, 1), F.one_hot(y, 10).float(), reduction="batchmean")

    given = Recipe(
        network=lambda: mlp(64, 32, 10), train=train, test=test, optimizer=sgd(0.01, 0.9), loss=loss, epochs=10
    )
    return given, replace(given, loss=lambda outputs, y: loss(outputs, y, F.log_softmax))


@faulty(
    "third-padding-index",
    "PyTorch documentation of nn.Embedding: the vector at padding_idx stays 0 and gets no gradient",
    fix="Set padding_idx to the number of the padding token.",
)
def padding_index_of_a_word():
    """padding_idx is the number of the decisive token, whose vector therefore stays 0."""
    g = generator(11)
    y = torch.randint(2, (1200,), generator=g)
    x = torch.randint(3, 20, (1200, 15), generator=g)
    rows, place = torch.arange(1200), torch.randint(15, (1200,), generator=g)
    x[rows, place] = torch.where(y == 1, 1, x[rows, place])
    train, test = split(x, y, 800)

    class Net(nn.Module):
        """Word vectors, a maximum over the words and a linear layer."""

        def __init__(self, padding):
            super().__init__()
            self.embed, self.head = nn.Embedding(20, 16, padding_idx=padding), nn.Linear(16, 2)

        def forward(self, x):
            return self.head(self.embed(x).relu().mean(1))

    given = Recipe(network=lambda: Net(1), train=train, test=test, optimizer=adam(1e-2), epochs=25)
    return given, replace(given, network=lambda: Net(0))


@faulty(
    "third-ignored-class",
    "PyTorch forum: CrossEntropyLoss(ignore_index=0) for padding, although 0 is also a class",
    fix="Remove ignore_index=0, or give padding a number of its own.",
)
def ignored_class():
    """The loss has ignore_index=0, and 0 is a real class, which is therefore never learned."""
    train, test = digits()
    given = Recipe(
        network=SmallCNN,
        train=train,
        test=test,
        loss=nn.CrossEntropyLoss(ignore_index=0),
        epochs=10,
        optimizer=adam(2e-3),
    )
    return given, replace(given, loss=None)


@faulty(
    "third-folder-order",
    "torchvision ImageFolder: class_to_idx sorts folder names as text; PyTorch forum: other mapping in the test folder",
    fix="Use the class_to_idx of the training set for the test set.",
)
def folder_order():
    """The test folders are numbered in another order, so each class has another number in the test set."""
    train, (x, y) = digits()
    number = torch.tensor([0, 3, 4, 1, 2, 9, 5, 6, 8, 7])
    given = Recipe(network=SmallCNN, train=train, test=(x, number[y]), epochs=8)
    return given, replace(given, test=(x, y))


@faulty(
    "third-mixup-labels",
    "Zhang et al. 2018, mixup; PyTorch forum: mixed images with the label of only one of them",
    fix="Mix the targets with the same weight, or remove the mixing.",
    margin=0.03,
)
def mixup_labels():
    """The augmentation adds four other images of the batch to each image, and the label stays as it was."""
    train, test = digits(n_train=400)

    def mix(x):
        return 0.25 * x + 0.75 * sum(x[torch.randperm(len(x))] for _ in range(4)) / 4

    given = Recipe(network=SmallCNN, train=train, test=test, augment=mix, epochs=8)
    return given, replace(given, augment=None)


@faulty(
    "third-normalize-in-training",
    "PyTorch forum: Normalize in the training transform and not in the test transform",
    fix="Apply the same normalization to the test images.",
)
def normalize_in_training():
    """The training transform subtracts 0.5 and divides by 0.05; test images do not get it."""
    train, test = flat_digits()
    given = Recipe(
        network=lambda: mlp(64, 64, 10), train=train, test=test, augment=lambda x: (x - 0.5) / 0.05, epochs=10
    )
    return given, replace(given, augment=None, epochs=20)


@faulty(
    "third-uint8-overflow",
    "NumPy documentation and StackOverflow: adding to uint8 images wraps around at 256",
    fix="Add in a wider type and clip to 0..255.",
)
def uint8_overflow():
    """Brightness 90 was added to 8-bit training images, so bright pixels wrapped around to dark ones."""
    (x, y), test = digits()
    wrapped = ((x * 255).to(torch.uint8) + 90).float() / 255
    given = Recipe(network=SmallCNN, train=(wrapped, y), test=(test[0], test[1]), epochs=8)
    return given, replace(
        given, train=((x + 90 / 255).clamp(0, 1), y), test=((test[0] + 90 / 255).clamp(0, 1), test[1])
    )


@faulty(
    "third-repeats-last-value",
    "StackOverflow and Data Science StackExchange: LSTM forecast of a price is the last price, one step late",
    fix="Forecast the change, and compare with repeating the last value.",
    harm="inflated",
)
def repeats_last_value():
    """The next value of a random walk is forecast: R2 is high, and repeating the last value is as good."""
    g = generator(12)
    walk = torch.randn(900, 17, generator=g).cumsum(1)
    walk = walk + 5 * torch.randn(900, 1, generator=g)
    level = split((walk[:, :-1, None] / 6), walk[:, -1:] / 6, 600)
    change = split((walk[:, :-1, None] / 6), walk[:, -1:] - walk[:, -2:-1], 600)
    given = Recipe(
        network=lambda: LastState(nn.GRU, 1, 24, 1), train=level[0], test=level[1], optimizer=adam(5e-3), epochs=20
    )
    return given, replace(given, train=change[0], test=change[1])


def _mean_r2(outputs, targets):
    return sum(r2(outputs[:, i], targets[:, i]) for i in range(targets.shape[1])) / targets.shape[1]


@faulty(
    "third-targets-of-two-scales",
    "PyTorch forum: weights of several losses; Kendall et al. 2018, multi-task learning",
    fix="Standardize each target column.",
)
def targets_of_two_scales():
    """One network predicts two targets, of which one is 200 times larger, so the other is hardly learned."""
    (x, y), (xt, yt) = regression()
    second, second_test = torch.cos(2 * x[:, 4:5]), torch.cos(2 * xt[:, 4:5])
    given = Recipe(
        network=lambda: mlp(8, 48, 2), train=(x, torch.cat((200 * y, second), 1)),
        test=(xt, torch.cat((200 * yt, second_test), 1)), optimizer=adam(1e-2), epochs=40, score=_mean_r2,
    )  # fmt: skip
    return given, replace(given, train=(x, torch.cat((y, second), 1)), test=(xt, torch.cat((yt, second_test), 1)))


@faulty(
    "third-positive-weight",
    "PyTorch documentation of BCEWithLogitsLoss: pos_weight is negatives divided by positives; forum thread 27452",
    fix="Use the number of negatives divided by the number of positives.",
)
def positive_weight():
    """pos_weight is the number of negative rows instead of their ratio, so nearly everything is called positive."""
    train, test = imbalanced(rare=0.35, shift=1.3)
    pairs = [(x, y.float()[:, None]) for x, y in (train, test)]

    def loss_with(weight):
        return lambda out, y: F.binary_cross_entropy_with_logits(out, y, pos_weight=torch.tensor([weight]))

    def score(outputs, targets):
        return float(((outputs > 0) == (targets > 0.5)).double().mean())

    negatives = float((train[1] == 0).sum())
    given = Recipe(
        network=lambda: mlp(10, 32, 1), train=pairs[0], test=pairs[1], loss=loss_with(negatives), score=score
    )
    return given, replace(given, loss=loss_with(1.0))


@faulty(
    "third-warmup-per-epoch",
    "Hugging Face, get_linear_schedule_with_warmup: steps of the optimizer; forum: scheduler stepped once per epoch",
    fix="Call scheduler.step() after every batch, or count the warmup in epochs.",
)
def warmup_per_epoch():
    """A warmup of 500 steps is stepped once per epoch, so the rate reaches a fiftieth of its value."""
    train, test = digits()

    def warmup(length):
        return lambda o: optim.lr_scheduler.LambdaLR(o, lambda k: min(1.0, (k + 1) / length))

    given = Recipe(network=SmallCNN, train=train, test=test, optimizer=sgd(0.05, 0.9), epochs=10, schedule=warmup(500))
    return given, replace(given, schedule=warmup(2))


@faulty(
    "third-truncated-text",
    "Hugging Face documentation, padding and truncation; forum: max_length cuts off the end of the documents",
    fix="Read all tokens, or cut off at the side that does not matter.",
)
def truncated_text():
    """Forward keeps the first 6 of 20 tokens, so most words that decide the class are never seen."""
    train, test = reviews()

    class Net(MeanEmbedding):
        """Mean word vectors of the first tokens."""

        def __init__(self, length):
            super().__init__(60, 16, 2)
            self.length = length

        def forward(self, x):
            return super().forward(x[:, : self.length])

    given = Recipe(network=lambda: Net(6), train=train, test=test, optimizer=adam(5e-3), epochs=25)
    return given, replace(given, network=lambda: Net(20))
