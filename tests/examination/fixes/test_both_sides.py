"""Changes of fixes do what they say, and the search for a repair has its limits with a case on each side."""

from dataclasses import replace
from functools import partial
from math import exp, log
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon.adapter.losses import PositionCrossEntropy
from gnomon.core.inputs.source import data_source
from gnomon.core.results import Finding, Interval
from gnomon.examination.fixes import candidates, ends, held_out_inputs, prove, repairs, score, search, wiring
from gnomon.examination.fixes.candidates import RepairCandidate
from gnomon.examination.fixes.descent import higher_rate, larger_batch, lower_rate, usual_decay
from gnomon.examination.fixes.design import add_biases
from gnomon.examination.fixes.fix import TrialChange
from gnomon.examination.fixes.layers import use_relu
from gnomon.examination.fixes.operations import _Scores, _Softer
from gnomon.examination.fixes.prove import FixTrialBudget
from gnomon.examination.fixes.search import Repairs
from gnomon.examination.fixes.table import FIXES
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.fixes.tried import TriedFix, TriedFixes
from gnomon.examination.recipe import build_recipe
from gnomon.examination.subject import Examples, build_subject
from gnomon.findings import data as data_kinds
from gnomon.findings import training as training_kinds
from gnomon.training import SGD, Adam
from gnomon.training.plan import BatchPlan

FINDING = Finding(data_kinds.DRIFTED_COLUMNS)


def planned(net, data, **changes):
    """A subject and a trial of its training."""
    subject = build_subject(net, data, None, seed=0)
    known = {"optimizer": SGD(0.1), "batches": BatchPlan(2), "steps": 8} | changes
    return subject, TrialRun(net, subject.train, data_source(data), subject.loss, **known)


@pytest.mark.parametrize("code, function", [*held_out_inputs.IMAGE_CHANGES, *held_out_inputs.SEQUENCE_CHANGES])
def test_changes_of_images_and_sequences_do_what_their_code_says(code, function):
    x = torch.arange(2.0 * 3 * 4 * 4).reshape(2, 3, 4, 4)
    assert torch.equal(function(x), eval(code)) and not torch.equal(function(x), x)


@pytest.mark.parametrize(("by", "unusual"), [(0.19, False), (0.21, True), (-0.19, False), (-0.21, True)])
def test_inputs_are_unusual_by_a_mean_of_a_tenth_or_a_fifth_of_the_log_of_their_deviation(by, unusual):
    """Six numbers, whose deviation with the divisor five is one."""
    x = torch.tensor([[-1.0, 1.0, -1.0], [1.0, -1.0, 1.0]]) * (5 / 6) ** 0.5
    scaled = SimpleNamespace(probe=SimpleNamespace(x=x * exp(by)))
    assert candidates._has_unusual_inputs(scaled, None) is unusual
    moved = SimpleNamespace(probe=SimpleNamespace(x=x + by / 2))
    assert candidates._has_unusual_inputs(moved, None) is unusual


def test_a_rate_that_a_finding_names_is_tried_between_the_usual_ones():
    _, trial = planned(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4)), optimizer=SGD(0.1))
    named = Finding(data_kinds.DRIFTED_COLUMNS, values={"other": 0.35})
    assert [c.trial.optimizer.lr for c in higher_rate(trial, named, None)] == pytest.approx([0.35, 1, 10, 100, 1000])
    lower = Finding(data_kinds.DRIFTED_COLUMNS, values={"other": 0.035})
    assert [c.trial.optimizer.lr for c in higher_rate(trial, lower, None)] == pytest.approx([1, 10, 100, 1000])
    assert [c.trial.optimizer.lr for c in lower_rate(trial, lower, None)] == pytest.approx([0.035, 0.01, 1e-3, 1e-4])


def test_added_biases_are_uniform_up_to_one_over_the_root_of_the_inputs():
    _, trial = planned(nn.Linear(16, 3, bias=False), (torch.ones(4, 16), torch.ones(4, 3)))
    (change,) = add_biases(trial, FINDING, None)
    drawn = 2 * torch.rand(3, generator=torch.Generator().manual_seed(0)) - 1
    assert torch.allclose(change.trial.module.bias, drawn / 4)


