// "Copy as Python" of random states, with the numbers that the page shows for them.
// Usage: node python_states.mjs playground.html 20
import { coreOf } from "./core.mjs";

const [page, count] = process.argv.slice(2);
const core = coreOf(page);
const out = [];
for (let k = 0; out.length < Number(count); k++) {
  const u = core.uniforms(k, 555, 30);
  let at = 0;
  const pick = (values) => values[Math.floor(u[at++] * values.length)];
  const data = pick(core.DATA_NAMES);
  const state = core.consistent({
    ...core.lessonState("free"), data, n: pick([3, 8, 12]), noise: pick([0, 0.2]), dataSeed: k, features: pick([3, 3, 31]), width: pick([4, 16, 64]),
    depth: pick([0, 1, 2]), activation: pick(core.ACTIVATIONS), scale: pick([0.5, 1, 5]), weightStd: pick([1, 1.4]), biasStd: pick([0.3, 1]),
    centered: pick([true, false]), lastOnly: pick([true, false, false]), seed: k, rate: pick([0.1, 0.3]), loss: pick(["squared", "logistic"]),
    optimizer: pick(["gd", "gd", "adam"]), momentum: pick([0, 0, 0.5]), batch: pick([0, 0, 0, 2]), steps: pick([10, 50, 100]), points: null,
  });
  if (k % 3 === 0) {
    const points = core.movable(core.pointsOf(state));
    points.x[0] = core.snap(0.5);
    state.points = points;
    state.n = points.y.length;
    state.noise = 0;
  }
  if (!core.isCurve(data) && !core.isClasses(data) && state.points) continue; // moved points carry classes only
  const run = new core.Run(state, false, null);
  let frame = run.frame(0);
  while (frame.step < state.steps && !frame.diverged) frame = run.advance(50);
  const { largest, lr, predicted } = run.setup;
  out.push({ python: core.asPython(state), largest, lr, predicted: predicted ? predicted.loss.at(-1) : null, loss: frame.loss });
}
console.log(JSON.stringify(out));
