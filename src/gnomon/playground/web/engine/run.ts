// One run of the page: everything that is computed for a state, before and during training.
import { alignment, hessianTimes, kernelDrift, randomDirection, sharpness } from "../core/measures";
import { ensembleAt, largestStableRate, modesOf, predictRun, project, remainder, type Modes } from "../core/predict";
import { forward, initialParameters, layersOf, parameterCount, tangentKernel, tangentOf, type Pass, type Shape, type Tangent } from "../core/network";
import { inputsOf, pointsOf, shapeOf, type State } from "../core/state";
import { largestMargin, smallestMargin } from "../core/models";
import { limitKernels, outputVariances } from "../core/limit";
import { LOSS, meanLoss, Trainer } from "../core/train";
import { multiply } from "../core/linalg";
import { CURVE_POINTS, MAP_SIDE, MAX_UNITS_SHOWN, UNIT_SIDE, type Frame, type Setup } from "./protocol";

const RECORDS = 200;
const FRAME_MILLISECONDS = 9;
const MAX_NEURONS = 400;
/** A loss above this multiple of the first one counts as divergence. */
const DIVERGED = 1e6;

/** Step counts of the records: 0, 1, 2, ... and then evenly spaced in the logarithm. */
export function recordSteps(steps: number): number[] {
  const out = new Set<number>([0]);
  for (let k = 0; k < RECORDS; k++) out.add(Math.round((steps + 1) ** (k / (RECORDS - 1)) - 1));
  return [...out].sort((a, b) => a - b);
}

export function curveGrid(): Float64Array {
  return Float64Array.from({ length: CURVE_POINTS }, (_, i) => -2 + (4 * i) / (CURVE_POINTS - 1));
}

/** Centers of the cells of a map, rows from top to bottom. */
export function mapGrid(side: number): Float64Array {
  const out = new Float64Array(2 * side * side);
  for (let r = 0; r < side; r++)
    for (let c = 0; c < side; c++) {
      out[2 * (r * side + c)] = -2 + (4 * (c + 0.5)) / side;
      out[2 * (r * side + c) + 1] = 2 - (4 * (r + 0.5)) / side;
    }
  return out;
}

/** Kernel parts that stay the same while only targets are moved. */
interface Cached {
  key: string;
  w: Float64Array;
  raw: Float64Array;
  gridRaw: Float64Array;
  kernel: Float64Array;
  cross: Float64Array;
  here: Tangent;
}

export class Run {
  readonly setup: Setup;
  private readonly shape: Shape;
  private readonly x: Float64Array;
  private readonly gridInputs: Float64Array;
  private readonly offset: Float64Array | null;
  private readonly gridOffset: Float64Array | null;
  private readonly trainer: Trainer;
  private readonly modes: Modes;
  private gridPass: Pass | undefined;
  private unitPass: Pass | undefined;
  private readonly best: ReturnType<typeof largestMargin>;
  private readonly augmented: Float64Array | null;
  private next = 0;
  private sinceMeasured = 99;
  private drift = 0;
  private aligned: number | null;
  private direction: Float64Array | null = null;
  private sharp: number | null = null;

  constructor(readonly state: State, readonly measuresSharpness: boolean, public cached: Cached | null) {
    const points = pointsOf(state);
    this.shape = shapeOf(state);
    this.x = inputsOf(state, points.x);
    const grid = points.dimension === 1 ? curveGrid() : mapGrid(MAP_SIDE);
    this.gridInputs = inputsOf(state, grid);
    const parts = this.kernelParts(points.x);
    this.cached = parts;
    const { raw, gridRaw, kernel, cross } = parts;
    this.offset = state.centered ? raw : null;
    this.gridOffset = state.centered ? gridRaw : null;
    const f0 = state.centered ? new Float64Array(raw.length) : raw.slice();
    const start = state.centered ? new Float64Array(gridRaw.length) : gridRaw;
    const { y } = points;
    this.modes = modesOf(kernel, y.map((v, i) => v - f0[i]!));
    const largest = largestStableRate(this.modes.values[0]!, state.loss, state.momentum);
    const lr = state.optimizer === "adam" ? 0.05 * state.rate : Number.isFinite(largest) ? state.rate * largest : state.rate;
    const records = recordSteps(state.steps);
    this.aligned = alignment(kernel, y);
    const messages = this.messages(largest);
    const predicted = state.optimizer === "adam" ? null : this.predict(kernel, cross, f0, start, y, lr, records);
    if (predicted && !predicted.loss.every(Number.isFinite)) messages.push("The prediction grows without bound: the learning rate is above the largest stable one.");
    this.setup = {
      dimension: points.dimension, x: points.x, y, f0, parameters: parameterCount(this.shape), lr, largest,
      rates: this.modes.values, coefficients: this.pulls(f0, y), kernel, alignment: this.aligned, records,
      grid: points.dimension === 1 ? grid : new Float64Array(0), start: Float32Array.from(start), predicted, messages,
      cross: points.dimension === 1 ? Float32Array.from(cross) : new Float32Array(0), best: null,
    };
    this.trainer = new Trainer(
      { shape: this.shape, x: this.x, y, loss: state.loss, optimizer: state.optimizer, lr, momentum: state.momentum,
        batch: state.batch, batchSeed: state.seed, offset: this.offset }, parts.w);
    this.augmented = state.depth === 0 && points.dimension === 2 ? this.augmentedInputs() : null;
    this.best = this.augmented ? largestMargin(this.augmented, y, this.shape.inputs + 1) : null;
    if (this.best && this.shape.inputs === 2) this.setup.best = this.planeDirection(this.best.u);
  }

