"""Small training loops with mistakes that single facts show (kept graphs, precision, frozen layers, changed data, ...),
and healthy ones that look alike.
"""

import copy

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, SubsetRandomSampler, TensorDataset

from tests.examination.script.loops import data, loop, network, step, validate
from tests.examination.script.settings_loops import with_loss


def wide_data(*, start=0, unrelated=False):
    """160 examples of 16 numbers in four classes; other examples from each ``start``."""
    g = torch.Generator().manual_seed(start)
    x = torch.randn(160, 16, generator=g)
    y = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
    return TensorDataset(x, y[torch.randperm(160, generator=g)] if unrelated else y)


def wide_network(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.BatchNorm1d(64), nn.Linear(64, 4))


def epochs(net, training, *, count=3, lr=1e-2, validation=None, make=torch.optim.Adam):
    """Trains a network, and validates it after each epoch."""
    optimizer = make(net.parameters(), lr)
    for _ in range(count):
        net.train()
        for x, y in training:
            step(net, optimizer, x, y)
        if validation is not None:
            net.eval()
            with torch.no_grad():
                for x, _ in validation:
                    net(x)


def kept(what):
    """Keeps something of each step: ``what(loss, outputs)``."""

    def run():
        net, found = network(), []
        optimizer = torch.optim.Adam(net.parameters())
        for x, y in DataLoader(data(), 16):
            optimizer.zero_grad()
            out = net(x)
            loss = F.cross_entropy(out, y)
            loss.backward()
            optimizer.step()
            found.append(what(loss, out))

    return run


def losses_of_one_step():
    """Eight losses with their graphs for each step, all of which the step needs."""
    net = nn.Linear(6, 4)
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in DataLoader(data(), 16):
        losses = [F.cross_entropy(net(a), b) for a, b in zip(x.split(2), y.split(2), strict=True)]
        optimizer.zero_grad()
        for loss in losses:
            loss.backward()
        optimizer.step()


def penalized(size, sign):
    """Adds a penalty ``size(weight)`` with a sign to the loss."""

    def body(net, optimizer, x, y):
        optimizer.zero_grad()
        (F.cross_entropy(net(x), y) + sign * 1e-3 * sum(size(p) for p in net.parameters())).backward()
        optimizer.step()

    return lambda: loop(body)


def entropy_bonus(out, y):
    return F.cross_entropy(out, y) - 0.01 * (out.log_softmax(1).exp() * out.log_softmax(1)).sum(1).mean().neg()


def half_precision(*, scale, unscale=True, bypass=False, dtype=torch.float16):
    """Automatic mixed precision on the CPU."""
    net, scaler = wide_network(), torch.amp.GradScaler("cpu", enabled=scale)
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for x, y in DataLoader(wide_data(), 16):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype):
            out = net(x)
        scaler.scale(F.cross_entropy(out.float(), y)).backward()
        if unscale:
            scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1e3)
        if bypass:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()


def frozen(*, pretrained):
    """The first layer is frozen; it has random or pretrained weights."""
    net = wide_network()
    if pretrained:
        epochs(net, DataLoader(wide_data(), 16))
        net = copy.deepcopy(net)
    net[0].requires_grad_(False)
    optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad])
    for x, y in DataLoader(wide_data(), 16):
        step(net, optimizer, x, y)


def optimizers_in_epochs(loaders):
    """A new optimizer for each pass; the passes go through these loaders."""
    net = network()
    for one in loaders:
        epochs(net, one, count=1)


def models_in_epochs(loaders):
    """A new model and optimizer for each pass."""
    for one in loaders:
        epochs(network(), one, count=1)


def state_of(rename, **options):
    """Loads the state of another network, after its names were changed."""
    net = wide_network()
    state = {rename(name): value for name, value in wide_network(1).state_dict().items()}
    net.load_state_dict(state, **options)
    epochs(net, DataLoader(wide_data(), 16))


def never_averaged(*, update):
    """Validates an average of the weights."""
    net = network()
    other = torch.optim.swa_utils.AveragedModel(net)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(3):
        net.train()
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)
            if update:
                other.update_parameters(net)
        validate(other)


def slices(change):
    """Trains on slices of one tensor; ``change(slice, epoch)`` returns the inputs and may change the slice."""
    x, y = wide_data().tensors
    x, net = x.clone(), wide_network()
    optimizer = torch.optim.Adam(net.parameters())
    for epoch in range(6):
        for i in range(0, 160, 32):
            step(net, optimizer, change(x[i : i + 32], epoch), y[i : i + 32])


def noise_in_place(part, epoch):
    part += 0.05 * torch.randn(part.shape)
    return part


def noise_on_a_copy(part, epoch):
    return part + 0.05 * torch.randn(part.shape)


def filled_buffer():
    """Each batch is copied into one buffer."""
    x, y = wide_data().tensors
    net, buffer = wide_network(), torch.empty(32, 16)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(4):
        for i in range(0, 160, 32):
            step(net, optimizer, buffer.copy_(x[i : i + 32]), y[i : i + 32])


