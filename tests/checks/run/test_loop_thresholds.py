"""Judgments about a training loop: each threshold with a case on both sides, from facts written by hand."""

from math import inf, nan

import pytest
import torch

from gnomon.checks.run.loop.batches import batch_findings_of_loop
from gnomon.checks.run.loop.facts import (
    FirstNonFiniteLoss,
    GradientClippingFacts,
    LoaderFacts,
    LoopFacts,
    ModelFacts,
    OptimizerFacts,
    ParameterFacts,
    SchedulerFacts,
)
from gnomon.checks.run.loop.gradients import gradient_findings_of_loop
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
    ("steps", "seeds", "found"), [(10, 5, True), (10, 4, False), (20, 10, True), (20, 9, False), (0, 9, False)]
)
def test_seeds_are_set_in_half_of_the_steps(steps, seeds, found):
    assert (kinds.SEED_RESET in rows(batch_findings_of_loop, steps=steps, seeds=seeds)) is found


@pytest.mark.parametrize(
    ("compared", "equal", "length", "found"), [(5, 3, 9, True), (4, 4, 9, False), (6, 3, 9, False), (6, 4, 1, False),
                                               (6, 4, None, True)]
)  # fmt: skip
def test_most_neighboring_batches_are_equal(compared, equal, length, found):
    loader = LoaderFacts(9, length, backwards=9, compared=compared, equal=equal)
    assert (kinds.SAME_BATCH in rows(batch_findings_of_loop, loaders=(loader,))) is found
    if length == 9:
        assert (
            kinds.SAME_BATCH in rows(batch_findings_of_loop, compared_inputs=compared, repeated_inputs=equal)
        ) is found


@pytest.mark.parametrize(
    ("size", "kinds_in_batch", "classes", "found"),
    # A batch of 64 of 10 classes should hold 10 (1 - 0.9^64) = 9.988, with an error of 0.05: 1 + 4.49 is half of the
    # extra classes. A batch of 8 should hold 5.695, with an error of 0.700: 3.35 is half, 3.59 three errors below. A
    # batch of 2 of 4 classes should hold 1.75 and has an error of 0.444: one class in each of 5 batches may be chance.
    [
        (64, 5, 10, True),
        (64, 6, 10, False),
        (8, 3, 10, True),
        (8, 4, 10, False),
        (2, 1, 4, False),
        (1, 1, 10, False),
        (64, 1, 2, True),
    ],
)
def test_sorted_data_show_half_of_the_expected_classes(size, kinds_in_batch, classes, found):
    loader = LoaderFacts(9, 9, backwards=9, labels=((size, kinds_in_batch),) * 5, classes=classes)
    assert (kinds.SORTED_DATA in rows(batch_findings_of_loop, loaders=(loader,))) is found
    few = LoaderFacts(9, 9, backwards=9, labels=((size, kinds_in_batch),) * 4, classes=classes)
    assert kinds.SORTED_DATA not in rows(batch_findings_of_loop, loaders=(few,))


@pytest.mark.parametrize(("batches", "found"), [(14, False), (17, True)])
def test_sorted_data_are_three_standard_errors_below(batches, found):
    """A batch of 2 of 4 classes should hold 1.75, and one batch has the variance 4 q (1 - q) = 0.984 for q = 0.4375:
    three errors of B batches are 2.976 / B^(1/2), which is below 0.75 from B = 15.7 on."""
    loader = LoaderFacts(99, 99, backwards=99, labels=((2, 1),) * batches, classes=4)
    assert (kinds.SORTED_DATA in rows(batch_findings_of_loop, loaders=(loader,))) is found


@pytest.mark.parametrize(("counts", "found"), [((100, 100), True), ((180, 20), True), ((197, 3), False)])
def test_a_rare_class_is_not_expected_in_each_batch(counts, found):
    """In batches of 16 the rarer class is expected with probability 1, 1 - 0.9^16 = 0.81 and 1 - 0.985^16 = 0.21."""
    loader = LoaderFacts(20, 20, backwards=20, labels=((16, 1),) * 20, classes=2, counts=counts)
    assert (kinds.SORTED_DATA in rows(batch_findings_of_loop, loaders=(loader,))) is found


