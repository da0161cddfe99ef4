// What training will do, computed from a kernel before the first step.
import { multiply, symmetricEigen, type Eigen } from "./linalg";
import { LOSS, meanLoss, type LossName } from "./train";

/** Modes of K / n: rates in descending order (zero below rounding), directions, and the initial error along each. */
export interface Modes extends Eigen {
  coefficients: Float64Array;
}

export function modesOf(K: Float64Array, error: Float64Array): Modes {
  const n = error.length;
  const { values, vectors } = symmetricEigen(K.map((v) => v / n), n);
  const rounding = n * 2 ** -52 * Math.max(Math.abs(values[0] ?? 0), Math.abs(values[n - 1] ?? 0));
  for (let k = 0; k < n; k++) if (!(values[k]! > rounding)) values[k] = 0;
  return { values, vectors, coefficients: project(vectors, error) };
}

/** Q^T r. */
export function project(vectors: Float64Array, r: Float64Array): Float64Array {
  const n = r.length;
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) for (let k = 0; k < n; k++) out[k]! += vectors[i * n + k]! * r[i]!;
  return out;
}

/** The largest learning rate at which no mode diverges: 2 (1 + momentum) / (largest rate x curvature of the loss). */
export function largestStableRate(topRate: number, loss: LossName, momentum: number): number {
  return topRate > 0 ? (2 * (1 + momentum)) / (topRate * LOSS[loss].largestCurvature) : Infinity;
}

/** Part of the error of a mode of rate a that is left after whole steps. */
export function remainder(a: number, lr: number, momentum: number, steps: number): number {
  if (momentum === 0) return (1 - lr * a) ** steps;
  return momentumPower(a, lr, momentum, steps)[0];
}

/** What a mode has learned, (1 - remainder) / a, without cancellation if lr a is small. */
export function gain(a: number, lr: number, momentum: number, steps: number): number {
  if (momentum > 0) return momentumPower(a, lr, momentum, steps)[1];
  if (a === 0) return lr * steps;
  if (lr * a < 0.5) return -Math.expm1(steps * Math.log1p(-lr * a)) / a;
  return (1 - (1 - lr * a) ** steps) / a;
}

/** Remainder and gain after heavy-ball steps, by repeated squaring of the 3 x 3 matrix of one step. */
function momentumPower(a: number, lr: number, beta: number, steps: number): [number, number] {
  let power = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  let base = [1 + beta - lr * a, -beta, lr, 1, 0, 0, 0, 0, 1];
  for (let s = steps; s > 0; s = Math.floor(s / 2)) {
    if (s % 2) power = times(power, base);
    base = times(base, base);
  }
  const learned = power[2]!;
  return [homogeneous(a, lr, beta, steps), learned];
}

function homogeneous(a: number, lr: number, beta: number, steps: number): number {
  let power = [1, 0, 0, 1];
  let base = [1 + beta - lr * a, -beta, 1, 0];
  const two = (p: number[], q: number[]) => [
    p[0]! * q[0]! + p[1]! * q[2]!, p[0]! * q[1]! + p[1]! * q[3]!,
    p[2]! * q[0]! + p[3]! * q[2]!, p[2]! * q[1]! + p[3]! * q[3]!,
  ];
  for (let s = steps; s > 0; s = Math.floor(s / 2)) {
    if (s % 2) power = two(power, base);
    base = two(base, base);
  }
  return power[0]! + power[1]!;
}

function times(p: number[], q: number[]): number[] {
  const out = new Array<number>(9).fill(0);
  for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) for (let k = 0; k < 3; k++) out[3 * i + j]! += p[3 * i + k]! * q[3 * k + j]!;
  return out;
}

/** A predicted run: coefficients c with f(x) = f0(x) + K(x, X) c, outputs at the training points, loss, per record. */
export interface Predicted {
  steps: number[];
  coefficients: Float64Array[];
  outputs: Float64Array[];
  /** Error left in each mode, for the squared loss; empty otherwise. */
  left: Float64Array[];
  loss: number[];
}

/** Gradient descent, with or without momentum, at these step counts (ascending), from the kernel at the start. */
export function predictRun(
  K: Float64Array, modes: Modes, f0: Float64Array, y: Float64Array, loss: LossName, lr: number, momentum: number,
  steps: number[],
): Predicted {
  return loss === "squared"
    ? predictSquared(modes, f0, y, lr, momentum, steps)
    : predictByStepping(K, f0, y, loss, lr, momentum, steps);
}

