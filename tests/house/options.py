"""Whether public signatures use one vocabulary for options; docs/design/options.md explains the rules."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from tests.house import public_api
from tests.house.tree import SOURCE

DATA_UNDER_OTHER_NAMES = (
    "x",
    "y",
    "x1",
    "x2",
    "x_test",
    "y_test",
    "labels",
    "dataset",
    "loader",
    "dataloader",
    "tokens",
)
"""Names that stand for data or a part of data."""
MODULES_UNDER_OTHER_NAMES = ("net", "network", "model")
DRAWS_UNDER_OTHER_NAMES = ("samples", "repetitions", "replicates", "seeds", "trials", "n_samples", "num_samples")
DEFAULT_CONFIDENCE = 0.95

GRAM_MATRIX = "y are the targets of a Gram matrix, which replaces the data"
TWO_SAMPLES = "compares two arrays with each other; there is no module"
RECORD = "a field of a record, with the name of what it holds"
SIGNAL = "a mathematical function of one array, such as a signal or a trajectory"
GRAPH = "x are features of the nodes of the graph, and the network takes both"
GENERATIVE = "a generative model of gnomon.generative, which samples; `module` is any nn.Module"
SKLEARN = "a hyperparameter of a scikit-learn estimator"
PAGE = "the name that the playground page uses for a step of its batches"
JUDGE = "the level of a judge of claims: hundreds of claims run, and few may fail by chance"

OTHER_NAMES: Mapping[str, str] = {
    "adapter.read_output_meaning.y": "reads outputs and targets; there is no module",
    "adapter.read_output_meaning.x": "reads outputs and targets; there is no module",
    "attribution.feature_variance_shares.labels": TWO_SAMPLES,
    "bounds.kernel_influence.y": GRAM_MATRIX,
    "bounds.learning_curve.y": GRAM_MATRIX,
    "bounds.ridge_stability.y": GRAM_MATRIX,
    "data.ImageFolder.x": RECORD,
    "data.ImageFolder.y": RECORD,
    "data.TrainTestSplit.x": RECORD,
    "data.TrainTestSplit.y": RECORD,
    "data.TrainTestSplit.x_test": RECORD,
    "data.TrainTestSplit.y_test": RECORD,
    "data.optimal_discriminator.x": "the argument of two densities p(x), q(x)",
    "decisions.calibration.labels": TWO_SAMPLES,
    "decisions.margins.labels": TWO_SAMPLES,
    "decisions.novikoff_bound.labels": TWO_SAMPLES,
    "decisions.separability.labels": TWO_SAMPLES,
    "decisions.best_temperature.labels": TWO_SAMPLES,
    "discovery.discover_implicit.x": SIGNAL,
    "discovery.discover_ode.x": SIGNAL,
    "dynamics.kernel_ensemble.y": GRAM_MATRIX,
    "dynamics.training_modes.y": GRAM_MATRIX,
    "dynamics.gp_posterior.y": GRAM_MATRIX,
    "dynamics.predict_from_kernel.y": GRAM_MATRIX,
    "dynamics.predict_from_kernel.y_test": GRAM_MATRIX,
    "dynamics.equivalent_stopping_time.y": GRAM_MATRIX,
    "estimators.KernelTransformer.network": SKLEARN,
    "estimators.NNGPClassifier.network": SKLEARN,
    "estimators.NNGPRegressor.network": SKLEARN,
    "estimators.NTKClassifier.network": SKLEARN,
    "estimators.NTKRegressor.network": SKLEARN,
    "generative.Diffusion.network": "the network that the diffusion model trains, next to its schedule",
    "generative.bits_per_dimension.model": GENERATIVE,
    "generative.classifier_test.x": TWO_SAMPLES,
    "generative.classifier_test.y": TWO_SAMPLES,
    "generative.sample_coverage.samples": "the generated samples, compared with data",
    "generative.energy_test.x": TWO_SAMPLES,
    "generative.energy_test.y": TWO_SAMPLES,
    "generative.fit.model": GENERATIVE,
    "generative.latent_holes.model": GENERATIVE,
    "generative.sample_memorization.samples": "the generated samples, compared with data",
    "generative.mmd_test.x": TWO_SAMPLES,
    "generative.mmd_test.y": TWO_SAMPLES,
    "generative.score_error.x": "the argument of two functions, the score and the exact score",
    "generative.train_gan.model": GENERATIVE,
    "graphs.graph_classes.network": "a function of a graph, not necessarily a module",
    "graphs.node_influence.x": GRAPH,
    "graphs.oversmoothing.x": GRAPH,
    "graphs.permutation_error.x": GRAPH,
    "kernels.limit_layers.x": "a kernel of x, as limit(net).ntk(x)",
    "models.ModuleOnGraph.net": "the network inside a module, as in torch.nn",
    "playground.fixed_batches.x": PAGE,
    "playground.fixed_batches.y": PAGE,
    "scattering.energy_by_order.x": SIGNAL,
    "scattering.fourier_modulus.x": SIGNAL,
    "scattering.roto_translation_scattering.x": SIGNAL,
    "scattering.scattering_moments.x": SIGNAL,
    "sequences.lag_of_task.x": TWO_SAMPLES,
    "sequences.lag_of_task.y": TWO_SAMPLES,
    "sequences.predicts_next.x": TWO_SAMPLES,
    "sequences.predicts_next.y": TWO_SAMPLES,
    "symmetry.orbit_average.x": "a kernel of x and y",
    "symmetry.orbit_average.y": "a kernel of x and y",
    "tangent.alignment.y": GRAM_MATRIX,
    "tangent.kernel_spectrum.y": GRAM_MATRIX,
    "training.TrainingRun.model": RECORD,
    "training.ablation.seeds": "the seeds themselves, not their number",
}
"""Parameters with a name of one of the lists above, and the reason."""

DATA_LATER: Mapping[str, str] = {
    "attribution.compare_unit_purity": "the layer comes with the module",
    "attribution.invert_layer": "the layer comes with the module",
    "attribution.representation_report": "the layer comes with the module",
    "attribution.sanity_check": "the method that is checked comes first",
    "attribution.top_activating": "the layer and the direction come with the module",
    "discovery.distill_equation": "the library of terms comes with the module",
}
"""Functions of a module whose data are not the second argument, and the reason."""

TRAIN_FOR_STEPS = (
    "attribution.variational_information bayes.deep_ensemble bounds.forgetting_events bounds.memorization bounds.label_noise_fit "
    "checks.find_explosion decisions.distill examination.rank generative.fit generative.train_gan landscape.lr_range "
    "playground.fixed_batches tangent.frequency_curve tangent.output_spread tangent.regime_map tangent.scale_sweep "
    "tangent.tangent_gap training.TrainingRun training.train"
).split()
"""Functions whose ``steps`` are training steps."""
OTHER_STEPS = {"program.Program": "a field of a record: the steps of a program, read from a module"}
MEASURED_SECONDS = ("kernels.KernelCost", "lab.ClaimOutcome", "report.Section", "training.TrainingRun")
"""Records whose ``seconds`` are a measured or estimated time, not a budget."""
PURE_INEQUALITIES = ("bounds.catoni_bound", "bounds.mcallester_bound", "bounds.seeger_bound", "bounds.vc_bound")
"""Formulas in which delta appears as it does in the literature."""
OTHER_CONFIDENCE = {
    f"lab.{name}": JUDGE for name in ("at_most", "distributed_as", "mean_equals", "monotone_in", "in_order", "rate_is")
}


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Names such as "landscape.hessian" with the functions and classes that subpackages export."""
    for init in sorted(SOURCE.glob("*/__init__.py")):
        package = init.parent.name
        if package == "cli":  # its functions are commands
            continue
        module = import_module(f"gnomon.{package}")
        for name in public_api.names(init):
            value = getattr(module, name)
            if callable(value) and not (inspect.isclass(value) and issubclass(value, Exception)):
                yield f"{package}.{name}", value


