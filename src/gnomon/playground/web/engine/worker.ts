// The worker: computes what the page asks for, one message at a time.
import { chiAtFixedPoint, criticalWeightStd, nextCorrelation, nextVariance } from "../core/meanfield";
import { descentSample } from "../core/models";
import { forward, initialParameters, type Shape } from "../core/network";
import { shapeOf, type State } from "../core/state";
import { bandOf } from "./band";
import { Run } from "./run";
import type { FromWorker, ToWorker } from "./protocol";

type Post = (message: FromWorker) => void;
/** A job rests after this time, so that other messages are answered. */
const JOB_MILLISECONDS = 25;
const PHASE_COLUMNS = 44;
const PHASE_ROWS = 28;

/** Handles messages. A new job of the background ends the one before. */
export function makeHandler(post: Post): (message: ToWorker) => void {
  let run: Run | null = null;
  let runId = -1;
  let job = 0;
  const later = (work: Generator<void>) => {
    const mine = ++job;
    const go = () => {
      const end = performance.now() + JOB_MILLISECONDS;
      while (performance.now() < end) if (mine !== job || work.next().done) return;
      setTimeout(go, 0);
    };
    setTimeout(go, 0);
  };
  const handle = (message: ToWorker) => {
    const { id } = message;
    switch (message.type) {
      case "setup":
        run = new Run(message.state, message.sharpness, run?.cached ?? null);
        runId = id;
        post({ type: "ready", id, setup: run.setup });
        post({ type: "frame", id, frame: run.frame(0) });
        break;
      case "advance":
        if (run && id === runId) post({ type: "frame", id, frame: run.advance(message.records) });
        break;
      case "band": post({ type: "band", id, ...bandOf(message.state, message.lr) }); break;
      case "seeds": later(seedsJob(message.state, message.count, id, post)); break;
      case "sweep": later(sweepJob(message.state, message.rates, message.steps, id, post)); break;
      case "phase": later(phaseJob(message.state, id, post)); break;
      case "signals": post(signals(message.state, id)); break;
      case "descent": later(descentJob(message, post)); break;
    }
  };
  return (message) => {
    try {
      handle(message);
    } catch (reason) {
      post({ type: "failed", id: message.id, words: reason instanceof Error ? reason.message : String(reason) });
    }
  };
}

function* seedsJob(state: State, count: number, id: number, post: Post): Generator<void> {
  for (let k = 0; k < count; k++) {
    const other = new Run({ ...state, seed: (state.seed + 101 * (k + 1)) % 10000 }, false, null);
    while (other.advance(20).step < state.steps) yield;
    post({ type: "seed", id, index: k, curve: other.frame(-1).curve });
    yield;
  }
}

function* sweepJob(state: State, rates: number[], steps: number, id: number, post: Post): Generator<void> {
  for (const rate of rates) {
    const one = new Run({ ...state, rate, steps }, false, null);
    const first = one.frame(0).loss;
    let frame = one.advance(4);
    let peak = frame.loss;
    while (frame.step < steps && !frame.diverged) {
      frame = one.advance(4);
      if (!(frame.loss <= peak)) peak = frame.loss;
      yield;
    }
    // A network that is not lazy may jump to a flatter place and recover: its loss has still risen.
    post({ type: "sweep", id, rate, ratio: frame.diverged ? Infinity : peak > 2 * first ? peak / first : frame.loss / first });
    yield;
  }
}

function* phaseJob(state: State, id: number, post: Post): Generator<void> {
  const chi = new Float64Array(PHASE_COLUMNS * PHASE_ROWS);
  const border = new Float64Array(PHASE_ROWS);
  for (let r = 0; r < PHASE_ROWS; r++) {
    const biasStd = (2 * (r + 0.5)) / PHASE_ROWS;
    for (let c = 0; c < PHASE_COLUMNS; c++) {
      chi[r * PHASE_COLUMNS + c] = chiAtFixedPoint(state.activation, (4 * (c + 0.5)) / PHASE_COLUMNS, biasStd);
    }
    border[r] = criticalWeightStd(state.activation, biasStd) ?? NaN;
    yield;
  }
  post({ type: "phase", id, border, chi, columns: PHASE_COLUMNS, rows: PHASE_ROWS });
}

const SIGNAL_LAYERS = 20;
const SIGNAL_WIDTH = 160;
const SIGNAL_DRAWS = 8;

/** Correlation of two inputs of the same size, layer by layer: mean of a few networks, and predicted. */
function signals(state: State, id: number): FromWorker {
  const width = SIGNAL_WIDTH;
  const shape: Shape = { ...shapeOf(state), inputs: 2, width, depth: SIGNAL_LAYERS, scale: 1 };
  const cosine = 0.6;
  const r = Math.SQRT2;
  const x = Float64Array.of(r, 0, r * cosine, r * Math.sqrt(1 - cosine ** 2));
  const measured = new Array<number>(SIGNAL_LAYERS).fill(0);
  const variance = new Array<number>(SIGNAL_LAYERS).fill(0);
  for (let draw = 0; draw < SIGNAL_DRAWS; draw++) {
    const pass = forward(shape, initialParameters(shape, state.seed + draw), x);
    for (let l = 0; l < SIGNAL_LAYERS; l++) {
      const z = pass.z[l]!;
      let [a, b, c] = [0, 0, 0];
      for (let k = 0; k < width; k++) {
        a += z[k]! ** 2 / width;
        b += z[width + k]! ** 2 / width;
        c += (z[k]! * z[width + k]!) / width;
      }
      measured[l]! += c / Math.sqrt(a * b) / SIGNAL_DRAWS;
      variance[l]! += (a + b) / 2 / SIGNAL_DRAWS;
    }
  }
  const [w2, b2] = [state.weightStd ** 2, state.biasStd ** 2];
  let q = w2 + b2;
  let c = (w2 * cosine + b2) / q;
  const [predicted, predictedVariance]: [number[], number[]] = [[c], [q]];
  for (let l = 1; l < SIGNAL_LAYERS; l++) {
    c = nextCorrelation(state.activation, state.weightStd, state.biasStd, q, c);
    q = nextVariance(state.activation, state.weightStd, state.biasStd, q);
    predicted.push(c);
    predictedVariance.push(q);
  }
  return { type: "signals", id, measured, predicted, variance, predictedVariance };
}

function* descentJob(message: Extract<ToWorker, { type: "descent" }>, post: Post): Generator<void> {
  const { id, n, total, noise, draws, sizes } = message;
  for (const size of sizes) {
    const found: number[] = [];
    for (let k = 0; k < draws; k++) {
      found.push(descentSample({ n, total, noise, signal: 1 }, size, 500 + k));
      yield;
    }
    found.sort((a, b) => a - b);
    post({ type: "descent", id, size, measured: found.reduce((a, b) => a + b, 0) / draws });
  }
}
