// The infinitely wide network: its Gaussian-process kernel (NNGP) and its tangent kernel (NTK), layer by layer.
//   K_1 = w^2 x.x'/d + b^2,   K_{l+1} = w^2 E[phi(u) phi(v)] + b^2,   (u, v) ~ N(0, K_l)
//   T_1 = K_1,                T_{l+1} = K_{l+1} + w^2 E[phi'(u) phi'(v)] T_l
import { DUALS, type Activation, type Dual } from "./activations";
import type { Shape } from "./network";

type Duals = Record<Activation, Dual>;

export interface LimitKernels {
  nngp: Float64Array;
  ntk: Float64Array;
}

/** Variances of the pre-activations of every layer at one set of points. */
function variances(shape: Shape, x: Float64Array, duals: Duals): Float64Array[] {
  const n = x.length / shape.inputs;
  const [w2, b2, dual] = [shape.weightStd ** 2, shape.biasStd ** 2, duals[shape.activation]];
  let current = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let k = 0; k < shape.inputs; k++) sum += x[i * shape.inputs + k]! * x[i * shape.inputs + k]!; // as for pairs
    current[i] = (w2 * sum) / shape.inputs + b2;
  }
  const out = [current];
  for (let l = 0; l < shape.depth; l++) {
    current = current.map((a) => w2 * dual.product(a, a, a) + b2);
    out.push(current);
  }
  return out;
}

/** Both kernels between the points x1 and x2 (rows x columns), with the square of the output scale. */
export function limitKernels(shape: Shape, x1: Float64Array, x2: Float64Array, duals: Duals = DUALS): LimitKernels {
  const d = shape.inputs;
  const [n1, n2] = [x1.length / d, x2.length / d];
  const [w2, b2, dual] = [shape.weightStd ** 2, shape.biasStd ** 2, duals[shape.activation]];
  const v1 = variances(shape, x1, duals);
  const v2 = x1 === x2 ? v1 : variances(shape, x2, duals);
  const nngp = new Float64Array(n1 * n2);
  const ntk = new Float64Array(n1 * n2);
  const alpha2 = shape.scale ** 2;
  for (let i = 0; i < n1; i++) {
    for (let j = x1 === x2 ? i : 0; j < n2; j++) {
      let c = 0;
      for (let k = 0; k < d; k++) c += x1[i * d + k]! * x2[j * d + k]!;
      c = (w2 * c) / d + b2;
      let t = c;
      for (let l = 0; l < shape.depth; l++) {
        const [a, b] = [v1[l]![i]!, v2[l]![j]!];
        if (x1 === x2 && i === j) c = a; // the exact diagonal
        const slope = dual.slopes(a, b, c);
        c = w2 * dual.product(a, b, c) + b2;
        t = shape.lastOnly ? c : c + w2 * slope * t;
      }
      nngp[i * n2 + j] = alpha2 * c;
      ntk[i * n2 + j] = alpha2 * t;
      if (x1 === x2 && i !== j) {
        nngp[j * n2 + i] = alpha2 * c;
        ntk[j * n2 + i] = alpha2 * t;
      }
    }
  }
  return { nngp, ntk };
}

/** Only the variances alpha^2 K(x, x) of the outputs before training. */
export function outputVariances(shape: Shape, x: Float64Array, duals: Duals = DUALS): Float64Array {
  return variances(shape, x, duals)[shape.depth]!.map((v) => shape.scale ** 2 * v);
}
