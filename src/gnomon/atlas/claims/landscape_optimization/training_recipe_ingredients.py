"""The usual training recipe beats the mean of recipes without one ingredient in test error, and these beat no recipe.

The ingredients are normalization, shifted images, dropout and a falling learning rate. On few digits, shifted by up to
two pixels both in the test and by augmentation in training,

    test error (whole recipe) < mean test error (recipe without one ingredient) < test error (none)           (1)

Which ingredient matters most depends on the problem. Reference: [he2019bag].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, in_order

INGREDIENTS = ("normalization", "augmentation", "dropout", "schedule")


def predicted():
    """Returns the names of the recipes, from the smallest test error to the largest."""
    return ("whole recipe", "without one", "none")


def at_all_positions(images):
    """Returns images on a 12 x 12 canvas at all 25 positions: (25, n, 144)."""
    canvas = nn.functional.pad(images, (2, 2, 2, 2))
    return torch.stack([canvas.roll((i, j), (1, 2)).flatten(1) for i in range(-2, 3) for j in range(-2, 3)])


def digits(nets, n, tested=400):
    """Returns for each network its own digits at all positions, and randomly shifted digits for the test."""
    from sklearn.datasets import load_digits

    found = load_digits()
    order = torch.stack([torch.randperm(len(found.target))[: n + tested] for _ in range(nets)])
    x, y = torch.tensor(found.images / 16, dtype=torch.float32)[order], torch.tensor(found.target)[order]
    places = at_all_positions(x.flatten(0, 1)).unflatten(1, (nets, n + tested))
    return places[:, :, :n], y[:, :n], at_random_positions(places[:, :, n:]), y[:, n:]


def at_random_positions(places):
    """Returns one randomly chosen shifted copy of each image."""
    drawn = torch.randint(25, (1, *places.shape[1:3], 1)).expand(-1, -1, -1, places.shape[3])
    return places.gather(0, drawn)[0]


def forward(x, weights, used, running):
    """Returns outputs of many networks, each with its own ingredients; uses ``running`` statistics if given."""
    statistics = []
    for k, (w, b, scale, shift) in enumerate(weights[:-1]):
        h = x @ w + b
        mean, var = (h.mean(1, keepdim=True), h.var(1, keepdim=True)) if running is None else running[k]
        statistics.append((mean.detach(), var.detach()))
        normal = scale * (h - mean) / (var + 1e-5).sqrt() + shift
        x = torch.relu(torch.where(used["normalization"], normal, h))
        if running is None:
            kept = (torch.rand_like(x) >= 0.1) / 0.9
            x = torch.where(used["dropout"], x * kept, x)
    return x @ weights[-1][0] + weights[-1][1], statistics


def errors(keep, nets, n, steps, seed, width=32):
    """Returns the test errors of the whole recipe, of leaving each ingredient out, and of none."""
    torch.manual_seed(seed)
    recipes = [INGREDIENTS, *([i for i in INGREDIENTS if i != out] for out in INGREDIENTS), ()]
    used = {i: torch.tensor([i in recipe for recipe in recipes]).repeat_interleave(nets)[:, None, None]
            for i in INGREDIENTS}  # fmt: skip
    places, *others = digits(nets, n)  # All recipes get the same digits and the same shifts.
    y, test, truth = (part.repeat(6, *(1,) * (part.ndim - 1)) for part in others)
    plain, m, sizes = at_random_positions(places).repeat(6, 1, 1), 6 * nets, (144, width, width, 10)
    weights = [[(2 * torch.rand(m, a, b) - 1) / a**0.5, torch.zeros(m, 1, b), torch.ones(m, 1, b), torch.zeros(m, 1, b)]
               for a, b in zip(sizes, sizes[1:], strict=False)]  # fmt: skip
    p = [q.requires_grad_() for layer in (*weights[:-1], weights[-1][:2]) for q in layer]
    first, second, running = [0.0] * len(p), [0.0] * len(p), [(0.0, 1.0)] * 2
    for step in range(1, steps + 1):
        rate = torch.where(used["schedule"], 0.01 * (1 - (step - 1) / steps), 0.01)
        seen = at_random_positions(places).repeat(6, 1, 1)
        seen = torch.where(used["augmentation"], seen if keep else seen.flip(2), plain)
        f, now = forward(seen, weights, used, None)
        running = [(0.9 * a + 0.1 * c, 0.9 * b + 0.1 * d) for (a, b), (c, d) in zip(running, now, strict=True)]
        loss = nn.functional.cross_entropy(f.mT, y, reduction="none").mean(1).sum()
        for k, g in enumerate(torch.autograd.grad(loss, p)):
            first[k], second[k] = 0.9 * first[k] + 0.1 * g, 0.999 * second[k] + 0.001 * g * g
            scale = (second[k] / (1 - 0.999**step)).sqrt() + 1e-8
            p[k].data.sub_(rate * first[k] / (1 - 0.9**step) / scale)
    with torch.no_grad():
        wrong = (forward(test, weights, used, running)[0].argmax(2) != truth).double().mean(1).reshape(6, nets)
    return {"whole recipe": wrong[0], "without one": wrong[1:5].mean(0), "none": wrong[5]}


observed = partial(errors, keep=True, width=32)  # Shifts.
control = partial(errors, keep=False, width=32)  # Control: augmentation also turns images by 180 degrees: a 6 is a 9.

CLAIM = Claim(
    id="training-recipe-ingredients",
    question="Does the usual training recipe help as a whole?",
    equation=r"E_{whole} < \bar E_{without\ one} < E_{none}",
    axes=("recipe", "test error"),
    source=Source("observed", "he2019bag"),
    premises=(
        Premise("the shifts of augmentation keep the label"),
        Premise("there are few examples", lambda n: n <= 500),
    ),
    parameters={"nets": 14, "n": 100, "steps": 60},
    full={"nets": 16, "n": 150, "steps": 80},
    judge=in_order(),
)
