// Formulas of single lessons inside playground.html, evaluated for given numbers.
// Usage: node theory.mjs playground.html cases.json; prints one JSON object.
import { readFileSync } from "node:fs";

import { coreOf } from "./core.mjs";

const [page, path] = process.argv.slice(2);
const core = coreOf(page);
const { fields, descents, margins, waves } = JSON.parse(readFileSync(path, "utf8"));

function meanField({ activation, w, b, depth }) {
  let [q, c] = [1, 0.5];
  const [variances, correlations] = [[q], [c]];
  for (let k = 0; k < depth; k++) {
    const next = core.nextVariance(activation, w, b, q);
    c = core.nextCorrelation(activation, w, b, q, c);
    q = next;
    variances.push(q);
    correlations.push(c);
  }
  return { variances, correlations, fixed: core.fixedVariance(activation, w, b), chi: core.chiAtFixedPoint(activation, w, b), critical: core.criticalWeightStd(activation, b) };
}

console.log(JSON.stringify({
  fields: fields.map(meanField),
  descents: descents.map(({ p, ...rest }) => core.descentRisk(rest, p)),
  margins: margins.map(({ x, y, d }) => {
    const found = core.largestMargin(Float64Array.from(x), Float64Array.from(y), d);
    return found && { u: [...found.u], margin: found.margin };
  }),
  moved: waves.map(({ before, after, ...state }) => {
    const full = core.consistent({ ...core.lessonState("free"), ...state });
    const at = (x) => ({ ...full, points: { dimension: 1, x: Float64Array.from(x), y: Float64Array.from(x, (v) => v / 2) } });
    const first = new core.Run(at(before), false, null);
    const followed = new core.Run(at(after), false, first.cached).setup;
    const anew = new core.Run(at(after), false, null).setup;
    const same = (a, b) => a.length === b.length && a.every((v, i) => v === b[i]);
    return same(followed.kernel, anew.kernel) && same(followed.cross, anew.cross) && same(followed.f0, anew.f0) && same(followed.predicted.loss, anew.predicted.loss);
  }),
  bands: ["tanh", "sigmoid"].map((activation) => {
    const state = core.consistent({ ...core.lessonState("free"), data: "sine", n: 6, loss: "squared", activation, depth: 2, width: 64, weightStd: 1.6, biasStd: 0.5 });
    const run = new core.Run(state, false, null);
    const drawn = core.bandOf(state, run.setup.lr);
    const shape = core.shapeOf(state);
    const some = run.setup.grid.filter((_, i) => i % 10 === 0);
    const grid = core.inputsOf(state, some);
    const x = core.inputsOf(state, run.setup.x);
    const [here, cross] = [core.limitKernels(shape, x, x), core.limitKernels(shape, grid, x)];
    const exact = core.ensembleAt(here.ntk, here.nngp, { T: cross.ntk, S: cross.nngp, variance: core.outputVariances(shape, grid) }, run.setup.y, run.setup.lr, state.momentum, state.steps, state.centered);
    return { mean: Math.max(...exact.mean.map((v, i) => Math.abs(v - drawn.mean[10 * i]))), std: Math.max(...exact.std.map((v, i) => Math.abs(v - drawn.std[10 * i]))) };
  }),
}));
