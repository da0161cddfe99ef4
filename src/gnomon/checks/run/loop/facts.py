"""Defines the record of a user's training loop: counts and a few numbers, without tensors.

>>> LoopFacts(steps=3, backwards=3).steps
3
"""

from dataclasses import dataclass
from math import nan

from gnomon.core.results.record import Record

__all__ = [
    "FirstNonFiniteLoss", "GradientClippingFacts", "LoaderFacts", "LoopFacts", "ModelFacts", "OptimizerFacts",
    "ParameterFacts", "PrecisionFacts", "SchedulerFacts", "ValuesByStep",
]  # fmt: skip

ValuesByStep = tuple[tuple[int, float], ...]
"""Pairs (step, value), at most a few thousand: if there were more, every second, fourth, ... is kept."""


@dataclass(frozen=True, slots=True)
class ParameterFacts(Record):
    """Record of one parameter of an optimizer: in how many sampled steps its gradient was missing or exactly zero."""

    name: str
    size: int
    samples: int = 0
    missing: int = 0
    zero: int = 0


@dataclass(frozen=True, slots=True)
class OptimizerFacts(Record):
    """Record of one optimizer in a training loop: its steps, cleared and missing gradients, learning rates and
    parameters.

    ``stale`` of them began with gradients of earlier steps. ``sampled`` steps had all gradients looked at, ``empty`` of
    them had none. ``changed`` says whether any weight changed, None if unknown. ``rates`` are the learning rates.
    ``idle`` steps had learning rate zero, ``repeated`` steps used the gradients of the step before once more.
    ``shrinkage`` is the largest part of the weights that weight decay removed in a step. ``rebuilt_alike`` of the
    ``rebuilt`` optimizers have the settings of the one before. ``movement`` is the distance of the weights from their
    start, divided by their size there.
    """

    name: str
    steps: int = 0
    judged: int = 0
    stale: int = 0
    sampled: int = 0
    empty: int = 0
    changed: bool | None = None
    rates: ValuesByStep = ()
    parameters: tuple[ParameterFacts, ...] = ()
    rebuilt: int = 0
    idle: int = 0
    repeated: int = 0
    shrinkage: float = 0.0
    rebuilt_alike: int = 0
    movement: float | None = None

    @property
    def rate(self) -> float:
        """Returns the last learning rate; NaN if the optimizer made no step."""
        return self.rates[-1][1] if self.rates else nan


@dataclass(frozen=True, slots=True)
class SchedulerFacts(Record):
    """Record of one learning rate scheduler: its calls, the calls before the first optimizer step, its length and its
    rates.

    ``late_calls`` came after another optimizer had replaced its own. ``mode`` and ``metrics`` belong to
    `ReduceLROnPlateau`.
    """

    name: str
    calls: int
    before: int = 0
    length: int | None = None
    optimizer_steps: int = 0
    initial: float = nan
    at_first_step: float = nan
    rates: ValuesByStep = ()
    late_calls: int = 0
    mode: str = ""
    metrics: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelFacts(Record):
    """Record of one model in a training loop: how often it ran in train and in eval mode, and which layers depend on
    the mode.

    ``trained`` and ``trained_in_eval`` count backward passes by the mode of the last forward pass; ``validated`` counts
    forward passes without gradients, ``in_training`` the ones in training mode, ``with_graph`` forward passes in
    eval mode that built a graph without a backward pass. ``missing`` are parameters with gradients that no optimizer
    holds, as (name, size). ``unchanged``: the weights were the same at the first and the last forward pass without
    gradients, although optimizers stepped between them. ``dropped_in_eval`` counts calls in eval mode in which a
    dropout function was active, ``single_examples`` training passes with one example. ``random_frozen`` are frozen
    layers with the random weights that torch gave them, as (name, size). If no optimizer exists, ``hand_judged``
    backward passes came after changed weights, and in ``hand_stale`` of them the gradients were not cleared.
    """

    name: str
    layers: str = ""
    trained: int = 0
    trained_in_eval: int = 0
    first_in_eval: int = 0
    validated: int = 0
    in_training: int = 0
    first_in_training: int = 0
    with_graph: int = 0
    loaded: bool = False
    missing: tuple[tuple[str, int], ...] = ()
    size: int = 0
    unchanged: bool = False
    dropped_in_eval: int = 0
    single_examples: int = 0
    random_frozen: tuple[tuple[str, int], ...] = ()
    hand_judged: int = 0
    hand_stale: int = 0


@dataclass(frozen=True, slots=True)
class LoaderFacts(Record):
    """Record of one ``DataLoader`` in a training loop: the number of batches and epochs, and how the batches were used.

    ``single`` counts passes that were left after one batch. ``forwards`` counts forward passes with gradients in
    training mode. ``compared`` pairs of neighboring batches were compared, ``equal`` of them are equal;
    ``inputs_equal`` of ``inputs_compared`` inputs of the model equal the input of the step before. ``labels`` has
    (examples, classes) of each observed batch, ``classes`` is the number of classes in all of them, and ``counts``
    says how many examples each class has, if that is known. Loaders that go through all of one data set have the
    same number ``data``. ``in_order``: the loader does not shuffle, and ``longest`` is the number of batches in the
    longest pass that ended. ``steps_train`` and ``steps_eval`` count optimizer steps by the mode of the model, and
    ``returns`` counts the changes from steps in eval mode on this loader to steps in train mode on another one.
    ``share_trained`` of ``examples`` different examples were also in the batches of loaders that the model is
    trained on. ``related``: labels depend on inputs, None if unknown. ``input_mean`` and
    ``input_deviation`` describe the numbers in the first batches.
    """

    batches: int
    length: int | None = None
    passes: int = 1
    single: int = 0
    backwards: int = 0
    forwards: int = 0
    compared: int = 0
    equal: int = 0
    inputs_compared: int = 0
    inputs_equal: int = 0
    labels: tuple[tuple[int, int], ...] = ()
    classes: int = 0
    counts: tuple[int, ...] = ()
    data: int | None = None
    in_order: bool = False
    longest: int = 0
    steps_train: int = 0
    steps_eval: int = 0
    returns: int = 0
    examples: int = 0
    share_trained: float = 0.0
    related: bool | None = None
    input_mean: float = nan
    input_deviation: float = nan