  private kernelParts(x: Float64Array): Cached {
    const { state, shape } = this;
    const key = [state.data, state.features, state.width, state.depth, state.activation, state.scale, state.weightStd,
      state.biasStd, state.lastOnly, state.seed, x.join(" ")].join("|");
    if (this.cached?.key === key) return this.cached;
    const w = initialParameters(shape, state.seed);
    const here = tangentOf(shape, w, this.x);
    const there = tangentOf(shape, w, this.gridInputs);
    return {
      key, w, here, raw: here.pass.outputs, gridRaw: there.pass.outputs, kernel: tangentKernel(shape, here, here),
      cross: tangentKernel(shape, there, here),
    };
  }

  private messages(largest: number): string[] {
    const out: string[] = [];
    if (!Number.isFinite(largest)) out.push("The kernel is zero at these points: nothing can be learned here.");
    if (this.state.rate === 0) out.push("The learning rate is 0: nothing will move.");
    if (this.state.optimizer === "adam") out.push("Adam rescales every gradient, so the kernel does not predict its path.");
    return out;
  }

  private predict(
    kernel: Float64Array, cross: Float64Array, f0: Float64Array, start: Float64Array, y: Float64Array, lr: number,
    records: number[],
  ): Setup["predicted"] {
    const { state, modes } = this;
    const run = predictRun(kernel, modes, f0, y, state.loss, lr, state.momentum, records);
    const curves = run.coefficients.map((c) => {
      const f = multiply(cross, c);
      return Float32Array.from(f, (v, i) => v + start[i]!);
    });
    const left = records.map((s, r) =>
      state.loss === "squared"
        ? modes.coefficients.map((c, k) => c * (modes.values[k]! > 0 ? remainder(modes.values[k]!, lr, state.momentum, s) : 1))
        : this.pulls(run.outputs[r]!, y));
    return { loss: run.loss, outputs: run.outputs, curves, modes: left };
  }

  /** How strongly the loss pulls along each mode: the error itself for the squared loss. */
  private pulls(f: Float64Array, y: Float64Array): Float64Array {
    return project(this.modes.vectors, y.map((v, i) => -LOSS[this.state.loss].slope(f[i]!, v)));
  }

  /** The band of infinitely wide networks at the last step; null if the theory does not cover the setting. */
  band(): { mean: Float32Array; std: Float32Array } | null {
    const { state, shape, setup } = this;
    if (state.loss !== "squared" || state.optimizer !== "gd" || !setup.predicted) return null;
    const here = limitKernels(shape, this.x, this.x);
    const cross = limitKernels(shape, this.gridInputs, this.x);
    const parts = { T: cross.ntk, S: cross.nngp, variance: outputVariances(shape, this.gridInputs) };
    const { mean, std } = ensembleAt(here.ntk, here.nngp, parts, setup.y, setup.lr, state.momentum, state.steps, state.centered);
    return { mean: Float32Array.from(mean), std: Float32Array.from(std) };
  }

  /** Trains to the next record, or for one frame's time; `records` of them may be passed at once. */
  advance(records: number): Frame {
    const end = performance.now() + FRAME_MILLISECONDS;
    const target = Math.min(this.next + Math.max(0, records - 1), this.setup.records.length - 1);
    const stop = this.setup.records[target]!;
    while (this.trainer.step < stop) {
      this.trainer.advance();
      if (performance.now() > end) break;
    }
    while (this.next <= target && this.setup.records[this.next]! <= this.trainer.step) this.next++;
    const at = this.next - 1;
    return this.frame(this.setup.records[at] === this.trainer.step ? at : -1);
  }

  /** The state of the network now. */
  frame(record: number): Frame {
    const { setup, state } = this;
    const outputs = this.trainer.outputs();
    const loss = meanLoss(state.loss, outputs, setup.y);
    const first = meanLoss(state.loss, setup.f0, setup.y);
    const diverged = !(loss < DIVERGED * (first + 1e-3));
    this.measure();
    return {
      step: this.trainer.step, record, loss, outputs, curve: this.curve(),
      modes: this.pulls(outputs, setup.y),
      drift: this.drift, alignment: this.aligned, sharpness: this.sharp, neurons: this.neurons(), units: this.units(),
      margin: this.marginNow(), diverged,
    };
  }

