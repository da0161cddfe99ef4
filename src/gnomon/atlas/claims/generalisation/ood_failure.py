"""A classifier of digits that is right on new digits fails on turned ones, and stays sure of itself.

    accuracy(new) - accuracy(turned by 90 degrees) >= 0.25                                                          (1)

Reference: [geirhos2020shortcut].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, at_most

MOVED = "test examples are turned by 90 degrees"


def predicted():
    """The loss of accuracy is at least a quarter: minus it is at most minus that."""
    return -0.25


def losses(quarters, repetitions, seed):
    """Minus the loss of accuracy of ridge regression on digits, for each split."""
    from gnomon.data import digits

    out = []
    for k in range(repetitions):
        split = digits(800, 900, seed=seed + k)
        x, z = (t.double().numpy().reshape(len(t), 8, 8) for t in (split.x, split.x_test))
        y, t = split.y.numpy(), split.y_test.numpy()
        flat = x.reshape(len(x), -1) - x.mean(0).ravel()
        w = np.linalg.solve(flat.T @ flat + 10 * np.eye(64), flat.T @ np.eye(10)[y])

        def share(images, w=w, x=x, t=t):
            return ((images.reshape(len(images), -1) - x.mean(0).ravel()) @ w + 0.1).argmax(1) == t

        out.append(float(share(np.rot90(z, quarters, (1, 2))).mean() - share(z).mean()))
    return out


def observed(repetitions, seed):
    """Turned."""
    return losses(1, repetitions, seed)


def control(repetitions, seed):
    """As they are."""
    return losses(0, repetitions, seed)


CLAIM = Claim(
    id="ood-failure",
    title="Accuracy on new examples of the same law says little about examples of another",
    equation=r"\text{accuracy} - \text{accuracy}_{90^\circ} \ge 0.25",
    source=Source("observed", "geirhos2020shortcut"),
    premises=(Premise(MOVED),),
    breaks=MOVED,
    parameters={"repetitions": 3},
    judge=at_most(confidence=0.99),
    predicted=predicted,
    observed=observed,
    control=control,
)
