"""Does a plain training loop with a proven fix reach the stated result?

    python -m evaluation.faults.fixes --collection tuning --budget 20 --part 0/8

Each faulty case is examined. Every fix that the examination calls proven is applied to a plain loop with another seed
and the same number of steps, and the score of that loop is compared with the stated score. Results are appended to
build/fixes-<collection>.jsonl.
"""

import argparse
import copy
import json
import time
from pathlib import Path

import torch
from torch import nn

import gnomon
from evaluation.faults.registry import SOURCES, select
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.losses import CrossEntropy, Squared
from gnomon.training import SGD, Adam

MARGIN = 0.03
"""Largest accepted difference between the stated score and the score of the plain loop."""


def call(model: nn.Module, x: Inputs) -> torch.Tensor:
    """The outputs of a module for a tensor, a tuple or a dict."""
    return model(**x) if isinstance(x, dict) else model(*x) if isinstance(x, tuple | list) else model(x)


def torch_optimizer(rule, parameters):
    """The torch optimizer that a rule of gnomon describes."""
    if isinstance(rule, SGD):
        return torch.optim.SGD(parameters, lr=rule.lr, momentum=rule.momentum, weight_decay=rule.decay)
    if isinstance(rule, Adam):
        return torch.optim.AdamW(
            parameters, lr=rule.lr, betas=(rule.b1, rule.b2), eps=rule.eps, weight_decay=rule.decay
        )
    return rule.memory(parameters)


def loss_of(loss, f, y):
    """The mean loss by torch's own functions where there are some."""
    if isinstance(loss, CrossEntropy):
        return nn.functional.cross_entropy(f, y.long())
    if isinstance(loss, Squared):
        return nn.functional.mse_loss(f.reshape(len(y), -1), y.reshape(len(y), -1).to(f)) * f[0].numel() / 2
    return loss(f, y)


def plain_score(fix, seed: int) -> float | None:
    """The score of a plain loop with the fix on all held-out examples; None if this loop does not cover the case."""
    trial = fix.trials[1]
    if fix.unit not in ("accuracy", "explained variance") or trial.batches.augment is not None:
        return None
    whole, held = trial.train.whole(), trial.test.whole()
    torch.manual_seed(seed)
    model = copy.deepcopy(trial.module).train()
    optimizer = torch_optimizer(trial.optimizer, [p for p in model.parameters() if p.requires_grad])
    n, order, size = len(whole), [], trial.batches.size or len(whole)
    for _ in range(trial.steps):
        if len(order) < size:
            order += torch.randperm(n).tolist()
        index, order = torch.tensor(order[:size]), order[size:]
        batch = whole[index]
        optimizer.zero_grad()
        loss_of(trial.loss, call(model, batch.x), batch.y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        f = torch.cat([call(model, held[i : i + 256].x) for i in range(0, len(held), 256)])
    if fix.unit == "accuracy":
        if f.dim() != 2 or f.shape[1] < 2:
            return None
        return float((f.argmax(1) == held.y).double().mean())
    y = held.y.reshape(len(held), -1).double()
    return 1 - float((f.reshape(len(y), -1).double() - y).square().sum() / (y - y.mean(0)).square().sum())


def check_case(case, budget: float) -> dict:
    """The proven fixes of one case, with the score of a plain loop for each."""
    net, train, test, options = case.build(0)
    base = {"id": case.id, "expected": list(case.expected)}
    try:
        result = gnomon.examine(net, train, test, budget=budget, clock=time.process_time, fit=True, **{
            name: value for name, value in options.items() if name != "fit"
        })  # fmt: skip
    except Exception as error:
        return base | {"error": f"{type(error).__name__}: {error}"[:200], "fixes": []}
    rows = []
    for fix in result.fixes:
        try:
            plain = plain_score(fix, seed=1)
        except Exception as error:
            plain = None
            print(f"  plain loop failed: {type(error).__name__}: {str(error)[:100]}")
        held = None if plain is None else abs(plain - fix.after) <= MARGIN
        rows.append(fix.to_dict() | {"plain": plain, "within": held})
    told = next((s.answer for s in result.sections if s.key == "fixes"), "")
    return base | {"findings": [f.kind for f in result.findings], "fixes": rows, "answer": told}


def main() -> None:
    """Runs the selected cases and prints how many stated results hold."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.faults.fixes", description=__doc__)
    parser.add_argument("--collection", choices=tuple(SOURCES))
    parser.add_argument("--case", action="append")
    parser.add_argument("--budget", type=float, default=20.0, help="processor seconds for each examination")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--stop-after", type=float, default=float("inf"))
    options = parser.parse_args()
    first, step = map(int, options.part.split("/"))
    path, start = Path(f"build/fixes-{options.collection or 'all'}.jsonl"), time.perf_counter()
    path.parent.mkdir(exist_ok=True)
    proven, compared, within = 0, 0, 0
    for case in select(options.collection, "faulty", options.case)[first::step]:
        if time.perf_counter() - start > options.stop_after:
            break
        row = check_case(case, options.budget)
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{case.id}: {row.get('error') or row['answer'][:300]}")
        for fix in row["fixes"]:
            print(f"  {fix['fix']}: stated {fix['after']:.3f}, plain loop {fix['plain']}")
        proven += bool(row["fixes"])
        compared += sum(fix["plain"] is not None for fix in row["fixes"])
        within += sum(bool(fix["within"]) for fix in row["fixes"])
        print(f"  so far: {proven} cases with a proven fix; {within} of {compared} stated results hold", flush=True)


if __name__ == "__main__":
    main()
