"""Computes kernels of attention whose logits (scaled by 1/sqrt(d_k)) stay random as the number of heads goes to
infinity.

With K_q, K_k, K_v the covariances of queries, keys and values, the logits of one head are Gaussian,

    Cov(G(x)[p, s], G(x')[q, t]) = K_q(x, x')[p, q] K_k(x, x')[s, t],     Z = softmax(G + mask)           (1)
    K'[p, q] = sum_{s, t} E[Z(x)[p, s] Z(x')[q, t]] K_v[s, t]                                             (2)
    T'[p, q] = sum_{s, t} E[Z Z'] T_v[s, t] + sum_{s, t, a, b} E[dZ[p, s]/dG[p, a] dZ'[q, t]/dG'[q, b]] K_v[s, t]
                                                * (K_q[p, q] T_k[a, b] + T_q[p, q] K_k[a, b])             (3)

Softmax has no closed form: (2) and (3) are averages over ``LOGIT_DRAWS`` pairs of opposite logits, the same
for all
pairs of inputs. Their relative error is about std(G) / sqrt(DRAWS). The mask may be data: each input then has its own.
Hypotheses: independent maps to queries, keys and values; heads and their size d_k both grow.
Reference: [hron2020infinite] Theorem 3.
"""

from dataclasses import dataclass, field
from functools import cache

import torch
from torch import Tensor

from gnomon.kernels.rules.base import AbstractRule, KernelPair, RuleContext, diagonal

LOGIT_DRAWS = 512
"""Number of logit draws; each is used with both signs."""
LOGITS_PER_CHUNK = 1 << 22
"""Maximum number of logits in memory."""


@dataclass(frozen=True, slots=True)
class HeadsRule(AbstractRule):
    """Computes kernels after multi-head attention with random logits, averaged over infinitely many heads."""

    mask: Tensor | None = field(default=None)
    padded: bool = False

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns for which inputs attention needs covariances between all positions: values, queries and keys, but not
        a padding mask.
        """
        return (True, True, True, False) if self.padded else (True, True, True)

    def watches(self) -> tuple[bool | None, ...]:
        """Returns that attention needs covariances of queries and keys with themselves, for all pairs of positions."""
        return (None, True, True, None) if self.padded else (None, True, True)

    def measure(self, selves: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns each point's covariances of queries and of keys between positions, as one row."""
        q, k = selves[1], selves[2]
        assert q is not None and k is not None  # requested by watches
        return torch.cat([q.flatten(1), k.flatten(1)], 1)

    def features(self, data: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns the numbers that a padding mask adds to the attention logits of each key; None without a padding
        mask.
        """
        if not self.padded:
            return None
        assert data[3] is not None  # With padding, the fourth input is the padding mask.
        return data[3][:, 0]

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Returns kernels after multi-head attention, computed for a few pairs of inputs at a time to limit memory."""
        assert context.left is not None and context.right is not None
        v, q, k = inputs[:3]
        queries, keys = q.nngp.shape[-1], k.nngp.shape[-1]
        batch = q.nngp.shape[: context.batch]
        left, right = context.left, context.right
        if context.batch == 2:
            left, right = left.unsqueeze(1).expand(*batch, -1), right.unsqueeze(0).expand(*batch, -1)
        flat = [_flat(t, context.batch) for t in (left, right, v.nngp, q.nngp, k.nngp, v.ntk, q.ntk, k.ntk)]
        size = max(1, LOGITS_PER_CHUNK // (LOGIT_DRAWS * (queries + keys) ** 2))
        count = batch.numel()
        parts = [
            self._pairs([None if t is None else t[i : i + size] for t in flat], context.tangent)
            for i in range(0, count, size)
        ]
        nngp = torch.cat([p.nngp for p in parts]).reshape(*batch, queries, queries)
        ntk = None
        if context.tangent:
            ntk = torch.cat([p.ntk for p in parts if p.ntk is not None]).reshape(*batch, queries, queries)
        if context.full:
            return KernelPair(nngp, ntk)
        return KernelPair(diagonal(nngp, context.batch, 1), None if ntk is None else diagonal(ntk, context.batch, 1))

    def _pairs(self, flat: list[Tensor | None], tangent: bool) -> KernelPair:
        left, right, v, q, k, tv, tq, tk = flat
        assert left is not None and right is not None and v is not None and q is not None and k is not None
        nq, nk = q.shape[-1], k.shape[-1]
        keys = nq * nq + nk * nk
        own = [(s[:, : nq * nq].reshape(-1, nq, nq), s[:, nq * nq : keys].reshape(-1, nk, nk)) for s in (left, right)]
        rows = _root(_joint(own[0][0], own[1][0], q))
        columns = _root(_joint(own[0][1], own[1][1], k))
        noise = _noise(2 * nq, 2 * nk).to(q)
        logits = rows.unsqueeze(1) @ noise @ columns.unsqueeze(1).transpose(-1, -2)  # (1)
        logits = torch.cat([logits, -logits], 1)
        z, w = (
            self._softmax(logits[..., i * nq : (i + 1) * nq, i * nk : (i + 1) * nk], side[:, keys:])
            for i, side in enumerate((left, right))
        )
        nngp = _between(z, v, w)  # (2)
        if not tangent:
            return KernelPair(nngp)
        assert tq is not None and tk is not None
        ntk = q * _slopes(z, w, v, tk) + tq * _slopes(z, w, v, k)  # (3)
        return KernelPair(nngp, ntk if tv is None else ntk + _between(z, tv, w))

    def _softmax(self, logits: Tensor, hidden: Tensor) -> Tensor:
        if self.mask is not None:
            logits = logits + self.mask.to(logits)
        if self.padded:
            logits = logits + hidden.unsqueeze(1).unsqueeze(1)
        return torch.softmax(logits, -1)


def _flat(array: Tensor | None, batch: int) -> Tensor | None:
    return None if array is None else array.reshape(-1, *array.shape[batch:])


def _joint(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Returns the joint covariance matrix [[a, c], [c^T, b]] of two points from its blocks."""
    return torch.cat([torch.cat([a, c], -1), torch.cat([c.transpose(-1, -2), b], -1)], -2)


def _root(covariance: Tensor) -> Tensor:
    """Returns a matrix L with L L^T = covariance; uses eigenvalues because covariances of equal inputs are singular."""
    values, vectors = torch.linalg.eigh(covariance)
    return vectors * values.clamp(min=0.0).sqrt().unsqueeze(-2) @ vectors.transpose(-1, -2)


@cache
def _noise(rows: int, columns: int) -> Tensor:
    """Returns independent standard normal matrices for random attention logits, identical at every call."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(LOGIT_DRAWS, rows, columns, dtype=torch.float64, generator=generator)


def _between(z: Tensor, m: Tensor, w: Tensor) -> Tensor:
    """Returns the mean over random draws of Z M W^T, with attention weights Z and W of two inputs and covariances M."""
    return (z @ m.unsqueeze(1) @ w.transpose(-1, -2)).mean(1)


def _slopes(z: Tensor, w: Tensor, v: Tensor, m: Tensor) -> Tensor:
    """Returns the part of the attention tangent kernel that comes from changed attention weights, averaged over
    draws.
    """
    v, m, t = v.unsqueeze(1), m.unsqueeze(1), w.transpose(-1, -2)
    u, x = z @ v, z @ m
    y = v @ t * (m @ t)
    total = z @ (v * m) @ t - (u * x) @ t - z @ y + (u @ t) * (x @ t)
    return total.mean(1)