function predictSquared(
  modes: Modes, f0: Float64Array, y: Float64Array, lr: number, momentum: number, steps: number[],
): Predicted {
  const n = y.length;
  const out: Predicted = { steps, coefficients: [], outputs: [], left: [], loss: [] };
  const learned = new Float64Array(n);
  for (const s of steps) {
    const c = new Float64Array(n);
    const f = new Float64Array(n);
    const left = new Float64Array(n);
    let sum = 0;
    for (let k = 0; k < n; k++) {
      const rate = modes.values[k]!;
      const part = modes.coefficients[k]!;
      learned[k] = rate > 0 ? (gain(rate, lr, momentum, s) / n) * part : 0;
      left[k] = (rate > 0 ? remainder(rate, lr, momentum, s) : 1) * part;
      sum += left[k]! * left[k]!;
    }
    for (let i = 0; i < n; i++) {
      let [move, error] = [0, 0];
      for (let k = 0; k < n; k++) {
        const q = modes.vectors[i * n + k]!;
        move += q * learned[k]!;
        error += q * left[k]!;
      }
      c[i] = move;
      f[i] = y[i]! - error;
    }
    out.coefficients.push(c);
    out.outputs.push(s === 0 ? f0.slice() : f);
    out.left.push(left);
    out.loss.push(sum / (2 * n));
  }
  return out;
}

function predictByStepping(
  K: Float64Array, f0: Float64Array, y: Float64Array, loss: LossName, lr: number, momentum: number, steps: number[],
): Predicted {
  const n = y.length;
  const out: Predicted = { steps, coefficients: [], outputs: [], left: [], loss: [] };
  const c = new Float64Array(n);
  const velocity = new Float64Array(n);
  const f = f0.slice();
  const { slope } = LOSS[loss];
  let done = 0;
  for (const s of steps) {
    for (; done < s; done++) {
      for (let i = 0; i < n; i++) {
        velocity[i] = momentum * velocity[i]! - slope(f[i]!, y[i]!) / n;
        c[i]! += lr * velocity[i]!;
      }
      multiply(K, c, f);
      for (let i = 0; i < n; i++) f[i]! += f0[i]!;
    }
    out.coefficients.push(c.slice());
    out.outputs.push(f.slice());
    out.loss.push(meanLoss(loss, f, y));
  }
  return out;
}

/** Mean and standard deviation of infinitely wide networks after training, at m points. */
export interface Ensemble {
  mean: Float64Array;
  std: Float64Array;
}

/**
 * Mean A y and variance S(x, x) - 2 A S(X, x) + A S(X, X) A^T with A = T(x, X) G and G = Q g Q^T / n, from the limit
 * kernels T (NTK) and S (NNGP); S = 0 (`centered`) if the initial output is subtracted.
 */
export function ensembleAt(
  T: Float64Array, S: Float64Array, cross: { T: Float64Array; S: Float64Array; variance: Float64Array },
  y: Float64Array, lr: number, momentum: number, steps: number, centered: boolean,
): Ensemble {
  const n = y.length;
  const m = cross.variance.length;
  const { values, vectors } = modesOf(T, y);
  const g = Float64Array.from(values, (a) => (a > 0 ? gain(a, lr, momentum, steps) / n : 0));
  const G = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += vectors[i * n + k]! * g[k]! * vectors[j * n + k]!;
      G[i * n + j] = sum;
    }
  const mean = new Float64Array(m);
  const std = new Float64Array(m);
  const A = new Float64Array(n);
  for (let p = 0; p < m; p++) {
    A.fill(0);
    for (let i = 0; i < n; i++) {
      const t = cross.T[p * n + i]!;
      for (let j = 0; j < n; j++) A[j]! += t * G[i * n + j]!;
    }
    let [average, variance] = [0, cross.variance[p]!];
    for (let j = 0; j < n; j++) {
      average += A[j]! * y[j]!;
      let row = 0;
      for (let i = 0; i < n; i++) row += S[j * n + i]! * A[i]!;
      variance += A[j]! * (row - 2 * cross.S[p * n + j]!);
    }
    mean[p] = average;
    std[p] = centered ? 0 : Math.sqrt(Math.max(0, variance));
  }
  return { mean, std };
}