def test_scores_of_a_saturated_softmax_are_measured_along_its_axis():
    """Along the last axis the largest weights are 0.98, and along the one before them 0.5."""
    scores = torch.tensor([[[4.0, 0.0], [4.0, 0.0]]])
    for x, saturated in ((scores, True), (scores.mT, False)):
        seen = _Scores()
        seen(None, 3, lambda x: x.softmax(-1), (x,), {})
        assert seen.calls == 4 and seen.sizes == ({3: pytest.approx((4 * 4 / 3) ** 0.5)} if saturated else {})
    small = _Scores()
    small(None, 0, lambda x, dim: x.softmax(dim), (torch.tensor([[2.0, 0.0]]), 1), {})
    assert small.sizes == {0: pytest.approx(2**0.5)}
    assert torch.allclose(_Softer({2: 4.0})(None, 2, torch.softmax, (scores, 2), {}), (scores / 4).softmax(2))


def test_the_difference_of_two_seeds_widens_an_interval():
    found = prove.combine_seeds(Interval(0.1, 0.3, 0.9), (0.1, 0.4))
    half = (0.1**2 + (1.96 * 0.15) ** 2) ** 0.5
    assert (found.low, found.high, found.confidence) == pytest.approx((0.25 - half, 0.25 + half, 0.9), rel=1e-4)


@pytest.mark.parametrize(
    ("proven", "after", "taken"),
    [(None, 0.7, True), (0.7, 0.759, False), (0.7, 0.761, True)],
)
def test_a_repair_beats_the_fixes_that_helped_by_six_points(proven, after, taken, monkeypatch):
    """The repair gets four fifths of the time; the others are kept under the symptom."""

    def one(fix, after, low=0.3):
        return TriedFix("k", fix, fix, "", 0.2, after, Interval(low, 0.9, 0.95), "accuracy", 500, 400)

    subject, trial = planned(nn.Linear(1, 2), (torch.ones(9, 1), torch.arange(9) % 2))
    given = []
    monkeypatch.setattr(repairs, "has_poor_results", lambda *_, **__: True)
    monkeypatch.setattr(repairs, "repeat_with_second_seed", lambda subject, best, budget, seed: best)

    def search(subject, asked, trial, run, budget, *, seed):
        given.append(budget.left)
        return Repairs((one("higher-rate", after), one("use-adam", 0.3, low=-0.1)), 1)

    monkeypatch.setattr(repairs, "search_repairs", search)
    known = TriedFixes(() if proven is None else (one("usual-loss", proven),))
    symptom = Finding(training_kinds.OVERFIT)
    found, findings = repairs.add_repairs(
        subject, known, (trial, None), symptom, FixTrialBudget(10.0, 0.1, lambda: 0.0), seed=0, explained=False
    )
    assert given == [pytest.approx(8.0)] and bool(findings) is taken
    assert [t.fix for t in found.tried[len(known.tried) :]] == (["higher-rate", "use-adam"] if taken else [])
    assert [t.kind for t in found.tried[len(known.tried) :]] == (["k", symptom.kind] if taken else [])


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (SGD(0.1, decay=0.5), 1e-4),
        (SGD(0.1, decay=1.1e-4), 1e-4),
        (SGD(0.1, decay=1e-4), None),
        (Adam(decay=0.5), 0.01),
    ],
)
def test_a_large_weight_decay_becomes_usual(given, wanted):
    _, trial = planned(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4)), optimizer=given)
    changes = usual_decay(trial, FINDING, None)
    assert [c.trial.optimizer.decay for c in changes] == ([] if wanted is None else [wanted])
    if wanted is not None:
        assert changes[0].words == f"weight_decay={wanted:g}" and changes[0].trial.optimizer.lr == given.lr


