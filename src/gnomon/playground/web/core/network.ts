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

/** z (n x units) = gain * h (n x fanIn) W^T + biasStd * b, in tiles of four points and two units. */
function affine(
  h: Float64Array, n: number, layer: Layer, w: Float64Array, gain: number, biasStd: number, z: Float64Array,
): void {
  const { fanIn, units, weights, biases } = layer;
  if (fanIn === 1) {
    for (let p = 0; p < n; p++) {
      for (let o = 0; o < units; o++) z[p * units + o] = gain * (w[weights + o]! * h[p]!) + biasStd * w[biases + o]!;
    }
    return;
  }
  const [tiledPoints, tiledUnits] = [n - (n % 4), units - (units % 2)];
  for (let o = 0; o < tiledUnits; o += 2) {
    const [r0, b0, b1] = [weights + o * fanIn, biasStd * w[biases + o]!, biasStd * w[biases + o + 1]!];
    const r1 = r0 + fanIn;
    for (let p = 0; p < tiledPoints; p += 4) {
      const p0 = p * fanIn;
      const p1 = p0 + fanIn;
      const p2 = p1 + fanIn;
      const p3 = p2 + fanIn;
      let [s00, s01, s10, s11, s20, s21, s30, s31] = [0, 0, 0, 0, 0, 0, 0, 0];
      for (let i = 0; i < fanIn; i++) {
        const v0 = w[r0 + i]!;
        const v1 = w[r1 + i]!;
        const h0 = h[p0 + i]!;
        const h1 = h[p1 + i]!;
        const h2 = h[p2 + i]!;
        const h3 = h[p3 + i]!;
        s00 += v0 * h0;
        s01 += v1 * h0;
        s10 += v0 * h1;
        s11 += v1 * h1;
        s20 += v0 * h2;
        s21 += v1 * h2;
        s30 += v0 * h3;
        s31 += v1 * h3;
      }
      const at = p * units + o;
      z[at] = gain * s00 + b0;
      z[at + 1] = gain * s01 + b1;
      z[at + units] = gain * s10 + b0;
      z[at + units + 1] = gain * s11 + b1;
      z[at + 2 * units] = gain * s20 + b0;
      z[at + 2 * units + 1] = gain * s21 + b1;
      z[at + 3 * units] = gain * s30 + b0;
      z[at + 3 * units + 1] = gain * s31 + b1;
    }
  }
  for (let p = 0; p < n; p++) {
    for (let o = p < tiledPoints ? tiledUnits : 0; o < units; o++) {
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

export const gainOf = (shape: Shape, layer: Layer) => shape.weightStd / Math.sqrt(layer.fanIn);

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
      if (relu) for (let i = 0; i < z.length; i++) h[i] = (z[i]! + Math.abs(z[i]!)) / 2; // no branch: signs are random
      else for (let i = 0; i < z.length; i++) h[i] = phi(z[i]!);
    }
  });
  return pass;
}

/** d *= phi'(z), from the value h = phi(z) where that is cheaper. */
function timesSlopes(activation: Activation, z: Float64Array, h: Float64Array, d: Float64Array): void {
  const phi = FUNCTIONS[activation].slope;
  if (activation === "relu") for (let i = 0; i < z.length; i++) d[i]! *= Number(z[i]! > 0);
  else if (activation === "tanh") for (let i = 0; i < z.length; i++) d[i]! *= 1 - h[i]! * h[i]!;
  else for (let i = 0; i < z.length; i++) d[i]! *= phi(z[i]!);
}

/** Derivatives of the outputs, each times `seed[i]`, with respect to the pre-activations of every layer. */
export function deltas(shape: Shape, w: Float64Array, pass: Pass, seed: Float64Array, reuse?: Float64Array[]) {
  const layers = layersOf(shape);
  const out = reuse ?? layers.map((layer) => new Float64Array(pass.n * layer.units));
  for (let i = 0; i < pass.n; i++) out[shape.depth]![i] = shape.scale * seed[i]!;
  for (let l = shape.depth; l > 0; l--) {
    pullBack(out[l]!, pass.n, layers[l]!, w, gainOf(shape, layers[l]!), out[l - 1]!);
    timesSlopes(shape.activation, pass.z[l - 1]!, pass.inputs[l]!, out[l - 1]!);
  }
  return out;
}

