"""Every public record prints one readable screen, whatever it holds."""

import dataclasses
import importlib
import pkgutil

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon import (
    atlas,
    checks,
    dynamics,
    examination,
    kernels,
    lab,
    landscape,
    linalg,
    report,
    tangent,
    training,
)
from gnomon.atlas.many import ClaimTask
from gnomon.attribution.regularity import label_regularity
from gnomon.core import results
from gnomon.core.results.record import MAX_CHARACTERS, MAX_LINE_CHARACTERS, MAX_LINES, Record, screen, summary
from gnomon.core.results.result import screen as result_screen
from gnomon.estimators import NNGPClassifier, NNGPRegressor, NTKClassifier, NTKRegressor
from gnomon.examination.compare import Comparison
from gnomon.examination.rank import Candidate, Ranking
from gnomon.examination.short_run import ShortRun
from gnomon.landscape.edge import EdgeOfStability
from gnomon.linalg import solve
from gnomon.linalg.lanczos import spectral_density
from gnomon.linalg.operator import DenseOperator
from gnomon.linalg.ridge_modes import ridge_modes
from gnomon.linalg.store import StoreLayout
from gnomon.linalg.trace import hutchinson

N = 250
TEXT = "a very long sentence " * 200


@pytest.fixture(scope="module")
def records():
    """One of each, of real size."""
    x = torch.randn(N, 6, generator=torch.Generator().manual_seed(1))
    y = (x[:, 0] > 0).long()
    net = nn.Sequential(*(part for _ in range(30) for part in (nn.Linear(6, 6), nn.ReLU())), nn.Linear(6, 2))
    k = x.double() @ x.double().T + torch.eye(N)
    value = results.Value("name", 1.0, results.Interval(0.5, 1.5), meaning=TEXT)
    content = report.PageContent(TEXT, values=(value,) * 40, data={str(i): list(range(99)) for i in range(99)})
    section = report.Section("key", TEXT, TEXT, content)
    page = report.Page(TEXT, TEXT, (section,) * 20, {str(i): TEXT for i in range(50)})
    signal = checks.signal_propagation(net, (x, y))
    run = training.train(
        net, (x, y), test=(x, y), steps=40, record=1, outputs=True, watch={"k": lambda *_: torch.eye(N)}
    )
    top = landscape.hessian(net, (x, y))
    program = gnomon.limit(net).program(x)
    examined = examination.Examination("net", (section,) * 12, page.manifest)
    compared = Comparison(examined, examined)
    ranking = Ranking(
        tuple(
            Candidate(TEXT, 1.0, 1.0, 1.0, True, ShortRun(0.5, 0.2, 0.4, 0.1, 0.1, 100, False), TEXT) for _ in range(99)
        ),
        N,
    )
    line = results.Line("line", range(N), range(N))
    vocabulary = [
        results.Value("name", 1.0, results.Interval(0.5, 1.5, 0.95), "estimate", meaning=TEXT), results.Interval(0.0, 1.0),
        results.Hypothesis(TEXT, True, TEXT), results.QuantityDefinition(TEXT, TEXT), results.Finding(results.FindingKind("kind", results.Level.NOTE, TEXT, TEXT)),
        results.Axis(TEXT), line, results.Scatter("dots", range(N), range(N)), results.Bars("bars", ["a"] * N, range(N)),
        results.Band("band", range(N), range(N), range(N)), results.Histogram("counts", range(N + 1), range(N)),
        results.Image("picture", k), results.Reference("limit", 1.0), results.Plot(TEXT, (line,) * 9),
    ]  # fmt: skip
    claim = lab.Claim("id", TEXT, lab.Source("derived"), (lab.Premise(TEXT),), lab.equals(rounding=1), TEXT, parameters={"x": 1.0},
                      predicted=lambda x: x, observed=lambda x: x, control=lambda x: x + 1)  # fmt: skip
    outcome = lab.run_claim(claim)
    vocabulary += [claim, claim.source, claim.premises[0], outcome, outcome.judgment]
    return vocabulary + [
        gnomon.data.digits(300, 100), run, signal, signal.layers[0], examined, compared, ranking, ranking.candidates[0],
        signal.layers[0].forward, signal.layers[0].backward, run.curves, checks.mean_field(torch.tanh, weight_std=1.5),
        checks.activation_gain(nn.ReLU()), label_regularity(x, y),
        dynamics.predict_from_kernel(k, y, test=k, y_test=y), dynamics.training_modes(k, y), dynamics.equivalent_stopping_time(k, y, ridge=0.1),
        dynamics.kernel_ensemble(k, k, y), dynamics.gp_posterior(k, y),
        dynamics.GradientFlow(), training.SGD(0.1), training.Adam(),
        training.torch_optimizers.resolve_optimizer(torch.optim.AdamW, None),
        training.Squared(), training.CrossEntropy(), training.Logistic(), training.Exponential(), training.Hinge(),
        landscape.sharpness(net, (x, y), k=9), landscape.gradient_noise(net, (x, y)), EdgeOfStability(run.steps, run.loss, 2.0),
        top.top(3), spectral_density(top, steps=9), hutchinson(top, samples=9),
        linalg.diagnose_matrix(k), linalg.cholesky(k), solve.DirectSolver().solve(k, y, ridge=0.1), solve.choose_solver(N), solve.FitScores(k, 1.0),
        ridge_modes(k, x.double(), torch.ones(N).double()), StoreLayout(("k",), (N, N), "float64", 9, TEXT), DenseOperator(k),
        NTKRegressor(), NTKClassifier(), NNGPRegressor(), NNGPClassifier(),
        solve.IndexedKernel(gnomon.limit(net).ntk, x), solve.DirectSolver(), solve.ConjugateGradient(), solve.NystromSolver(N, centers=tuple(range(N))),
        solve.LandmarkPreconditioner(3), solve.PivotedCholeskyPreconditioner(3), solve.KernelTiles("k"), solve.DistributedSolver(2),
        gnomon.limit(net), gnomon.sampled_limit(net, draws=2), gnomon.limit(net)(x), gnomon.limit(net).cost(N),
        *kernels.limit_layers(gnomon.limit(net), x[:9])[:1], gnomon.InitializationLaw(1.0), program, *program.steps[:2],
        value, section, section.content, page, atlas.scope_coverage(), *list(atlas.catalog().values())[:1], ClaimTask("id"),
        tangent.kernel_spectrum(k, y), tangent.laziness_criterion(net, (x, y), iterations=1), tangent.laziness(net, run.model, x),
        gnomon.watch(net, (x, y)),
    ]  # fmt: skip


