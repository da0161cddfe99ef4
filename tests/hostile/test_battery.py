"""Every door with strange inputs, targets, modules and options: a right answer or one sentence, and nothing disturbed.

The run-time checks of annotations are off here, as they are for users.
"""

import random
import re
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import jaxtyping
import numpy as np
import pytest
import torch
from torch import Tensor, nn

import gnomon
from gnomon import checks, data, dynamics, examination, landscape, linalg, tangent
from gnomon.estimators import KernelTransformer, NTKClassifier, NTKRegressor
from gnomon.linalg.alignment import effective_rank
from gnomon.linalg.solve import ConjugateGradient, DirectSolver, NystromSolver, choose_solver
from tests.hostile.strange import INPUTS, MODULES, TARGETS, X, Y, net

MESSAGE = re.compile(r"^[^\n]{1,60}?: [^\n]+\.$")
"""The call, and sentences on one line."""
LONGEST = 600  # characters of a message, the words of the user's own error among them


class Door(NamedTuple):
    """A public call: how its messages begin, and the call itself of (module, inputs, targets)."""

    names: tuple[str, ...]
    go: Callable[[Any, Any, Any], Any]


DOORS = {
    "ntk": Door(("ntk(module, data)",), lambda m, x, y: gnomon.ntk(m, x)),
    "ntk, second": Door(("ntk(module, data)",), lambda m, x, y: gnomon.ntk(m, X, x)),
    "tangent_operator": Door(
        ("tangent_operator(module, data)",), lambda m, x, y: tangent.tangent_operator(m, x).dense()
    ),
    "kappa": Door(
        ("laziness_criterion(module, data)",),
        lambda m, x, y: tangent.laziness_criterion(m, (x, torch.zeros(6, 2)), iterations=2, starts=1).value,
    ),
    "laziness": Door(("laziness(before, after, data)",), lambda m, x, y: tangent.laziness(m, m, x).kernel),
    "linearize": Door(("linearize(module)", "taylor_model(module, order)(x)"), lambda m, x, y: gnomon.linearize(m)(x)),
    "rescale": Door(("scale_output(module, alpha)",), lambda m, x, y: tangent.scale_output(m, 2.0)(x)),
    "limit": Door(("limit(", "read("), lambda m, x, y: gnomon.limit(m).ntk(x)),
    "limit, second": Door(("limit(", "read("), lambda m, x, y: gnomon.limit(m).nngp(X, x)),
    "sampled limit": Door(("sampled_limit(",), lambda m, x, y: gnomon.sampled_limit(m, draws=2).ntk(x)),
    "train": Door(("train(module, data)",), lambda m, x, y: gnomon.train(m, (x, y), steps=1).loss),
    "predict": Door(("predict(module, data)",), lambda m, x, y: gnomon.predict(m, (x, y), times=[1.0]).loss),
    "sharpness": Door(
        ("sharpness(module, data)",), lambda m, x, y: landscape.sharpness(m, (x, y), iterations=2, seed=1).value
    ),
    "gradient noise": Door(
        ("gradient_noise(module, data)",), lambda m, x, y: landscape.gradient_noise(m, (x, y)).scale
    ),
    "signal": Door(
        ("signal_propagation(module, data)",), lambda m, x, y: checks.signal_propagation(m, x).layers[0].activation
    ),
    "signal of a loss": Door(
        ("signal_propagation(module, data)",), lambda m, x, y: checks.signal_propagation(m, (x, y)).layers[0].gradient
    ),
    "examine": Door(("examine(module, train)",), lambda m, x, y: gnomon.examine(m, (x, y), fit=False, name="one").name),
    "rank": Door(
        ("rank(networks, train)",), lambda m, x, y: examination.rank({"one": m}, (x, y)).candidates[0].alignment
    ),
    "watch": Door(("watch(module, data)",), lambda m, x, y: gnomon.watch(m, (x, y)).every),
}
TAUGHT = ("train", "predict", "sharpness", "gradient noise", "signal of a loss", "examine", "rank", "watch")
"""Doors that take targets."""