class Function(nn.Module):
    """A linear layer and a function of its outputs."""

    def __init__(self, function, inputs=3, outputs=3):
        super().__init__()
        self.layer, self.function = nn.Linear(inputs, outputs), function

    def forward(self, x):
        return self.function(self.layer(x))


def test_a_softmax_written_by_hand_is_undone_by_its_logarithm():
    net, x = Function(lambda f: f.exp() / f.exp().sum(1, keepdim=True)), torch.randn(6, 3)
    subject, trial = planned(net, (x, torch.arange(6) % 3))
    (change,) = FIXES["remove-softmax"].apply(trial, FINDING, subject)
    assert torch.allclose(change.trial.module(x), net.layer(x).log_softmax(1), atol=1e-5)
    one = Function(lambda f: torch.where(f > 0, 1.0, 0.0) + 0 * f)
    assert float(ends._log_of_probabilities(one(x).detach()).min()) == pytest.approx(log(ends.SMALLEST_PROBABILITY))


def test_log_softmax_is_added_to_scores_and_the_logarithm_to_probabilities():
    net, x = Function(lambda f: f), torch.randn(6, 3)
    subject, trial = planned(net, (x, torch.arange(6) % 3))
    for words, wanted in (("other numbers", net(x).log_softmax(1)), ("probabilities", net(x).clamp(min=1e-9).log())):
        given = Finding(data_kinds.DRIFTED_COLUMNS, values={"given": words})
        (change,) = ends.end_in_log_softmax(trial, given, subject)
        inside = net(x) > 1e-6 if words == "probabilities" else torch.ones(6, 3).bool()
        assert torch.allclose(change.trial.module(x)[inside], wanted[inside])
    assert ends.end_in_log_softmax(trial, FINDING, subject) == ()


def test_outputs_get_the_shape_of_the_targets_before_the_loss():
    loss = ends._SameShape(lambda f, y: (f - y).square().mean())
    f, y = torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([1.0, 0.0, 1.0])
    assert float(loss(f, y)) == pytest.approx(13 / 3)
    assert float(loss(f, torch.tensor([1.0]))) == pytest.approx(10 / 3)


@pytest.mark.parametrize("axis", [1, 2])
def test_cross_entropy_of_positions_reads_the_axis_of_the_classes(axis):
    """Scores for five classes at four places; labels up to four."""

    def shaped(f):
        f = f.reshape(-1, 4, 5)
        return f if axis == 2 else f.movedim(2, 1)

    x, y = torch.randn(6, 3), torch.arange(24).reshape(6, 4) % 5
    net = Function(shaped, outputs=20)
    subject = build_subject(net, (x, y), None, seed=0, plan=partial(build_recipe, loss=lambda f, y: f.square().mean()))
    trial = TrialRun(subject.module, subject.train, data_source((x, y)), subject.loss, SGD(0.1), BatchPlan(2), 8)
    (change,) = ends.usual_loss(trial, FINDING, subject)
    scores = net.layer(x).reshape(24, 5)
    wanted = nn.functional.cross_entropy(scores, y.flatten())
    assert change.trial.loss(net(x), y).item() == pytest.approx(wanted.item(), rel=1e-5)


def test_a_softmax_over_examples_becomes_one_over_classes():
    x = torch.randn(6, 3)
    for function, last in ((lambda f: f.softmax(0), True), (lambda f: torch.softmax(f, dim=0), True),
                           (lambda f: f.softmax(1), True), (lambda f: f.T.softmax(1).T, False)):  # fmt: skip
        net = Function(function)
        subject, trial = planned(net, (x, torch.arange(6) % 3))
        (change,) = wiring.batch_first(trial, FINDING, subject)
        assert torch.allclose(change.trial.module(x), net.layer(x).softmax(1)) is last


