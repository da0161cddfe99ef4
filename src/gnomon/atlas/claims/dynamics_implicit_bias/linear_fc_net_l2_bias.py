"""A deep linear network, trained to zero exponential loss, converges in direction to the support vector machine.

At any depth, the product b = W_L ... W_1 of a fully connected network converges in direction to

    b / |b| -> b* / |b*|,    b* = argmin |b|_2  with  y_i <b, x_i> >= 1                                     (1)

x_i are the examples and y_i their labels. The prediction solves (1) by its dual; the measurement follows the gradient
of the logarithm of the loss. Reference: [gunasekar2018implicit].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns examples times labels: fewer orthogonal vectors than dimensions, of different lengths."""
    rng = np.random.default_rng(seed)
    return np.linalg.qr(rng.normal(size=(d, n)))[0].T * rng.uniform(1, 2, (n, 1))


def predicted(n, d, seed):
    """Returns the support vector machine's direction for both networks, by non-negative least squares on its dual."""
    from scipy.optimize import nnls

    z = problem(n, d, seed)
    weights, _ = nnls(np.r_[z.T, np.ones((1, n))], np.r_[np.zeros(d), 1.0])
    normal = weights @ z
    return np.tile(normal / np.linalg.norm(normal), 2)


def direction(depth, diagonal, n, d, steps, seed):
    """Returns the direction of a trained deep linear network's weight product; ``diagonal`` restricts the layers."""
    z = problem(n, d, seed)
    rng, longest = np.random.default_rng([seed, depth]), np.linalg.norm(z, axis=1).max()
    layers = [0.05 * (np.eye(d) if diagonal else rng.normal(size=(d, d)) / d**0.5) for _ in range(depth - 1)]
    last = 0.05 * (np.ones(d) if diagonal else rng.normal(size=d))
    for _ in range(steps):
        rows = [last]  # list of products of the layers that follow each layer, built from the output layer down
        for layer in layers[::-1]:
            rows.append(rows[-1] @ layer)
        m = z @ rows[-1]
        pull = np.exp(m.min() - m) @ z / np.exp(m.min() - m).sum()
        size = max((part**2).sum() for part in (last, *layers))
        rate = min(0.1 * size ** (1 - depth / 2), 0.3 * size ** (1 - depth)) / longest  # stable for any weight size
        after = pull
        for k, layer in enumerate(layers):
            slope = np.outer(rows[depth - 2 - k], after)
            after = layer @ after
            layers[k] = layer + rate * (slope * np.eye(d) if diagonal else slope)
        last = last + rate * after
    return rows[-1] / np.linalg.norm(rows[-1])


def observed(n, d, steps, seed):
    """Returns the directions of two, then of three trained fully connected layers."""
    return np.concatenate([direction(depth, False, n, d, steps, seed) for depth in (2, 3)])


def control(n, d, steps, seed):
    """Returns the directions of diagonal layers, in which each unit reads one unit of the layer before."""
    return np.concatenate([direction(depth, True, n, d, steps, seed) for depth in (2, 3)])


CLAIM = Claim(
    id="linear-fc-net-l2-bias",
    question="What does a deep linear network converge to?",
    equation=r"\beta_t / \|\beta_t\| \to \beta^* / \|\beta^*\|, \ \beta^* = \min \|\beta\|_2, \ y \beta \cdot x \ge 1",
    axes=("coordinate of the direction (two layers, then three)", "coordinate"),
    source=Source("theorem", "gunasekar2018implicit"),
    premises=(
        Premise("the layers are fully connected"),
        Premise("the loss goes to zero"),
        Premise("fewer examples than dimensions", lambda n, d: n < d),
    ),
    parameters={"n": 4, "d": 8, "steps": 3000},
    full={"n": 6, "d": 16, "steps": 20_000},
    judge=equals(within=0.02, because="the error of the direction is about ln n / |b|, and |b| exceeds 1000 margins"),
    remark="Often printed with the minimum over the weights of each layer; it is over the product.",
)
