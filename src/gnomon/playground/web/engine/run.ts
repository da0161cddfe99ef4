// One run of the page: everything that is computed for a state, before and during training.
import { alignment, hessianTimes, kernelDrift, randomDirection, sharpness } from "../core/measures";
import { largestStableRate, modesOf, predictRun, project, type Modes } from "../core/predict";
import { forward, initialParameters, parameterCount, type Pass, type Shape } from "../core/network";
import { inputsOf, pointsOf, shapeOf, type State } from "../core/state";
import { innerProducts, PointKernels, tangentKernel, tangentOf, type Tangent } from "../core/tangent";
import { LOSS, meanLoss, Trainer } from "../core/train";
import { curveGrid, mapGrid, recordSteps } from "./grids";
import { Margins } from "./margins";
import { MAP_SIDE, type Frame, type Setup } from "./protocol";
import { unitBends, UnitMaps } from "./units";

/** Time for one answer to the page: training steps and the picture after them. */
const FRAME_MILLISECONDS = 13;
/** A loss above this multiple of the first one counts as divergence. */
const DIVERGED = 1e6;
/** Multiplications of a kernel measurement that are as cheap as one frame. */
const CHEAP_MEASUREMENT = 1.5e6;
const MOST_PARAMETERS_FOR_SHARPNESS = 20000;

/** Kernels of the last run, which the next one moves along if only points or training have changed. */
export interface Cached {
  key: string;
  w: Float64Array;
  kernels: PointKernels;
}

export class Run {
  readonly setup: Setup;
  readonly cached: Cached;
  private readonly shape: Shape;
  private readonly x: Float64Array;
  private readonly gridInputs: Float64Array;
  private readonly offset: Float64Array | null;
  private readonly gridOffset: Float64Array | null;
  private readonly trainer: Trainer;
  private readonly modes: Modes;
  private readonly firstLoss: number;
  private gridPass: Pass | undefined;
  private tangent: Tangent | undefined;
  private readonly units: UnitMaps | null;
  private readonly margins: Margins | null;
  private next = 0;
  private sinceMeasured = 0;
  private frameMilliseconds = 0;
  private drift = 0;
  private aligned: number | null;
  private direction: Float64Array | null = null;
  private sharp: number | null = null;

  constructor(readonly state: State, readonly measuresSharpness: boolean, before: Cached | null) {
    const points = pointsOf(state);
    const { y, dimension } = points;
    const shape = (this.shape = shapeOf(state));
    this.x = inputsOf(state, points.x);
    const grid = dimension === 1 ? curveGrid() : mapGrid(MAP_SIDE);
    this.gridInputs = inputsOf(state, grid);
    this.cached = this.kernelsAfter(before, y.length);
    const { kernels, w } = this.cached;
    const kernel = kernels.kernel.slice();
    const [raw, gridRaw] = [kernels.outputs.slice(), kernels.gridOutputs];
    this.offset = state.centered ? raw : null;
    this.gridOffset = state.centered ? gridRaw : null;
    const f0 = state.centered ? new Float64Array(raw.length) : raw;
    const start = state.centered ? new Float64Array(gridRaw.length) : gridRaw;
    this.modes = modesOf(kernel, y.map((v, i) => v - f0[i]!));
    const largest = largestStableRate(this.modes.values[0]!, state.loss, state.momentum);
    const lr = state.optimizer === "adam" ? 0.05 * state.rate : Number.isFinite(largest) ? state.rate * largest : state.rate;
    this.aligned = alignment(kernel, y);
    this.margins = state.depth === 0 && dimension === 2 ? new Margins(shape, this.x, y) : null;
    this.units = state.depth > 0 && dimension === 2 ? new UnitMaps(shape, state) : null;
    this.setup = {
      own: false, dimension, x: points.x, y, marks: y, f0, parameters: parameterCount(shape), lr, largest, rates: this.modes.values,
      coefficients: this.pulls(f0, y), kernel, alignment: this.aligned, records: recordSteps(state.steps),
      grid: dimension === 1 ? grid : new Float64Array(0), start: Float32Array.from(start), predicted: null,
      messages: this.messages(largest), best: this.margins?.line ?? null, coordinates: null,
      cross: dimension === 1 ? Float32Array.from(kernels.cross) : new Float32Array(0),
    };
    this.predict(start);
    this.firstLoss = meanLoss(state.loss, f0, y);
    this.trainer = new Trainer(
      { shape, x: this.x, y, loss: state.loss, optimizer: state.optimizer, lr, momentum: state.momentum,
        batch: state.batch, batchSeed: state.seed, offset: this.offset }, w);
  }

  private kernelsAfter(before: Cached | null, n: number): Cached {
    const { state, shape } = this;
    const key = [state.data, state.features, state.width, state.depth, state.activation, state.scale, state.weightStd,
      state.biasStd, state.lastOnly, state.seed, n].join("|");
    if (before?.key === key) {
      before.kernels.move(this.x);
      return before;
    }
    const w = initialParameters(shape, state.seed);
    return { key, w, kernels: new PointKernels(shape, w, this.gridInputs, this.x) };
  }

