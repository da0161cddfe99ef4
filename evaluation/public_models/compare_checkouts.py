"""Are the rewritten networks the published ones? `python -m evaluation.public_models.compare_checkouts FOLDER`.

Both networks get the same parameters, in their order, and the same examples; the outputs must be equal.
"""

import argparse
import contextlib
import io
import warnings
from pathlib import Path

import torch

from evaluation.public_models.case import Case
from evaluation.public_models.checkouts import PUBLISHED, with_checkout
from evaluation.public_models.registry import CASES
from evaluation.public_models.steps import in_order


def difference(case: Case, folder: Path) -> float:
    """Largest difference of outputs relative to the largest output; infinite if the parameters differ in shape."""
    with contextlib.redirect_stdout(io.StringIO()):  # published networks print their size
        own, published = case.build(), with_checkout(case, folder).build()
    if [p.shape for p in own.parameters()] != [p.shape for p in published.parameters()]:
        return float("inf")
    batch = next(iter(in_order(case.data(0).test, 4)))
    answers = []
    with torch.no_grad():
        for source, target in zip(own.parameters(), published.parameters(), strict=True):
            target.copy_(source)
        for model in (own, published):
            torch.manual_seed(0)
            answers.append(case.answers(model.eval(), batch)[0])
    return float((answers[0] - answers[1]).abs().max() / answers[0].abs().max())


def main() -> None:
    """Prints the difference for each rewritten network that has a published one."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.public_models.compare_checkouts", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with one subfolder for each repository")
    folder = parser.parse_args().folder
    warnings.simplefilter("ignore")
    for id in PUBLISHED:
        print(f"{id}: relative difference {difference(CASES[id], folder):.1e}", flush=True)


if __name__ == "__main__":
    main()
