// A fully connected network in the parametrization of tangent-kernel theory (all parameters start as N(0, 1)):
//   z_l = weightStd / sqrt(fan_in) W_l h_{l-1} + biasStd b_l,   h_l = phi(z_l),   f = scale * z_{depth+1}
import { FUNCTIONS, type Activation } from "./activations";
import { normals } from "./random";

export interface Shape {
  inputs: number;
  width: number;
  depth: number;
  activation: Activation;
  scale: number;
  weightStd: number;
  biasStd: number;
  /** Whether only the last layer is trained. */
  lastOnly: boolean;
}

/** Where one layer's parameters are in the flat vector. */
export interface Layer {
  fanIn: number;
  units: number;
  weights: number;
  biases: number;
}

/** Streams of random numbers for weights start here; layer l uses WEIGHT_STREAM + l. */
export const WEIGHT_STREAM = 16;

export function layersOf(shape: Shape): Layer[] {
  const layers: Layer[] = [];
  let at = 0;
  for (let l = 0; l <= shape.depth; l++) {
    const fanIn = l === 0 ? shape.inputs : shape.width;
    const units = l === shape.depth ? 1 : shape.width;
    layers.push({ fanIn, units, weights: at, biases: at + fanIn * units });
    at += fanIn * units + units;
  }
  return layers;
}

export function parameterCount(shape: Shape): number {
  const last = layersOf(shape)[shape.depth]!;
  return last.biases + last.units;
}

/** Initial parameters: layer by layer, weights by rows, then biases. */
export function initialParameters(shape: Shape, seed: number): Float64Array {
  const out = new Float64Array(parameterCount(shape));
  layersOf(shape).forEach((layer, l) => {
    out.set(normals(seed, WEIGHT_STREAM + l, layer.fanIn * layer.units + layer.units), layer.weights);
  });
  return out;
}

/** z (n x units) = gain * h (n x fanIn) W^T + biasStd * b; the innermost loop shares a row of W between four points. */
function affine(
  h: Float64Array, n: number, layer: Layer, w: Float64Array, gain: number, biasStd: number, z: Float64Array,
): void {
  const { fanIn, units, weights, biases } = layer;
  let p = 0;
  for (; p + 3 < n; p += 4) {
    const p0 = p * fanIn;
    const p1 = p0 + fanIn;
    const p2 = p1 + fanIn;
    const p3 = p2 + fanIn;
    for (let o = 0; o < units; o++) {
      const row = weights + o * fanIn;
      let s0 = 0;
      let s1 = 0;
      let s2 = 0;
      let s3 = 0;
      for (let i = 0; i < fanIn; i++) {
        const v = w[row + i]!;
        s0 += v * h[p0 + i]!;
        s1 += v * h[p1 + i]!;
        s2 += v * h[p2 + i]!;
        s3 += v * h[p3 + i]!;
      }
      const bias = biasStd * w[biases + o]!;
      const at = p * units + o;
      z[at] = gain * s0 + bias;
      z[at + units] = gain * s1 + bias;
      z[at + 2 * units] = gain * s2 + bias;
      z[at + 3 * units] = gain * s3 + bias;
    }
  }
  for (; p < n; p++) {
    for (let o = 0; o < units; o++) {
      let sum = 0;
      for (let i = 0; i < fanIn; i++) sum += w[weights + o * fanIn + i]! * h[p * fanIn + i]!;
      z[p * units + o] = gain * sum + biasStd * w[biases + o]!;
    }
  }
}

/** Everything of a forward pass on n points: inputs of each layer, pre-activations, outputs. */
export interface Pass {
  n: number;
  inputs: Float64Array[];
  z: Float64Array[];
  outputs: Float64Array;
}

const buffers = (shape: Shape, n: number): Pass => ({
  n,
  inputs: layersOf(shape).map((layer) => new Float64Array(n * layer.fanIn)),
  z: layersOf(shape).map((layer) => new Float64Array(n * layer.units)),
  outputs: new Float64Array(n),
});

const gainOf = (shape: Shape, layer: Layer) => shape.weightStd / Math.sqrt(layer.fanIn);

/** Forward pass on points x (n x inputs); `reuse` is an earlier pass of the same sizes whose arrays are overwritten. */
export function forward(shape: Shape, w: Float64Array, x: Float64Array, reuse?: Pass): Pass {
  const n = x.length / shape.inputs;
  const pass = reuse ?? buffers(shape, n);
  const phi = FUNCTIONS[shape.activation].value;
  const relu = shape.activation === "relu";
  pass.inputs[0]!.set(x);
  layersOf(shape).forEach((layer, l) => {
    const z = pass.z[l]!;
    affine(pass.inputs[l]!, n, layer, w, gainOf(shape, layer), shape.biasStd, z);
    if (l === shape.depth) {
      for (let i = 0; i < n; i++) pass.outputs[i] = shape.scale * z[i]!;
    } else {
      const h = pass.inputs[l + 1]!;
      if (relu) for (let i = 0; i < z.length; i++) h[i] = z[i]! > 0 ? z[i]! : 0;
      else for (let i = 0; i < z.length; i++) h[i] = phi(z[i]!);
    }
  });
  return pass;
}