@pytest.mark.parametrize(("p", "n", "batches"), [((0.5, 0.5), 4, 10), ((0.9, 0.1), 16, 5), ((0.1,) * 10, 8, 5)])
def test_mixed_data_are_rarely_called_sorted(p, n, batches):
    """Of 400 orders at random at most 1 % are called sorted."""
    g = torch.Generator().manual_seed(0)
    wrong = 0
    for _ in range(400):
        y = torch.multinomial(torch.tensor(p), n * batches, replacement=True, generator=g)
        labels = tuple((n, len(part.unique())) for part in y.split(n))
        counts = tuple(y.bincount(minlength=len(p)).tolist())
        loader = LoaderFacts(batches, batches, backwards=batches, labels=labels, classes=len(p), counts=counts)
        wrong += kinds.SORTED_DATA in rows(batch_findings_of_loop, loaders=(loader,))
    assert wrong <= 4


@pytest.mark.parametrize("optimizers", [1, 2])
def test_one_negated_loss_is_a_mistake_of_a_single_optimizer(optimizers):
    facts = LoopFacts(negated="NllLoss", optimizers=(OptimizerFacts("SGD", steps=9),) * optimizers)
    assert [f.kind for f in gradient_findings_of_loop(facts)] == (["loss-sign"] if optimizers == 1 else [])


def test_the_expected_number_of_classes_is_a_mean_over_batches():
    loader = LoaderFacts(9, 9, backwards=9, labels=((8, 1),) * 3 + ((4, 3),) * 3, classes=10)
    assert rows(batch_findings_of_loop, loaders=(loader,)) == [kinds.SORTED_DATA]
    (finding,) = batch_findings_of_loop(LoopFacts(loaders=(loader,)))
    assert finding.values["expected"] == pytest.approx(10 * (1 - (0.9**8 + 0.9**4) / 2)) and finding.values["each"] == 2


@pytest.mark.parametrize(("forwards", "found"), [(80, True), (79, False)])
def test_eight_batches_for_each_backward_pass_are_too_many(forwards, found):
    loader = LoaderFacts(99, 99, backwards=10, forwards=forwards)
    assert (kinds.BATCHES_UNUSED in rows(batch_findings_of_loop, loaders=(loader,))) is found


@pytest.mark.parametrize(("backwards", "passes", "found"), [(24, 3, True), (23, 3, False), (24, 2, False)])
def test_a_step_for_each_pass_is_outside_of_the_loop(backwards, passes, found):
    loader = LoaderFacts(99, 99, passes=passes, backwards=backwards)
    optimizers = (OptimizerFacts("Adam", steps=3), OptimizerFacts("SGD"))
    assert (kinds.STEP_OUTSIDE_LOOP in rows(batch_findings_of_loop, loaders=(loader,), optimizers=optimizers)) is found


def scheduled(calls, steps, *, name="StepLR", initial=1.0, **more):
    return SchedulerFacts(name, calls, optimizer_steps=steps, initial=initial, **more)


@pytest.mark.parametrize(("steps", "found"), [(10, True), (9, False)])
def test_a_scheduler_is_judged_after_ten_steps(steps, found):
    assert bool(rows(schedule_findings_of_loop, schedulers=(scheduled(0, steps),))) is found


@pytest.mark.parametrize(("finished", "passes", "found"), [(True, 1, True), (False, 1, False), (False, 2, True)])
def test_a_scheduler_was_never_stepped_after_a_pass(finished, passes, found):
    loaders = (LoaderFacts(9, passes=passes, backwards=9), LoaderFacts(9, passes=9))
    facts = {"schedulers": (scheduled(0, 50),), "loaders": loaders, "finished": finished}
    assert rows(schedule_findings_of_loop, **facts) == ([kinds.SCHEDULER_NEVER] if found else [])


@pytest.mark.parametrize(
    ("calls", "at", "lr", "found"),
    [(90, 50, 0.9e-3, True), (89, 50, 0.9e-3, False), (90, 51, 0.9e-3, False), (90, 50, 1.1e-3, False)],
)
def test_a_scheduler_is_too_fast_if_the_rate_is_gone_in_half_of_the_steps(calls, at, lr, found):
    one = scheduled(calls, 100, rates=((1, 1.0), (at, lr)))
    assert rows(schedule_findings_of_loop, schedulers=(one,)) == ([kinds.SCHEDULER_TOO_FAST] if found else [])


