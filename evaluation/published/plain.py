"""A plain training loop, without any part of gnomon."""

import warnings

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from evaluation.published.case import Recipe
from evaluation.published.scores import LOWEST_SCORE


def rows(x, where):
    """The chosen rows of a tensor, or of each tensor in a tuple."""
    return tuple(t[where] for t in x) if isinstance(x, tuple) else x[where]


def call(model: nn.Module, x) -> Tensor:
    """The outputs for one tensor or a tuple of tensors."""
    return model(*x) if isinstance(x, tuple) else model(x)


def plain_score(recipe: Recipe, seed: int = 0) -> float:
    """Trains as the recipe says and returns the test score in evaluation mode, or the lowest if training crashes."""
    torch.manual_seed(seed)
    model = recipe.network()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a shape warning is the fault of some cases
        try:
            _train(model, recipe)
        except (IndexError, RuntimeError):  # a loss that refuses the targets is the fault of some cases
            return LOWEST_SCORE
        outputs = _outputs(model, recipe.test[0], recipe.score_batch)
    return recipe.score(outputs, recipe.test[1]) if bool(outputs.isfinite().all()) else LOWEST_SCORE


def _train(model: nn.Module, recipe: Recipe) -> None:
    x, y = recipe.train
    loss = recipe.loss or (F.mse_loss if y.is_floating_point() else F.cross_entropy)
    optimizer = recipe.optimizer(list(model.parameters()))
    schedule = recipe.schedule(optimizer) if recipe.schedule else None
    model.train()
    for _ in range(recipe.epochs):
        for batch in torch.randperm(len(y)).split(recipe.batch):
            if len(batch) == 1 and recipe.batch > 1:
                continue
            inputs = rows(x, batch)
            inputs = recipe.augment(inputs) if recipe.augment else inputs
            optimizer.zero_grad()
            value = loss(call(model, inputs), y[batch])
            if not value.requires_grad:
                return
            value.backward()
            optimizer.step()
        if schedule is not None:
            schedule.step()


def _outputs(model: nn.Module, x, size: int) -> Tensor:
    model.eval()
    n = len(x[0]) if isinstance(x, tuple) else len(x)
    with torch.no_grad():
        return torch.cat([call(model, rows(x, i)) for i in torch.arange(n).split(size)])
