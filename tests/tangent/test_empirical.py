"""The empirical kernel against the dense Jacobian, for every kind of network; and its manners."""

import copy

import pytest
import torch
from torch import nn

from gnomon.core.errors import BudgetError, InputError, NotFiniteError
from gnomon.core.modules.pure import PureFunction
from gnomon.tangent import ntk, ntk_by_layer
from gnomon.tangent.plan import make_plan
from gnomon.tangent.probe import Probe
from tests.oracles import tangent_jacobian as oracle
from tests.shares import in_full
from tests.tangent import zoo

EXACT = 1e-10  # relative; float64 sums of at most a few hundred terms err by less than 1e-13
OUTPUTS = ("trace", "full", "diagonal", "pseudo")


def distance(result, expected):
    assert result.shape == expected.shape
    return ((result - expected).abs().max() / expected.abs().max()).item()


@pytest.mark.parametrize("outputs", in_full(OUTPUTS, except_for=["trace", "full"]))
@pytest.mark.parametrize("case", zoo.CASES, ids=lambda case: case.name)
def test_equals_the_dense_jacobian_product(case, outputs):
    net, x1, x2 = zoo.build(case), zoo.sample(case, 5), zoo.sample(case, 4, seed=2)
    assert distance(ntk(net, x1, outputs=outputs), oracle.kernel(net, x1, outputs=outputs)) < EXACT
    assert distance(ntk(net, x1, x2, outputs=outputs), oracle.kernel(net, x1, x2, outputs)) < EXACT


@pytest.mark.parametrize(
    "case", [c for c in zoo.CASES if c.name not in ("routed", "sorted", "packed")], ids=lambda case: case.name
)
def test_only_what_has_no_rule_is_left_to_the_fallback(case):
    plan = make_plan(Probe(PureFunction.of(zoo.build(case)), zoo.sample(case, 5), shapes=False))
    assert tuple(sorted(name for names in plan.others.values() for name in names)) == case.fallback


@pytest.mark.parametrize("name", ["mlp", "cnn", "resnet", "pooled"])
def test_sizes_and_experiments_agree_on_where_examples_are(name):
    case = next(c for c in zoo.CASES if c.name == name)
    f, x = PureFunction.of(zoo.build(case)), zoo.sample(case, 5)
    assert make_plan(Probe(f, x)) == make_plan(Probe(f, x, shapes=False))