@pytest.mark.parametrize(
    ("name", "calls", "found"),
    [("CosineAnnealingLR", 101, True), ("CosineAnnealingLR", 100, False), ("OneCycleLR", 101, False)],
)
def test_a_cosine_that_runs_twice_its_length_rises_again(name, calls, found):
    one = scheduled(calls, 100, name=name, length=50)
    assert rows(schedule_findings_of_loop, schedulers=(one,)) == ([kinds.SCHEDULER_WRAPPED] if found else [])


@pytest.mark.parametrize(
    ("calls", "steps", "finished", "found"),
    [(49, 50, True, True), (50, 100, True, False), (44, 49, True, False), (49, 60, False, False)],
)
def test_a_schedule_should_reach_half_of_its_length(calls, steps, finished, found):
    one = scheduled(calls if steps > 55 else 40, steps, length=100)
    expected = [kinds.SCHEDULER_TOO_SLOW] if found else []
    assert rows(schedule_findings_of_loop, schedulers=(one,), finished=finished) == expected


def test_a_scheduler_stepped_before_the_optimizer_changes_the_first_rate():
    one = scheduled(20, 100, before=1, at_first_step=0.5)
    assert rows(schedule_findings_of_loop, schedulers=(one,)) == [kinds.SCHEDULER_FIRST]
    assert rows(schedule_findings_of_loop, schedulers=(scheduled(20, 100, before=1, at_first_step=1.0),)) == []


def series(values):
    return tuple(enumerate(values, 1))


@pytest.mark.parametrize(
    ("norms", "found"),
    [([2.0] * 9 + [2001.0], True), ([2.0] * 9 + [1999.0], False), ([2.0] * 8 + [2001.0], False),
     ([1.0, 2.0, 2.0, 3.0, 9.0] + [1.0] * 4 + [inf], True), ([0.0] * 9 + [1.0], False),
     ([2.0, 2.1, 2.2] + [1e-6] * 97, False), ([2.0, 2.1, 2200.0] + [1e-6] * 97, True), ([9.0] + [1e-6] * 97, False),
     ([2.0] * 20 + [4001.0] * 80, True)],
)  # fmt: skip
def test_a_gradient_a_thousand_times_the_usual_one_has_exploded(norms, found):
    assert rows(loss_value_findings, norms=series(norms)) == ([loss_kinds.GRADIENTS_EXPLODED] if found else [])
    if inf in norms:
        (finding,) = loss_value_findings(LoopFacts(norms=series(norms)))
        assert finding.values["usual"] == 2.0 and finding.values["step"] == 10


def falling(by, spread):
    """A hundred losses whose last tenth is lower by some amount; the first and the last tenth alternate."""
    wave = [spread, -spread] * 5
    return [9.0 + w for w in wave] + [9.0 - by / 2] * 80 + [9.0 - by + w for w in wave]


@pytest.mark.parametrize(("by", "found"), [(0.9, True), (1.0, False)])
def test_a_loss_falls_by_two_standard_errors(by, found):
    """Both tenths have the variance 10 / 9, so the error of their difference is (2 / 9)^(1/2) = 0.471; the largest of
    the first three losses on average is 9 + 1/3."""
    losses = series(falling(by - 1 / 3, 1.0))
    assert rows(loss_value_findings, losses=losses, steps=100) == ([loss_kinds.LOSS_NOT_FALLING] if found else [])
    assert rows(loss_value_findings, losses=losses[:-1], steps=100) == []
    several = (OptimizerFacts("Adam", steps=1), OptimizerFacts("Adam", steps=1))
    assert rows(loss_value_findings, losses=losses, steps=100, optimizers=several) == []


@pytest.mark.parametrize(("lower", "found"), [(7, True), (8, False), (10, False)])
def test_a_loss_falls_although_an_early_outlier_makes_its_mean_uncertain(lower, found):
    """As with LBFGS, whose line searches try long steps: 9 lower + 10 of 100 pairs have the lower loss late."""
    losses = [9.0] * 9 + [1e4] + [9.0] * 80 + [8.9] * lower + [9.1] * (10 - lower)
    assert rows(loss_value_findings, losses=series(losses), steps=100) == (
        [loss_kinds.LOSS_NOT_FALLING] if found else []
    )