@dataclass(frozen=True, slots=True)
class PrecisionFacts(Record):
    """Record of half precision in a training loop.

    ``half_passes`` of ``passes`` observed forward passes ran in float16, ``scaled`` losses were multiplied by a
    `GradScaler`. ``clipped_scaled`` calls of clipping and ``stepped_scaled`` optimizer steps used gradients that were
    not divided again.
    """

    passes: int = 0
    half_passes: int = 0
    scaled: int = 0
    clipped_scaled: int = 0
    stepped_scaled: int = 0


@dataclass(frozen=True, slots=True)
class GradientClippingFacts(Record):
    """Record of gradient clipping in a training loop; ``misplaced`` counts calls without new gradients since the last
    call.

    Clipping of values to ``value_limit`` cut the shares ``values_clipped`` of the gradients that are not zero.
    """

    calls: int = 0
    misplaced: int = 0
    limit: float = nan
    norms: tuple[float, ...] = ()
    value_limit: float = nan
    values_clipped: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class FirstNonFiniteLoss(Record):
    """Record of the first loss that was NaN or infinite: the training step, and what caused it."""

    step: int
    value: float
    place: str = ""
    where: str = ""
    layer: str = ""


@dataclass(frozen=True, slots=True)
class LoopFacts(Record):
    """Record of one run of the user's training script: optimizers, models, loaders, losses and more.

    ``leaf_losses`` counts backward passes that began at a tensor without a graph, from ``first_leaf`` on; ``graphless``
    is the step at which backward failed because the loss needs no gradient. ``negated`` names the loss function whose
    negative value was passed to backward, ``applied_twice`` the last function of the network if the loss applies it
    again. ``discarded`` backward passes had their gradients cleared before a step. ``repeated_inputs`` of
    ``compared_inputs`` inputs, without a loader, were equal to the ones before and a part of larger data. ``seeds``
    counts calls of ``torch.manual_seed`` while training.
    ``loss_mistake`` is the kind of a mistake in the last operations of the first losses, ``operations`` are the numbers
    of operations in their graphs, and ``retained`` counts backward passes that kept the graph.
    ``restored_from_itself`` counts restored states that were references, not copies.
    ``held_graphs`` steps had their graphs alive at one time. ``subtracts_penalty``: the first losses subtract a penalty
    on the weights. ``mean_loss`` or ``summed_loss`` is the operation of torch whose mean or sum is the
    loss. ``changed_inputs`` of
    ``changes_seen`` inputs that changed in place are similar to the ones before. ``rate_attribute`` is a place at which
    the script set the learning rate without effect. ``unmatched`` are a name in a loaded state and a name in the
    module, and the number of entries, if no names agree. ``short_lived`` are class, size and number of the layers that
    existed in one forward pass only.
    ``norms`` are gradient norms, ``largest`` the parameter with the largest gradient at the largest norm. ``finished``:
    the script came to its end.
    """

    steps: int = 0
    backwards: int = 0
    observed_backwards: int = 0
    leaf_losses: int = 0
    first_leaf: int = 0
    graphless: int | None = None
    negated: str = ""
    applied_twice: str = ""
    loss_mistake: str = ""
    operations: tuple[int, ...] = ()
    retained: int = 0
    restored_from_itself: int = 0
    held_graphs: int = 0
    subtracts_penalty: bool = False
    mean_loss: str = ""
    summed_loss: str = ""
    changed_inputs: int = 0
    changes_seen: int = 0
    rate_attribute: str = ""
    unmatched: tuple[str, str, int] | None = None
    precision: PrecisionFacts = PrecisionFacts()
    short_lived: tuple[str, int, int] | None = None
    discarded: int = 0
    losses: ValuesByStep = ()
    norms: ValuesByStep = ()
    largest: str = ""
    optimizers: tuple[OptimizerFacts, ...] = ()
    schedulers: tuple[SchedulerFacts, ...] = ()
    models: tuple[ModelFacts, ...] = ()
    loaders: tuple[LoaderFacts, ...] = ()
    clips: GradientClippingFacts = GradientClippingFacts()
    compared_inputs: int = 0
    repeated_inputs: int = 0
    seeds: int = 0
    seed: int = 0
    not_finite: FirstNonFiniteLoss | None = None
    finished: bool = True

    @property
    def rate(self) -> float:
        """Returns the last learning rate of the optimizer with the most steps; NaN without an optimizer."""
        return max(self.optimizers, key=lambda one: one.steps).rate if self.optimizers else nan