  private messages(largest: number): string[] {
    const out: string[] = [];
    if (!Number.isFinite(largest)) out.push("The kernel is zero at these points: nothing can be learned here.");
    if (this.state.rate === 0) out.push("The learning rate is 0: nothing will move.");
    if (this.state.optimizer === "adam") out.push("Adam rescales every gradient, so the kernel does not predict its path.");
    return out;
  }

  /** Fills in the prediction; a map needs it at the last record only. */
  private predict(start: Float64Array): void {
    const { state, modes, setup } = this;
    if (state.optimizer === "adam") return;
    const { kernel, f0, y, records, lr } = setup;
    const run = predictRun(kernel, modes, f0, y, state.loss, lr, state.momentum, records);
    const shown = setup.dimension === 1 ? run.coefficients : run.coefficients.slice(-1);
    const [n, m] = [y.length, start.length];
    const all = new Float64Array(shown.length * n);
    shown.forEach((c, r) => all.set(c, r * n));
    const changes = innerProducts(all, this.cached.kernels.cross, shown.length, m, n, false);
    const curves = shown.map((_, r) => {
      const curve = new Float32Array(m);
      for (let i = 0; i < m; i++) curve[i] = changes[r * m + i]! + start[i]!;
      return curve;
    });
    const left = state.loss === "squared" ? run.left : run.outputs.map((f) => this.pulls(f, y));
    setup.predicted = { loss: run.loss, outputs: run.outputs, curves, modes: left };
    if (!run.loss.every(Number.isFinite)) setup.messages.push("The prediction grows without bound: the learning rate is above the largest stable one.");
  }

  /** How strongly the loss pulls along each mode: the error itself for the squared loss. */
  private pulls(f: Float64Array, y: Float64Array): Float64Array {
    return project(this.modes.vectors, y.map((v, i) => -LOSS[this.state.loss].slope(f[i]!, v)));
  }

  /** Trains to the next record, or for one frame's time; `records` of them may be passed at once. */
  advance(records: number): Frame {
    const end = performance.now() + FRAME_MILLISECONDS - this.frameMilliseconds;
    const target = Math.min(this.next + Math.max(0, records - 1), this.setup.records.length - 1);
    const stop = this.setup.records[target]!;
    while (this.trainer.step < stop) {
      this.trainer.advance();
      if (performance.now() > end) break;
    }
    while (this.next <= target && this.setup.records[this.next]! <= this.trainer.step) this.next++;
    const at = this.next - 1;
    const trained = performance.now();
    const frame = this.frame(this.setup.records[at] === this.trainer.step ? at : -1);
    this.frameMilliseconds = 0.8 * this.frameMilliseconds + 0.2 * (performance.now() - trained);
    return frame;
  }

  /** The state of the network now. */
  frame(record: number): Frame {
    const { setup, state, shape, trainer } = this;
    const outputs = trainer.outputs();
    const loss = meanLoss(state.loss, outputs, setup.y);
    this.measure(record);
    return {
      step: trainer.step, record, loss, outputs, curve: trainer.step === 0 ? setup.start.slice() : this.curve(),
      modes: this.pulls(outputs, setup.y), drift: this.drift, alignment: this.aligned, sharpness: this.sharp,
      neurons: shape.inputs === 1 && shape.depth === 1 ? unitBends(shape, trainer.w) : null,
      units: this.units?.draw(trainer.w) ?? null, margin: this.margins?.of(trainer.w) ?? null,
      diverged: !(loss < DIVERGED * (this.firstLoss + 1e-3)),
    };
  }

  private curve(): Float32Array {
    this.gridPass = forward(this.shape, this.trainer.w, this.gridInputs, this.gridPass);
    const out = Float32Array.from(this.gridPass.outputs);
    if (this.gridOffset) for (let i = 0; i < out.length; i++) out[i] = this.gridPass.outputs[i]! - this.gridOffset[i]!;
    return out;
  }

  /**
   * Drift, alignment and sharpness, at fewer records if they cost more than a frame, and always at the last one. Frames
   * between records are left out, because how many there are depends on the machine.
   */
  private measure(record: number): void {
    const { shape, trainer, setup } = this;
    if (trainer.step > 0) {
      if (record < 0) return;
      const n = setup.y.length;
      const cost = n * setup.parameters + n ** 2 * shape.width * (shape.depth ? shape.depth : 0);
      const due = ++this.sinceMeasured >= Math.min(12, 1 + cost / CHEAP_MEASUREMENT);
      if (!due && record < setup.records.length - 1) return;
      this.sinceMeasured = 0;
      const now = (this.tangent = tangentOf(shape, trainer.w, this.x, this.tangent));
      const kernel = tangentKernel(shape, now, now);
      this.drift = kernelDrift(kernel, setup.kernel);
      this.aligned = alignment(kernel, setup.y);
    }
    if (this.measuresSharpness && setup.parameters <= MOST_PARAMETERS_FOR_SHARPNESS) this.measureSharpness();
  }

  private measureSharpness(): void {
    const { shape, trainer, setup, state } = this;
    const apply = (v: Float64Array) => hessianTimes(shape, trainer.w, this.x, setup.y, state.loss, this.offset, v);
    const found = sharpness(apply, this.direction ?? randomDirection(shape), this.direction ? 6 : 16, 1e-3);
    [this.sharp, this.direction] = [found.value, found.vector];
  }
}