@pytest.mark.parametrize("case", zoo.CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("n", in_full([1, 2], except_for=[1]))
def test_one_or_two_examples_are_enough(case, n):
    net, x = zoo.build(case), zoo.sample(case, n)
    assert distance(ntk(net, x, outputs="full"), oracle.kernel(net, x, outputs="full")) < EXACT


def test_the_layers_that_outputs_see_through_pooled_values_are_found():
    case = next(c for c in zoo.CASES if c.name == "pooled")
    plan = make_plan(Probe(PureFunction.of(zoo.build(case)), zoo.sample(case, 5)))
    assert [term.layer for term in plan.terms if term.gated] == ["b", "side"]  # not "a", which "b" mixes


def test_float32_lstm_whose_fused_kernel_has_no_rule():
    case = next(c for c in zoo.CASES if c.name == "lstm")
    net, x = zoo.build(case).float(), zoo.sample(case, 4).float()
    plan = make_plan(Probe(PureFunction.of(net), x))
    assert {"cell.weight_ih_l0", "cell.weight_hh_l0"} <= set(plan.others["cell"])
    assert distance(ntk(net, x), oracle.kernel(net, x)) < 1e-5  # a hundred float32 roundings


@pytest.mark.parametrize("outputs", in_full(OUTPUTS, except_for=["full", "pseudo"]))
@pytest.mark.parametrize(
    "name", in_full(["mlp", "cnn", "tagger", "tied", "strange", "pooled"], except_for=["mlp", "strange"])
)
def test_small_memory_gives_the_same_numbers_in_tiles(name, outputs):
    case = next(c for c in zoo.CASES if c.name == name)
    net, x1, x2 = zoo.build(case), zoo.sample(case, 11), zoo.sample(case, 7, seed=2)
    plan = make_plan(Probe(PureFunction.of(net), x1))
    k = plan.outputs
    result = 8 * 11 * 11 * (k * k if outputs == "full" else k if outputs == "diagonal" else 1)
    memory = result + 8 * (plan.activations + (k if outputs == "full" else 1) * plan.gradients)
    calls = []
    tiled = ntk(net, x1, outputs=outputs, memory=memory, progress=lambda *state: calls.append(state))
    assert len(calls) > 5 and calls[-1] == (len(calls), len(calls))
    assert distance(tiled, ntk(net, x1, outputs=outputs)) < EXACT
    assert distance(ntk(net, x1, x2, outputs=outputs, memory=memory), ntk(net, x1, x2, outputs=outputs)) < EXACT


@pytest.mark.parametrize("memory", [None, 10**6])
@pytest.mark.parametrize("outputs", OUTPUTS)
def test_without_x2_the_kernel_is_exactly_symmetric(outputs, memory):
    net = nn.Sequential(nn.Linear(50, 200), nn.ReLU(), nn.Linear(200, 3))  # float32, so that rounding would show
    kernel = ntk(net, torch.randn(40, 50), outputs=outputs, memory=memory)
    mirrored = kernel.permute(1, 0, 3, 2) if outputs == "full" else kernel.transpose(0, 1)
    assert torch.equal(kernel, mirrored)


def test_layers_add_up_and_are_each_right():
    case = next(c for c in zoo.CASES if c.name == "strange")
    net, x = zoo.build(case), zoo.sample(case, 4)
    parts = ntk_by_layer(net, x)
    assert list(parts) == ["first", ""]
    assert distance(sum(parts.values()), ntk(net, x)) < EXACT
    assert distance(parts["first"], oracle.kernel(net, x, names=("first.weight", "first.bias"))) < EXACT


def test_parameters_are_chosen_by_pattern_and_frozen_ones_left_out():
    case = next(c for c in zoo.CASES if c.name == "resnet")
    net, x = zoo.build(case), zoo.sample(case, 4)
    names = [n for n, _ in net.named_parameters() if n.endswith("weight")]
    assert distance(ntk(net, x, parameters="*weight"), oracle.kernel(net, x, names=names)) < EXACT
    assert (
        distance(ntk(net, x, parameters=["a.*", "head.bias"]), oracle.kernel(net, x, names=("a.weight", "head.bias")))
        < EXACT
    )
    expected = oracle.kernel(net, x, names=("head.weight", "head.bias"))
    for name, p in net.named_parameters():
        p.requires_grad_(name.startswith("head"))
    assert distance(ntk(net, x), expected) < EXACT
    assert distance(ntk(net, x, parameters="head.*"), expected) < EXACT
    assert ntk(net, x, parameters="a.weight").abs().max() > 0  # frozen, and named


def test_an_encoder_of_which_only_the_head_is_chosen():
    case = next(c for c in zoo.CASES if c.name == "encoder")  # torch's fused inference path opens here
    net, x = zoo.build(case), zoo.sample(case, 4)
    for p in net.layer.parameters():
        p.requires_grad_(False)
    assert distance(ntk(net, x), oracle.kernel(net, x, names=("head.weight", "head.bias"))) < EXACT


def test_outputs_of_any_shape_are_flattened():
    case = next(c for c in zoo.CASES if c.name == "tagger")
    net, x = zoo.build(case), zoo.sample(case, 3)
    full, y = ntk(net, x, outputs="full"), net(**x)
    assert y.shape == (3, 6, 2) and full.shape == (3, 3, 12, 12)
    weights = list(net.parameters())

    def gradient(i, place, label):
        return torch.cat([g.flatten() for g in torch.autograd.grad(y[i, place, label], weights, retain_graph=True)])

    for (i, p, a), (j, q, b) in (((0, 0, 1), (2, 5, 0)), ((1, 3, 0), (1, 3, 1)), ((2, 4, 1), (0, 1, 1))):
        wanted = gradient(i, p, a) @ gradient(j, q, b)  # the last axis of the output runs fastest
        assert torch.isclose(full[i, j, 2 * p + a, 2 * q + b], wanted, rtol=EXACT, atol=0)


def test_a_parameter_that_does_not_reach_the_output_adds_nothing():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1)).double()
    net.unused = nn.Parameter(torch.ones(3).double())
    x = torch.randn(3, 2).double()
    assert distance(ntk(net, x), oracle.kernel(net, x)) < EXACT
    assert ntk(net, x, parameters="unused").abs().max() == 0


