// What is measured while a network trains: kernel drift, alignment with the targets, sharpness.
import { FUNCTIONS } from "./activations";
import { dot, norm, symmetricEigen } from "./linalg";
import { forward, layersOf, parameterCount, type Shape } from "./network";
import { LOSS, type LossName } from "./train";
import { normals } from "./random";

/** |K - K0| / |K0| in the Frobenius norm: how much the kernel has changed. */
export function kernelDrift(K: Float64Array, K0: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < K.length; i++) sum += (K[i]! - K0[i]!) ** 2;
  const size = norm(K0);
  return size > 0 ? Math.sqrt(sum) / size : 0;
}

/** Centered kernel-target alignment: the cosine between K and y y^T after both are centered; null if one is constant. */
export function alignment(K: Float64Array, y: Float64Array): number | null {
  const n = y.length;
  const mean = y.reduce((a, b) => a + b, 0) / n;
  const target = y.map((v) => v - mean);
  const rows = new Float64Array(n);
  let all = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) rows[i]! += K[i * n + j]! / n;
    all += rows[i]! / n;
  }
  let [inner, square] = [0, 0];
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      const k = K[i * n + j]! - rows[i]! - rows[j]! + all;
      inner += k * target[i]! * target[j]!;
      square += k * k;
    }
  const size = Math.sqrt(square) * dot(target, target);
  return size > 1e-300 ? inner / size : null;
}

/** Hessian of the mean loss times a direction v, exactly: one forward and one backward pass with their derivatives. */
export function hessianTimes(
  shape: Shape, w: Float64Array, x: Float64Array, y: Float64Array, loss: LossName, offset: Float64Array | null,
  v: Float64Array,
): Float64Array {
  const pass = forward(shape, w, x);
  const phi = FUNCTIONS[shape.activation];
  const layers = layersOf(shape);
  const n = pass.n;
  const gains = layers.map((layer) => shape.weightStd / Math.sqrt(layer.fanIn));
  const frozen = (l: number) => shape.lastOnly && l < shape.depth;
  const moveZ: Float64Array[] = [];
  const moveH: Float64Array[] = [new Float64Array(n * shape.inputs)];
  layers.forEach((layer, l) => {
    const { fanIn, units, weights, biases } = layer;
    const z = new Float64Array(n * units);
    for (let p = 0; p < n; p++)
      for (let o = 0; o < units; o++) {
        let sum = 0;
        for (let i = 0; i < fanIn; i++) {
          if (!frozen(l)) sum += v[weights + o * fanIn + i]! * pass.inputs[l]![p * fanIn + i]!;
          sum += w[weights + o * fanIn + i]! * moveH[l]![p * fanIn + i]!;
        }
        z[p * units + o] = gains[l]! * sum + (frozen(l) ? 0 : shape.biasStd * v[biases + o]!);
      }
    moveZ.push(z);
    moveH.push(z.map((d, k) => phi.slope(pass.z[l]![k]!) * d));
  });
  let delta: Float64Array = new Float64Array(n);
  let moveDelta: Float64Array = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const f = pass.outputs[i]! - (offset ? offset[i]! : 0);
    delta[i] = (shape.scale * LOSS[loss].slope(f, y[i]!)) / n;
    moveDelta[i] = (shape.scale ** 2 * LOSS[loss].curvature(f, y[i]!) * moveZ[shape.depth]![i]!) / n;
  }
  const out = new Float64Array(parameterCount(shape));
  for (let l = shape.depth; l >= 0; l--) {
    const { fanIn, units, weights, biases } = layers[l]!;
    const below = new Float64Array(n * fanIn);
    const moveBelow = new Float64Array(n * fanIn);
    for (let p = 0; p < n; p++)
      for (let o = 0; o < units; o++) {
        const d = delta[p * units + o]!;
        const md = moveDelta[p * units + o]!;
        if (!frozen(l)) out[biases + o]! += shape.biasStd * md;
        for (let i = 0; i < fanIn; i++) {
          const at = weights + o * fanIn + i;
          const here = p * fanIn + i;
          if (!frozen(l)) out[at]! += gains[l]! * (md * pass.inputs[l]![here]! + d * moveH[l]![here]!);
          below[here]! += gains[l]! * w[at]! * d;
          moveBelow[here]! += gains[l]! * ((frozen(l) ? 0 : v[at]!) * d + w[at]! * md);
        }
      }
    if (l === 0) break;
    const z = pass.z[l - 1]!;
    delta = below.map((d, k) => d * phi.slope(z[k]!));
    const change = moveZ[l - 1]!;
    moveDelta = moveBelow.map((d, k) => d * phi.slope(z[k]!) + below[k]! * phi.curvature(z[k]!) * change[k]!);
  }
  return out;
}

/** The largest Hessian eigenvalue and its vector, by Lanczos with full orthogonalization from a starting vector. */
export function sharpness(
  apply: (v: Float64Array) => Float64Array, start: Float64Array, products: number, tolerance = 1e-10,
): { value: number; vector: Float64Array } {
  const basis: Float64Array[] = [];
  const [diagonal, off]: [number[], number[]] = [[], []];
  let v = start.map((c) => c / (norm(start) || 1));
  let best = { value: 0, vector: v };
  for (let k = 0; k < products; k++) {
    basis.push(v);
    const next = apply(v);
    diagonal.push(dot(next, v));
    for (let round = 0; round < 2; round++)
      for (const b of basis) {
        const c = dot(next, b);
        for (let i = 0; i < next.length; i++) next[i]! -= c * b[i]!;
      }
    const size = norm(next);
    const m = diagonal.length;
    const T = new Float64Array(m * m);
    diagonal.forEach((d, i) => (T[i * m + i] = d));
    off.forEach((o, i) => (T[i * m + i + 1] = T[(i + 1) * m + i] = o));
    const eigen = symmetricEigen(T, m);
    const residual = size * Math.abs(eigen.vectors[(m - 1) * m]!);
    if (k === products - 1 || residual <= tolerance * Math.abs(eigen.values[0]!) || !(size > 1e-300)) {
      const vector = new Float64Array(v.length);
      basis.forEach((b, j) => {
        for (let i = 0; i < vector.length; i++) vector[i]! += eigen.vectors[j * m]! * b[i]!;
      });
      best = { value: eigen.values[0]!, vector };
      break;
    }
    off.push(size);
    v = next.map((c) => c / size);
  }
  return best;
}

/** A starting vector for `sharpness`. */
export const randomDirection = (shape: Shape) => normals(1, 9, parameterCount(shape));