def public():
    """Dataclasses in the ``__all__`` of any package."""
    for info in pkgutil.walk_packages(gnomon.__path__, "gnomon."):
        if not info.ispkg:
            continue
        module = importlib.import_module(info.name)
        for value in (getattr(module, name) for name in getattr(module, "__all__", ())):
            if isinstance(value, type) and dataclasses.is_dataclass(value):
                yield value


def test_a_record_prints_one_screen(records):
    for record in records:
        text = repr(record)
        assert len(text) <= MAX_CHARACTERS and text.count("\n") < MAX_LINES, text
        assert text.startswith(type(record).__name__) and "tensor(" not in text, text


def test_no_public_record_is_forgotten(records):
    """What prints itself in a way of its own is in the list above; all others share one screen, which is bounded."""
    seen = {type(record) for record in records}
    own = {kind for kind in public() if issubclass(kind, results.Result) and kind.__repr__ is not result_screen}
    missing = own - seen
    assert not missing, sorted(kind.__qualname__ for kind in missing)


@dataclasses.dataclass(frozen=True, slots=True)
class Wide(Record):
    a: object
    hidden: object = dataclasses.field(default="never shown", repr=False)


def test_what_a_field_shows():
    assert repr(Wide(1)) == "Wide(a=1)"
    assert summary(torch.zeros(3, 2)) == "<float32 (3, 2), 0 to 0>"
    assert summary(torch.tensor([1, 2])) == "<int64 [1, 2]>"
    assert summary(np.arange(12.0)) == "<float64 (12,), 0 to 11>"
    assert summary(torch.full((9,), torch.inf)) == "<float32 (9,), 9 not finite>"
    assert summary(torch.zeros(0, 3)) == "<float32 (0, 3)>"
    assert summary([torch.zeros(1)] * 3) == "<3 Tensor>"
    assert summary(nn.Linear(2, 1)) == "<Linear, 3 parameters>"
    assert summary({i: i for i in range(40)}) == "<40 entries: 0, 1, 2, 3, 4, 5, ...>"
    assert summary((1, None, "a")) == "(1, None, 'a')"


def test_many_fields_are_counted():
    many = dataclasses.make_dataclass("Many", [(f"f{i}", str) for i in range(60)], bases=(Record,))
    text = screen(many(*["x" * 90] * 60))
    assert len(text) <= MAX_CHARACTERS and text.count("\n") < MAX_LINES and "more" in text
    assert all(len(line) <= MAX_LINE_CHARACTERS + 40 for line in text.splitlines())
