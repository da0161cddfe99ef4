// Compares the computations inside playground.html with cases computed by the package.
// Usage: node compare.mjs playground.html fixtures.json; prints one JSON object.
import { readFileSync } from "node:fs";

import { coreOf } from "./core.mjs";

const [page, fixtures] = process.argv.slice(2);
const core = coreOf(page);
const { random, cases } = JSON.parse(readFileSync(fixtures, "utf8"));

const flat = (value) => Float64Array.from(Array.isArray(value) ? value.flat(4) : [value]);

/** Largest difference relative to the largest number, or absolute if that is below 1e-3. */
function difference(found, expected) {
  const [a, b] = [flat(Array.from(found)), flat(expected)];
  if (a.length !== b.length) return Infinity;
  const size = Math.max(1e-3, ...b.map(Math.abs));
  let worst = 0;
  for (let i = 0; i < a.length; i++) {
    const d = Math.abs(a[i] - b[i]) / size;
    if (!(d <= worst)) worst = d;
  }
  return worst;
}

function compare({ case: c, results: r }) {
  const points = core.makeData(c.data, c.n, c.noise, c.data_seed);
  const elsewhere = core.makeData(c.data, 5, 0.5, c.data_seed + 50);
  const mapped = (p) => (p.dimension === 1 ? p.x : core.withFeatures(p.x, c.features));
  const [x, other, y] = [mapped(points), mapped(elsewhere), points.y];
  const shape = {
    inputs: x.length / c.n, width: c.width, depth: c.depth, activation: c.activation, scale: c.scale,
    weightStd: c.weight_std, biasStd: c.bias_std, lastOnly: c.last_only,
  };
  const w = core.initialParameters(shape, c.seed);
  const raw = core.forward(shape, w, x).outputs.slice();
  const rawOther = core.forward(shape, w, other).outputs.slice();
  const offset = c.centered ? raw : null;
  const minus = (f, base) => (c.centered ? f.map((v, i) => v - base[i]) : f);
  const [f0, f0Other] = [minus(raw, raw), minus(rawOther, rawOther)];
  const [here, there] = [core.tangentOf(shape, w, x), core.tangentOf(shape, w, other)];
  const kernel = core.tangentKernel(shape, here, here);
  const kernelOther = core.tangentKernel(shape, there, here);
  const modes = core.modesOf(kernel, y.map((v, i) => v - f0[i]));
  const largest = core.largestStableRate(modes.values[0], c.loss, c.momentum);
  const lr = c.optimizer === "adam" ? 0.05 * c.rate : c.rate * (Number.isFinite(largest) ? largest : 1);
  const limit = core.limitKernels(shape, x, x);
  const limitOther = core.limitKernels(shape, other, x);
  const apply = (v) => core.hessianTimes(shape, w, x, y, c.loss, offset, v);
  const sharp = core.sharpness(apply, core.randomDirection(shape), 80, 1e-12).value;
  const errors = {
    x: difference(x, r.x), y: difference(y, r.y), f0: difference(f0, r.f0), f0Other: difference(f0Other, r.f0_other),
    kernel: difference(kernel, r.kernel), kernelOther: difference(kernelOther, r.kernel_other), lr: difference([lr], [r.lr]),
    nngp: difference(limit.nngp, r.limit.nngp), ntk: difference(limit.ntk, r.limit.ntk),
    nngpOther: difference(limitOther.nngp, r.limit.nngp_other), ntkOther: difference(limitOther.ntk, r.limit.ntk_other),
    rates: difference(modes.values, r.rates), sharpness: difference([sharp], [r.sharpness]),
  };
  if (r.alignment !== null) errors.alignment = difference([core.alignment(kernel, y)], [r.alignment]);
  if (r.predicted) {
    const run = core.predictRun(kernel, modes, f0, y, c.loss, lr, c.momentum, r.predicted.steps);
    errors.predictedTrain = difference(run.outputs.flatMap((f) => [...f]), r.predicted.train);
    errors.predictedLoss = difference(run.loss, r.predicted.loss);
    const at = run.coefficients.flatMap((k) => [...core.multiply(kernelOther, k)].map((v, i) => v + f0Other[i]));
    errors.predictedOther = difference(at, r.predicted.other);
  }
  if (r.ensemble) {
    const cross = { T: limitOther.ntk, S: limitOther.nngp, variance: core.outputVariances(shape, other) };
    const made = core.ensembleAt(limit.ntk, limit.nngp, cross, y, lr, c.momentum, r.ensemble.steps, false);
    errors.ensembleMean = difference(made.mean, r.ensemble.mean);
    // Variances relative to those before training: after training they may be zero up to rounding.
    const prior = core.outputVariances(shape, other);
    errors.ensembleVariance = Math.max(...made.std.map((s, i) => Math.abs(s * s - r.ensemble.std[i] ** 2) / (prior[i] || 1)));
  }
  const problem = { shape, x, y, loss: c.loss, optimizer: c.optimizer, lr, momentum: c.momentum, batch: c.batch, batchSeed: c.seed, offset };
  const trainer = new core.Trainer(problem, w);
  while (trainer.step < c.train_steps) trainer.advance();
  const end = trainer.outputs();
  errors.end = difference(end, r.end.f);
  errors.endOther = difference(minus(core.forward(shape, trainer.w, other).outputs, rawOther), r.end.other);
  errors.endLoss = difference([core.meanLoss(c.loss, end, y)], [r.end.loss]);
  const after = core.tangentOf(shape, trainer.w, x);
  errors.drift = difference([core.kernelDrift(core.tangentKernel(shape, after, after), kernel)], [r.end.drift]);
  return errors;
}

const bits = random.every((one) => {
  const same = (a, b) => a.length === b.length && b.every((v, i) => v === a[i]);
  return (
    same([...core.uniforms(one.seed, one.stream, one.uniforms.length)], one.uniforms) &&
    same([...core.normals(one.seed, one.stream, one.normals.length)], one.normals) &&
    same(core.permutation(one.seed, one.stream, one.permutation.length), one.permutation)
  );
});
const compared = cases.map((one) => ({ case: one.case, errors: compare(one) }));
console.log(JSON.stringify({ identicalRandomNumbers: bits, compared }));
