"""Runs in every process of the evaluation: writes hashes of all weights at exit, and replaces TensorBoard."""

import atexit
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import sys
import types


def _write_hashes() -> None:
    """Writes a hash of the parameters and buffers of all living modules, and of the random states."""
    if "torch" not in sys.modules or os.getpid() != _PID:
        return
    import gc
    import hashlib
    import json
    import time

    import numpy
    import torch

    seconds = time.process_time()
    models = {}
    for module in [m for m in gc.get_objects() if isinstance(m, torch.nn.Module)]:
        digest = hashlib.sha256()
        for name, value in module.state_dict().items():
            if isinstance(value, torch.Tensor) and value.layout == torch.strided:
                numbers = value.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes()
                digest.update(name.encode() + numbers)
        size = sum(p.numel() for p in module.parameters())
        if size:
            models.setdefault(f"{type(module).__name__} {size}", []).append(digest.hexdigest())
    state = {
        "seconds": seconds,
        "models": {name: sorted(found) for name, found in sorted(models.items())},
        "torch": hashlib.sha256(torch.get_rng_state().numpy().tobytes()).hexdigest(),
        "numpy": hashlib.sha256(numpy.random.get_state()[1].tobytes()).hexdigest(),
        "python": hashlib.sha256(repr(random.getstate()).encode()).hexdigest(),
    }
    with open(os.environ["WATCH_HASHES"], "w", encoding="utf-8") as file:
        json.dump(state, file)


class _TensorBoard(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``torch.utils.tensorboard`` with a writer that writes nothing."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        return importlib.machinery.ModuleSpec(name, self) if name == "torch.utils.tensorboard" else None

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        class SummaryWriter:
            def __init__(self, *arguments: object, **options: object) -> None: ...
            def add_scalar(self, *arguments: object, **options: object) -> None: ...
            def flush(self) -> None: ...
            def close(self) -> None: ...

        module.SummaryWriter = SummaryWriter  # type: ignore[attr-defined]


class _Seeded(importlib.abc.MetaPathFinder):
    """Seeds the generators of torch and numpy right after they are imported: some scripts set no seed."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if name not in ("torch", "numpy"):
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        load = spec.loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            load(module)
            module.manual_seed(0) if name == "torch" else module.random.seed(0)

        spec.loader.exec_module = exec_module
        return spec


_PID = os.getpid()
random.seed(0)
sys.meta_path.insert(0, _Seeded())
if os.environ.get("WATCH_HASHES") and not os.environ.get("WATCH_HASHES_TAKEN"):
    os.environ["WATCH_HASHES_TAKEN"] = "1"  # worker processes write nothing
    atexit.register(_write_hashes)
sys.meta_path.insert(0, _TensorBoard())