/** below (n x fanIn) = gain * above (n x units) W, four units at a time. */
function pullBack(above: Float64Array, n: number, layer: Layer, w: Float64Array, gain: number, below: Float64Array): void {
  const { fanIn, units, weights } = layer;
  below.fill(0);
  const tiled = units - (units % 4);
  for (let o = 0; o < tiled; o += 4) {
    const r0 = weights + o * fanIn;
    const r1 = r0 + fanIn;
    const r2 = r1 + fanIn;
    const r3 = r2 + fanIn;
    for (let p = 0; p < n; p++) {
      const from = p * units + o;
      const d0 = gain * above[from]!;
      const d1 = gain * above[from + 1]!;
      const d2 = gain * above[from + 2]!;
      const d3 = gain * above[from + 3]!;
      if (d0 === 0 && d1 === 0 && d2 === 0 && d3 === 0) continue;
      const at = p * fanIn;
      for (let i = 0; i < fanIn; i++) below[at + i]! += d0 * w[r0 + i]! + d1 * w[r1 + i]! + d2 * w[r2 + i]! + d3 * w[r3 + i]!;
    }
  }
  for (let o = tiled; o < units; o++) {
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
  layersOf(shape).forEach((layer, l) => {
    const { fanIn, units, weights, biases } = layer;
    if (shape.lastOnly && l < shape.depth) return void out.fill(0, weights, biases + units);
    const gain = gainOf(shape, layer);
    const h = pass.inputs[l]!;
    const d = delta[l]!;
    out.fill(0, biases, biases + units);
    for (let p = 0; p < pass.n; p++) for (let o = 0; o < units; o++) out[biases + o]! += d[p * units + o]!;
    for (let o = 0; o < units; o++) out[biases + o]! *= shape.biasStd;
    if (fanIn === 1) outerOfOneInput(h, d, pass.n, units, gain, out, weights);
    else outer(h, d, pass.n, layer, gain, out);
  });
}

/** out[o] = gain * sum_p d[p, o] h[p], for a layer with one input. */
function outerOfOneInput(h: Float64Array, d: Float64Array, n: number, units: number, gain: number, out: Float64Array, at: number): void {
  out.fill(0, at, at + units);
  for (let p = 0; p < n; p++) {
    const s = gain * h[p]!;
    for (let o = 0; o < units; o++) out[at + o]! += s * d[p * units + o]!;
  }
}

/** out[o, i] = gain * sum_p d[p, o] h[p, i], four points at a time. */
function outer(h: Float64Array, d: Float64Array, n: number, { fanIn, units, weights }: Layer, gain: number, out: Float64Array): void {
  out.fill(0, weights, weights + units * fanIn);
  const tiled = n - (n % 4);
  for (let o = 0; o < units; o++) {
    const row = weights + o * fanIn;
    for (let p = 0; p < tiled; p += 4) {
      const from = p * units + o;
      const s0 = gain * d[from]!;
      const s1 = gain * d[from + units]!;
      const s2 = gain * d[from + 2 * units]!;
      const s3 = gain * d[from + 3 * units]!;
      if (s0 === 0 && s1 === 0 && s2 === 0 && s3 === 0) continue;
      const h0 = p * fanIn;
      const h1 = h0 + fanIn;
      const h2 = h1 + fanIn;
      const h3 = h2 + fanIn;
      for (let i = 0; i < fanIn; i++) out[row + i]! += s0 * h[h0 + i]! + s1 * h[h1 + i]! + s2 * h[h2 + i]! + s3 * h[h3 + i]!;
    }
    for (let p = tiled; p < n; p++) {
      const s = gain * d[p * units + o]!;
      if (s === 0) continue;
      for (let i = 0; i < fanIn; i++) out[row + i]! += s * h[p * fanIn + i]!;
    }
  }
}