def faults(found: Iterator[tuple[str, Callable[..., Any]]]) -> list[str]:
    """Breaches of the vocabulary, and exceptions that nothing needs any more."""
    breaches, used, seen = [], set(), set()
    for name, value in found:
        try:
            parameters = inspect.signature(value).parameters
        except (TypeError, ValueError):  # a builtin without a signature
            continue
        seen.add(name)
        for one in parameters.values():
            place = f"{name}.{one.name}"
            if wanted := _wanted(name, one):
                if place in OTHER_NAMES:
                    used.add(place)
                else:
                    breaches.append(f"{place}: {wanted}")
        names = list(parameters)
        if names[:1] == ["module"] and "data" in names[2:] and name not in DATA_LATER:
            breaches.append(f"{name}: data must be the second argument")
    unused = [place for place in OTHER_NAMES if place.rpartition(".")[0] in seen and place not in used]
    return breaches + [f"{place} is an exception that nothing needs" for place in unused]


def _wanted(name: str, one: inspect.Parameter) -> str | None:
    """What a parameter must be, or None if it is as it must be."""
    if one.name in DATA_UNDER_OTHER_NAMES:
        return "data are called data"
    if one.name in MODULES_UNDER_OTHER_NAMES:
        return "an nn.Module is called module"
    if one.name in DRAWS_UNDER_OTHER_NAMES:
        return "a number of random draws is called draws"
    if one.name == "seconds" and name not in MEASURED_SECONDS:
        return "a limit of time in seconds is called budget"
    if one.name == "steps" and name not in TRAIN_FOR_STEPS and name not in OTHER_STEPS:
        return "steps are training steps; use another noun, such as iterations"
    if one.name == "delta" and name not in PURE_INEQUALITIES:
        return "the level of a statement is called confidence"
    if one.name == "confidence" and one.default not in (DEFAULT_CONFIDENCE, one.empty) and name not in OTHER_CONFIDENCE:
        return f"the default is {DEFAULT_CONFIDENCE}"
    if one.name == "seed" and one.default not in (0, one.empty):
        return "the default is 0"
    return None
