// Random states of the page: exact round trips through links, and settings at the border that must never raise.
// Usage: node states.mjs playground.html links 500 | fuzz 500
import { coreOf } from "./core.mjs";

const [page, task, count] = process.argv.slice(2);
const core = coreOf(page);

/** Numbers between 0 and 1 from a seed, so that a failure can be repeated. */
function generator(seed) {
  let at = 0;
  const numbers = core.uniforms(seed, 777, 4000);
  return () => numbers[at++ % numbers.length];
}

function randomState(seed, border) {
  const u = generator(seed);
  const pick = (values) => values[Math.floor(u() * values.length)];
  const grid = (from, to, step) => Number((from + Math.floor(u() * (Math.round((to - from) / step) + 1)) * step).toFixed(2));
  const data = pick(core.DATA_NAMES);
  const state = {
    ...core.lessonState(pick(core.LESSONS).id), data, n: border ? pick([1, 2, 3, 8, 17]) : grid(1, 128, 1), noise: grid(0, 1, 0.05),
    dataSeed: grid(0, 9999, 1), features: core.isCurve(data) ? 3 : grid(1, 127, 1), width: border ? pick([1, 2, 3, 16]) : pick(core.WIDTHS),
    depth: border ? pick([0, 1, 2, 5]) : pick(core.DEPTHS), activation: pick(core.ACTIVATIONS), scale: pick(core.SCALES), weightStd: border ? pick([0, 1, 4]) : grid(0, 4, 0.05),
    biasStd: border ? pick([0, 1, 2]) : grid(0, 2, 0.05), centered: u() < 0.5, lastOnly: u() < 0.3, seed: grid(0, 9999, 1),
    rate: border ? pick([0, 0.01, 1, 1.5, 4]) : grid(0, 4, 0.01), loss: pick(["squared", "logistic"]), optimizer: pick(["gd", "gd", "adam"]),
    momentum: border ? pick([0, 0.99]) : grid(0, 0.99, 0.01), batch: pick(core.BATCHES), steps: border ? pick([10, 100, 300]) : pick(core.STEPS), points: null,
  };
  if (u() < 0.5) state.points = randomPoints(u, core.isCurve(data) ? 1 : 2, border ? pick([1, 2, 7]) : 1 + Math.floor(u() * core.MAX_MOVED_POINTS), border && u() < 0.5);
  return core.consistent(state);
}

/** Points on the grid; `same` puts all of them in one place. */
function randomPoints(u, dimension, n, same) {
  const place = () => core.snap(4 * u() - 2);
  const x = new Float64Array(n * dimension).map(place);
  if (same) x.forEach((_, i) => (x[i] = x[i % dimension]));
  const y = new Float64Array(n).map(() => (dimension === 1 ? place() : u() < 0.5 ? -1 : 1));
  return { dimension, x, y };
}

const plain = (state) => JSON.stringify(state, (_, v) => (v instanceof Float64Array ? [...v] : v));

const failures = [];
let longest = 0;
for (let k = 0; k < Number(count); k++) {
  const state = randomState(k, task === "fuzz");
  try {
    if (task === "links") {
      const link = core.writeState(state, core.lessonState(state.lesson));
      longest = Math.max(longest, link.length + 1);
      const back = core.readState(link, core.lessonState);
      if (plain(back.state) !== plain(state) || back.problems.length) failures.push({ k, link, problems: back.problems });
    } else {
      const messages = [];
      const handle = core.makeHandler((message) => messages.push(message));
      handle({ type: "setup", id: 1, state, band: true, sharpness: k % 3 === 0 });
      for (let i = 0; i < 400; i++) {
        handle({ type: "advance", id: 1, records: 20 });
        const last = messages.at(-1);
        if (last.type !== "frame" || last.frame.diverged || last.frame.step >= state.steps) break;
      }
      const failed = messages.find((m) => m.type === "failed");
      if (failed || messages.at(-1).type !== "frame") failures.push({ k, state, words: failed?.words });
    }
  } catch (reason) {
    failures.push({ k, words: String(reason), state });
  }
}
console.log(JSON.stringify({ count: Number(count), longest, failures }));