@pytest.mark.parametrize(("last", "row"), [(3.1, loss_kinds.LOSS_ROSE), (2.9, loss_kinds.LOSS_NOT_FALLING)])
def test_a_loss_three_times_as_large_rose(last, row):
    assert rows(loss_value_findings, losses=series([1.0] * 90 + [last] * 10), steps=100) == [row]
    assert rows(loss_value_findings, losses=series([-1.0] * 50 + [last] * 50), steps=100) == []


@pytest.mark.parametrize("place", ["module", "weights", "inputs", "loss", ""])
def test_the_place_of_the_first_nan_decides_the_row(place):
    (finding,) = loss_value_findings(LoopFacts(not_finite=FirstNonFiniteLoss(3, nan, place, "here", "Linear")))
    rows_of = [
        loss_kinds.NAN_IN_MODULE,
        loss_kinds.NAN_IN_WEIGHTS,
        loss_kinds.NAN_IN_INPUTS,
        loss_kinds.NAN_IN_LOSS,
        loss_kinds.NAN_SEEN_LATE,
    ]
    assert finding.row == dict(zip(["module", "weights", "inputs", "loss", ""], rows_of, strict=True))[place]


@pytest.mark.parametrize(
    ("total", "discarded", "found"), [(9, 5, True), (9, 4, False), (50, 10, True), (51, 10, False)]
)
def test_a_fifth_of_the_gradients_is_thrown_away(total, discarded, found):
    assert (
        kinds.GRADIENTS_DISCARDED in rows(gradient_findings_of_loop, observed_backwards=total, discarded=discarded)
    ) is found


@pytest.mark.parametrize(("total", "leaves", "found"), [(9, 3, True), (9, 2, False), (50, 10, True), (51, 10, False)])
def test_a_fifth_of_the_losses_has_no_graph(total, leaves, found):
    assert (kinds.LEAF_LOSS in rows(gradient_findings_of_loop, observed_backwards=total, leaf_losses=leaves)) is found


@pytest.mark.parametrize(("count", "of", "found"), [(3, 14, True), (2, 3, False), (3, 15, False)])
def test_a_fifth_of_the_steps_is_in_the_wrong_order(count, of, found):
    stale = OptimizerFacts("Adam", steps=of, judged=of, stale=count)
    assert (kinds.GRADIENTS_NOT_CLEARED in rows(gradient_findings_of_loop, backwards=9, optimizers=(stale,))) is found
    empty = OptimizerFacts("Adam", steps=of, sampled=of, empty=count)
    assert (kinds.CLEARED_TOO_EARLY in rows(gradient_findings_of_loop, backwards=9, optimizers=(empty,))) is found


@pytest.mark.parametrize(("steps", "found"), [(3, True), (2, False)])
def test_weights_stay_the_same_for_three_steps(steps, found):
    one = OptimizerFacts("Adam", steps=steps, changed=False)
    assert (kinds.WEIGHTS_UNCHANGED in rows(gradient_findings_of_loop, backwards=9, optimizers=(one,))) is found


@pytest.mark.parametrize(("backwards", "found"), [(3, True), (2, False)])
def test_a_step_is_missing_after_three_backward_passes(backwards, found):
    one = OptimizerFacts("Adam", changed=False)
    assert (kinds.STEP_MISSING in rows(gradient_findings_of_loop, backwards=backwards, optimizers=(one,))) is found
    assert rows(gradient_findings_of_loop, backwards=9, optimizers=(one,), finished=False) == []


@pytest.mark.parametrize(
    ("calls", "misplaced", "norms", "row"),
    [(5, 3, (), kinds.CLIP_WITHOUT_EFFECT), (6, 3, (), None), (3, 2, (), None), (9, 0, (1.1e3,) * 3, kinds.CLIPPED_TO_NOTHING),
     (9, 0, (0.9e3,) * 3, None), (9, 0, (1.1e3,) * 2, None), (9, 0, (1.0, 1.1e3, 1.2e3), kinds.CLIPPED_TO_NOTHING)],
)  # fmt: skip
def test_clipping_is_misplaced_or_leaves_a_thousandth(calls, misplaced, norms, row):
    found = rows(gradient_findings_of_loop, clips=GradientClippingFacts(calls, misplaced, 1.0, norms))
    assert found == ([] if row is None else [row])