class Dropping(nn.Module):
    """A network with a dropout function, with or without the mode of the network."""

    def __init__(self, drop):
        super().__init__()
        self.first, self.last, self.drop = nn.Linear(6, 24), nn.Linear(24, 4), drop

    def forward(self, x):
        return self.last(self.drop(self, torch.relu(self.first(x))))


def dropping(drop):
    net = Dropping(drop)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(2):
        net.train()
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)
        validate(net)


def attention(net, x):
    rate = 0.1 if net.dropping else 0.0
    heads = x.view(len(x), 1, 4, 6)
    return F.scaled_dot_product_attention(heads, heads, heads, dropout_p=rate).reshape(len(x), 24)


def attending(*, always):
    class Attending(Dropping):
        @property
        def dropping(self):
            return always or self.training

    net = Attending(attention)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(2):
        net.train()
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)
        validate(net)


def rate_set(place):
    """Sets the learning rate before each epoch by ``place(optimizer, rate)``."""
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    for epoch in range(3):
        place(optimizer, 1e-2 * 0.5**epoch)
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)


def in_groups(optimizer, rate):
    for group in optimizer.param_groups:
        group["lr"] = rate


def as_attribute(optimizer, rate):
    optimizer.lr = rate


def in_defaults(optimizer, rate):
    optimizer.defaults["lr"] = rate


def validation_with_steps(*, stepping):
    """The validation loop computes gradients, and steps with them or not (as for gradients of inputs)."""
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    training, validation = DataLoader(data(), 16), DataLoader(wide_validation(), 48)
    for _ in range(3):
        net.train()
        for x, y in training:
            step(net, optimizer, x, y)
        net.eval()
        for x, y in validation:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            if stepping:
                optimizer.step()


def wide_validation():
    x, y = data().tensors
    return TensorDataset(x + 1, y)


def cut_short(*, shuffle=False, at=5):
    net, loader = network(), DataLoader(data(), 16, shuffle=shuffle)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(4):
        for i, (x, y) in enumerate(loader):
            step(net, optimizer, x, y)
            if i + 1 == at:
                break


class Copies(Dataset):
    """The same examples as another object."""

    def __init__(self, start):
        self.x, self.y = wide_data(start=start).tensors

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index].clone(), self.y[index]


def summed(*, divide, optimizer=torch.optim.SGD):
    """Adds the gradients of four batches for each step."""
    net = network()
    used = optimizer(net.parameters(), 0.01)
    for _ in range(3):
        for i, (x, y) in enumerate(DataLoader(data(), 16)):
            (F.cross_entropy(net(x), y) / divide if divide > 1 else F.cross_entropy(net(x), y)).backward()
            if i % 4 == 3:
                used.step()
                used.zero_grad()


