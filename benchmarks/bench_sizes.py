"""Times of every instrument of landscape and geometry on networks of realistic size, with small probes.

    PYTHONPATH=. python benchmarks/bench_sizes.py [--model resnet] [--only sharpness attack] [--again] [--limit 25] [--table]

The networks: a ResNet-18 with batch norm on 32 x 32 color images (11 million parameters), a transformer over patches of
28 x 28 images, a perceptron of 10 million parameters; they are not trained, because the cost is the same. One thread,
seconds of processor time, at most LIMIT for each. Results are kept in build/sizes.json, so that a run can be continued.
"""

import argparse
import copy
import json
import signal
import time
from pathlib import Path

import torch
from measure import record

from evaluation.faults.models.dense import perceptron
from evaluation.faults.models.images import ResNet18
from evaluation.faults.models.transformers import Transformer
from gnomon import attribution, checks, decisions, robustness
from gnomon import landscape as ls
from gnomon.attribution.blocks import block_ablation
from gnomon.core.errors import GnomonError
from gnomon.landscape.averaging import averaging_gain
from gnomon.landscape.flow import gradient_flow_gap
from gnomon.landscape.implicit import implicit_penalty
from gnomon.landscape.invisible import invisible_weights
from gnomon.landscape.norms import rank_during_training, solution_norms
from gnomon.landscape.ranges import initialization_scale_range
from gnomon.landscape.shrinkage import weight_shrinkage
from gnomon.landscape.slices import convexity
from gnomon.landscape.smoothness import polyak_constant
from gnomon.robustness.certificates import CrownProof

KEPT = Path(__file__).parents[1] / "build" / "sizes.json"
MODELS = {
    "resnet": (lambda: ResNet18(), (3, 32, 32)),
    "transformer": (lambda: Transformer(patches=True, classes=10), (1, 28, 28)),
    "perceptron": (lambda: perceptron([784, 2600, 2600, 400, 10]), (784,)),
}


def instruments(build, x, y):
    """Name -> what runs it; x has 32 examples, and small is the first eight."""
    net, small, pair = build(), x[:8], (x[:8], y[:8])
    other = build()
    near = copy.deepcopy(net)
    with torch.no_grad():
        for p in near.parameters():
            p.mul_(1.01)
    three = [net, near, copy.deepcopy(net)]
    attacks = (robustness.ENSEMBLE[0], robustness.ENSEMBLE[1])
    found = {
        "hessian, 5 products": lambda: ls.hessian(net, pair).top(1, iterations=5),
        "gauss_newton, 5 products": lambda: ls.gauss_newton(net, pair).top(1, iterations=5),
        "fisher, 5 products": lambda: ls.fisher(net, pair).top(1, iterations=5),
        "empirical_fisher, 5 products": lambda: ls.empirical_fisher(net, pair).top(1, iterations=5),
        "sharpness": lambda: ls.sharpness(net, pair, iterations=10),
        "sharpness_forms": lambda: ls.sharpness_variants(net, pair, products=12, iterations=6),
        "nearby_rise": lambda: ls.largest_loss_rise(net, pair),
        "flatness_radius": lambda: ls.flatness_radius(net, pair, draws=3, products=6),
        "local_entropy": lambda: ls.local_entropy(net, pair, scope=1e4, draws=5),
        "flat_directions": lambda: ls.flat_directions(net, pair, examples=4),
        "gradient_noise": lambda: ls.gradient_noise(net, pair),
        "loss_along": lambda: ls.loss_along(net, pair, points=7),
        "loss_plane": lambda: ls.loss_plane(net, pair, points=3),
        "convexity": lambda: convexity(net, pair, segments=5, products=6),
        "loss_between": lambda: ls.loss_between(net, other, pair, points=5),
        "match_units": lambda: ls.match_units(net, other, x),
        "mode_connectivity": lambda: ls.mode_connectivity(net, other, pair, points=5),
        "averaging_gain": lambda: averaging_gain(three, pair),
        "run_constants": lambda: ls.run_constants(three, pair, lr=0.01, products=6),
        "steps_ahead": lambda: ls.try_gradient_steps(net, pair, products=6),
        "polyak_constant": lambda: polyak_constant(net, pair, lr=1e-3, steps=5, products=6),
        "flow_gap": lambda: gradient_flow_gap(net, pair, lr=1e-3, steps=3, finer=2),
        "implicit_penalty": lambda: implicit_penalty(net, pair, lr=0.01),
        "lr_range": lambda: ls.lr_range(net, pair, steps=10, batch=4),
        "scale_robustness": lambda: initialization_scale_range(net, pair, scales=(0.3, 1.0), steps=5),
        "scale_invariance": lambda: ls.scale_invariance(net, pair),
        "shrinkage": lambda: weight_shrinkage(net, pair, weight_decay=1e-3, k=2, products=6),
        "normalization_importance": lambda: ls.normalization_importance(net, pair),
        "normalization_smoothing": lambda: ls.normalization_smoothing(net, pair),
        "parameter_symmetries": lambda: ls.parameter_symmetries(net, small),
        "solution_norms": lambda: solution_norms(net),
        "rank_path": lambda: rank_during_training(three[:2]),
        "signal": lambda: checks.signal_propagation(net, pair),
        "signal_scales": lambda: checks.signal_scales(net, small),
        "unit_activity": lambda: checks.unit_activity(net, x),
        "unit_duplicates": lambda: checks.unit_duplicates(net),
        "invisible_weights": lambda: invisible_weights(net, small),
        "block_ablation": lambda: block_ablation(net, pair),
        "ode_gap": lambda: checks.residual_network_ode_gap(net, small),
        "receptive_field": lambda: attribution.receptive_field(net, small),
        "invertibility": lambda: robustness.invertibility(net, small),
        "jacobian_spectrum": lambda: robustness.jacobian_spectrum(net, small, examples=4),
        "linear_map": lambda: robustness.linear_map(net, small),
        "moment_shift": lambda: checks.activation_moment_shift(three, small),
        "normalized_margin": lambda: decisions.normalized_margin(net, pair),
        "margin_distribution": lambda: robustness.margin_distribution(net, pair),
        "margin_path": lambda: decisions.margin_growth(three, pair),
        "noise_sensitivity": lambda: robustness.noise_sensitivity(net, pair, sigma=0.1, draws=3),
        "lipschitz_bounds": lambda: robustness.lipschitz_bounds(net, small, search=3),
        "output_bounds": lambda: robustness.output_bounds(net, small[:2], 0.001),
        "patterns_in_ball": lambda: robustness.patterns_in_ball(net, small[0], 0.01, draws=20),
        "regions_on_line": lambda: robustness.regions_on_line(net, small[0], small[0] + 0.01 * (small[1] - small[0])),
        "regions_in_plane": lambda: robustness.regions_in_plane(
            net, small[0], small[1:3] - small[0], radius=1e-4, pixels=8
        ),
        "preflight": lambda: robustness.preflight(net, pair, eps=0.01),
        "attack": lambda: robustness.attack(net, pair, eps=0.01, method=attacks[1]),
        "robust_accuracy, two attacks": lambda: robustness.robust_accuracy(
            net, right(net, x), eps=0.01, attacks=attacks
        ),
        "minimal_distance, FGSM": lambda: robustness.minimal_distance(net, right(net, x), method=attacks[0]),
        "universal_perturbation": lambda: robustness.universal_perturbation(net, right(net, x), eps=0.01, iterations=3),
        "robust_radius": lambda: robustness.robust_radius(
            net, tuple(t[:2] for t in right(net, x)), method=attacks[0], proofs=(CrownProof(max_linear_units=64),)
        ),
        "smoothed_radius": lambda: robustness.smoothed_radius(net, (x[:2], y[:2]), draws=60),
    }
    return net, found


