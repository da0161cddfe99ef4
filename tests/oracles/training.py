"""Really trained models: parameters moved by gradients, step by step. Knows no kernel and no spectrum."""

import numpy as np
import torch


def steps(phi, y, theta0, rate, count, *, beta=0.0, alpha=0.0, loss="squared"):
    """Parameters of a linear model phi @ theta after 0, 1, ..., count steps of torch's own SGD."""
    phi, y, start = (torch.as_tensor(v, dtype=torch.float64) for v in (phi, y, theta0))
    theta = start.clone().requires_grad_()
    optimizer = torch.optim.SGD([theta], lr=rate, momentum=beta)
    path = [theta.detach().numpy().copy()]
    for _ in range(count):
        optimizer.zero_grad()
        (objective(phi @ theta, y, loss) + alpha / 2 * (theta - start).square().sum()).backward()
        optimizer.step()
        path.append(theta.detach().numpy().copy())
    return np.stack(path)


def objective(f, y, loss):
    """The mean loss, written with torch's functions."""
    if loss == "squared":
        return ((f - y) ** 2).sum() / (2 * len(f))
    if loss == "cross-entropy":
        return torch.nn.functional.cross_entropy(f, y)
    if loss == "logistic":
        return torch.log1p(torch.exp(-y * f)).sum() / len(f)
    if loss == "exponential":
        return torch.exp(-y * f).sum() / len(f)
    raise ValueError(loss)


def flow(phi, y, theta0, time, count, *, alpha=0.0, loss="squared"):
    """Parameters at one time by the classical Runge-Kutta method of order 4 with a fixed number of steps."""
    phi, y, start = (torch.as_tensor(v) for v in (phi, y, theta0))

    def slope(theta):
        theta = theta.detach().requires_grad_()
        value = objective(phi @ theta, y, loss) + alpha / 2 * (theta - start).square().sum()
        return -torch.autograd.grad(value, theta)[0]

    theta, h = start.clone(), time / count
    for _ in range(count):
        k1 = slope(theta)
        k2 = slope(theta + h / 2 * k1)
        k3 = slope(theta + h / 2 * k2)
        k4 = slope(theta + h * k3)
        theta = theta + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return theta.numpy()


def hinge_steps(phi, y, rate, count):
    """Parameters of a linear model after steps of subgradient descent on the sharp hinge, from zero."""
    theta = np.zeros((phi.shape[1], 1))
    for _ in range(count):
        theta += rate * phi.T @ (y * (y * (phi @ theta) < 1)) / len(y)
    return theta


def conditioned(joint, y, noise):
    """Mean and covariance of the last coordinates of N(0, joint) given noisy first ones, by the precision matrix."""
    n = len(y)
    noisy = joint.copy()
    noisy[:n, :n] += noise * np.eye(n)
    precision = np.linalg.inv(noisy)
    covariance = np.linalg.inv(precision[n:, n:])
    return -covariance @ precision[n:, :n] @ y, covariance
