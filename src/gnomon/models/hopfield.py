"""Implements Hopfield networks: associative memories that store patterns and recall them from a part."""

import torch
from torch import Tensor

__all__ = ["DenseAssociativeMemory", "HopfieldNetwork", "ModernHopfield"]


class HopfieldNetwork:
    """The classical Hopfield network: an associative memory with units +1 and -1 and Hebb's weights.

        W = (1/d) sum_t x_t x_t^T with zero diagonal,   E(s) = -s.W s / 2,   s_i <- sign(W s)_i             (1)

    One unit at a time never raises E, so that states come to rest. Random patterns stay nearly as they are up to
    0.138 d of them.
    Hypotheses: patterns (n, d) of +-1.
    Reference: [hopfield1982neural], capacity [amit1985storing].
    Cost: n d^2 to store, d^2 a sweep.

    >>> x = torch.tensor([[1.0, 1.0, 1.0, -1.0, -1.0, 1.0]])
    >>> bool((HopfieldNetwork(x).recall(torch.tensor([-1.0, 1.0, 1.0, -1.0, -1.0, 1.0])) == x[0]).all())
    True
    """

    def __init__(self, patterns: Tensor) -> None:
        self.weights = patterns.T @ patterns / patterns.shape[1]
        self.weights.fill_diagonal_(0.0)

    def energy(self, state: Tensor) -> Tensor:
        """Returns the energy of one state (d,) or of many states (n, d) of the Hopfield network."""
        return -0.5 * (state * (state @ self.weights)).sum(-1)

    def step(self, state: Tensor) -> Tensor:
        """Updates all units of a state simultaneously; repeated steps may alternate between two states."""
        return torch.where(state @ self.weights >= 0, 1.0, -1.0).to(state)  # (1)

    def recall(self, state: Tensor, *, sweeps: int = 100) -> Tensor:
        """Updates one unit after the other until nothing changes, for states (d,) or (n, d)."""
        state = state.clone()
        for _ in range(sweeps):
            before = state.clone()
            for i in range(state.shape[-1]):
                field = state @ self.weights[i]
                state[..., i] = torch.where(field >= 0, 1.0, -1.0).to(state)
            if torch.equal(before, state):
                break
        return state


class DenseAssociativeMemory:
    """A dense associative memory: a Hopfield network of higher order, which stores far more patterns.

        E(s) = -sum_t F(x_t.s),  F(z) = z^order for z > 0, else 0;   s_i <- sign(E(s_i = -1) - E(s_i = 1))  (1)

    Hypotheses: patterns (n, d) of +-1; order >= 2.
    Reference: [krotov2016dense].
    Cost: n d a unit.

    >>> x = torch.tensor([[1.0, 1.0, -1.0, 1.0], [1.0, -1.0, 1.0, -1.0]])
    >>> bool((DenseAssociativeMemory(x, order=3).step(x) == x).all())
    True
    """

    def __init__(self, patterns: Tensor, *, order: int = 3) -> None:
        self.patterns, self.order = patterns, order

    def energy(self, state: Tensor) -> Tensor:
        """Returns the energy of one state (d,) or of many states (n, d) of the associative memory."""
        return -(state @ self.patterns.T).clamp(min=0.0).pow(self.order).sum(-1)

    def step(self, state: Tensor) -> Tensor:
        """Updates all units of states (n, d) simultaneously; each unit sees the old values of the others."""
        overlap = state @ self.patterns.T
        # Overlap of each pattern with the state if unit i is left out; shape (n, patterns, d).
        rest = overlap.unsqueeze(2) - state.unsqueeze(1) * self.patterns
        up = (rest + self.patterns).clamp(min=0.0).pow(self.order).sum(1)
        down = (rest - self.patterns).clamp(min=0.0).pow(self.order).sum(1)
        return torch.where(up >= down, 1.0, -1.0).to(state)  # (1)


class ModernHopfield:
    """The modern (continuous) Hopfield network, whose update is softmax attention over the stored patterns.

        s <- X^T softmax(beta X s),   E(s) = -log sum_t exp(beta x_t.s) / beta + s.s / 2 + constant        (1)

    Patterns that are far apart are found in one step, and exponentially many in d can be.
    Hypotheses: patterns (n, d) of real numbers, beta > 0.
    Reference: [ramsauer2021hopfield].
    Cost: n d a step.

    >>> x = 4 * torch.eye(3)
    >>> torch.allclose(ModernHopfield(x, beta=4.0).step(torch.tensor([3.0, 1.0, 0.0])), x[0], atol=1e-4)
    True
    """

    def __init__(self, patterns: Tensor, *, beta: float = 1.0) -> None:
        self.patterns, self.beta = patterns, beta

    def energy(self, state: Tensor) -> Tensor:
        """Returns the energy of one state (d,) or of many states (n, d), up to a constant."""
        overlap = self.beta * (state @ self.patterns.T)
        return -torch.logsumexp(overlap, -1) / self.beta + 0.5 * (state * state).sum(-1)

    def step(self, state: Tensor) -> Tensor:
        """Updates states (d,) or (n, d) by one step of attention, with the stored patterns as keys and values."""
        return torch.softmax(self.beta * (state @ self.patterns.T), -1) @ self.patterns  # (1)
