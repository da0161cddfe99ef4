"""Runs one attack on a data set, or finds the smallest perturbation with which an attack succeeds.

>>> import torch
>>> from gnomon.robustness.attacks.gradient import FGSM
>>> net = nn.Linear(2, 2, bias=False)
>>> with torch.no_grad():
...     _ = net.weight.copy_(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))
>>> data = torch.tensor([[0.5, 0.5], [0.1, 0.0]]), torch.tensor([0, 0])
>>> attack(net, data, eps=0.2, bounds=(-1, 1), method=FGSM()).fooled.tolist()            # |w x| over 1: 0.5 and 0.1
[False, True]
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_finite_inputs, check_module, check_seed
from gnomon.core.inputs.classes import are_classes, targets_as_numbers
from gnomon.core.inputs.source import data_source
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.modules.saved_bytes import bytes_saved_for_backward, examples_that_fit
from gnomon.core.results import Axis, Histogram, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.robustness.attacks.apgd import APGD
from gnomon.robustness.attacks.base import AbstractAttack, AttackedModel
from gnomon.robustness.attacks.minimum import MinimumNormAttack, bisect_to_boundary
from gnomon.robustness.attacks.threat import Norm, ThreatModel, broadcast_per_example
from gnomon.robustness.radii import RobustRadii

__all__ = ["AttackResult", "attack", "examples_to_attack", "minimal_distance"]

MAX_EXAMPLES_PER_ATTACK = 1000
"""Examples that are attacked at once; fewer if their graphs would take half of the free memory."""
CHECKED_EXAMPLES = 32
"""Number of examples whose scores are checked before an attack."""
BOUND_TOLERANCE = 1e-5
"""Relative amount by which a returned example may exceed eps and the bounds: the rounding of float32."""


@dataclass(frozen=True, slots=True, eq=False)
class AttackResult(Result):
    """Result of an attack: the perturbed examples, whether each is misclassified, and the size of each perturbation.

    ``clean`` says whether each example was classified correctly before the attack.
    """

    examples: Float[Tensor, "n ..."] = field(metadata=HIDDEN_IN_JSON)
    fooled: Bool[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    sizes: Float[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    clean: Bool[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    threat: ThreatModel
    method: str

    @property
    def success(self) -> float:
        """Returns the fraction of correctly classified examples that the attack misclassified."""
        return float((self.fooled & self.clean).sum()) / max(1, int(self.clean.sum()))

    @property
    def verdict(self) -> str:
        """States in one sentence which fraction of examples the attack fooled."""
        n = int(self.clean.sum())
        return f"{self.method} fooled {self.success:.1%} of {n} correctly classified examples ({self.threat})."

    def plots(self) -> tuple[Plot, ...]:
        """Plots how far the attack moved the examples that it fooled."""
        moved = self.sizes[self.fooled & self.clean]
        marks = (Histogram.of("examples", moved),) if len(moved) else ()
        return (
            Plot("Successful perturbations", marks, Axis("size of the perturbation"), Axis("examples"), self.verdict),
        )


def examples_to_attack(module: nn.Module, data: Any) -> tuple[Tensor, Tensor]:
    """Returns inputs and class labels, checked for an attack: one floating-point tensor and integer labels.

    Cost: a pass over the data.

    >>> examples_to_attack(nn.Linear(2, 3), (torch.zeros(1, 2), torch.tensor([2])))[1].tolist()
    [2]
    """
    check_module(module)
    x, y = data_source(data, module=module).pair()
    if not isinstance(x, Tensor):
        fix = "Wrap the model in one that takes the tensor to attack and holds the other arguments"
        raise InputError(f"the inputs are a {type(x).__name__}", accepted="one tensor of inputs", fix=fix)
    if not x.is_floating_point():
        fix = "Pass x.float() scaled to the bounds; for tokens attack their embeddings"
        raise InputError(f"x holds {x.dtype}", accepted="floating-point inputs", fix=fix)
    if not are_classes(y):
        found = f"y has shape {tuple(y.shape)}, {y.dtype}"
        raise InputError(found, accepted="class labels", fix="Pass classes as integers 0, 1, ...")
    with AttackedModel(module).attack_mode() as classifier:
        scores = classifier.all_scores(x[:CHECKED_EXAMPLES])
        targets_as_numbers(y, outputs=scores.shape[1])  # Called for its check: raises an error for invalid labels.
    if not bool(scores.isfinite().all()):
        raise InputError("the scores are not finite", accepted="finite scores", fix="Look for NaN in the weights")
    return x, y.long().to(x.device)


@add_call_to_errors
@limit_time
def attack(
    module: nn.Module,
    data: Any,
    *,
    eps: float,
    norm: Norm = "inf",
    bounds: tuple[float, float] = (0, 1),
    method: AbstractAttack | None = None,
    seed: int = 0,
    budget: float | None = None,
) -> AttackResult:
    """Runs one attack, `APGD` by default, on all correctly classified examples, and verifies the returned points.

    Args:
        module: a classifier of one input tensor, read in eval mode and left as it was.
        data: a pair (inputs, classes), a ``Dataset``, a ``DataLoader``, ...
        eps: how far an example may move.
        norm: "inf", the largest change of an entry, or "2", the Euclidean length.
        bounds: the smallest and the largest value that an input may have.
        method: one of `gnomon.robustness.attacks`.
        seed: random seed for random starts.
        budget: seconds after which the call ends with an error that says how long it would take.

    Hypotheses: gradients of the scores that are not zero; an example that resists one attack may not resist another.
    Reference: see the method.
    Cost: as for the method.

    >>> net, data = nn.Linear(2, 2), (torch.full((3, 2), 0.5), torch.tensor([0, 0, 1]))
    >>> len(attack(net, data, eps=0.1).sizes)
    3
    """
    threat = ThreatModel.of(eps, norm, bounds)
    x, y = examples_to_attack(module, data)
    check_bounds(x, threat)
    method = APGD() if method is None else method
    generator = torch.Generator().manual_seed(check_seed(seed))
    with AttackedModel(module).attack_mode() as classifier:
        clean = classifier.right(x, y)
        z = x.clone()
        _run(method, classifier, x, y, z, clean, threat, generator)
        fooled = ~classifier.right(z, y)
    return AttackResult(z, fooled, threat.size(z - x), clean, threat, method.name)


@add_call_to_errors
@limit_time
def minimal_distance(
    module: nn.Module,
    data: Any,
    *,
    norm: Norm = "inf",
    bounds: tuple[float, float] = (0, 1),
    method: AbstractAttack | None = None,
    seed: int = 0,
    budget: float | None = None,
) -> RobustRadii:
    """Returns for each example the smallest distance at which an attack, `MinimumNormAttack` by default, succeeded.

    These are upper bounds of the true distances: zero for misclassified inputs, infinite if the attack failed.

    ``budget`` is the number of seconds after which the call ends with an error that says how long it would take.

    Hypotheses: as for `attack`.
    Reference: see the method.
    Cost: as for the method, and 13 forward passes.

    >>> net, data = nn.Linear(2, 2), (torch.full((3, 2), 0.5), torch.tensor([0, 0, 1]))
    >>> minimal_distance(net, data).above.shape
    torch.Size([3])
    """
    width = float(bounds[1]) - float(bounds[0]) if isinstance(bounds, tuple | list) and len(bounds) == 2 else 1.0
    threat = ThreatModel.of(max(width, 1e-12) / 4, norm, bounds)
    x, y = examples_to_attack(module, data)
    check_bounds(x, threat)
    method = MinimumNormAttack() if method is None else method
    generator = torch.Generator().manual_seed(check_seed(seed))
    with AttackedModel(module).attack_mode() as classifier:
        clean = classifier.right(x, y)
        z = x.clone()
        _run(method, classifier, x, y, z, clean, threat, generator)
        z = torch.where(broadcast_per_example(clean, x), bisect_to_boundary(classifier, x, y, z), x)
        found = torch.where(classifier.right(z, y), torch.inf, threat.size(z - x))
    return RobustRadii(torch.zeros_like(found), found, clean, threat.norm, "none", method.name)


def _run(method: AbstractAttack, classifier: AttackedModel, x: Tensor, y: Tensor, z: Tensor, clean: Tensor,
         threat: ThreatModel, generator: torch.Generator) -> None:  # fmt: skip
    """Attacks the correctly classified examples in batches that fit in memory, and writes the results into z."""
    each = bytes_saved_for_backward(lambda: classifier.scores(x[:1].detach().requires_grad_()), classifier.module)
    parts = clean.nonzero()[:, 0].split(examples_that_fit(each, MAX_EXAMPLES_PER_ATTACK))
    for part in with_progress_bar(parts, f"groups of examples ({method.name})"):
        if len(part):
            z[part] = method.run(classifier, x[part], y[part], threat, generator)


def check_bounds(x: Tensor, threat: ThreatModel) -> None:
    """Raises an error if the inputs are not finite or lie outside the bounds.

    >>> check_bounds(torch.zeros(1, 2), ThreatModel(0.1, "inf", 0.0, 1.0))
    """
    check_finite_inputs(x)
    low, high = float(x.min()), float(x.max())
    slack = BOUND_TOLERANCE * (threat.high - threat.low)
    if low < threat.low - slack or high > threat.high + slack:
        found = f"x ranges from {low:.4g} to {high:.4g}, outside the bounds ({threat.low:g}, {threat.high:g})"
        fix = "Pass the bounds of the inputs, or move normalization into the model and pass raw inputs"
        raise InputError(found, accepted="inputs within the bounds", fix=fix)
