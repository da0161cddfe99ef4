"""Converts what was recorded about a user's training script to the record that the checks read."""

from collections.abc import Sequence
from math import nan
from typing import Any

from gnomon.checks.run.loop.facts import (
    FirstNonFiniteLoss,
    GradientClippingFacts,
    LoaderFacts,
    LoopFacts,
    ModelFacts,
    OptimizerFacts,
    ParameterFacts,
    PrecisionFacts,
    SchedulerFacts,
)
from gnomon.checks.run.loop.guessing import is_loss_of_guessing, late_value
from gnomon.examination.script.precision import PrecisionRecord
from gnomon.examination.script.recorder import LoopRecorder
from gnomon.examination.script.seen import LoaderRecord, ModelRecord, OptimizerRecord, SchedulerRecord

__all__ = ["loop_facts_of_recorder"]


def loop_facts_of_recorder(recorder: LoopRecorder, *, finished: bool) -> LoopFacts:
    """Converts what was recorded about a training script to a `LoopFacts` object, which the checks read.

    >>> loop_facts_of_recorder(LoopRecorder(), finished=True).steps
    0
    """
    recorder.safely("losses", recorder.read_deferred)
    names = _parameter_names(recorder)
    largest = recorder.largest[1]() if recorder.largest[1] is not None else None
    for model in recorder.models.roots():
        model.with_graph += model.pending_eval if model.trained else 0
        model.pending_eval = 0
    optimizers = [*recorder.retired, *recorder.optimizers.values()]
    for seen in optimizers:
        recorder.safely("weights", seen.look_for_change)
    details = recorder.details
    clips = GradientClippingFacts(
        recorder.clip_calls, recorder.clip_misplaced, recorder.clip_limit, tuple(recorder.clip_norms),
        details.value_limit, tuple(details.values_clipped),
    )  # fmt: skip
    late_loss = late_value(recorder.losses.pairs)
    return LoopFacts(
        steps=recorder.steps,
        backwards=recorder.backwards,
        observed_backwards=recorder.observed_backwards,
        leaf_losses=recorder.leaf_losses,
        first_leaf=recorder.first_leaf,
        graphless=recorder.graphless,
        negated=recorder.graphs.common(recorder.graphs.negated),
        applied_twice=recorder.graphs.common(recorder.graphs.applied_twice),
        loss_mistake=recorder.graphs.common(recorder.graphs.mistakes),
        operations=tuple(recorder.graphs.operations),
        retained=recorder.retained,
        restored_from_itself=recorder.models.restored_from_itself,
        held_graphs=details.graphs.held,
        subtracts_penalty=details.subtracts_penalty,
        mean_loss=details.mean_loss,
        summed_loss=details.summed_loss,
        short_lived=recorder.models.most_short_lived(),
        changed_inputs=details.inputs.changed,
        changes_seen=details.inputs.seen,
        rate_attribute=details.rate_attribute,
        unmatched=details.unmatched,
        precision=_precision(details.precision),
        discarded=recorder.discarded,
        losses=recorder.losses.pairs,
        norms=recorder.norms.pairs,
        largest=names.get(id(largest), "a parameter"),
        optimizers=tuple(_optimizer(one, names) for one in optimizers),
        schedulers=tuple(_scheduler(one) for one in recorder.all_schedulers),
        models=tuple(_model(one, recorder) for one in recorder.models.roots()),
        loaders=tuple(_loader(one, recorder.batches.seen, late_loss) for one in recorder.batches.seen),
        clips=clips,
        compared_inputs=recorder.batches.compared,
        repeated_inputs=recorder.batches.repeated,
        seeds=recorder.seeds,
        seed=recorder.seed,
        not_finite=None if recorder.not_finite is None else FirstNonFiniteLoss(*recorder.not_finite),
        finished=finished,
    )


def _parameter_names(recorder: LoopRecorder) -> dict[int, str]:
    modules = [module for model in recorder.models.roots() if (module := model.ref()) is not None]
    return {id(p): name for module in modules for name, p in module.named_parameters()}


def _optimizer(seen: OptimizerRecord, names: dict[int, str]) -> OptimizerFacts:
    living: list[Any] = [ref() for ref in seen.parameters]
    parameters = tuple(
        ParameterFacts(names.get(id(p), f"parameter {i}"), size, seen.sampled, missing, zero)
        for i, (p, size, missing, zero) in enumerate(zip(living, seen.sizes, seen.missing, seen.zero, strict=True))
    )
    alive = [p for p in living if p is not None]
    frozen = bool(alive) and not any(p.requires_grad for p in alive)
    changed = None if frozen and not seen.changed else seen.changed
    return OptimizerFacts(
        seen.name, seen.steps, seen.judged, seen.stale, seen.sampled, seen.empty, changed, seen.rates.pairs,
        parameters, seen.rebuilt, seen.idle, seen.repeated, seen.shrinkage,
        seen.rebuilt_alike, seen.movement,
    )  # fmt: skip


def _scheduler(seen: SchedulerRecord) -> SchedulerFacts:
    steps = seen.optimizer.steps if seen.optimizer is not None else 0
    rates = seen.optimizer.rates.pairs if seen.optimizer is not None else ()
    first = nan if seen.at_first_step is None else seen.at_first_step
    return SchedulerFacts(
        seen.name,
        seen.calls,
        seen.before,
        seen.length,
        steps,
        seen.initial,
        first,
        rates,
        seen.late_calls,
        seen.mode,
        tuple(seen.metrics),
    )


def _model(seen: ModelRecord, recorder: LoopRecorder) -> ModelFacts:
    module = seen.ref()
    parts = [] if module is None else [id(part) for part in module.modules()]
    return ModelFacts(
        seen.kind, seen.layers, seen.trained, seen.trained_in_eval, seen.first_in_eval, seen.validated,
        seen.in_training, seen.first_in_training, seen.with_graph, any(part in recorder.loaded for part in parts),
        seen.missing, seen.size, bool(seen.unchanged), seen.dropped_in_eval, seen.single_examples,
        seen.random_frozen or (), seen.hand_judged, seen.hand_stale,
    )  # fmt: skip


def _loader(seen: LoaderRecord, loaders: Sequence[LoaderRecord], late_loss: float) -> LoaderFacts:
    trained = [one.keys for one in loaders if one.backwards and one is not seen]
    share = max((seen.keys.share_in(keys) for keys in trained), default=0.0)
    stuck = seen.backwards and is_loss_of_guessing(late_loss, tuple(seen.classes.values()))
    related = seen.sample.are_related() if stuck else None
    return LoaderFacts(
        seen.batches, seen.length, seen.passes, seen.single, seen.backwards, seen.forwards, seen.compared, seen.equal,
        seen.inputs_compared, seen.inputs_equal,
        tuple(seen.labels), len(seen.classes), tuple(seen.classes.values()), seen.data_number, seen.in_order,
        max(seen.longest, seen.in_pass), seen.steps_train, seen.steps_eval, seen.returns, len(seen.keys.keys), share,
        related, *seen.numbers.mean_and_deviation(),
    )  # fmt: skip


def _precision(seen: PrecisionRecord) -> PrecisionFacts:
    return PrecisionFacts(seen.passes, seen.half_passes, seen.scaled, seen.clipped_scaled, seen.stepped_scaled)