def right(net, x):
    """Eight examples with the classes that the network gives, so that it is right on them."""
    with torch.no_grad():
        return x[:8], net.eval()(x[:8]).argmax(1)


def late(*_):
    raise TimeoutError


def outcome(net, run, limit):
    """Seconds of the processor, and the verdict or the error in one line."""
    before = [p.detach().clone() for p in [*net.parameters(), *net.buffers()]]
    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, limit)
    start = time.process_time()
    try:
        result = run()
        told = str(getattr(result, "verdict", result)).splitlines()[0]
    except TimeoutError:
        told = f"not done after {limit} s"
    except GnomonError as error:
        told = "refused: " + " ".join(str(error).split())
    except Exception as error:  # noqa: BLE001  a benchmark goes on and tells
        told = f"BROKE: {type(error).__name__}: {' '.join(str(error).split())}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = time.process_time() - start
    same = all(torch.equal(a, b) for a, b in zip(before, [*net.parameters(), *net.buffers()], strict=True))
    return {"seconds": seconds, "told": told if same else f"CHANGED THE MODEL: {told}"}


def table(known):
    models = list(MODELS)
    names = list(dict.fromkeys(key.partition(" ")[2] for key in known))
    rows = []
    for name in names:
        cells = [known.get(f"{model} {name}") for model in models]
        told = []
        for cell in cells:
            kind = "" if cell is None else cell["told"].partition(":")[0]
            told.append("-" if cell is None else f"{cell['seconds']:.1f} s" + (
                f" ({kind})" if kind in ("refused", "BROKE", "CHANGED THE MODEL") or kind.startswith("not done") else ""))  # fmt: skip
        rows.append([name, *told])
    note = """Eight examples (32 for activities and matching), one thread, processor time of the whole call. `refused`: the
instrument says in one sentence that the network is outside its premises. `-`: not yet run."""
    record("instruments", "Time of each instrument", ["instrument", *models], rows, note)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=MODELS)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--limit", type=float, default=25)
    given = parser.parse_args()
    torch.set_num_threads(1)
    KEPT.parent.mkdir(exist_ok=True)
    for model in [] if given.table else [given.model] if given.model else MODELS:
        build, shape = MODELS[model]
        torch.manual_seed(0)
        x, y = torch.rand(32, *shape), torch.randint(0, 10, (32,))
        net, runs = instruments(build, x, y)
        for name, run in runs.items():
            known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
            wanted = not given.only or any(name.startswith(o) for o in given.only)
            if wanted and (given.again or f"{model} {name}" not in known):
                known[f"{model} {name}"] = outcome(net, run, given.limit)
                KEPT.write_text(json.dumps(known, indent=1))
                print(model, name, known[f"{model} {name}"], flush=True)
    table(json.loads(KEPT.read_text()))


if __name__ == "__main__":
    main()