def test_recurrent_layers_get_examples_first_and_lists_of_layers_are_registered():
    net = nn.Sequential(nn.LSTM(2, 3), nn.LSTM(3, 2, batch_first=True))
    subject, trial = planned(nn.Linear(2, 2), (torch.ones(4, 2), torch.ones(4, 2)))
    (change,) = wiring.batch_first(replace(trial, module=net), FINDING, subject)
    assert [layer.batch_first for layer in change.trial.module] == [True, True] and not net[0].batch_first
    plain = nn.Linear(2, 2)
    plain.more, plain.numbers = [nn.Linear(2, 2), nn.Linear(2, 1)], [1, 2]
    (change,) = wiring.register_layers(replace(trial, module=plain), FINDING, subject)
    assert isinstance(change.trial.module.more, nn.ModuleList) and change.trial.module.numbers == [1, 2]
    assert sum(p.numel() for p in change.trial.module.parameters()) == 6 + 6 + 3
    assert wiring.register_layers(trial, FINDING, subject) == ()


@pytest.mark.parametrize(
    ("shape", "kind", "codes"),
    [((9, 4, 5), float, ["x.flip(1)", "x.flip(2)", "9 - x"]), ((9, 4), int, ["x.flip(1)"]), ((9, 4, 5), int, ["x.flip(1)", "x.flip(2)"])],
)  # fmt: skip
def test_sequences_and_tokens_are_turned_around(shape, kind, codes):
    x = torch.arange(int(torch.tensor(shape).prod())).reshape(shape) % 10
    x = x.double() if kind is float else x
    made = held_out_inputs._changes(x, x)
    assert [code for code, _ in made] == codes
    for code, function in made:
        assert torch.equal(function(x), eval(code))


def test_scores_of_positions_tokens_and_losses_are_those_of_each_example():
    x, y = torch.randn(70, 3), torch.arange(280).reshape(70, 4) % 5
    net = Function(lambda f: f.reshape(-1, 4, 5), outputs=20)
    right = (net(x).argmax(2) == y).double().mean(1)
    some = Examples(x, y)
    assert torch.equal(score._positions(PositionCrossEntropy(classes=5, positions=4), net, some), right)
    own = build_subject(net, (x, y), None, seed=0, plan=partial(build_recipe, loss=lambda f, y: f.square().mean() - 3))
    assert torch.equal(score._tokens(own, net, Examples(x, y)), right)
    numbers = Function(lambda f: f)
    squared = build_subject(
        numbers, (x, x), None, seed=0, plan=partial(build_recipe, loss=lambda f, y: (f * y).mean() - 3)
    )
    trial = TrialRun(numbers, squared.train, squared.train, squared.loss, SGD(0.1), BatchPlan(2), 8)
    found = score.score_network(squared, trial, numbers, examples=64, seed=0)
    probe = squared.train.probe(64, seed=0)
    parts = [slice(i, i + score.EXAMPLES_PER_LOSS) for i in range(0, 64, score.EXAMPLES_PER_LOSS)]
    losses = [3 - float((numbers(probe.x[part]) * probe.y[part]).mean().detach()) for part in parts]
    assert found.unit == "loss" and found.values.tolist() == pytest.approx(losses, rel=1e-5)