@pytest.mark.parametrize(("size", "row"), [(3, kinds.NO_GRADIENT), (2, kinds.UNUSED_PART)])
def test_two_percent_without_gradients_are_a_note(size, row):
    parts = (ParameterFacts("a", 100 - size, 9), ParameterFacts("b", size, 9, missing=9))
    assert rows(
        parameter_findings_of_loop, steps=9, optimizers=(OptimizerFacts("Adam", steps=9, parameters=parts),)
    ) == [row]
    seen = (parts[0], ParameterFacts("b", size, 9, missing=8))
    assert (
        rows(parameter_findings_of_loop, steps=9, optimizers=(OptimizerFacts("Adam", steps=9, parameters=seen),)) == []
    )


@pytest.mark.parametrize(("size", "found"), [(6, True), (5, False)])
def test_five_percent_with_gradients_of_zero_are_reported(size, found):
    parts = (ParameterFacts("a", 100 - size, 9), ParameterFacts("b", size, 9, missing=2, zero=9))
    one = OptimizerFacts("Adam", steps=9, parameters=parts)
    assert rows(parameter_findings_of_loop, steps=9, optimizers=(one,)) == ([kinds.ZERO_GRADIENT] if found else [])


@pytest.mark.parametrize(
    ("rebuilt", "steps", "name", "found"),
    [(3, 6, "Adam", True), (2, 4, "Adam", False), (3, 7, "Adam", False), (3, 0, "Adam", False), (3, 6, "SGD", False)],
)
def test_an_optimizer_is_built_again_every_other_step(rebuilt, steps, name, found):
    one = OptimizerFacts(name, steps=steps, rebuilt=rebuilt)
    assert (kinds.OPTIMIZER_REBUILT in rows(parameter_findings_of_loop, steps=9, optimizers=(one,))) is found


def test_parameters_outside_of_the_optimizer_are_counted_by_numbers():
    missing = (("a", 10), ("b", 20), ("c", 3), ("d", 4))
    (finding,) = parameter_findings_of_loop(LoopFacts(steps=9, models=(ModelFacts("Net", trained=9, missing=missing),)))
    assert finding.row == kinds.MISSING_PARAMETERS and finding.values["size"] == 37
    assert finding.values["names"] == "a, b, c and 1 more"
    parts = (ParameterFacts("x", 7, 9, missing=9), ParameterFacts("y", 8, 9, missing=9))
    other = OptimizerFacts("Adam", steps=9, parameters=parts)
    facts = LoopFacts(steps=9, optimizers=(other,), models=(ModelFacts("Net", trained_in_eval=9, missing=missing),))
    assert [(f.row, f.values["held"]) for f in parameter_findings_of_loop(facts)] == [(kinds.OTHER_MODEL, 15)]


@pytest.mark.parametrize(("count", "found"), [(3, True), (2, False)])
def test_three_calls_in_the_wrong_mode_are_a_mistake(count, found):
    def kinds_of(**more):
        return rows(train_eval_mode_findings, models=(ModelFacts("Net", **{"layers": "Dropout", **more}),))

    assert (kinds.EVAL_MISSING in kinds_of(trained=9, validated=9, in_training=count)) is found
    assert (kinds.TRAIN_MISSING in kinds_of(trained=9, trained_in_eval=count)) is found
    assert (kinds.TRAIN_NEVER in kinds_of(trained_in_eval=count)) is found
    assert (kinds.VALIDATION_WITH_GRADIENTS in kinds_of(trained=9, with_graph=count)) is found
    assert kinds_of(trained=9, in_training=9, layers="") == []
    unused = (LoaderFacts(9, forwards=count), LoaderFacts(9, forwards=9, backwards=9))
    model = ModelFacts("Net", layers="Dropout", trained=9)
    assert rows(train_eval_mode_findings, models=(model,), loaders=unused) == ([kinds.EVAL_MISSING] if found else [])


