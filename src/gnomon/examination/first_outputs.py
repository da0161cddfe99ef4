"""Computes a network's outputs for the first examples, and determines what the outputs mean."""

from jaxtyping import Float
from torch import Tensor, nn

from gnomon.adapter import read_output_meaning
from gnomon.adapter.losses import AbstractLossWithAxes
from gnomon.adapter.reading import OutputMeaning, TaskName
from gnomon.core.inputs.source import AbstractSource
from gnomon.core.losses import CrossEntropy
from gnomon.core.modules.outputs import output_rows, output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.examination.recipe import equivalent_theory_loss
from gnomon.training.evaluate import Loss

__all__ = ["labels_of_all_examples", "first_outputs"]


def first_outputs(
    module: nn.Module, data: AbstractSource, loss: Loss | None, task: TaskName | None
) -> tuple[Float[Tensor, "n k"], OutputMeaning | None]:
    """Returns a network's outputs for the first examples and what they mean; None if only the user's own loss can
    interpret them.

    Cost: a forward pass on four examples.

    >>> import torch
    >>> from gnomon.core.inputs.source import data_source
    >>> data = data_source((torch.zeros(5, 2), torch.arange(5) % 3))
    >>> rows, reading = first_outputs(nn.Linear(2, 3), data, None, None)
    >>> rows.shape, reading
    (torch.Size([4, 3]), None)
    """
    few = data.first(4)
    with preserve(module, grad=False, seed=0):
        returned = output_tensor(run_module(module, few.x))
    rows = output_rows(returned, len(few))
    wanted = equivalent_theory_loss(loss)
    if loss is not None and not isinstance(wanted, CrossEntropy) and not isinstance(loss, AbstractLossWithAxes):
        return rows, None
    assert few.y is not None  # checked in _source
    one_label = few.y.dim() == 2 and few.y.shape[1] == 1 and not few.y.is_floating_point()
    if task is None and (returned.dim() < 3 or one_label):
        return rows, None  # In classification or regression the outputs are used as they are, one row per example.
    y = labels_of_all_examples(data)
    largest = None if y.is_floating_point() else int(y.max())
    return rows, read_output_meaning(returned, few.y, x=few.x, largest=largest, task=task)


def labels_of_all_examples(data: AbstractSource) -> Tensor:
    """Returns the targets of all examples as one tensor.

    >>> import torch
    >>> from gnomon.core.inputs.source import data_source
    >>> labels_of_all_examples(data_source((torch.zeros(2, 1), torch.tensor([1, 0])))).tolist()
    [1, 0]
    """
    y = data.labels()
    assert y is not None  # checked in _source
    return y