def test_a_second_seed_averages_scores_and_widens_the_interval(monkeypatch):
    """Scores of four examples in the order before, after, for both seeds; a run of the first trial and of the second."""
    _, trial = planned(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4)), steps=7)
    scores = {
        "b1": [0.0, 0.1, 0.2, 0.1],
        "a1": [0.5, 0.4, 0.9, 0.6],
        "b2": [0.2, 0.1, 0.2, 0.3],
        "a2": [0.4, 0.6, 0.3, 0.7],
    }
    runs = iter(SimpleNamespace(model=name) for name in ("b2", "a2"))
    seeds = []
    monkeypatch.setattr(prove, "run_trial", lambda trial, budget, seed: seeds.append(seed) or next(runs))
    monkeypatch.setattr(
        prove, "score_network", lambda subject, trial, model, **_: SimpleNamespace(values=torch.tensor(scores[model]))
    )
    first = TriedFix(
        "k", "f", "w", "", 0.1, 0.6, Interval(0.3, 0.7, 0.95), "accuracy", 4, 7, trials=(trial, trial),
        runs=(SimpleNamespace(model="b1"), SimpleNamespace(model="a1")),
    )  # fmt: skip
    found = prove.repeat_with_second_seed(None, first, FixTrialBudget(99.0, 0.1, lambda: 0.0), 5)
    assert (found.before, found.after, found.seeds) == (pytest.approx(0.15), pytest.approx(0.55), 2) and seeds == [6, 6]
    gains = [sum(scores[a]) / 4 - sum(scores[b]) / 4 for a, b in (("a1", "b1"), ("a2", "b2"))]
    one = score.gain_interval(torch.tensor(scores["b1"]), torch.tensor(scores["a1"]))
    wanted = prove.combine_seeds(one, tuple(gains))
    assert (found.gain.low, found.gain.high) == pytest.approx((wanted.low, wanted.high), abs=1e-6)
    for budget in (
        FixTrialBudget(1.3, 0.1, lambda: 0.0),
        FixTrialBudget(99.0, 0.1, lambda: 98.7),
    ):  # time for 13 and 3 of 14 steps
        assert prove.repeat_with_second_seed(None, first, budget, 5) is first


@pytest.mark.parametrize(
    ("seconds", "steps", "short", "tried"),
    [
        (1000.0, 400, None, 9),  # 10,000 steps are affordable: half of them is enough for ten runs of 400
        (400.0, 400, 200, 9),  # 4,000: 2,000 steps for ten runs of 200, one of them as given
        (400.0, 180, None, 9),
        (50.0, 400, 30, 7),  # 500: 25 steps for each are too few, and 250 steps are eight runs of 30
    ],
)
def test_a_search_gives_half_of_its_time_to_a_short_round(seconds, steps, short, tried, monkeypatch):
    """Nine changes and the run as given; a step takes a tenth of a second."""
    subject, trial = planned(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4)), steps=steps)
    made = [RepairCandidate(i, f"f{i}", TrialChange(trial, "", "")) for i in range(9)]
    seen = {"short": None, "tried": 0}

    def first_round(subject, trial, made, short, budget, seed):
        seen.update(short=short, tried=len(made))
        return made

    def run(*_):
        seen["full"] = seen.get("full", 0) + 1

    monkeypatch.setattr(search, "candidates", lambda *_: iter(made))
    monkeypatch.setattr(search, "_score", lambda *_: None)
    monkeypatch.setattr(search, "_first_round", first_round)
    monkeypatch.setattr(search, "_run_candidate", run)
    search.search_repairs(subject, FINDING, trial, None, FixTrialBudget(seconds, 0.1, lambda: 0.0), seed=0)
    assert seen["short"] == short and (short is None or seen["tried"] == tried)
    assert seen["full"] == (9 if short is None else 6)


@pytest.mark.parametrize(
    ("size", "steps", "kept"), [(31, 100, 96), (8, 100, 30), (16, 1000, 500), (32, 100, None), (64, 100, None)]
)
def test_small_batches_become_batches_of_32_with_as_many_examples(size, steps, kept):
    _, trial = planned(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4)), batches=BatchPlan(size), steps=steps)
    changes = larger_batch(trial, FINDING, None)
    assert [(c.trial.batches.size, c.trial.steps) for c in changes] == ([] if kept is None else [(32, kept)])


