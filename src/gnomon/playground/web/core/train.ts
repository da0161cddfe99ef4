// Losses, optimizers and the order of batches: what one training step does.
import { permutation } from "./random";
import { deltas, forward, gradient, parameterCount, type Pass, type Shape } from "./network";

export type LossName = "squared" | "logistic";
export type OptimizerName = "gd" | "adam";

/** Log(1 + exp(z)) without overflow. */
export const softplus = (z: number) => Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)));

export const LOSS = {
  squared: {
    value: (f: number, y: number) => (f - y) ** 2 / 2,
    slope: (f: number, y: number) => f - y,
    curvature: (_f: number, _y: number) => 1,
    largestCurvature: 1,
  },
  logistic: {
    value: (f: number, y: number) => softplus(-y * f),
    slope: (f: number, y: number) => -y / (1 + Math.exp(y * f)),
    curvature: (f: number, y: number) => 1 / ((1 + Math.exp(y * f)) * (1 + Math.exp(-y * f))),
    largestCurvature: 0.25,
  },
} as const;

export function meanLoss(loss: LossName, f: Float64Array, y: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < y.length; i++) sum += LOSS[loss].value(f[i]!, y[i]!);
  return sum / y.length;
}

export interface Problem {
  shape: Shape;
  x: Float64Array;
  y: Float64Array;
  loss: LossName;
  optimizer: OptimizerName;
  lr: number;
  momentum: number;
  /** Points in a batch; 0 means all. */
  batch: number;
  batchSeed: number;
  /** Outputs of the initial network at x that are subtracted; null if none are. */
  offset: Float64Array | null;
}

/** Streams of random numbers for the order of the points start here; epoch e uses BATCH_STREAM + e. */
export const BATCH_STREAM = 4096;
const [B1, B2, EPS] = [0.9, 0.999, 1e-8];

/** A training run that can be advanced step by step. */
export class Trainer {
  readonly w: Float64Array;
  step = 0;
  private readonly grad: Float64Array;
  private readonly first: Float64Array | null;
  private readonly second: Float64Array | null;
  private pass: Pass | undefined;
  /** Whether `pass` belongs to the parameters as they are now. */
  private current = false;
  private delta: Float64Array[] | undefined;
  private readonly seed: Float64Array;
  /** The points of one batch; null if every step uses all points. */
  private readonly part: { x: Float64Array; y: Float64Array; offset: Float64Array | null; pass?: Pass } | null;
  private queue: number[] = [];
  private taken = 0;
  private epoch = 0;

  constructor(readonly problem: Problem, start: Float64Array) {
    this.w = start.slice();
    const p = parameterCount(problem.shape);
    this.grad = new Float64Array(p);
    const memory = problem.optimizer === "adam" || problem.momentum > 0;
    this.first = memory ? new Float64Array(p) : null;
    this.second = problem.optimizer === "adam" ? new Float64Array(p) : null;
    const { batch, y, offset, shape } = problem;
    const inBatch = batch && batch < y.length ? batch : y.length;
    this.seed = new Float64Array(inBatch);
    this.part = inBatch < y.length ? { x: new Float64Array(inBatch * shape.inputs), y: new Float64Array(inBatch), offset: offset && new Float64Array(inBatch) } : null;
  }

  /** Outputs at the training points. */
  outputs(): Float64Array {
    const out = this.forwardAll().outputs.slice();
    const { offset } = this.problem;
    if (offset) for (let i = 0; i < out.length; i++) out[i]! -= offset[i]!;
    return out;
  }

  private forwardAll(): Pass {
    if (!this.current) this.pass = forward(this.problem.shape, this.w, this.problem.x, this.pass);
    this.current = true;
    return this.pass!;
  }

  /** One step; returns the mean loss of its batch before the step. */
  advance(): number {
    const loss = this.computeGradient();
    this.move();
    this.current = false;
    this.step++;
    return loss;
  }

  private computeGradient(): number {
    const { shape, loss } = this.problem;
    const { part, seed } = this;
    if (part) this.fillBatch(part);
    const { y, offset } = part ?? this.problem;
    const pass = part ? (part.pass = forward(shape, this.w, part.x, part.pass)) : this.forwardAll();
    const n = y.length;
    let total = 0;
    for (let i = 0; i < n; i++) {
      const f = pass.outputs[i]! - (offset ? offset[i]! : 0);
      total += LOSS[loss].value(f, y[i]!);
      seed[i] = LOSS[loss].slope(f, y[i]!) / n;
    }
    this.delta = deltas(shape, this.w, pass, seed, this.delta);
    gradient(shape, pass, this.delta, this.grad);
    return total / n;
  }

  /** Each point once per pass over the data, in a random order; a batch may continue into the next pass. */
  private fillBatch(part: { x: Float64Array; y: Float64Array; offset: Float64Array | null }): void {
    const { x, y, offset, shape, batchSeed } = this.problem;
    const d = shape.inputs;
    for (let k = 0; k < part.y.length; k++) {
      if (this.taken === this.queue.length) {
        this.queue = permutation(batchSeed, BATCH_STREAM + this.epoch++, y.length);
        this.taken = 0;
      }
      const i = this.queue[this.taken++]!;
      for (let j = 0; j < d; j++) part.x[k * d + j] = x[i * d + j]!;
      part.y[k] = y[i]!;
      if (part.offset) part.offset[k] = offset![i]!;
    }
  }

  private move(): void {
    const { lr, momentum, optimizer } = this.problem;
    const { w, grad, first, second } = this;
    if (optimizer === "adam") {
      const c1 = 1 - B1 ** (this.step + 1);
      const c2 = Math.sqrt(1 - B2 ** (this.step + 1));
      for (let i = 0; i < w.length; i++) {
        const g = grad[i]!;
        first![i] = B1 * first![i]! + (1 - B1) * g;
        second![i] = B2 * second![i]! + (1 - B2) * g * g;
        w[i]! -= ((lr / c1) * first![i]!) / (Math.sqrt(second![i]!) / c2 + EPS);
      }
    } else if (momentum > 0) {
      for (let i = 0; i < w.length; i++) {
        first![i] = momentum * first![i]! + grad[i]!;
        w[i]! -= lr * first![i]!;
      }
    } else {
      for (let i = 0; i < w.length; i++) w[i]! -= lr * grad[i]!;
    }
  }
}
