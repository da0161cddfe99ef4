"""Judgments about single facts of a training loop: each threshold with a case on both sides, from facts by hand."""

from math import log

import pytest

from gnomon.checks.run.loop.batches import batch_findings_of_loop
from gnomon.checks.run.loop.facts import (
    GradientClippingFacts,
    LoaderFacts,
    LoopFacts,
    ModelFacts,
    OptimizerFacts,
    PrecisionFacts,
    SchedulerFacts,
)
from gnomon.checks.run.loop.gradients import gradient_findings_of_loop
from gnomon.checks.run.loop.guessing import entropy_of_labels
from gnomon.checks.run.loop.modes import train_eval_mode_findings
from gnomon.checks.run.loop.parameters import parameter_findings_of_loop
from gnomon.checks.run.loop.schedules import schedule_findings_of_loop
from gnomon.checks.run.loop.values import loss_value_findings
from gnomon.findings import loop as kinds
from gnomon.findings import loop_losses as loss_kinds


def rows(judge, **facts):
    """The rows of the table that a judgment states."""
    return [finding.row for finding in judge(LoopFacts(**facts))]


@pytest.mark.parametrize(
    ("passes", "half", "scaled", "found"), [(6, 3, 0, True), (4, 2, 0, False), (7, 3, 0, False), (6, 6, 1, False)]
)
def test_half_of_the_passes_run_in_float16_without_a_scaler(passes, half, scaled, found):
    precision = PrecisionFacts(passes=passes, half_passes=half, scaled=scaled)
    assert (kinds.HALF_WITHOUT_SCALER in rows(gradient_findings_of_loop, steps=9, precision=precision)) is found


@pytest.mark.parametrize(("count", "found"), [(3, True), (2, False)])
def test_scaled_gradients_are_used_three_times(count, found):
    precision = PrecisionFacts(clipped_scaled=count, stepped_scaled=count)
    stated = rows(gradient_findings_of_loop, steps=9, precision=precision)
    assert (kinds.CLIP_BEFORE_UNSCALE in stated) is found and (kinds.SCALER_BYPASSED in stated) is found


@pytest.mark.parametrize(
    ("judged", "backwards", "batches", "stale", "found"),
    # Steps are judged from the second one on: 9 judged steps and 30 backward passes are 3 for each step.
    [(9, 30, 30, 0, True), (9, 29, 29, 0, False), (9, 30, 27, 0, True), (9, 30, 26, 0, False), (9, 30, 30, 1, False),
     (2, 30, 30, 0, True), (1, 30, 30, 0, False)],
)  # fmt: skip
def test_three_gradients_are_summed_for_each_step(judged, backwards, batches, stale, found):
    def stated(name="SGD", mean_loss="NllLoss"):
        optimizer = OptimizerFacts(name, steps=judged + 1, judged=judged, stale=stale, changed=True)
        loader = LoaderFacts(batches, 99, backwards=backwards)
        facts = {"backwards": backwards, "observed_backwards": backwards, "mean_loss": mean_loss}
        return rows(gradient_findings_of_loop, optimizers=(optimizer,), loaders=(loader,), **facts)

    assert (kinds.NOT_AVERAGED in stated()) is found
    assert kinds.NOT_AVERAGED not in stated("Adam") and kinds.NOT_AVERAGED not in stated(mean_loss="")


@pytest.mark.parametrize(
    ("shares", "found"), [((0.95, 0.95, 0.1), True), ((0.95, 0.1, 0.1), False), ((0.95, 0.95), False)]
)
def test_most_gradients_are_cut(shares, found):
    clips = GradientClippingFacts(value_limit=1e-6, values_clipped=shares)
    assert (kinds.VALUES_CLIPPED_TO_NOTHING in rows(gradient_findings_of_loop, clips=clips)) is found


