"""Small training loops, healthy ones and ones with a mistake each, as functions of nothing."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

STEPS_PER_EPOCH = 12


def data(*, ordered=False):
    """A small classification task of four classes."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn(STEPS_PER_EPOCH * 16, 6, generator=g)
    y = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
    order = y.argsort(stable=True) if ordered else torch.arange(len(y))
    return TensorDataset(x[order], y[order])


def network(*, cut=False):
    """A small network with dropout and batch norm."""
    torch.manual_seed(0)
    return Net(cut)


class Net(nn.Module):
    def __init__(self, cut=False):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(6, 24), nn.BatchNorm1d(24), nn.Linear(24, 4)
        self.drop, self.cut = nn.Dropout(0.1), cut

    def forward(self, x):
        x = self.drop(torch.relu(self.norm(self.first(x))))
        return self.last(x.detach() if self.cut else x)


def healthy(epochs=3):
    """A loop without a mistake: shuffled batches, validation in eval mode, a scheduler of epochs."""
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)
    for _ in range(epochs):
        net.train()
        for x, y in DataLoader(data(), 16, shuffle=True):
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
        validate(net)
        schedule.step()
    return net


def validate(net, *, evaluate=True, graph=False):
    """A pass over the data for validation."""
    if evaluate:
        net.eval()
    with torch.set_grad_enabled(graph):
        for x, _ in DataLoader(data(), 48):
            net(x)


def accumulating():
    """Healthy: gradients of two batches are added on purpose."""
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    for _ in range(3):
        for i, (x, y) in enumerate(DataLoader(data(), 16, shuffle=True)):
            (F.cross_entropy(net(x), y) / 2).backward()
            if i % 2:
                optimizer.step()
                optimizer.zero_grad(set_to_none=False)


def full_batch():
    """Healthy: the whole data in each step, with L-BFGS and a closure."""
    x, y = data().tensors
    net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        return loss

    for _ in range(12):
        optimizer.step(closure)


def adversarial():
    """Healthy: two networks play against each other, and gradients for one reach the other."""
    torch.manual_seed(0)
    maker, judge = nn.Linear(3, 6), nn.Linear(6, 1)
    own, other = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())
    for x, _ in DataLoader(data(), 8):
        other.zero_grad()
        fake = maker(torch.randn(8, 3))
        F.softplus(-judge(x)).mean().backward()
        F.softplus(judge(fake.detach())).mean().backward()
        other.step()
        own.zero_grad()
        F.softplus(-judge(fake)).mean().backward()
        own.step()


def without_optimizer():
    """Healthy: the weights are changed by hand."""
    net = nn.Linear(6, 4)
    for x, y in DataLoader(data(), 16):
        net.zero_grad()
        F.cross_entropy(net(x), y).backward()
        for p in net.parameters():
            p.data.add_(p.grad, alpha=-0.1)


def minimax():
    """A generator that maximizes the loss of a discriminator, as in the first paper on GANs: one loss is negated."""
    torch.manual_seed(0)
    makers, judges = nn.Linear(3, 2), nn.Linear(2, 1)
    first, second = torch.optim.SGD(makers.parameters(), 1e-2), torch.optim.SGD(judges.parameters(), 1e-2)
    for _ in range(20):
        fakes = makers(torch.randn(8, 3))
        first.zero_grad()
        (-F.binary_cross_entropy_with_logits(judges(fakes), torch.zeros(8, 1))).backward()
        first.step()
        second.zero_grad()
        F.binary_cross_entropy_with_logits(judges(fakes.detach()), torch.zeros(8, 1)).backward()
        second.step()


def rare_class():
    """Shuffled batches of data with one example in thirty of the second class: most batches hold one class."""
    net, g = network(), torch.Generator().manual_seed(0)
    x, y = torch.randn(480, 6, generator=g), (torch.arange(480) % 30 == 0).long()
    optimizer = torch.optim.Adam(net.parameters())
    for a, b in DataLoader(TensorDataset(x, y), 16, shuffle=True, generator=g):
        step(net, optimizer, a, b)