@pytest.mark.parametrize(
    ("layers", "words", "wanted"),
    [
        ((nn.Sigmoid(), nn.Sigmoid()), "ReLU instead of sigmoid in 1 layer", (nn.ReLU(), nn.Sigmoid())),
        ((nn.Sigmoid(), nn.Identity()), "ReLU instead of sigmoid in 1 layer", (nn.ReLU(), nn.Identity())),
        ((nn.Tanh(), nn.Sigmoid()), "ReLU instead of tanh in 1 layer", (nn.ReLU(), nn.Sigmoid())),
        ((nn.ReLU(), nn.Tanh()), None, None),
        ((nn.ReLU(), nn.Identity()), None, None),
    ],
)
def test_relu_replaces_bounded_functions_but_not_at_the_end(layers, words, wanted):
    torch.manual_seed(0)
    first, second = nn.Linear(3, 4), nn.Linear(4, 2)
    subject, trial = planned(
        nn.Sequential(first, layers[0], second, layers[1]), (torch.randn(9, 3), torch.arange(9) % 2)
    )
    changes = use_relu(trial, FINDING, subject)
    if words is None:
        assert changes == ()
        return
    assert [change.words for change in changes] == [words, f"{words}, and He initialization"]
    x = torch.randn(5, 3)
    net = nn.Sequential(first, wanted[0], second, wanted[1])
    assert torch.allclose(changes[0].trial.module(x), net(x)) and not torch.allclose(changes[1].trial.module(x), net(x))


def test_weights_of_few_bits_get_single_precision_and_repeated_blocks_their_inputs():
    half = nn.Sequential(nn.Linear(2, 2).bfloat16(), nn.Linear(2, 2))
    _, trial = planned(nn.Linear(2, 2), (torch.ones(4, 2), torch.ones(4, 2)))
    (change,) = FIXES["float32-weights"].apply(replace(trial, module=half), FINDING, None)
    assert {p.dtype for p in change.trial.module.parameters()} == {torch.float32}
    assert FIXES["float32-weights"].apply(trial, FINDING, None) == ()
    for number, count in ((2, 0), (3, 3), (4, 4)):
        net = nn.Sequential(*(nn.Linear(2, 2) for _ in range(number)))
        changes = FIXES["add-residuals"].apply(replace(trial, module=net), FINDING, None)
        assert [c.words for c in changes] == ([f"residual connections around {count} blocks"] if count else [])
        x = torch.randn(5, 2)
        h = x
        for layer in net:
            h = h + layer(h)
        assert all(torch.allclose(c.trial.module(x), h) for c in changes)


@pytest.mark.parametrize(("n", "held"), [(30, 8), (200, 50), (202, 50), (203, 51)])
def test_a_quarter_of_the_examples_is_held_out_from_fixes(n, held):
    subject = build_subject(nn.Linear(1, 1), (torch.arange(float(n))[:, None], torch.arange(float(n))), None, seed=0)
    train, test, whole = prove.held_out_split(subject, 0)
    if n < prove.MIN_EXAMPLES_TO_SPLIT:
        assert train is test is subject.train and whole
        return
    numbers = torch.cat([train.whole().x, test.whole().x])[:, 0]
    assert len(test) == held and not whole and sorted(numbers.tolist()) == [float(i) for i in range(n)]


@pytest.mark.parametrize(
    ("size", "steps", "kept"), [(255, 10, None), (256, 10, 80), (512, 10, 160), (544, 100, 1600), (300, 10, 93)]
)
def test_large_batches_become_batches_of_32_with_at_most_sixteen_times_the_steps(size, steps, kept):
    _, trial = planned(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4)), batches=BatchPlan(size), steps=steps)
    changes = FIXES["smaller-batch"].apply(trial, FINDING, None)
    assert [(c.trial.batches.size, c.trial.steps) for c in changes] == ([] if kept is None else [(32, kept)])


def test_longer_training_has_four_times_the_steps_and_momentum_and_eps_become_usual():
    _, trial = planned(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4)), steps=25)
    (longer,) = FIXES["longer-training"].apply(trial, FINDING, None)
    assert longer.trial.steps == 100 and longer.words == "100 steps instead of 25"
    (momentum,) = FIXES["usual-sgd-momentum"].apply(trial, FINDING, None)
    assert momentum.trial.optimizer.momentum == 0.9
    (epsilon,) = FIXES["usual-epsilon"].apply(replace(trial, optimizer=Adam(eps=0.1)), FINDING, None)
    assert epsilon.trial.optimizer.eps == 1e-8
    assert [c.trial.optimizer.lr for c in lower_rate(trial, FINDING, None)] == pytest.approx([1e-2, 1e-3, 1e-4])


