"""One perturbation, found on training digits, changes at least three times as many test decisions as random noise.

    P(f(x + v) != f(x)) >= 3 P(f(x + n) != f(x)),      |v|_inf = |n|_inf = eps                                (1)

Reference: [moosavi2017universal].
"""

import torch

from gnomon.data import digits
from gnomon.geometry.attacks import universal_perturbation
from gnomon.lab import Claim, Premise, Source, at_most

SEARCHED = "the perturbation is searched for"


def net(width, split):
    """A network trained on digits."""
    made = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, 10)
    )
    optimizer = torch.optim.Adam(made.parameters(), 0.01)
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(made(split.x), split.y).backward()
        optimizer.step()
    return made.eval()


def predicted():
    """Three times the share of noise, less that of the perturbation, is at most zero."""
    return 0.0


def excess(steps, width, eps, networks, seed):
    """3 (share changed by noise) - (share changed by the perturbation), for several networks."""
    found = []
    for i in range(networks):
        torch.manual_seed(seed + i)
        split = digits(300, 300, seed=seed + i)
        result = universal_perturbation(net(width, split), (split.x, split.y), eps=eps, steps=steps, seed=seed + i,
                                        test=(split.x_test, split.y_test))  # fmt: skip
        found.append((3 * result.changed_by_noise - result.changed) / result.examples)
    return found


def observed(width, eps, networks, seed):
    """Sixty steps of search."""
    return excess(60, width, eps, networks, seed)


def control(width, eps, networks, seed):
    """A random sign for every pixel in its place."""
    found = []
    for i in range(networks):
        torch.manual_seed(seed + i)
        split = digits(300, 300, seed=seed + i)
        made = net(width, split)
        shares = []
        for _ in range(2):
            moved = (split.x_test + eps * torch.randn(1, 1, 8, 8).sign()).clamp(0, 1)
            shares.append(float((made(moved).argmax(1) != made(split.x_test).argmax(1)).double().mean()))
        found.append(3 * shares[0] - shares[1])
    return found


CLAIM = Claim(
    id="universal-perturbation",
    title="One perturbation changes three times as many decisions on new digits as noise of its size",
    equation=r"P(f(x + v) \ne f(x)) \ge 3\, P(f(x + n) \ne f(x))",
    source=Source("observed", "moosavi2017universal"),
    premises=(Premise(SEARCHED),),
    breaks=SEARCHED,
    parameters={"width": 32, "eps": 0.2, "networks": 6},
    full={"width": 128, "eps": 0.2, "networks": 10},
    judge=at_most(confidence=0.95),
    predicted=predicted,
    observed=observed,
    control=control,
)