class Repeated(nn.Module):
    """One bias added with a factor, and subtracted again later: its gradients add with their signs."""

    def __init__(self):
        super().__init__()
        self.first, self.bias, self.last = nn.Linear(3, 4), nn.Parameter(torch.randn(4)), nn.Linear(4, 2)

    def forward(self, x):
        h = torch.tanh(torch.add(self.first(x), self.bias, alpha=3.0))
        return self.last(h - self.bias)


def test_factors_and_signs_of_a_parameter_that_is_used_twice():
    net, x = Repeated().double(), torch.randn(5, 3).double()
    assert make_plan(Probe(PureFunction.of(net), x)).others == {}  # both uses have a rule
    for names in (None, ["bias"]):
        assert distance(ntk(net, x, parameters=names), oracle.kernel(net, x, names=names)) < EXACT


def snapshot(net):
    """Everything about a module that a measurement could disturb."""
    return {
        "training": [m.training for m in net.modules()],
        "state": {k: v.clone() for k, v in net.state_dict().items()},
        "identity": [id(p) for p in net.parameters()] + [id(b) for b in net.buffers()],
        "grad": [None if p.grad is None else p.grad.clone() for p in net.parameters()],
        "requires": [p.requires_grad for p in net.parameters()],
        "hooks": [len(m._forward_hooks) + len(m._backward_hooks) + len(m._forward_pre_hooks) for m in net.modules()],
        "graphless": [p.grad_fn is None and not p._backward_hooks for p in net.parameters()],
        "random": torch.get_rng_state(),
        "modes": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "flat": [[id(w) for w in m._flat_weights] for m in net.modules() if isinstance(m, nn.RNNBase)],
    }


def assert_same(before, after):
    assert before.keys() == after.keys()
    for key, value in before.items():
        other = after[key]
        if key == "state":
            assert value.keys() == other.keys() and all(torch.equal(value[k], other[k]) for k in value), key
        elif key == "grad":
            for a, b in zip(value, other, strict=True):
                assert (a is None and b is None) or torch.equal(a, b), key
        elif key == "random":
            assert torch.equal(value, other), key
        else:
            assert value == other, key


@pytest.mark.parametrize("case", zoo.CASES, ids=lambda case: case.name)
def test_the_model_is_left_as_found(case):
    net, x = zoo.build(case), zoo.sample(case, 4)
    first = next(net.parameters())
    first.grad = torch.ones_like(first)
    if len(list(net.parameters())) > 1:
        list(net.parameters())[1].requires_grad_(False)
    net.train()
    for part in net.modules():
        part.training = isinstance(part, (nn.Linear, nn.Conv2d))
    before = snapshot(net)
    with torch.no_grad():
        ntk(net, x)
    assert_same(before, snapshot(net))


class Failing(nn.Module):
    """Draws random numbers, counts its calls in a buffer, and fails on the third."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))
        self.register_buffer("calls", torch.zeros(()))
        self.seen = 0

    def forward(self, x):
        self.calls += 1
        self.seen += 1
        torch.rand(1)
        if self.seen == 3:
            raise KeyError("on purpose")
        return self.body(x)


def test_the_model_is_left_as_found_when_it_raises():
    net, x = Failing().eval(), torch.randn(4, 3)
    before = snapshot(net)
    with pytest.raises(InputError, match="forward raised KeyError .* 'on purpose'") as caught:
        ntk(net, x)
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.__cause__.__traceback__.tb_next is not None, "the traceback of the module's own error is kept"
    assert_same(before, snapshot(net))
    assert net.seen == 0
    training = Failing().train()
    before = snapshot(training)
    with pytest.raises(InputError):
        ntk(training, x)
    assert_same(before, snapshot(training))


def test_users_hooks_stay_and_are_called():
    net, seen = nn.Sequential(nn.Linear(3, 2)), []
    handle = net[0].register_forward_hook(lambda *_: seen.append(1))
    ntk(net, torch.randn(3, 3))
    assert seen and len(net[0]._forward_hooks) == 1
    handle.remove()


class Mixer(nn.Module):
    """Subtracts the mean of the batch: no BatchNorm by name, and yet examples see each other."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x - x.mean(0))


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x * (torch.rand_like(x) > 0.5))


class NoTensor(nn.Linear):
    """Returns a tuple without a tensor."""

    def forward(self, x):
        return "words", None


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x), x


def test_the_first_tensor_of_a_tuple_has_the_kernel():
    net, x = Pair(), torch.randn(4, 3)
    torch.testing.assert_close(ntk(net, x), ntk(net.layer, x))


