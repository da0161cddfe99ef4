"""The recorder of training loops against counts, norms and thresholds worked out by hand."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gnomon.examination.script import not_finite
from gnomon.examination.script.batches import MAX_BATCHES_READ, BatchRecorder, fingerprint
from gnomon.examination.script.collect import loop_facts_of_recorder
from gnomon.examination.script.install import record_training_loop
from gnomon.examination.script.models import ModelRecorder
from gnomon.examination.script.not_finite import ModuleCallTrail, locate_first_not_finite
from gnomon.examination.script.ranks import compare_ranks
from gnomon.examination.script.recorder import LoopRecorder
from gnomon.examination.script.seen import OptimizerRecord, is_zero, some_weights


def one_step(recorder, optimizer, gradients):
    """A step of a recorder with given gradients of the first group."""
    for p, gradient in zip(optimizer.param_groups[0]["params"], gradients, strict=True):
        p.grad = gradient
    recorder.note_step(optimizer)


def test_norms_of_gradients_are_euclidean_and_the_largest_names_its_parameter():
    a, b = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2))
    recorder, optimizer = LoopRecorder(), torch.optim.SGD([a, b], 0.1)
    recorder.optimizer_built(optimizer)
    one_step(recorder, optimizer, [torch.tensor([3.0, 0.0]), torch.tensor([0.0, 4.0])])
    one_step(recorder, optimizer, [torch.tensor([0.5, 0.0]), torch.tensor([0.0, 0.0])])
    one_step(recorder, optimizer, [torch.tensor([5.0, 0.0]), None])
    assert recorder.norms.pairs == ((1, 5.0), (2, 0.5), (3, 5.0))
    assert recorder.largest[0] == 5.0 and recorder.largest[1]() is b  # equal norms later do not replace it
    (seen,) = recorder.optimizers.values()
    assert (seen.zero, seen.missing, seen.sampled, seen.empty) == ([0, 1], [0, 1], 3, 0)
    one_step(recorder, optimizer, [torch.zeros(2), torch.zeros(2)])
    one_step(recorder, optimizer, [None, None])
    assert (seen.zero, seen.missing, seen.empty) == ([1, 2], [1, 2], 2)
    one_step(recorder, optimizer, [torch.tensor([float("inf"), 0.0]), torch.tensor([9.0, 0.0])])
    assert len(recorder.norms.pairs) == 4  # the sixth step is not looked at


def test_after_five_steps_every_twentieth_is_looked_at():
    w = nn.Parameter(torch.zeros(1))
    recorder, optimizer = LoopRecorder(), torch.optim.SGD([w], 0.1)
    for _ in range(65):
        one_step(recorder, optimizer, [torch.ones(1)])
    assert [step for step, _ in recorder.norms.pairs] == [1, 2, 3, 4, 5, 10, 20, 40, 60]


def test_the_first_gradient_that_is_not_finite_stays_the_largest():
    a, b = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))
    recorder, optimizer = LoopRecorder(), torch.optim.SGD([a, b], 0.1)
    one_step(recorder, optimizer, [torch.ones(1), torch.full((1,), float("nan"))])
    one_step(recorder, optimizer, [torch.full((1,), float("inf")), torch.ones(1)])
    assert recorder.largest[1]() is b


def test_rates_are_kept_where_they_change_also_in_a_pause():
    w = nn.Parameter(torch.zeros(1))
    recorder, optimizer = LoopRecorder(), torch.optim.SGD([w], 0.5)
    for rate in (0.5, 0.5, 0.25, 0.25, 0.125):
        optimizer.param_groups[0]["lr"] = rate
        recorder.count_step(optimizer) if rate == 0.25 else recorder.note_step(optimizer)
    (seen,) = recorder.optimizers.values()
    assert seen.rates.pairs == ((1, 0.5), (3, 0.25), (5, 0.125)) and recorder.steps == seen.steps == 5


def test_an_optimizer_built_again_keeps_its_counts():
    w = nn.Parameter(torch.zeros(1))
    recorder = LoopRecorder()
    optimizers = [torch.optim.SGD([w], 0.1) for _ in range(3)]  # kept alive: identities differ
    for optimizer in optimizers:
        one_step(recorder, optimizer, [torch.ones(1)])
    (seen,) = recorder.optimizers.values()
    assert (seen.rebuilt, seen.steps, seen.sampled, recorder.steps) == (3, 3, 3, 3)


def test_parameters_added_later_were_missing_until_then():
    a, b = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(3))
    recorder, optimizer = LoopRecorder(), torch.optim.SGD([a], 0.1)
    one_step(recorder, optimizer, [torch.ones(2)])
    optimizer.add_param_group({"params": [b]})
    one_step(recorder, optimizer, [torch.ones(2)])
    (seen,) = recorder.optimizers.values()
    assert (seen.sizes, seen.missing, seen.zero, seen.sampled) == ([2, 3], [0, 2], [0, 0], 2)


@pytest.mark.parametrize(("spent", "active"), [(0.29, True), (0.31, False)])
def test_recording_pauses_above_its_share_and_goes_on_at_half_of_it(spent, active):
    clock = SimpleNamespace(now=10.0)
    recorder = LoopRecorder(limit=0.03, clock=lambda: clock.now)
    recorder.hook_calls, recorder.hook_seconds = 100, 0.001
    recorder.spent = spent - 0.1
    recorder.look_at_clock()
    assert recorder.active is active and recorder.pauses == (not active)
    clock.now = spent / 0.0151
    recorder.look_at_clock()
    assert recorder.active is active
    clock.now = spent / 0.0149
    recorder.look_at_clock()
    assert recorder.active


def test_nothing_pauses_in_the_first_moments():
    clock = SimpleNamespace(now=0.19)
    recorder = LoopRecorder(clock=lambda: clock.now, spent=0.1)
    recorder.look_at_clock()
    assert recorder.active
    clock.now = 0.21
    recorder.look_at_clock()
    assert not recorder.active


def test_time_of_the_recorder_is_counted_and_errors_stay_inside():
    times = iter((1.0, 3.5))
    recorder = LoopRecorder(clock=lambda: next(times))
    recorder.hook_calls, recorder.hook_seconds = 4, 0.25
    recorder.safely("mine", lambda: 1 / 0)
    assert recorder.total_spent == 3.5 and recorder.failures == {"mine": "ZeroDivisionError: division by zero"}


def test_losses_of_other_devices_keep_their_steps():
    recorder = LoopRecorder()
    recorder.deferred += [(3, torch.tensor(2.0)), (4, torch.tensor([float("inf")])), (5, torch.tensor(float("nan")))]
    recorder.read_deferred()
    assert recorder.losses.pairs[0] == (3, 2.0) and recorder.not_finite[:2] == (4, float("inf"))
    assert recorder.deferred == []


def test_what_a_backward_pass_says_about_the_loss():
    recorder, w = LoopRecorder(steps=6), nn.Parameter(torch.ones(()))
    recorder.before_backward(torch.ones(()))
    recorder.steps = 8
    recorder.before_backward([w])
    recorder.before_backward(w * torch.ones(2))
    recorder.before_backward(torch.ones(()))
    assert (recorder.graphless, recorder.leaf_losses, recorder.first_leaf) == (6, 1, 9)
    assert recorder.losses.pairs == ((7, 1.0), (9, 1.0), (9, 1.0)) and recorder.backwards == 4


def test_a_loop_of_one_optimizer_has_its_counts():
    """Gradients are cleared before every second step; one backward pass is thrown away."""
    w = nn.Parameter(torch.ones(2))
    recorder = LoopRecorder(limit=1.0)
    with record_training_loop(recorder):
        optimizer = torch.optim.SGD([w], 0.1)
        for step in range(4):
            (w * w).sum().backward()
            optimizer.step()
            if step % 2 == 0:
                optimizer.zero_grad()
        (w * w).sum().backward()
        optimizer.zero_grad()
        (w * w).sum().backward()
        torch.nn.utils.clip_grad_norm_([w], 0.5)
        optimizer.step()
        torch.nn.utils.clip_grad_norm_([w], 0.5)
        torch.manual_seed(11)
    facts = loop_facts_of_recorder(recorder, finished=True)
    (seen,) = facts.optimizers
    assert (seen.judged, seen.stale, facts.discarded, facts.steps, facts.backwards) == (4, 1, 1, 5, 6)
    assert (facts.clips.calls, facts.clips.misplaced, facts.clips.limit) == (2, 1, 0.5)
    assert facts.clips.norms[1] == pytest.approx(min(0.5, facts.clips.norms[0]), rel=1e-5)
    assert (facts.seeds, facts.seed) == (1, 11)


def test_schedules_count_calls_before_the_first_step():
    w = nn.Parameter(torch.ones(1))
    recorder = LoopRecorder(limit=1.0)
    with record_training_loop(recorder), pytest.warns(UserWarning, match="lr_scheduler"):
        optimizer = torch.optim.SGD([w], 1.0)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=7)
        schedule.step()
        (w * w).sum().backward()
        optimizer.step()
        schedule.step()
    (known,) = loop_facts_of_recorder(recorder, finished=True).schedulers
    assert (known.calls, known.before, known.length, known.optimizer_steps, known.initial) == (2, 1, 7, 1, 1.0)
    assert known.at_first_step == pytest.approx((1 + torch.cos(torch.tensor(torch.pi / 7)).item()) / 2)


def test_validation_and_training_calls_are_told_apart():
    net, models = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)), ModelRecorder()
    for mode, graph in ((True, True), (False, True), (False, False), (True, False)):
        net.train(mode)
        models.note_call(net, graph=graph, step=5)
    models.note_backward(6)  # the last call with a graph was in eval mode
    (seen,) = models.roots()
    assert (seen.validated, seen.in_training, seen.first_in_training) == (2, 1, 5)
    assert (seen.trained, seen.trained_in_eval, seen.first_in_eval, seen.with_graph) == (0, 1, 6, 0)
    net.eval()
    models.note_call(net, graph=True, step=6)
    net.train()
    models.note_call(net, graph=True, step=6)
    models.note_backward(7)
    assert (seen.trained, seen.trained_in_eval, seen.with_graph, seen.size) == (1, 1, 1, 6)


def test_a_few_weights_are_spread_over_a_parameter_and_parameters_over_a_network():
    assert some_weights(torch.arange(16.0)) == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]
    assert some_weights(torch.arange(17.0)) == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]
    assert some_weights(torch.arange(3.0)) == [0.0, 1.0, 2.0]
    assert some_weights(torch.tensor([3 + 4j])) == [5.0] and some_weights(torch.zeros(0)) == []
    seen = OptimizerRecord.of(torch.optim.SGD([nn.Parameter(torch.zeros(1)) for _ in range(96)], 0.1), 0)
    assert [i for i, _ in seen.weights] == list(range(0, 96, 3))
    assert is_zero(torch.zeros(2)) and not is_zero(torch.tensor([0.0, -1.0]))


def test_the_probe_is_the_smallest_parameter_with_a_gradient():
    parameters = [nn.Parameter(torch.zeros(n)) for n in (1, 5, 3, 4)]
    seen = OptimizerRecord.of(torch.optim.SGD(parameters, 0.1), 0)
    assert seen.find_probe() is None
    parameters[0].grad = torch.zeros(1)
    for p in parameters[1:]:
        p.grad = torch.ones_like(p)
    assert seen.find_probe() is parameters[2]


def test_batches_are_compared_by_numbers_spread_over_them():
    assert fingerprint(torch.arange(48.0)) == tuple(float(2 * i) for i in range(24))
    assert fingerprint(torch.arange(47.0)) == tuple(float(i) for i in range(47))
    assert fingerprint(torch.ones(1)) is None and fingerprint(None) is None
    assert fingerprint(torch.arange(4.0).reshape(2, 2).T) == (0.0, 2.0, 1.0, 3.0)


def test_a_loader_is_counted_by_passes_and_batches():
    x = torch.tensor([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]])
    loader = DataLoader(TensorDataset(x, torch.tensor([0, 2, 5])), 1)
    batches = BatchRecorder()
    for length in (3, 1, 3):
        iterator = iter(loader)
        batches.pass_begins(loader, iterator)
        for _ in range(length):
            batches.batch_drawn(iterator, next(iterator))
            batches.note_forward(None, 0)
            batches.note_backward()
            batches.note_backward()
    (seen,) = batches.seen
    assert (seen.length, seen.batches, seen.passes, seen.single) == (3, 7, 3, 1)
    assert (seen.compared, seen.equal, seen.forwards, seen.backwards) == (6, 3, 7, 14)
    assert seen.labels == [] and not seen.classes  # one label is no list of classes


def test_labels_are_read_in_the_first_pass():
    batches, y = BatchRecorder(), torch.tensor([0, 2, 2, 5])
    loader = DataLoader(TensorDataset(torch.eye(4), y), 2)
    for _ in range(2):
        batches.pass_begins(loader, iterator := iter(loader))
        for _ in range(2):
            batches.batch_drawn(iterator, next(iterator))
    (seen,) = batches.seen
    assert seen.labels == [(2, 2), (2, 2)] and seen.classes == {0: 1, 2: 2, 5: 1}


@pytest.mark.parametrize(("largest", "kept"), [(999, True), (1000, False)])
def test_numbers_far_apart_are_no_classes(largest, kept):
    batches, loader = BatchRecorder(), DataLoader(torch.eye(4), 2)
    batches.pass_begins(loader, iterator := iter(loader))
    batches.batch_drawn(iterator, (torch.zeros(300, 2), torch.tensor([0, largest] * 150)))
    assert batches.seen[0].labels == ([(256, 2)] if kept else [])


def test_only_the_first_batches_are_read():
    batches, loader = BatchRecorder(), DataLoader(torch.eye(4), 2)
    batches.pass_begins(loader, iterator := iter(loader))
    for _ in range(MAX_BATCHES_READ + 5):
        batches.batch_drawn(iterator, (torch.ones(2, 2), torch.tensor([0, 1])))
    assert batches.seen[0].compared == MAX_BATCHES_READ - 1 and len(batches.seen[0].labels) == MAX_BATCHES_READ == 200


def test_the_same_part_of_larger_data_counts_as_repeated():
    data, batches = torch.arange(8.0).reshape(4, 2), BatchRecorder()
    for step, inputs in enumerate((data[:2], data[:2], data[2:], data.clone(), data.clone())):
        batches.note_forward((inputs,), step)
        batches.note_forward((inputs,), step)  # a second model in the same step
    assert (batches.compared, batches.repeated, len(batches.first_inputs)) == (4, 1, 5)  # clones may be new data
    assert [len(one) for one in batches.first_inputs] == [4, 4, 4, 8, 8]


def test_outputs_are_kept_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(not_finite, "MAX_NUMBERS_KEPT", 5)
    trail, layer = ModuleCallTrail(), nn.ReLU()
    kept = [torch.ones(3), torch.ones(2), torch.full((1,), float("inf"))]
    for output in (*kept, "text"):
        trail.add(layer, output)
    assert trail.numbers == 6 and [isinstance(output, torch.Tensor) for _, output in trail.entries] == [
        True,
        True,
        False,
    ]
    assert locate_first_not_finite(trail, lambda module: "name") == ("module", "name", "ReLU")


def test_older_calls_without_a_backward_pass_are_forgotten():
    trail = ModuleCallTrail()
    for i in range(5):
        trail.add(nn.ReLU(), torch.ones(1))
        trail.end_of_model(i)
        assert (len(trail.entries), trail.inputs) == ((i + 1, 0) if i < 4 else (0, None))


def test_the_place_of_a_number_that_is_not_finite():
    layer, nan = nn.Linear(1, 1), torch.tensor([float("nan")])
    assert locate_first_not_finite(ModuleCallTrail([(layer, torch.ones(1))]), str)[
        0
    ] == "loss" and locate_first_not_finite(ModuleCallTrail(), str) == ("", "", "")
    assert locate_first_not_finite(ModuleCallTrail([(layer, nan)], inputs={"x": [nan]}), str)[0] == "inputs"
    with torch.no_grad():
        layer.bias.fill_(float("inf"))
    assert locate_first_not_finite(ModuleCallTrail([(layer, (nan,))], inputs=torch.ones(1)), lambda m: "here") == (
        "weights",
        "here",
        "Linear",
    )


def test_processes_are_compared_by_batches_weights_and_steps():
    one = {"inputs": [[1.0], [2.0]], "weights": "a", "steps": 9, "findings": []}

    def kinds(*others, own=one, lost=()):
        return [finding.kind for finding in compare_ranks(own, others, lost)]

    assert kinds({**one, "inputs": [[1.0], [3.0]]}) == kinds() == []
    assert kinds({**one, "inputs": [[1.0], [3.0]], "weights": "b"}) == ["ranks-differ"]
    assert kinds({**one, "inputs": [[1.0], [3.0]], "weights": "b", "steps": 8}) == []
    single = {**one, "inputs": [[1.0]]}
    assert kinds(single, own=single) == [] and kinds(lost=(1, 2)) == ["rank-lost"]
    (same,) = compare_ranks(one, [one, one], ())
    assert (same.values["ranks"], same.values["count"]) == (3, 2)
