"""Rules: one layer family per file."""

from gnomon.kernels.rules.base import AbstractRule, Context, Pair, diagonal

__all__ = ["AbstractRule", "Context", "Pair", "diagonal"]