def loader_in_each_epoch():
    """A new loader of the same data in each epoch, whose first batches are equal."""
    net, same = network(), data()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(8):
        for x, y in DataLoader(same, 96):
            step(net, optimizer, x, y)


HEALTHY = (
    healthy, accumulating, full_batch, adversarial, without_optimizer, minimax, rare_class, loader_in_each_epoch,
)  # fmt: skip


def loop(body, *, epochs=2, ordered=False, shuffle=False, cut=False, parameters=None, lr=1e-2, after=None):
    """A loop whose steps call ``body(net, optimizer, x, y)``; ``after(net)`` runs after each epoch."""
    net = network(cut=cut)
    kept = [*net.parameters()] if parameters is None else parameters(net)
    optimizer = torch.optim.Adam(kept, lr)
    for _ in range(epochs):
        for x, y in DataLoader(data(ordered=ordered), 16, shuffle=shuffle):
            body(net, optimizer, x, y)
        if after is not None:
            after(net)
            net.train()


def step(net, optimizer, x, y):
    """A right step."""
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()


def no_zero_grad(net, optimizer, x, y):
    F.cross_entropy(net(x), y).backward()
    optimizer.step()


def zero_grad_too_early(net, optimizer, x, y):
    F.cross_entropy(net(x), y).backward()
    optimizer.zero_grad()
    optimizer.step()


def zeros_too_early(net, optimizer, x, y):
    F.cross_entropy(net(x), y).backward()
    optimizer.zero_grad(set_to_none=False)
    optimizer.step()


def no_step(net, optimizer, x, y):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()


def no_backward(net, optimizer, x, y):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y)
    optimizer.step()


def leaf_loss(net, optimizer, x, y):
    optimizer.zero_grad()
    torch.tensor(F.cross_entropy(net(x), y).item(), requires_grad=True).backward()
    optimizer.step()


def clip_after_step(net, optimizer, x, y):
    step(net, optimizer, x, y)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)


def clip_to_nothing(net, optimizer, x, y):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1e-8)
    optimizer.step()


def reset_seed(net, optimizer, x, y):
    torch.manual_seed(3)
    step(net, optimizer, x, y)


def rebuild_optimizer(net, optimizer, x, y):
    step(net, torch.optim.Adam(net.parameters()), x, y)


def overflow(net, optimizer, x, y):
    optimizer.zero_grad()
    F.cross_entropy(net.last(net.norm(net.first(x)) * float("inf")), y).backward()
    optimizer.step()


def negated(net, optimizer, x, y):
    optimizer.zero_grad()
    (-F.cross_entropy(net(x), y)).backward()
    optimizer.step()


def softmax_twice(net, optimizer, x, y):
    optimizer.zero_grad()
    F.cross_entropy(net(x).softmax(1), y).backward()
    optimizer.step()


def through_argmax(net, optimizer, x, y):
    optimizer.zero_grad()
    (net(x).argmax(1).float().requires_grad_() - y).square().mean().backward()
    optimizer.step()


def two_classes_in_order():
    net, same = network(), data()
    x = same.tensors[0][same.tensors[0][:, 0].argsort()]
    optimizer = torch.optim.Adam(net.parameters())
    for a, b in DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), 16):
        step(net, optimizer, a, b)


def loader_in_each_step():
    net, same = network(), data()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(20):
        x, y = next(iter(DataLoader(same, 16)))
        step(net, optimizer, x, y)


def same_batch():
    loader = DataLoader(data(), 16)
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(12):
        step(net, optimizer, *next(iter(loader)))


def model_rebuilt():
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    net = network()
    for x, y in DataLoader(data(), 16):
        step(net, optimizer, x, y)


def layer_replaced():
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    net.last = nn.Linear(24, 4)
    for x, y in DataLoader(data(), 16):
        step(net, optimizer, x, y)


def scheduled(build, *, every_batch=False, first=False, never=False, epochs=3):
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    schedule = build(optimizer)
    for _ in range(epochs):
        if first:
            schedule.step()
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)
            if every_batch:
                schedule.step()
        if not (every_batch or first or never):
            schedule.step()


