"""Records how a report was made: versions, seed, a hash of the data, the command."""

import hashlib
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from gnomon.core.inputs.arguments import input_tensors
from gnomon.core.inputs.source import AbstractSource
from gnomon.examination.description import describe_network
from gnomon.examination.subject import Subject

__all__ = ["report_manifest"]


def report_manifest(network: Subject, seed: int, budget: float, command: str, seconds: float) -> dict[str, Any]:
    """Returns how a report was made: versions, seed, hash of the data, command.

    >>> from gnomon.examination.subject import build_subject
    >>> examined = build_subject(torch.nn.Linear(2, 1), (torch.ones(3, 2), torch.ones(3, 1)), None, seed=0)
    >>> report_manifest(examined, 0, 9.0, "", 1.0)["budget"]
    '9 s, used 1.0 s'
    """
    return {
        "network": describe_network(network.module),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "gnomon": _version(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "seed": seed,
        "budget": f"{budget:g} s, used {seconds:.1f} s",
        "training data": f"{len(network.train)} examples, sha256 {_digest(network.train)[:16]}",
        "loss": getattr(network.loss, "name", None) or getattr(network.loss, "__name__", type(network.loss).__name__),
        "command": command or "gnomon.examine(...)",
    }


def _digest(data: AbstractSource) -> str:
    """Computes a hash of all examples that does not depend on the batch size."""
    digests: dict[int, Any] = {}
    for batch in data.batches():
        for i, t in enumerate((*input_tensors(batch.x), *(() if batch.y is None else (batch.y,)))):
            numbers = t.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()  # bytes: numpy has no bfloat16
            digests.setdefault(i, hashlib.sha256()).update(numbers.tobytes())
    return hashlib.sha256(b"".join(digest.digest() for digest in digests.values())).hexdigest()


def _version() -> str:
    try:
        return version("gnomon")
    except PackageNotFoundError:  # gnomon runs from its source folder and is not installed as a package.
        return "not installed"
