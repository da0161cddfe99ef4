// Two small theories with closed forms: double descent in linear regression, and the largest-margin direction.
import { minimumNormSolution } from "./linalg";
import { normals } from "./random";

export interface Descent {
  /** Training points, features in total, noise variance and squared length of the true weights. */
  n: number;
  total: number;
  noise: number;
  signal: number;
}

/**
 * Expected test error (without the noise of the test target) of least squares on the first p of `total` Gaussian
 * features, smallest norm if p > n; infinite for p within one of n (Belkin, Hsu and Xu 2020, theorem 1).
 */
export function descentRisk({ n, total, noise, signal }: Descent, p: number): number {
  const unused = signal * (1 - p / total);
  const [s, used] = [noise + unused, signal - unused];
  if (p <= n - 2) return s * (1 + p / (n - p - 1)) - noise;
  if (p < n + 2) return Infinity;
  return used * (1 - n / p) + s * (1 + n / (p - n - 1)) - noise;
}

/** Test error of one random draw of the same problem. */
export function descentSample({ n, total, noise, signal }: Descent, p: number, seed: number): number {
  const features = normals(seed, 40, n * total);
  const beta = normals(seed, 41, total);
  const size = Math.sqrt(beta.reduce((a, b) => a + b * b, 0));
  for (let k = 0; k < total; k++) beta[k]! *= Math.sqrt(signal) / size;
  const errors = normals(seed, 42, n);
  const A = new Float64Array(n * p);
  const y = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < total; k++) y[i]! += features[i * total + k]! * beta[k]!;
    y[i]! += Math.sqrt(noise) * errors[i]!;
    for (let k = 0; k < p; k++) A[i * p + k] = features[i * total + k]!;
  }
  const w = minimumNormSolution(A, y, p);
  let risk = 0;
  for (let k = 0; k < total; k++) risk += (beta[k]! - (k < p ? w[k]! : 0)) ** 2;
  return risk;
}

/** The direction u of largest margin min_i y_i u.x_i / |u|, by coordinate ascent in the dual; null if none exists. */
export function largestMargin(x: Float64Array, y: Float64Array, d: number): { u: Float64Array; margin: number } | null {
  const n = y.length;
  const u = new Float64Array(d);
  const alpha = new Float64Array(n);
  const square = Float64Array.from({ length: n }, (_, i) => {
    let sum = 0;
    for (let k = 0; k < d; k++) sum += x[i * d + k]! ** 2;
    return sum;
  });
  for (let round = 0; round < 20000; round++) {
    let change = 0;
    for (let i = 0; i < n; i++) {
      if (!(square[i]! > 0)) return null;
      let score = 0;
      for (let k = 0; k < d; k++) score += u[k]! * x[i * d + k]!;
      const next = Math.max(0, alpha[i]! + (1 - y[i]! * score) / square[i]!);
      const move = next - alpha[i]!;
      alpha[i] = next;
      change = Math.max(change, Math.abs(move) * Math.sqrt(square[i]!));
      for (let k = 0; k < d; k++) u[k]! += move * y[i]! * x[i * d + k]!;
    }
    const size = Math.sqrt(u.reduce((a, b) => a + b * b, 0));
    if (size > 1e4) return null;
    if (change < 1e-12 * size) break;
  }
  const size = Math.sqrt(u.reduce((a, b) => a + b * b, 0));
  const margin = smallestMargin(u, x, y, d) / size;
  return n && margin > 0 ? { u: u.map((c) => c / size), margin } : null;
}

/** min_i y_i u.x_i. */
export function smallestMargin(u: Float64Array, x: Float64Array, y: Float64Array, d: number): number {
  let least = Infinity;
  for (let i = 0; i < y.length; i++) {
    let score = 0;
    for (let k = 0; k < d; k++) score += u[k]! * x[i * d + k]!;
    least = Math.min(least, y[i]! * score);
  }
  return least;
}