FULL = ("ntk", "linearize", "limit", "train", "signal")
"""Doors at which everything is tried; at the others, which stand before the same checks, only some."""
SOME = {
    *(
        "sparse",
        "nested",
        "meta",
        "float8",
        "big-endian",
        "table",
        "table with text",
        "integers",
        "too wide",
        "a string",
    ),
    *("text", "complex", "one too few", "column"),
    *("scripted", "lazy", "dtypes that do not fit", "half", "without parameters", "batch norm in training"),
    *("weight norm by hooks", "raising", "exiting", "None"),
}
AS_IT_IS = {"sparse", "compressed rows", "NaN", "infinity", "no examples", "one axis", "list of rows"}
"""What a tangent model, which is a layer itself, treats as its layers do."""
LAYERS = ("linearize", "rescale")


def cases(things: dict[str, Any], doors: Iterable[str]) -> list[tuple[str, str]]:
    pairs = [(door, thing) for door in doors for thing in things if door in FULL or thing in SOME]
    without_second = [(door, thing) for door, thing in pairs if (door[-6:], thing) != ("second", "None")]
    return [(door, thing) for door, thing in without_second if not (door in LAYERS and thing in AS_IT_IS)]


@cache
def expected(door: str, thing: str, table: bool) -> Any:
    """The answer for the plain tensor that a strange thing stands for."""
    same = (INPUTS if table else TARGETS)[thing].same()
    return DOORS[door].go(net(), same, Y) if table else DOORS[door].go(net(), X, same)


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch):
    """No checks of annotations; an examination without steps, for what is tested is its door."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    monkeypatch.setattr("gnomon.examination.run.STEPS", ())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of nested tensors, of torch.jit and of old norms
        yield


def outcome(door: Door, module: Any, x: Any, y: Any) -> Any:
    """What a call returns, or the lesson that it raises; whatever else it raises passes through. The module stays."""
    before = snapshot(module)
    try:
        found = door.go(module, x, y)
    except gnomon.GnomonError as error:
        found = error
        check_lesson(error, door.names)
    check_same(before, snapshot(module))
    return found


def check_lesson(error: Exception, names: tuple[str, ...]) -> None:
    text = str(error)
    assert isinstance(error, gnomon.GnomonError)
    assert MESSAGE.match(text) and len(text) < LONGEST, f"no sentence: {text}"
    assert error.problem and (error.accepted or error.reason), f"nothing is said to be accepted: {text}"
    assert error.fix or error.accepted in error.problem, f"no fix: {text}"
    assert text.startswith(names), f"another call is named: {text}"


def snapshot(module: Any) -> tuple[list[Any], list[Tensor]]:
    """All that a call must leave alone: parts, attributes, modes, hooks; and states, values, random numbers."""
    objects: list[Any] = [random.getstate()]
    tensors = [torch.get_rng_state(), torch.from_numpy(np.random.get_state()[1].astype(np.int64))]
    for name, part in module.named_modules() if isinstance(module, nn.Module) else ():
        hooks = [(key, list(value)) for key, value in vars(part).items() if key.endswith("hooks")]
        objects += [name, part, part.training, sorted(vars(part)), hooks]
    if isinstance(module, nn.Module):
        for p in (*module.parameters(), *module.buffers()):
            objects += [id(p), type(p), p.requires_grad, p.grad]
            if not torch.nn.parameter.is_lazy(p) and not p.is_meta:
                tensors.append(p.detach().clone())
    return objects, tensors


def check_same(before: tuple[list[Any], list[Tensor]], after: tuple[list[Any], list[Tensor]]) -> None:
    assert before[0] == after[0], "the module or a random state was disturbed"
    for a, b in zip(before[1], after[1], strict=True):
        assert torch.equal(a.nan_to_num(), b.nan_to_num()), "values or a random state were disturbed"


@pytest.mark.parametrize(("door", "thing"), cases(INPUTS, DOORS))
def test_strange_inputs(door, thing):
    judge(outcome(DOORS[door], net(), INPUTS[thing].make(), Y), door, thing, table=True)


@pytest.mark.parametrize(("door", "thing"), cases(TARGETS, TAUGHT))
def test_strange_targets(door, thing):
    judge(outcome(DOORS[door], net(), X, TARGETS[thing].make()), door, thing, table=False)


def judge(found: Any, door: str, thing: str, *, table: bool) -> None:
    if (INPUTS if table else TARGETS)[thing].same is None:
        assert isinstance(found, gnomon.GnomonError), f"{thing} was taken: {found}"
        return
    assert not isinstance(found, gnomon.GnomonError), found
    if isinstance(
        found, Tensor | float
    ):  # equal numbers in another memory layout: what assert_close allows is rounding
        torch.testing.assert_close(found, expected(door, thing, table))
    else:
        assert found == expected(door, thing, table)


ALWAYS = {"complex", "raising", "exiting", "without forward", "a class", "None", "a string", "a function"}
"""Modules that no door takes."""
NOT_READ = {"data parallel", "scripted", "traced", "lazy"}
"""Modules that only ``train`` takes, for it runs them as they are."""
UNWRAPS = {"ntk", "limit", "signal", "train"}
"""Doors that look for the module inside a wrapper, of those that try everything."""


@pytest.mark.parametrize(
    ("door", "thing"),
    [
        (door, thing)
        for door, thing in cases(MODULES, DOORS)
        # a layer draws what its dropout draws
        if ", second" not in door and not (door in LAYERS and thing == "dropout in training")
    ],
)
def test_strange_modules(door, thing):
    found = outcome(DOORS[door], MODULES[thing](), X, Y)
    if thing == "data parallel" and door in UNWRAPS:
        assert not isinstance(found, gnomon.GnomonError), found
    elif thing in ALWAYS or (thing in NOT_READ and door != "train"):
        assert isinstance(found, gnomon.GnomonError), f"{thing} was taken: {found}"
    elif thing in ("double", "half", "bfloat16") or (thing in NOT_READ and door == "train"):
        assert not isinstance(found, gnomon.GnomonError), found
    if isinstance(found, Tensor) and not (thing == "not finite" and door in ("linearize", "rescale")):
        assert found.is_meta or bool(found.isfinite().all()), "a result is never silently NaN"


@pytest.mark.parametrize("door", [door for door in DOORS if door not in ("limit", "limit, second")])
def test_an_error_of_the_module_keeps_its_traceback(door):
    with pytest.raises(gnomon.InputError, match="forward raised KeyError .*'my own'") as caught:
        DOORS[door].go(MODULES["raising"](), X, Y)
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError)
    last = cause.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    assert last.tb_frame.f_code.co_name == "forward", "the traceback ends in the user's own line"


SPD = X @ X.T + torch.eye(6)
NUMBERS = (2.5, "3", -1, float("nan"))
"""No whole numbers, or too small ones."""

OPTIONS: list[tuple[str, str, tuple[Any, ...], Callable[[Any], Any]]] = [
    ("train(module, data)", "steps", NUMBERS, lambda v: gnomon.train(net(), (X, Y), steps=v)),
    ("train(module, data)", "batch", (*NUMBERS, 0), lambda v: gnomon.train(net(), (X, Y), steps=1, batch=v)),
    ("train(module, data)", "seed", (2.5, "3", None, 2**70), lambda v: gnomon.train(net(), (X, Y), steps=1, seed=v)),
    ("train(module, data)", "record", (2.5, "3", 0, [1.5]), lambda v: gnomon.train(net(), (X, Y), steps=1, record=v)),
    ("train(module, data)", "budget", ("3", [1]), lambda v: gnomon.train(net(), (X, Y), steps=1, budget=v)),
    ("train(module, data)", "loss", ("mse", 3), lambda v: gnomon.train(net(), (X, Y), steps=1, loss=v)),
    ("train(module, data)", "the loss", (lambda f, y: 1 / 0,), lambda v: gnomon.train(net(), (X, Y), steps=1, loss=v)),
    ("train(module, data)", "the loss", (lambda f, y: 1.0,), lambda v: gnomon.train(net(), (X, Y), steps=1, loss=v)),
    ("ntk(module, data)", "memory", NUMBERS, lambda v: gnomon.ntk(net(), X, memory=v)),
    ("ntk(module, data)", "outputs", (3, None), lambda v: gnomon.ntk(net(), X, outputs=v)),
    ("ntk(module, data)", "parameters", (3, [1]), lambda v: gnomon.ntk(net(), X, parameters=v)),
    ("ntk(module, data)", "progress", (3, "bar"), lambda v: gnomon.ntk(net(), X, progress=v)),
    ("sampled_limit(", "draws", NUMBERS, lambda v: gnomon.sampled_limit(net(), draws=v)),
    ("sampled_limit(", "width", NUMBERS, lambda v: gnomon.sampled_limit(net(), width=v)),
    ("sampled_limit(", "seed", (2.5, "3", None), lambda v: gnomon.sampled_limit(net(), seed=v)),
    ("limit(", "memory", NUMBERS, lambda v: gnomon.limit(net(), memory=v)),
    ("limit(", "dtype", ("float32", torch.int64, 3), lambda v: gnomon.limit(net(), dtype=v)),
    ("limit(", "n1", (*NUMBERS, 0), lambda v: gnomon.limit(net()).cost(v)),
    ("limit(", "shape", (2.5, "3", (0,)), lambda v: gnomon.limit(net()).cost(3, shape=v)),
    ("sharpness(module, data)", "k", NUMBERS, lambda v: landscape.sharpness(net(), (X, Y), k=v)),
    ("sharpness(module, data)", "iterations", NUMBERS, lambda v: landscape.sharpness(net(), (X, Y), iterations=v)),
    ("sharpness(module, data)", "tile", (*NUMBERS, 0), lambda v: landscape.sharpness(net(), (X, Y), tile=v)),
    ("sharpness(module, data)", "seed", (2.5, "3"), lambda v: landscape.sharpness(net(), (X, Y), seed=v)),
    ("sharpness(module, data)", "momentum", ("3", 1, -1), lambda v: landscape.sharpness(net(), (X, Y), momentum=v)),
    (
        "gradient_noise(module, data)",
        "confidence",
        ("3", 1, 0),
        lambda v: landscape.gradient_noise(net(), (X, Y), confidence=v),
    ),
    ("signal_propagation(module, data)", "seed", (2.5, "3"), lambda v: checks.signal_propagation(net(), X, seed=v)),
    ("examine(module, train)", "budget", ("60s", 0, None), lambda v: gnomon.examine(net(), (X, Y), budget=v)),
    ("examine(module, train)", "seed", (2.5, "3"), lambda v: gnomon.examine(net(), (X, Y), seed=v)),
    ("examine(module, train)", "train", (X, None, (X, Y, Y)), lambda v: gnomon.examine(net(), v)),
    ("rank(networks, train)", "examples", NUMBERS, lambda v: examination.rank({"a": net()}, (X, Y), examples=v)),
    ("rank(networks, train)", "networks", ({}, 3), lambda v: examination.rank(v, (X, Y))),
    ("watch(module, data)", "every", (*NUMBERS, 0), lambda v: gnomon.watch(net(), (X, Y), every=v)),
    ("watch(module, data)", "examples", NUMBERS, lambda v: gnomon.watch(net(), (X, Y), examples=v)),
    ("watch(module, data)", "log", (3, [1]), lambda v: gnomon.watch(net(), (X, Y), log=v)),
    (
        "laziness_criterion(module, data)",
        "alpha",
        ("3", 0, None),
        lambda v: tangent.laziness_criterion(net(), (X, torch.zeros(6, 2)), alpha=v),
    ),
    (
        "laziness_criterion(module, data)",
        "iterations",
        NUMBERS,
        lambda v: tangent.laziness_criterion(net(), (X, torch.zeros(6, 2)), iterations=v),
    ),
    (
        "laziness_criterion(module, data)",
        "loss",
        (3, "mse"),
        lambda v: tangent.laziness_criterion(net(), (X, torch.zeros(6, 2)), loss=v),
    ),
    ("taylor_model(module)", "order", (*NUMBERS, 0), lambda v: tangent.taylor_model(net(), v)),
    ("scale_output(module, alpha)", "alpha", ("3", None), lambda v: tangent.scale_output(net(), v)),
    ("tangent_operator(module, data)", "side", (3, None), lambda v: tangent.tangent_operator(net(), X, side=v)),
    ("top_eigenpairs(operator, k)", "k", (*NUMBERS, 0), lambda v: tangent.tangent_operator(net(), X).top(v)),
    ("hutch_plus_plus(operator)", "products", NUMBERS, lambda v: tangent.tangent_operator(net(), X).trace(products=v)),
    ("predict(module, data)", "times", ("3", [-1.0], [None]), lambda v: gnomon.predict(net(), (X, Y), times=v)),
    ("predict(module, data)", "penalty", ("3", None, -1), lambda v: gnomon.predict(net(), (X, Y), penalty=v)),
    ("predict(module, data)", "loss", (3, "mse"), lambda v: gnomon.predict(net(), (X, Y), loss=v)),
    ("predict(module, data)", "f0", ("3", [1]), lambda v: gnomon.predict(net(), (X, Y), f0=v)),
    ("predict(module, data)", "model", (None, "net"), lambda v: gnomon.predict(v, (X, Y))),
    (
        "predict_from_kernel(ntk, y)",
        "loss",
        (3, "mse"),
        lambda v: dynamics.predict_from_kernel(SPD, X, loss=v),
    ),
    (
        "predict_from_kernel(ntk, y)",
        "optimizer",
        (3, "sgd"),
        lambda v: dynamics.predict_from_kernel(SPD, X, optimizer=v),
    ),
    (
        "predict_from_kernel(ntk, y)",
        "tolerance",
        ("3", 0),
        lambda v: dynamics.predict_from_kernel(SPD, X, tolerance=v),
    ),
    ("predict_from_kernel(ntk, y)", "K", (None, "K", 3, X), lambda v: dynamics.predict_from_kernel(v, X)),
    (
        "predict_from_kernel(ntk, y)",
        "y",
        (None, "y", X.to(torch.complex64)),
        lambda v: dynamics.predict_from_kernel(SPD, v),
    ),
    (
        "linalg.solve.DirectSolver().solve(kernel, y)",
        "ridge",
        ("3", None, -1),
        lambda v: DirectSolver().solve(SPD, X, ridge=v),
    ),
    (
        "linalg.solve.DirectSolver().solve(kernel, y)",
        "jitter",
        ("3", [1]),
        lambda v: DirectSolver(jitter=v).solve(SPD, X),
    ),
    (
        "linalg.solve.DirectSolver().solve(kernel, y)",
        "y",
        (None, "y", X.to(torch.complex64)),
        lambda v: DirectSolver().solve(SPD, v),
    ),
    ("linalg.solve.DirectSolver().solve(kernel, y)", "K", (None, "K", 3, X), lambda v: DirectSolver().solve(v, X)),
    ("linalg.solve", "memory", NUMBERS, lambda v: DirectSolver(memory=v).solve(SPD, X)),
    ("linalg.solve", "memory", NUMBERS, lambda v: ConjugateGradient(memory=v).solve(SPD, X)),
    ("NystromSolver(m)", "m", (*NUMBERS, 0), lambda v: NystromSolver(v)),
    ("choose_solver(n)", "n", (*NUMBERS, 0), lambda v: choose_solver(v)),
    ("cholesky(K)", "jitter", ("3", [1]), lambda v: linalg.cholesky(SPD, jitter=v)),
    ("cholesky(K)", "K", (None, "K", 3, X), lambda v: linalg.cholesky(v)),
    ("diagnose_matrix(K)", "K", (None, "K", 3, X), lambda v: linalg.diagnose_matrix(v)),
    ("alignment(kernel", "y", (None, "y", X[:3]), lambda v: tangent.alignment(SPD, v)),
    ("kernel_spectrum(kernel", "y", ("y", 3, X[:3]), lambda v: tangent.kernel_spectrum(SPD, v)),
    ("kernel_spectrum(kernel", "K", (None, "K", 3, X), lambda v: tangent.kernel_spectrum(v)),
    ("effective_rank(kernel)", "K", (None, "K", 3, X), lambda v: effective_rank(v)),
    ("mean_field(activation)", "activation", (None, 3), lambda v: checks.mean_field(v, weight_std=1.0)),
    ("mean_field(activation)", "weight_std", (None, "3", 0), lambda v: checks.mean_field(torch.tanh, weight_std=v)),
    ("digits()", "n_train", NUMBERS, lambda v: data.digits(v)),
    ("sphere_points(n, d)", "n", (*NUMBERS, 0), lambda v: data.sphere_points(v, 3)),
]


def options() -> list[Any]:
    rows = [(call, value, go) for call, _, values, go in OPTIONS for value in values]
    names = [f"{call}, {name} {i}" for call, name, values, _ in OPTIONS for i in range(len(values))]
    return [pytest.param(*row, id=name) for row, name in zip(rows, names, strict=True)]


@pytest.mark.parametrize(("call", "value", "go"), options())
def test_strange_options(call, value, go):
    before = snapshot(None)
    with pytest.raises(gnomon.GnomonError) as caught:
        go(value)
    check_lesson(caught.value, (call,))
    check_same(before, snapshot(None))


@pytest.mark.parametrize("value", [1e9, np.int64(10**9), np.float64(1e9), torch.tensor(10**9)])
def test_whole_numbers_of_any_kind_are_taken(value):
    assert torch.equal(gnomon.ntk(net(), X, memory=value), gnomon.ntk(net(), X))


@pytest.mark.parametrize(
    ("kind", "thing"),
    [(NTKRegressor, thing) for thing in INPUTS if thing != "masked"]
    + [(kind, thing) for kind in (NTKClassifier, KernelTransformer) for thing in INPUTS if thing in SOME],
)
def test_strange_tables_in_the_grammar_of_scikit_learn(kind, thing):
    """There it is scikit-learn that refuses, by ValueError and TypeError; tensors are told of by lessons."""
    make, same = INPUTS[thing]
    options = {"random_state": 0} if kind is KernelTransformer else {"ridge": 0.1}
    given = make()
    try:
        found = kind(depth=1, **options).fit(given, Y.numpy())
    except (ValueError, TypeError) as error:
        assert same is None, error
        if isinstance(given, Tensor) and (given.is_nested or given.is_meta or given.layout != torch.strided):
            check_lesson(error, (f"{kind.__name__}.fit(X",))
        return
    if same is not None:
        read = "transform" if kind is KernelTransformer else "predict"
        expected = kind(depth=1, **options).fit(same().numpy(), Y.numpy())
        told, wanted = getattr(found, read)(X.numpy()), getattr(expected, read)(X.numpy())
        if np.issubdtype(np.asarray(wanted).dtype, np.floating):  # sums over another layout of memory round otherwise
            np.testing.assert_allclose(told, wanted, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(told, wanted)