class Images(nn.Module):
    """A network with batch normalization of images."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Linear(16, 4)

    def forward(self, x):
        return self.last(torch.relu(self.norm(self.first(x.view(-1, 1, 4, 4)))).flatten(1))


def clipped_values(limit):
    def body(net, optimizer, x, y):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        torch.nn.utils.clip_grad_value_(net.parameters(), limit)
        optimizer.step()

    return lambda: loop(body)


def first_batch_in_each_step():
    net, loader = network(), DataLoader(data(), 16)
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in loader:
        x, y = next(iter(loader))
        step(net, optimizer, x, y)


def four_steps_on_each_batch():
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in DataLoader(data(), 16):
        for _ in range(4):
            step(net, optimizer, x, y)


def long_training(unrelated, count):
    """Training at a small learning rate, long enough for a judgment about the labels."""
    x, y = (torch.cat(parts) for parts in zip(wide_data().tensors, wide_data(start=1).tensors, strict=True))
    y = y[torch.randperm(len(y), generator=torch.Generator().manual_seed(1))] if unrelated else y
    epochs(nn.Sequential(nn.Linear(16, 4)), DataLoader(TensorDataset(x, y), 32, shuffle=True), count=count, lr=1e-3)


def in_one_loader(count):
    loader = DataLoader(data(), 16, shuffle=True)
    return [loader] * count


def folds(count):
    same = data()
    return [DataLoader(same, 16, sampler=SubsetRandomSampler(range(i * 48, i * 48 + 48))) for i in range(count)]


def squares(p):
    return p.pow(2).sum()


DETAIL_MISTAKES = {
    "losses kept": (kept(lambda loss, out: loss), "graph-kept"),
    "outputs kept": (kept(lambda loss, out: out), "graph-kept"),
    "penalty subtracted": (penalized(squares, -1), "penalty-sign"),
    "norm subtracted": (penalized(torch.norm, -1), "penalty-sign"),
    "absolute values subtracted": (penalized(lambda p: p.abs().sum(), -1), "penalty-sign"),
    "half precision without scaler": (lambda: half_precision(scale=False), "half-precision-without-scaler"),
    "clipped before unscaling": (lambda: half_precision(scale=True, unscale=False), "clip-before-unscale"),
    "step without scaler": (lambda: half_precision(scale=True, unscale=False, bypass=True), "scaler-bypassed"),
    "random layer frozen": (lambda: frozen(pretrained=False), "frozen-at-random"),
    "optimizer in each epoch": (lambda: optimizers_in_epochs(in_one_loader(3)), "optimizer-rebuilt"),
    "model in each epoch": (lambda: models_in_epochs(in_one_loader(3)), "model-rebuilt"),
    "state with other names": (lambda: state_of(lambda name: f"module.{name}", strict=False), "state-not-loaded"),
    "average never updated": (lambda: never_averaged(update=False), "validated-model-not-trained"),
    "noise in place": (lambda: slices(noise_in_place), "data-changed-in-place"),
    "dropout function": (lambda: dropping(lambda net, x: F.dropout(x, 0.5)), "random-in-eval"),
    "dropout of channels": (lambda: dropping(lambda net, x: F.dropout1d(x)), "random-in-eval"),
    "dropout in attention": (lambda: attending(always=True), "random-in-eval"),
    "rate as attribute": (lambda: rate_set(as_attribute), "learning-rate-not-applied"),
    "rate in defaults": (lambda: rate_set(in_defaults), "learning-rate-not-applied"),
    "steps in validation": (lambda: validation_with_steps(stepping=True), "step-in-validation"),
    "epochs cut short": (cut_short, "epoch-cut-short"),
    "equal data set": (
        lambda: epochs(
            wide_network(), DataLoader(wide_data(), 16, shuffle=True), validation=DataLoader(Copies(0), 32)
        ),
        "validation-on-training-data",
    ),
    "gradients summed": (lambda: summed(divide=1), "accumulation-not-averaged"),
    "batches of one": (lambda: epochs(Images(), DataLoader(wide_data(), 1), count=1), "batch-too-small"),
    "values clipped": (clipped_values(1e-8), "clipped-to-nothing"),
    "first batch in each step": (first_batch_in_each_step, "same-batch"),
    "labels of other inputs": (lambda: long_training(unrelated=True, count=5), "labels-unrelated"),
}  # fmt: skip


def detached_losses_kept():
    kept(lambda loss, out: (loss.detach(), out.argmax(1)))()


def penalties_added():
    penalized(squares, 1)()
    penalized(torch.norm, 1)()


def entropy_of_outputs():
    with_loss(entropy_bonus)()


def scaled_half_precision():
    half_precision(scale=True)


def bfloat16():
    half_precision(scale=False, dtype=torch.bfloat16)


def pretrained_layer_frozen():
    frozen(pretrained=True)


def optimizer_for_each_fold():
    optimizers_in_epochs(folds(4))


def model_for_each_fold():
    models_in_epochs(folds(4))


def model_for_each_seed():
    for seed in range(3):
        epochs(wide_network(seed), DataLoader(wide_data(), 16), count=2)


def state_with_equal_names():
    state_of(lambda name: name)
    state_of(lambda name: name if name.startswith("0") else f"old.{name}", strict=False)


def average_updated():
    never_averaged(update=True)


def noise_on_copies():
    slices(noise_on_a_copy)


def dropout_with_mode():
    dropping(lambda net, x: F.dropout(x, 0.5, net.training))
    dropping(lambda net, x: F.dropout(x, p=0.5, training=net.training))


def dropout_in_eval_on_purpose():
    """Monte Carlo dropout."""
    dropping(lambda net, x: F.dropout(x, 0.5, training=True))


def attention_with_mode():
    attending(always=False)


def rate_in_groups():
    rate_set(in_groups)


def input_gradients_in_eval():
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(3):
        net.train()
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)
        net.eval()
        for x, y in DataLoader(wide_validation(), 48):
            x.requires_grad_()
            torch.autograd.grad(F.cross_entropy(net(x), y), x)


def shuffled_epochs_of_five_batches():
    cut_short(shuffle=True)


def other_data_set():
    epochs(wide_network(), DataLoader(wide_data(), 16, shuffle=True), validation=DataLoader(Copies(1), 32))


def gradients_averaged():
    summed(divide=4)


def gradients_summed_for_adam():
    summed(divide=1, optimizer=torch.optim.Adam)


def batches_of_two():
    epochs(Images(), DataLoader(wide_data(), 2), count=1)


def values_clipped_at_one():
    clipped_values(1.0)()


def labels_learned_slowly():
    long_training(unrelated=False, count=5)


DETAIL_HEALTHY = (
    detached_losses_kept, losses_of_one_step, penalties_added, entropy_of_outputs, scaled_half_precision, bfloat16,
    pretrained_layer_frozen, optimizer_for_each_fold, model_for_each_fold, model_for_each_seed, state_with_equal_names,
    average_updated, noise_on_copies, filled_buffer, dropout_with_mode, dropout_in_eval_on_purpose, attention_with_mode,
    rate_in_groups, input_gradients_in_eval, shuffled_epochs_of_five_batches, other_data_set, gradients_averaged,
    gradients_summed_for_adam, batches_of_two, values_clipped_at_one, four_steps_on_each_batch, labels_learned_slowly,
)  # fmt: skip