/** phi'(z), from the value h = phi(z) where that is cheaper. */
function slopes(activation: Activation, z: Float64Array, h: Float64Array, out: Float64Array): void {
  const phi = FUNCTIONS[activation].slope;
  if (activation === "relu") for (let i = 0; i < z.length; i++) out[i] = z[i]! > 0 ? 1 : 0;
  else if (activation === "tanh") for (let i = 0; i < z.length; i++) out[i] = 1 - h[i]! * h[i]!;
  else for (let i = 0; i < z.length; i++) out[i] = phi(z[i]!);
}

/** Derivatives of the outputs, each times `seed[i]`, with respect to the pre-activations of every layer. */
export function deltas(shape: Shape, w: Float64Array, pass: Pass, seed: Float64Array, reuse?: Float64Array[]) {
  const layers = layersOf(shape);
  const out = reuse ?? layers.map((layer) => new Float64Array(pass.n * layer.units));
  for (let i = 0; i < pass.n; i++) out[shape.depth]![i] = shape.scale * seed[i]!;
  for (let l = shape.depth; l > 0; l--) {
    const layer = layers[l]!;
    const above = out[l]!;
    const below = out[l - 1]!;
    pullBack(above, pass.n, layer, w, gainOf(shape, layer), below);
    const slope = new Float64Array(below.length);
    slopes(shape.activation, pass.z[l - 1]!, pass.inputs[l]!, slope);
    for (let i = 0; i < below.length; i++) below[i]! *= slope[i]!;
  }
  return out;
}

/** below (n x fanIn) = gain * above (n x units) W. */
function pullBack(above: Float64Array, n: number, layer: Layer, w: Float64Array, gain: number, below: Float64Array) {
  const { fanIn, units, weights } = layer;
  below.fill(0);
  for (let o = 0; o < units; o++) {
    const row = weights + o * fanIn;
    for (let p = 0; p < n; p++) {
      const d = gain * above[p * units + o]!;
      if (d === 0) continue;
      const at = p * fanIn;
      for (let i = 0; i < fanIn; i++) below[at + i]! += d * w[row + i]!;
    }
  }
}

/** Gradient of sum_i seed_i f(x_i) with respect to the parameters, from the deltas of the same seeds. */
export function gradient(shape: Shape, pass: Pass, delta: Float64Array[], out: Float64Array): void {
  out.fill(0);
  layersOf(shape).forEach((layer, l) => {
    if (shape.lastOnly && l < shape.depth) return;
    const { fanIn, units, weights, biases } = layer;
    const gain = gainOf(shape, layer);
    const h = pass.inputs[l]!;
    const d = delta[l]!;
    for (let o = 0; o < units; o++) {
      const row = weights + o * fanIn;
      let bias = 0;
      for (let p = 0; p < pass.n; p++) {
        const v = d[p * units + o]!;
        if (v === 0) continue;
        bias += v;
        const s = gain * v;
        const at = p * fanIn;
        for (let i = 0; i < fanIn; i++) out[row + i]! += s * h[at + i]!;
      }
      out[biases + o] = shape.biasStd * bias;
    }
  });
}

/** What a tangent kernel is made of: the forward pass and the deltas with unit seeds. */
export interface Tangent {
  pass: Pass;
  delta: Float64Array[];
}

export function tangentOf(shape: Shape, w: Float64Array, x: Float64Array): Tangent {
  const pass = forward(shape, w, x);
  return { pass, delta: deltas(shape, w, pass, new Float64Array(pass.n).fill(1)) };
}

/** Tangent kernel between two sets of points: sum over layers of (input kernel) x (delta kernel). */
export function tangentKernel(shape: Shape, a: Tangent, b: Tangent): Float64Array {
  const same = a === b;
  const out = new Float64Array(a.pass.n * b.pass.n);
  layersOf(shape).forEach((layer, l) => {
    if (shape.lastOnly && l < shape.depth) return;
    const { fanIn, units } = layer;
    const gain = gainOf(shape, layer) ** 2;
    const bias = shape.biasStd ** 2;
    const [h1, h2, d1, d2] = [a.pass.inputs[l]!, b.pass.inputs[l]!, a.delta[l]!, b.delta[l]!];
    for (let i = 0; i < a.pass.n; i++) {
      for (let j = same ? i : 0; j < b.pass.n; j++) {
        let forwardSum = 0;
        const [hi, hj, di, dj] = [i * fanIn, j * fanIn, i * units, j * units];
        for (let k = 0; k < fanIn; k++) forwardSum += h1[hi + k]! * h2[hj + k]!;
        let backwardSum = 0;
        for (let k = 0; k < units; k++) backwardSum += d1[di + k]! * d2[dj + k]!;
        out[i * b.pass.n + j]! += (gain * forwardSum + bias) * backwardSum;
      }
    }
  });
  if (same) for (let i = 0; i < a.pass.n; i++) for (let j = 0; j < i; j++) out[i * a.pass.n + j] = out[j * a.pass.n + i]!;
  return out;
}