def discarding():
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(2):
        for i, (x, y) in enumerate(DataLoader(data(), 16)):
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            if i % 4 == 3:
                optimizer.step()


def backward_after_loop():
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        for x, y in DataLoader(data(), 16):
            loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()


def step_after_loop():
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        for x, y in DataLoader(data(), 16):
            F.cross_entropy(net(x), y).backward()
        optimizer.step()


def train_forgotten():
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(2):
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)
        validate(net)


def eval_and_no_grad_forgotten():
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    held_out = DataLoader(data(), 48)
    for _ in range(2):
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)
        for x, _ in held_out:
            net(x)


LR = torch.optim.lr_scheduler
MISTAKES = {
    "zero_grad missing": (lambda: loop(no_zero_grad), "gradients-not-cleared"),
    "zero_grad before step": (lambda: loop(zero_grad_too_early), "gradients-cleared-too-early"),
    "zeros before step": (lambda: loop(zeros_too_early), "gradients-cleared-too-early"),
    "step missing": (lambda: loop(no_step), "step-missing"),
    "backward missing": (lambda: loop(no_backward), "backward-missing"),
    "loss from a number": (lambda: loop(leaf_loss), "detached-loss"),
    "learning rate zero": (lambda: loop(step, lr=0.0), "learning-rate-zero"),
    "clipped after the step": (lambda: loop(clip_after_step), "clip-without-effect"),
    "clipped to nothing": (lambda: loop(clip_to_nothing), "clipped-to-nothing"),
    "seed in each step": (lambda: loop(reset_seed), "seed-reset"),
    "optimizer in each step": (lambda: loop(rebuild_optimizer), "optimizer-rebuilt"),
    "overflow": (lambda: loop(overflow), "loss-not-finite"),
    "labels in order": (lambda: loop(step, ordered=True), "sorted-data"),
    "two classes in order": (two_classes_in_order, "sorted-data"),
    "same batch": (same_batch, "same-batch"),
    "loader in each step": (loader_in_each_step, "same-batch"),
    "loss negated": (lambda: loop(negated), "loss-sign"),
    "softmax twice": (lambda: loop(softmax_twice), "softmax-before-loss"),
    "loss of the argmax": (lambda: loop(through_argmax), "detached-loss"),
    "parameters missing": (lambda: loop(step, parameters=lambda net: [*net.last.parameters()]), "not-in-optimizer"),
    "model rebuilt": (model_rebuilt, "optimizer-of-another-model"),
    "layer replaced": (layer_replaced, "optimizer-of-another-model"),
    "graph cut": (lambda: loop(step, cut=True), "no-gradient"),
    "gradients discarded": (discarding, "gradients-discarded"),
    "backward after the loop": (backward_after_loop, "batches-unused"),
    "step after the loop": (step_after_loop, "step-outside-loop"),
    "eval missing": (lambda: loop(step, after=lambda net: validate(net, evaluate=False)), "eval-missing"),
    "eval and no_grad missing": (eval_and_no_grad_forgotten, "eval-missing"),
    "no_grad missing": (lambda: loop(step, after=lambda net: validate(net, graph=True)), "validation-with-gradients"),
    "train missing": (train_forgotten, "train-missing"),
    "scheduler never": (lambda: scheduled(lambda o: LR.StepLR(o, 1), never=True), "scheduler-never-stepped"),
    "scheduler first": (lambda: scheduled(lambda o: LR.StepLR(o, 1), first=True), "scheduler-before-optimizer"),
    "scheduler too fast": (lambda: scheduled(lambda o: LR.StepLR(o, 1), every_batch=True), "scheduler-too-fast"),
    "cosine wraps": (lambda: scheduled(lambda o: LR.CosineAnnealingLR(o, 3), every_batch=True), "scheduler-too-fast"),
    "one cycle too slow": (
        lambda: scheduled(lambda o: LR.OneCycleLR(o, 0.1, total_steps=36)), "scheduler-too-slow",
    ),
}  # fmt: skip