  private curve(): Float32Array {
    this.gridPass = forward(this.shape, this.trainer.w, this.gridInputs, this.gridPass);
    const out = Float32Array.from(this.gridPass.outputs);
    if (this.gridOffset) for (let i = 0; i < out.length; i++) out[i]! -= this.gridOffset[i]!;
    return out;
  }

  /** Drift, alignment and sharpness, as often as they are cheap compared with a frame. */
  private measure(): void {
    const { shape, trainer, setup, state } = this;
    if (trainer.step === 0) {
      this.drift = 0;
    } else {
      const cost = shape.width * (shape.depth ? 1 : 0) * setup.y.length ** 2;
      if (++this.sinceMeasured < Math.min(12, 2 + cost / 3e5)) return;
      this.sinceMeasured = 0;
      const now = tangentOf(shape, trainer.w, this.x);
      const kernel = tangentKernel(shape, now, now);
      this.drift = kernelDrift(kernel, setup.kernel);
      this.aligned = alignment(kernel, setup.y);
    }
    if (this.measuresSharpness && setup.parameters <= 20000) {
      const apply = (v: Float64Array) => hessianTimes(shape, trainer.w, this.x, setup.y, state.loss, this.offset, v);
      const found = sharpness(apply, this.direction ?? randomDirection(shape), this.direction ? 6 : 16, 1e-3);
      [this.sharp, this.direction] = [found.value, found.vector];
    }
  }

  private neurons(): Float32Array | null {
    const { shape, trainer } = this;
    if (shape.inputs !== 1 || shape.depth !== 1) return null;
    const [first, last] = layersOf(shape) as [ReturnType<typeof layersOf>[0], ReturnType<typeof layersOf>[0]];
    const count = Math.min(shape.width, MAX_NEURONS);
    const out = new Float32Array(2 * count);
    for (let k = 0; k < count; k++) {
      const slope = shape.weightStd * trainer.w[first.weights + k]!;
      out[2 * k] = (-shape.biasStd * trainer.w[first.biases + k]!) / slope;
      out[2 * k + 1] = shape.scale * (shape.weightStd / Math.sqrt(shape.width)) * trainer.w[last.weights + k]! * Math.abs(slope);
    }
    return out;
  }

  private units(): Uint8Array | null {
    const { shape, trainer, state } = this;
    if (this.setup.dimension !== 2 || shape.depth === 0) return null;
    const grid = inputsOf(state, mapGrid(UNIT_SIDE));
    this.unitPass = forward(shape, trainer.w, grid, this.unitPass);
    const shown = Math.min(shape.width, MAX_UNITS_SHOWN);
    const cells = UNIT_SIDE ** 2;
    const out = new Uint8Array(shape.depth * shown * cells);
    for (let l = 0; l < shape.depth; l++)
      for (let u = 0; u < shown; u++) {
        const h = this.unitPass.inputs[l + 1]!;
        let size = 1e-9;
        for (let c = 0; c < cells; c++) size = Math.max(size, Math.abs(h[c * shape.width + u]!));
        for (let c = 0; c < cells; c++) out[(l * shown + u) * cells + c] = 127.5 + (127 * h[c * shape.width + u]!) / size;
      }
    return out;
  }

  /** Inputs of a linear model with the constant that multiplies its bias. */
  private augmentedInputs(): Float64Array {
    const d = this.shape.inputs;
    const n = this.x.length / d;
    const out = new Float64Array(n * (d + 1));
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < d; k++) out[i * (d + 1) + k] = (this.shape.weightStd / Math.sqrt(d)) * this.x[i * d + k]!;
      out[i * (d + 1) + d] = this.shape.biasStd;
    }
    return out;
  }

  private marginNow(): Frame["margin"] {
    if (!this.best || !this.augmented) return null;
    const u = this.trainer.w;
    const size = Math.sqrt(u.reduce((a, b) => a + b * b, 0)) || 1;
    const cosine = u.reduce((sum, c, k) => sum + c * this.best!.u[k]!, 0) / size;
    const margin = smallestMargin(u, this.augmented, this.setup.y, u.length) / size;
    return { angle: Math.acos(Math.max(-1, Math.min(1, cosine))), margin, best: this.best.margin };
  }

  /** The line u.x = 0 of augmented inputs as slopes of the coordinates and a constant. */
  private planeDirection(u: Float64Array): Float64Array {
    const gain = this.shape.weightStd / Math.SQRT2;
    return Float64Array.of(gain * u[0]!, gain * u[1]!, this.shape.biasStd * u[2]!);
  }
}