@pytest.mark.parametrize(("count", "found"), [(3, True), (2, False)])
def test_dropout_acts_in_three_calls_in_eval_mode(count, found):
    model = ModelFacts("Net", trained=9, dropped_in_eval=count)
    assert (kinds.DROPOUT_IN_EVAL in rows(train_eval_mode_findings, models=(model,))) is found
    only_eval = ModelFacts("Net", trained_in_eval=9, dropped_in_eval=count)
    assert kinds.DROPOUT_IN_EVAL not in rows(train_eval_mode_findings, models=(only_eval,))


@pytest.mark.parametrize(("trained", "single", "found"), [(20, 18, True), (20, 17, False), (8, 9, True), (8, 8, False)])
def test_nine_of_ten_batches_hold_one_example(trained, single, found):
    model = ModelFacts("Net", "BatchNorm2d", trained=trained, single_examples=single)
    assert (kinds.BATCH_NORM_OF_ONE in rows(train_eval_mode_findings, models=(model,))) is found


@pytest.mark.parametrize(
    ("train", "validation", "found"),
    [((30, 0, 0), (0, 3, 1), True), ((30, 0, 0), (0, 2, 1), False), ((30, 0, 0), (0, 3, 0), False),
     ((30, 1, 0), (0, 3, 1), False), ((30, 0, 0), (1, 3, 1), False)],
)  # fmt: skip
def test_three_steps_are_made_in_validation(train, validation, found):
    loaders = tuple(
        LoaderFacts(30, 9, backwards=9, steps_train=one, steps_eval=other, returns=returns)
        for one, other, returns in (train, validation)
    )
    assert (kinds.STEP_IN_VALIDATION in rows(train_eval_mode_findings, loaders=loaders)) is found


@pytest.mark.parametrize(
    ("rebuilt", "alike", "passes", "data", "found"),
    [(3, 2, 3, 1, True), (2, 1, 2, 1, False), (3, 1, 3, 1, False), (3, 2, 4, 1, False), (3, 2, 3, None, False)],
)
def test_an_optimizer_is_built_for_each_pass(rebuilt, alike, passes, data, found):
    def stated(name):
        optimizer = OptimizerFacts(name, steps=30, rebuilt=rebuilt, rebuilt_alike=alike)
        loader = LoaderFacts(30, 10, passes, backwards=30, data=data)
        return rows(parameter_findings_of_loop, steps=30, optimizers=(optimizer,), loaders=(loader,))

    assert (kinds.OPTIMIZER_REBUILT_IN_EPOCH in stated("Adam")) is found
    assert kinds.OPTIMIZER_REBUILT_IN_EPOCH not in stated("SGD")


@pytest.mark.parametrize(("count", "passes", "found"), [(3, 3, True), (2, 2, False), (3, 6, False)])
def test_a_model_is_built_for_each_pass(count, passes, found):
    loader = LoaderFacts(30, 10, passes, backwards=30, data=1)
    models = (ModelFacts("Net", trained=10, size=500),) * count
    assert (
        kinds.MODEL_REBUILT in rows(parameter_findings_of_loop, steps=30, models=models, loaders=(loader,))
    ) is found


@pytest.mark.parametrize(("name", "size", "found"), [("Average", 100, True), ("Average", 99, False), ("Net", 9, True)])
def test_a_copy_in_another_class_has_a_hundred_parameters(name, size, found):
    models = (ModelFacts("Net", trained=9, size=size), ModelFacts(name, validated=9, size=size, unchanged=True))
    assert (kinds.VALIDATED_COPY in rows(parameter_findings_of_loop, steps=9, models=models)) is found


@pytest.mark.parametrize(
    ("longest", "length", "passes", "in_order", "found"),
    [(5, 9, 3, True, True), (9, 9, 3, True, False), (5, 9, 2, True, False), (5, 9, 3, False, False),
     (1, 9, 3, True, False), (5, None, 3, True, False)],
)  # fmt: skip
def test_all_passes_end_early(longest, length, passes, in_order, found):
    loader = LoaderFacts(9, length, passes, backwards=9, in_order=in_order, longest=longest)
    assert (kinds.EPOCH_CUT_SHORT in rows(batch_findings_of_loop, loaders=(loader,))) is found