@pytest.mark.parametrize(
    ("bias", "weight", "words"),
    [(0.51, 1.0, ["biases of zero instead of 0.51 on average"]), (0.49, 1.0, None), (0.51, 0.29, None),
     (0.51, 0.31, ["biases of zero instead of 0.51 on average"]), (0.51, 2.9, ["biases of zero instead of 0.51 on average"]),
     (0.51, 3.1, None)],
)  # fmt: skip
def test_large_biases_become_zero_if_the_weights_are_usual(bias, weight, words):
    """The root mean square of the weights times the root of 16 inputs is usual from 0.3 to 3."""
    net = nn.Linear(16, 2)
    with torch.no_grad():
        net.weight.fill_(weight / 4)
        net.bias.copy_(torch.tensor([bias, -bias]))
    subject, trial = planned(net, (torch.ones(4, 16), torch.ones(4, 2)))
    changes = FIXES["initialize"].apply(trial, FINDING, subject)
    if words is None:
        assert len(changes) == 2
    else:
        assert [c.words for c in changes] == words and not changes[0].trial.module.bias.any()
        assert torch.equal(changes[0].trial.module.weight, net.weight)


@pytest.mark.parametrize(("units", "words"), [(8, ["64 instead of 8 units in '0'"]), (9, [])])
def test_a_hidden_layer_of_eight_units_is_widened(units, words):
    net = nn.Sequential(nn.Linear(3, units), nn.ReLU(), nn.Linear(units, 2))
    _, trial = planned(net, (torch.ones(4, 3), torch.ones(4, 2)))
    changes = FIXES["widen"].apply(trial, FINDING, None)
    assert [c.words for c in changes] == words
    assert all(
        [tuple(p.shape) for p in c.trial.module.parameters()] == [(64, 3), (64,), (2, 64), (2,)] for c in changes
    )


@pytest.mark.parametrize(("count", "listed"), [(7, 7), (8, 8), (9, 8)])
def test_at_most_eight_operations_are_left_out(count, listed):
    class Many(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x):
            h = self.layer(x)
            for i in range(count):
                h = h.clamp(-0.5 + 0.02 * i, 0.5 - 0.02 * i)
            return h

    subject, trial = planned(Many(), (torch.randn(20, 2), torch.ones(20, 2)))
    assert len(FIXES["leave-out"].apply(trial, FINDING, subject)) == listed


@pytest.mark.parametrize(
    ("falls", "best"), [((0.81, 1.0, 0.2), 0), ((0.79, 1.0, 0.2), 1), ((-1.0, -2.0, -3.0), 0), ((-2.0, -1.0, -3.0), 1),
                        ((None, None, 0.1), 2), ((None, None, None), None)],
)  # fmt: skip
def test_the_first_variant_that_reaches_four_fifths_of_the_best_fall_is_chosen(falls, best, monkeypatch):
    """In a tenth of 400 steps, and at least 20."""
    _, trial = planned(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4)), steps=400)
    changes = [TrialChange(trial, str(i), "") for i in range(3)]
    given, steps = iter(falls), []

    def run(trial, budget, seed):
        steps.append(trial.steps)
        fall = next(given)
        return None if fall is None else SimpleNamespace(diverges=False, loss=torch.tensor([5.0, 5.0 - fall]))

    monkeypatch.setattr(prove, "run_trial", run)
    chosen = prove._best(changes, 400, FixTrialBudget(52.1, 0.1, lambda: 0.0), 0)  # 3 x 40 + 400 steps
    assert (None if chosen is None else chosen.words) == (None if best is None else str(best)) and steps == [40] * 3
    steps.clear()
    assert prove._best(changes, 400, FixTrialBudget(51.9, 0.1, lambda: 0.0), 0).words == "0" and steps == []
    given = iter((1.0, 1.0, 1.0))
    prove._best(changes, 150, FixTrialBudget(99.0, 0.1, lambda: 0.0), 0)
    assert steps == [20] * 3