def _two_groups(fall, first, last):
    """Losses whose first and last tenth have these deviations and whose means differ by ``fall``; 100 losses."""

    def group(center, deviation):
        sides = [center - deviation * (9 / 10) ** 0.5, center + deviation * (9 / 10) ** 0.5] * 5  # stdev of ten numbers
        return sides

    return group(50.0, first) + [50.0] * 80 + group(50.0 - fall, last)


@pytest.mark.parametrize(("first", "last"), [(3.0, 4.0), (4.0, 3.0), (0.3, 0.4)])
def test_a_fall_of_two_standard_errors_is_a_fall(first, last):
    """The error of the difference is sqrt(s1^2 / 10 + s2^2 / 10): 5 / sqrt(10), or a tenth of it."""
    error = (first**2 / 10 + last**2 / 10) ** 0.5
    for factor, found in ((1.9, True), (2.1, False)):
        losses = [(i, loss) for i, loss in enumerate(_two_groups(factor * error, first, last))]
        assert rows(loss_value_findings, losses=tuple(losses), steps=100) == (
            [loss_kinds.LOSS_NOT_FALLING] if found else []
        )


@pytest.mark.parametrize(
    ("idle", "steps", "found"), [(10, 50, True), (9, 45, False), (20, 100, True), (19, 100, False)]
)
def test_a_fifth_of_the_steps_without_a_learning_rate_is_reported(idle, steps, found):
    one = OptimizerFacts("SGD", steps, idle=idle, rates=((1, 0.1), (31, 0.0)))
    assert rows(schedule_findings_of_loop, optimizers=(one,)) == ([kinds.LEARNING_RATE_ZERO] if found else [])


@pytest.mark.parametrize(("shrinkage", "found"), [(0.05, True), (0.049, False)])
def test_weight_decay_of_a_twentieth_is_reported(shrinkage, found):
    one = OptimizerFacts("SGD", 9, shrinkage=shrinkage)
    assert rows(parameter_findings_of_loop, steps=9, optimizers=(one,)) == ([kinds.WEIGHT_DECAY_LARGE] if found else [])


@pytest.mark.parametrize(
    ("operations", "retained", "found"),
    [
        ((100, 204, 308), 5, True), ((100, 205, 308), 5, False), ((100, 204, 309), 5, False), ((100, 100, 100), 9, False),
        ((100, 204, 308), 4, False), ((100, 204), 9, False), ((100, 196, 292), 9, True), ((100, 195, 292), 9, False),
    ],
)  # fmt: skip
def test_graphs_of_all_earlier_steps_have_two_and_three_times_the_operations(operations, retained, found):
    reported = rows(gradient_findings_of_loop, operations=operations, retained=retained, observed_backwards=10)
    assert reported == ([kinds.GRAPH_KEPT] if found else [])


@pytest.mark.parametrize(("repeated", "steps", "found"), [(3, 14, True), (3, 15, False), (2, 4, False)])
def test_repeated_steps_are_more_than_a_fifth(repeated, steps, found):
    one = OptimizerFacts("SGD", steps, repeated=repeated, changed=True)
    assert rows(gradient_findings_of_loop, optimizers=(one,), backwards=9) == ([kinds.STEP_REPEATED] if found else [])


def test_only_loaders_of_the_training_data_are_reported():
    training, same, other = LoaderFacts(9, backwards=9, data=1), LoaderFacts(9, data=1), LoaderFacts(9, data=2)
    unknown, model = LoaderFacts(9), (ModelFacts("Net", trained=9, validated=5),)

    def found(*loaders, models=model):
        return kinds.VALIDATION_ON_TRAINING_DATA in rows(
            batch_findings_of_loop, loaders=(training, *loaders), models=models
        )

    assert found(same) and not found() and not found(same, other) and not found(same, unknown)
    assert not found(same, models=(ModelFacts("Net", trained=9, validated=4),))


def test_a_copy_that_is_validated_in_place_of_the_trained_model():
    net = ModelFacts("Net", size=7, trained=3)

    def found(**changes):
        other = ModelFacts("Net", **({"size": 7, "validated": 3, "unchanged": True} | changes))
        return kinds.VALIDATED_COPY in rows(parameter_findings_of_loop, steps=9, models=(net, other))

    assert found()
    assert not any(found(**change) for change in ({"size": 8}, {"validated": 2}, {"unchanged": False}, {"trained": 1}))