@pytest.mark.parametrize(
    ("net", "x", "error", "words"),
    [
        (nn.Linear(3, 2), torch.zeros(0, 3), InputError, "0 examples"),
        (
            nn.Linear(3, 2),
            torch.ones(4, 3, dtype=torch.long),
            InputError,
            r"forward raised RuntimeError on torch.int64 of shape \(3, 3\): .* Pass x.float\(\)",
        ),
        (
            nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)).train(),
            torch.randn(4, 3),
            InputError,
            r"'1' \(BatchNorm1d\) is in training mode",
        ),
        (
            nn.Sequential(nn.BatchNorm1d(3, track_running_stats=False)).eval(),
            torch.randn(4, 3),
            InputError,
            "no running statistics",
        ),
        (
            nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)).train(),
            torch.randn(4, 3),
            InputError,
            r"'1' \(Dropout\) .* at random",
        ),
        (nn.TransformerEncoderLayer(4, 2, 4).train(), torch.randn(4, 3, 4), InputError, "drops units at random"),
        (Mixer(), torch.randn(4, 3), InputError, "changes with the other examples"),
        (Noisy(), torch.randn(4, 3), InputError, "two passes gave different outputs"),
        (nn.Linear(3, 2), torch.full((4, 3), float("nan")), NotFiniteError, "example 0 of x contains NaN or infinity"),
        (
            nn.Sequential(nn.Linear(3, 2), nn.LogSigmoid(), nn.Threshold(1e9, float("nan"))),
            torch.randn(4, 3),
            NotFiniteError,
            "output for example 0 is not finite",
        ),
        (NoTensor(3, 2), torch.randn(4, 3), InputError, "returned a tuple"),
        (nn.Sequential(nn.Linear(3, 2), nn.Flatten(0)), torch.randn(4, 3), InputError, "one row per example"),
        (nn.ReLU(), torch.randn(4, 3), InputError, "the module has no parameters"),
        (nn.Bilinear(3, 3, 2), (torch.randn(4, 3), torch.randn(5, 3)), InputError, r"tensors of \[4, 5\] examples"),
        (nn.Linear(3, 2), {}, InputError, "no tensor"),
    ],
)
def test_bad_input_is_refused_with_the_reason(net, x, error, words):
    with pytest.raises(error, match=words):
        ntk(net, x)


def test_a_late_example_without_a_finite_output_is_named():
    x = torch.randn(9, 3)
    x[7] = 3e38
    with pytest.raises(NotFiniteError, match="example 7 is not finite"):
        ntk(nn.Linear(3, 1000), x)


def test_bad_options_are_refused_with_the_reason():
    net, x = nn.Linear(3, 2), torch.randn(4, 3)
    with pytest.raises(InputError, match="outputs must be one of trace, full"):
        ntk(net, x, outputs="mean")
    with pytest.raises(InputError, match="no parameter matches 'wight'.*weight, bias"):
        ntk(net, x, parameters="wight")
    with pytest.raises(BudgetError, match="Raise memory="):
        ntk(net, x, memory=100)


def test_inputs_in_another_dtype_are_fitted_to_the_module():
    x = torch.randn(4, 3)
    wanted = 1 + x.double() @ x.double().T  # for each output
    for dtype in (torch.float64, torch.float32):
        for given in (x, x.double()):
            result = ntk(nn.Linear(3, 2).to(dtype), given)
            assert result.dtype == dtype
            rounding = 8 * torch.finfo(dtype).eps * float(wanted.diag().max())  # sums of four terms
            assert torch.allclose(result.double(), wanted, rtol=0, atol=rounding)


def test_copies_of_the_module_have_the_same_kernel():
    case = next(c for c in zoo.CASES if c.name == "encoder")
    net, x = zoo.build(case), zoo.sample(case, 4)
    assert torch.equal(ntk(net, x), ntk(copy.deepcopy(net), x))


def test_many_examples_fill_the_triangle_in_strips():
    net, x = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double(), torch.randn(300, 3).double()
    one = ntk(net, x)
    assert distance(one, ntk(net, x, x.clone())) < EXACT
    assert distance(ntk(net, x, outputs="diagonal"), ntk(net, x, x.clone(), outputs="diagonal")) < EXACT
    assert distance(ntk(net, x, outputs="full"), ntk(net, x, x.clone(), outputs="full")) < EXACT