@pytest.mark.parametrize(
    ("examples", "share", "found"), [(50, 0.9, True), (49, 0.9, False), (50, 0.89, False), (50, 1.0, True)]
)
def test_nine_of_ten_validation_examples_are_trained_on(examples, share, found):
    model = ModelFacts("Net", trained=9, validated=9)
    loaders = (
        LoaderFacts(9, 9, backwards=9, data=0),
        LoaderFacts(9, 9, data=1, examples=examples, share_trained=share),
    )
    stated = rows(batch_findings_of_loop, models=(model,), loaders=loaders)
    assert (kinds.VALIDATION_ON_TRAINING_DATA in stated) is found


@pytest.mark.parametrize(("changed", "seen", "found"), [(3, 3, True), (2, 2, False), (4, 5, True), (3, 4, False)])
def test_most_inputs_that_change_in_place_stay_similar(changed, seen, found):
    stated = rows(batch_findings_of_loop, changed_inputs=changed, changes_seen=seen)
    assert (kinds.DATA_CHANGED in stated) is found


@pytest.mark.parametrize(("equal", "found"), [(10, True), (9, False)])
def test_nine_of_ten_steps_use_the_input_of_the_step_before(equal, found):
    loader = LoaderFacts(99, 9, backwards=9, inputs_compared=10, inputs_equal=equal)
    assert (kinds.SAME_BATCH in rows(batch_findings_of_loop, loaders=(loader,))) is found


def test_a_rate_at_another_place_is_named():
    (finding,) = schedule_findings_of_loop(LoopFacts(rate_attribute="optimizer.lr"))
    assert finding.row is kinds.RATE_NOT_APPLIED and "optimizer.lr" in finding.message


@pytest.mark.parametrize(
    ("losses", "loss", "passes", "related", "found"),
    # Labels of 3 and 1 examples have the entropy log 4 - 0.75 log 3 = 0.5623, and 97 % of it are 0.5455.
    [(30, 0.55, 3, False, True), (29, 0.55, 3, False, False), (30, 0.54, 3, False, False), (30, 0.55, 2, False, False),
     (30, 0.55, 3, True, False), (30, 0.55, 3, None, False)],
)  # fmt: skip
def test_the_loss_stays_at_the_entropy_of_the_labels(losses, loss, passes, related, found):
    loader = LoaderFacts(99, 9, passes, backwards=9, counts=(30, 10), related=related)
    facts = {"losses": tuple((i, loss) for i in range(losses)), "loaders": (loader,)}
    assert (loss_kinds.LOSS_OF_GUESSING in rows(loss_value_findings, mean_loss="NllLoss", **facts)) is found
    assert loss_kinds.LOSS_OF_GUESSING not in rows(loss_value_findings, mean_loss="MseLoss", **facts)
    assert entropy_of_labels((30, 10)) == pytest.approx(log(4) - 0.75 * log(3))


@pytest.mark.parametrize(
    ("steps", "movement", "found"),
    [(30, 9e-5, True), (29, 9e-5, False), (30, 1.1e-4, False), (30, None, False), (30, 0.0, False)],
)
def test_weights_hardly_move_in_thirty_steps(steps, movement, found):
    optimizer = OptimizerFacts("Adam", steps=steps, movement=movement, rates=((1, 1e-9),))
    assert (kinds.HARDLY_MOVED in rows(parameter_findings_of_loop, steps=steps, optimizers=(optimizer,))) is found


@pytest.mark.parametrize(("count", "steps", "found"), [(5, 10, True), (4, 5, False), (5, 11, False)])
def test_layers_of_one_call_appear_in_half_of_the_steps(count, steps, found):
    stated = rows(parameter_findings_of_loop, steps=steps, short_lived=("Linear", 100, count))
    assert (kinds.LAYER_OF_ONE_CALL in stated) is found


