"""Examines one case and returns what was found as a dict that can be written as JSON."""

import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

import gnomon
from evaluation.faults.case import Case
from gnomon.core.errors import GnomonError
from gnomon.core.results import Level
from gnomon.training import TrainingRun


def examine_case(
    case: Case, *, budget: float, seed: int, cpu_time: bool = False, compare_training: bool = False
) -> dict[str, Any]:
    """Findings in order, the time, and whether the network was left unchanged.

    ``compare_training`` also trains healthy classifiers with a plain loop for as much processor time as the examination
    trained, and scores both networks on all test examples.
    """
    warnings.filterwarnings("ignore", message="Using a target size")  # the fault of two of the cases
    clock = time.process_time if cpu_time else time.perf_counter
    net, train, test, options = case.build(seed)
    before = _state(net)
    start, cpu_start = clock(), time.process_time()
    base = {"id": case.id, "kind": case.kind, "source": case.source, "expected": list(case.expected), "budget": budget,
            "seed": seed, "cpu_time": cpu_time}  # fmt: skip
    try:
        result = gnomon.examine(net, train, test, budget=budget, seed=seed, clock=clock, **options)
    except Exception as error:
        return base | _refusal(case, error) | {"seconds": clock() - start}
    seconds = clock() - start
    cores = (time.process_time() - cpu_start) / seconds  # below 1 if other programs were running
    kinds = [finding.kind for finding in result.findings]
    run = result.products.get(TrainingRun)
    return base | {
        "found": kinds,
        "faults": [finding.kind for finding in result.problems],
        "notes": [finding.kind for finding in result.findings if finding.level is Level.NOTE],
        "levels": [finding.level.name.lower() for finding in result.findings],
        "messages": [finding.message for finding in result.findings][:3],
        "found_first": bool(kinds) and kinds[0] in case.expected,
        "found_at_all": any(kind in case.expected for kind in kinds),
        "seconds": seconds,
        "cores": cores,
        "failed_sections": [section.answer for section in result.sections if section.state == "failed"],
        "section_seconds": {section.key: round(section.seconds, 2) for section in result.sections},
        "training_steps": 0 if run is None else int(run.steps[-1]),
        "unchanged": _state(net) == before,
        "report": str(result),
        **(_training_comparison(net, train, test, options, run, cores) if compare_training else {}),
    }


def _refusal(case: Case, error: Exception) -> dict[str, Any]:
    """The result if `examine` raised: only gnomon's own errors that contain the expected text name the fault."""
    message, own = str(error), isinstance(error, GnomonError)
    named = own and bool(case.error_text) and case.error_text.lower() in message.lower()
    crash = {} if own else {"crash": "".join(traceback.format_exception(error))}
    return crash | {"refused": message, "found_first": named, "found_at_all": named, "faults": [message], "found": []}


def _state(net) -> list:
    """Everything that an examination must leave unchanged: numbers, modes, gradients, hooks."""
    if not isinstance(net, nn.Module):
        return []
    sums = [(name, float(t.double().sum()), float(t.double().square().sum())) for name, t in net.state_dict().items()]
    gradients = [(p.requires_grad, p.grad is None) for p in net.parameters()]
    modes = [(m.training, len(m._forward_hooks), len(m._forward_pre_hooks)) for m in net.modules()]
    return [sums, gradients, modes]


def _training_comparison(net, train, test, options, run: TrainingRun | None, cores: float) -> dict[str, float]:
    if run is None or run.test_accuracy is None:
        return {}
    plain = _plain_training(net, train, test, cores * run.seconds, options)
    return {} if plain is None else {"accuracy": _accuracy(run.model, *test), "plain_accuracy": plain}


def _plain_training(build: Callable, train, test, seconds: float, options: dict) -> float | None:
    """Test accuracy of a plain minibatch loop with the case's optimizer, or Adam, for this much processor time."""
    x, y = train.dataset.tensors if isinstance(train, DataLoader) else train
    if y.is_floating_point():
        return None
    torch.manual_seed(0)
    model, x = build(), x if isinstance(x, tuple) else (x,)
    optimizer = options.get("optimizer", lambda p: torch.optim.Adam(p, 1e-3))(list(model.parameters()))
    start = time.process_time()
    while time.process_time() - start < seconds:
        for i in torch.randperm(len(y)).split(64):
            if len(i) < 2 or time.process_time() - start > seconds:
                continue
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(*(t[i] for t in x)), y[i]).backward()
            optimizer.step()
    return _accuracy(model, *test)


def _accuracy(model: nn.Module, x, y) -> float:
    model.eval()
    x = x if isinstance(x, tuple) else (x,)
    with torch.no_grad():
        batches = torch.arange(len(y)).split(256)
        answers = torch.cat([model(*(t[i] for t in x)) for i in batches]).argmax(1)
    return float((answers == y).double().mean())
