"""The published networks themselves, from a folder with checkouts of their repositories, in place of rewritten ones.

The folder has one subfolder for each repository, named like the repository: examples, nanoGPT, minGPT, makemore,
pytorch-cifar, Pytorch-UNet, convmixer, pointnet.pytorch, mamba-minimal, crnn.pytorch, nerf-pytorch, NCF,
attention-is-all-you-need-pytorch. Scripts start training when they are imported, so only their imports of torch, numpy, einops and
the standard library, their classes and their functions are executed.
"""

import ast
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from evaluation.public_models.case import Case
from evaluation.public_models.data.text import VOCABULARY

LIBRARIES = ("torch", "numpy", "einops")
"""Libraries that published networks may import."""


def names(file: Path, known: dict[str, Any] | None = None) -> dict[str, Any]:
    """Classes and functions of a script, without running it; ``known`` are names that it imports from its package."""
    kept: list[ast.stmt] = []
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) or _importable(node):
            kept.append(node)
    found: dict[str, Any] = (known or {}) | {"__name__": f"checkout_{file.stem}"}
    sys.modules.setdefault(found["__name__"], type(sys)(found["__name__"]))  # dataclasses look their module up
    exec(compile(ast.Module(kept, []), str(file), "exec"), found)
    return found


def _importable(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import):
        sources = [name.name for name in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        sources = [str(node.module)]
    else:
        return False
    return all(_known(source) for source in sources)


def _known(source: str) -> bool:
    top = source.split(".")[0]
    return (top in LIBRARIES and source != "torch.utils.tensorboard") or top in sys.stdlib_module_names


def _nano_gpt(folder: Path) -> nn.Module:
    found = names(folder / "nanoGPT" / "model.py")
    sizes = {"block_size": 32, "vocab_size": VOCABULARY, "n_layer": 2, "n_head": 4, "n_embd": 128}
    return found["GPT"](found["GPTConfig"](**sizes))


def _min_gpt(folder: Path) -> nn.Module:
    found = names(folder / "minGPT" / "mingpt" / "model.py", {"CN": type("CN", (), {})})
    config = found["GPT"].get_default_config()
    config.model_type, config.n_layer, config.n_head, config.n_embd = None, 3, 3, 48
    config.vocab_size, config.block_size = VOCABULARY, 32
    return found["GPT"](config)


def _makemore(folder: Path) -> nn.Module:
    found = names(folder / "makemore" / "makemore.py")
    return found["Transformer"](
        found["ModelConfig"](block_size=32, vocab_size=VOCABULARY, n_layer=4, n_embd=64, n_head=4)
    )


def _unet(folder: Path) -> nn.Module:
    parts = names(folder / "Pytorch-UNet" / "unet" / "unet_parts.py")
    found = names(folder / "Pytorch-UNet" / "unet" / "unet_model.py", parts)
    return found["UNet"](n_channels=3, n_classes=3)


def _translator(folder: Path) -> nn.Module:
    found: dict[str, Any] = {}
    for name in ("Modules", "SubLayers", "Layers", "Models"):
        found = names(folder / "attention-is-all-you-need-pytorch" / "transformer" / f"{name}.py", found)
    sizes = {"d_word_vec": 64, "d_model": 64, "d_inner": 128, "n_layers": 2, "n_head": 4, "d_k": 16, "d_v": 16}
    return found["Transformer"](29, 29, 0, 0, **sizes, n_position=20)


def _mamba(folder: Path) -> nn.Module:
    found = names(folder / "mamba-minimal" / "model.py")
    return found["Mamba"](found["ModelArgs"](d_model=64, n_layer=2, vocab_size=VOCABULARY, d_state=8))


def _nerf(folder: Path) -> nn.Module:
    sizes = {"D": 8, "W": 64, "input_ch": 63, "input_ch_views": 27, "use_viewdirs": True}
    return names(folder / "nerf-pytorch" / "run_nerf_helpers.py")["NeRF"](**sizes)


def _example(path: str, name: str, *arguments: Any) -> Callable[[Path], nn.Module]:
    return lambda folder: names(folder / "examples" / path)[name](*arguments)


PUBLISHED: dict[str, Callable[[Path], nn.Module]] = {
    "mnist-cnn": _example("mnist/main.py", "Net"),
    "mnist-rnn": _example("mnist_rnn/main.py", "Net"),
    "vae": _example("vae/main.py", "VAE"),
    "super-resolution": _example("super_resolution/model.py", "Net", 2),
    "time-sequence": lambda folder: _example("time_sequence_prediction/train.py", "Sequence")(folder).double(),
    "word-lstm": _example("word_language_model/model.py", "RNNModel", "LSTM", VOCABULARY, 64, 64, 2, 0.2),
    "word-transformer": _example("word_language_model/model.py", "TransformerModel", VOCABULARY, 64, 2, 128, 2, 0.2),
    "resnet18": lambda folder: names(folder / "pytorch-cifar" / "models" / "resnet.py")["ResNet18"](),
    "mobilenet-v2": lambda folder: names(folder / "pytorch-cifar" / "models" / "mobilenetv2.py")["MobileNetV2"](),
    "unet": _unet,
    "nano-gpt": _nano_gpt,
    "min-gpt": _min_gpt,
    "makemore": _makemore,
    "conv-mixer": lambda folder: names(folder / "convmixer" / "convmixer.py")["ConvMixer"](32, 4, 5, 4, 10),
    "point-net": lambda folder: names(folder / "pointnet.pytorch" / "pointnet" / "model.py")["PointNetCls"](10),
    "mamba-minimal": _mamba,
    "crnn": lambda folder: names(folder / "crnn.pytorch" / "models" / "crnn.py")["CRNN"](32, 1, 11, 32),
    "nerf": _nerf,
    "ncf": lambda folder: names(folder / "NCF" / "model.py")["NCF"](80, 120, 8, 2, 0.0, "NeuMF-end"),
    "attention-transformer": _translator,
}
"""How the published network of a case is built from the folder of checkouts."""


def with_checkout(case: Case, folder: Path | None) -> Case:
    """The case with its published network, if there is a folder of checkouts and the case has one."""
    if folder is None or case.id not in PUBLISHED:
        return case
    return replace(case, build=lambda: PUBLISHED[case.id](folder), rewritten=False)