@pytest.mark.parametrize(("judged", "stale", "found"), [(4, 3, True), (4, 2, False), (2, 2, False)])
def test_most_gradients_are_not_cleared_by_hand(judged, stale, found):
    model = ModelFacts("Net", trained=9, hand_judged=judged, hand_stale=stale)
    assert (kinds.NOT_CLEARED_BY_HAND in rows(parameter_findings_of_loop, models=(model,))) is found


@pytest.mark.parametrize(("late", "found"), [(2, True), (1, False)])
def test_a_schedule_is_stepped_after_its_optimizer_was_replaced(late, found):
    schedule = SchedulerFacts("StepLR", 3, optimizer_steps=30, late_calls=late)
    assert (kinds.SCHEDULER_OF_ANOTHER in rows(schedule_findings_of_loop, steps=30, schedulers=(schedule,))) is found


@pytest.mark.parametrize(
    ("mode", "metrics", "found"),
    [("max", (5, 4, 3, 2, 1), True), ("min", (5, 4, 3, 2, 1), False), ("max", (5, 4, 3, 2), False),
     ("max", (4, 5, 3, 2, 1), False), ("max", (5, 4, 3, 2, 2.5), True), ("max", (5, 4, 3, 3.5, 3.7), False)],
)  # fmt: skip
def test_a_metric_falls_from_its_first_value_on(mode, metrics, found):
    schedule = SchedulerFacts("ReduceLROnPlateau", 5, optimizer_steps=30, mode=mode, metrics=metrics)
    stated = rows(schedule_findings_of_loop, steps=30, schedulers=(schedule,))
    assert (kinds.SCHEDULER_WRONG_DIRECTION in stated) is found


@pytest.mark.parametrize(
    ("mean", "deviation", "found"),
    [(0.0, 4.1, True), (0.0, 3.9, False), (0.0, 0.9, True), (0.0, 1.1, False), (2.1, 2.0, True), (1.9, 2.0, False)],
)
def test_validation_inputs_have_another_scale(mean, deviation, found):
    training = LoaderFacts(9, 9, backwards=9, input_mean=0.0, input_deviation=2.0)
    other = LoaderFacts(9, 9, input_mean=mean, input_deviation=deviation)
    assert (kinds.VALIDATION_INPUTS_DIFFER in rows(batch_findings_of_loop, loaders=(training, other))) is found
    assert kinds.VALIDATION_INPUTS_DIFFER not in rows(batch_findings_of_loop, loaders=(training, other, other))


@pytest.mark.parametrize(
    ("norms", "used", "found"),
    [((0.0,) * 3, 1.0, True), ((0.0,) * 3, 0.0, False), ((0.0,) * 2, 1.0, False), ((0.0, 0.1, 0.0), 1.0, False)],
)
def test_clipping_finds_no_gradients(norms, used, found):
    clips = GradientClippingFacts(calls=len(norms), limit=1.0, norms=norms)
    stated = rows(gradient_findings_of_loop, clips=clips, norms=((1, used), (2, used)))
    assert (kinds.NOTHING_CLIPPED in stated) is found


@pytest.mark.parametrize(
    ("name", "summed", "last", "found"),
    [
        ("SGD", "MseLoss", 9.0, True),
        ("Adam", "MseLoss", 9.0, False),
        ("SGD", "", 9.0, False),
        ("SGD", "MseLoss", 0.1, False),
    ],
)
def test_a_summed_loss_is_named_if_training_fails(name, summed, last, found):
    losses = tuple((i, 1.0 if i < 50 else last) for i in range(100))
    facts = {"losses": losses, "summed_loss": summed, "optimizers": (OptimizerFacts(name, steps=100),), "steps": 100}
    assert (loss_kinds.LOSS_SUMMED in rows(loss_value_findings, **facts)) is found
