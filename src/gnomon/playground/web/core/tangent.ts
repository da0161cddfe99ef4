// The tangent kernel of a finite network: how much a gradient step on one point moves the output at another.
//   K(x, x') = sum over layers of (gain^2 h.h' + biasStd^2) (d.d'),   h: inputs of the layer, d: derivatives by its outputs
import { deltas, forward, gainOf, layersOf, type Pass, type Shape } from "./network";

/** What a tangent kernel is made of: the forward pass and the deltas with unit seeds. */
export interface Tangent {
  pass: Pass;
  delta: Float64Array[];
}

/** `reuse` is an earlier result of the same sizes whose arrays are overwritten. */
export function tangentOf(shape: Shape, w: Float64Array, x: Float64Array, reuse?: Tangent): Tangent {
  const pass = forward(shape, w, x, reuse?.pass);
  return { pass, delta: deltas(shape, w, pass, new Float64Array(pass.n).fill(1), reuse?.delta) };
}

/** Tangent kernel between two sets of points (rows x columns). */
export function tangentKernel(shape: Shape, a: Tangent, b: Tangent): Float64Array {
  const [n1, n2] = [a.pass.n, b.pass.n];
  const out = new Float64Array(n1 * n2);
  layersOf(shape).forEach((layer, l) => {
    if (shape.lastOnly && l < shape.depth) return;
    const gain = gainOf(shape, layer) ** 2;
    const bias = shape.biasStd ** 2;
    const forwards = innerProducts(a.pass.inputs[l]!, b.pass.inputs[l]!, n1, n2, layer.fanIn, a === b);
    const backwards = innerProducts(a.delta[l]!, b.delta[l]!, n1, n2, layer.units, a === b);
    for (let k = 0; k < out.length; k++) out[k]! += (gain * forwards[k]! + bias) * backwards[k]!;
  });
  return out;
}

/** Inner products of the rows of a with the rows of b, in tiles of two by four; `same` if a and b are one matrix. */
export function innerProducts(a: Float64Array, b: Float64Array, n1: number, n2: number, size: number, same: boolean): Float64Array {
  const out = new Float64Array(n1 * n2);
  const [rows, columns] = [n1 - (n1 % 2), n2 - (n2 % 4)];
  for (let i = 0; i < rows; i += 2) {
    for (let j = same ? i - (i % 4) : 0; j < columns; j += 4) tile(a, b, i, j, size, out, n2);
  }
  for (let i = 0; i < n1; i++) {
    for (let j = i < rows ? columns : same ? i : 0; j < n2; j++) {
      let sum = 0;
      for (let k = 0; k < size; k++) sum += a[i * size + k]! * b[j * size + k]!;
      out[i * n2 + j] = sum;
    }
  }
  if (same) for (let i = 0; i < n1; i++) for (let j = 0; j < i; j++) out[i * n2 + j] = out[j * n2 + i]!;
  return out;
}

function tile(a: Float64Array, b: Float64Array, i: number, j: number, size: number, out: Float64Array, n2: number): void {
  const a0 = i * size;
  const a1 = a0 + size;
  const b0 = j * size;
  const b1 = b0 + size;
  const b2 = b1 + size;
  const b3 = b2 + size;
  let [s00, s01, s02, s03, s10, s11, s12, s13] = [0, 0, 0, 0, 0, 0, 0, 0];
  for (let k = 0; k < size; k++) {
    const u = a[a0 + k]!;
    const v = a[a1 + k]!;
    const c0 = b[b0 + k]!;
    const c1 = b[b1 + k]!;
    const c2 = b[b2 + k]!;
    const c3 = b[b3 + k]!;
    s00 += u * c0;
    s01 += u * c1;
    s02 += u * c2;
    s03 += u * c3;
    s10 += v * c0;
    s11 += v * c1;
    s12 += v * c2;
    s13 += v * c3;
  }
  const at = i * n2 + j;
  out[at] = s00;
  out[at + 1] = s01;
  out[at + 2] = s02;
  out[at + 3] = s03;
  out[at + n2] = s10;
  out[at + n2 + 1] = s11;
  out[at + n2 + 2] = s12;
  out[at + n2 + 3] = s13;
}

/** Kernels of a network between its points and a grid, which can follow single points that are moved. */
export class PointKernels {
  private readonly grid: Tangent;
  private readonly here: Tangent;
  readonly kernel: Float64Array;
  /** Kernel between the grid (rows) and the points (columns). */
  readonly cross: Float64Array;

  constructor(private readonly shape: Shape, private readonly w: Float64Array, gridInputs: Float64Array, private x: Float64Array) {
    this.grid = tangentOf(shape, w, gridInputs);
    this.here = tangentOf(shape, w, x);
    this.kernel = tangentKernel(shape, this.here, this.here);
    this.cross = tangentKernel(shape, this.grid, this.here);
  }

  /** Outputs before training at the points and on the grid. */
  get outputs(): Float64Array {
    return this.here.pass.outputs;
  }
  get gridOutputs(): Float64Array {
    return this.grid.pass.outputs;
  }

  /** Moves points to new inputs of the same number; only rows and columns of moved points are computed. */
  move(x: Float64Array): void {
    const { shape, here, kernel, cross } = this;
    const d = shape.inputs;
    const n = here.pass.n;
    for (let i = 0; i < n; i++) {
      let moved = false;
      for (let k = 0; k < d; k++) moved ||= x[i * d + k] !== this.x[i * d + k];
      if (!moved) continue;
      const one = tangentOf(shape, this.w, x.subarray(i * d, i * d + d));
      layersOf(shape).forEach(({ fanIn, units }, l) => {
        here.pass.inputs[l]!.set(one.pass.inputs[l]!, i * fanIn);
        here.pass.z[l]!.set(one.pass.z[l]!, i * units);
        here.delta[l]!.set(one.delta[l]!, i * units);
      });
      here.pass.outputs[i] = one.pass.outputs[0]!;
      const row = tangentKernel(shape, one, here);
      for (let j = 0; j < n; j++) kernel[i * n + j] = kernel[j * n + i] = row[j]!;
      const column = tangentKernel(shape, this.grid, one);
      for (let g = 0; g < column.length; g++) cross[g * n + i] = column[g]!;
    }
    this.x = x.slice();
  }
}
