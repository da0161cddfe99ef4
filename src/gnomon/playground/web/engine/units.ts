// Pictures of hidden units: where they bend in one dimension, small heat maps in two.
import { forward, layersOf, type Pass, type Shape } from "../core/network";
import { inputsOf, type State } from "../core/state";
import { mapGrid } from "./grids";
import { MAX_UNITS_SHOWN, UNIT_SIDE } from "./protocol";

const MAX_NEURONS = 400;

/** Kink position and contribution to the slope of first-layer units, in pairs. */
export function unitBends(shape: Shape, w: Float64Array): Float32Array {
  const [first, last] = layersOf(shape) as [ReturnType<typeof layersOf>[0], ReturnType<typeof layersOf>[0]];
  const count = Math.min(shape.width, MAX_NEURONS);
  const out = new Float32Array(2 * count);
  for (let k = 0; k < count; k++) {
    const slope = shape.weightStd * w[first.weights + k]!;
    out[2 * k] = (-shape.biasStd * w[first.biases + k]!) / slope;
    out[2 * k + 1] = shape.scale * (shape.weightStd / Math.sqrt(shape.width)) * w[last.weights + k]! * Math.abs(slope);
  }
  return out;
}

/** Heat maps of the first units of every layer. */
export class UnitMaps {
  private readonly grid: Float64Array;
  private pass: Pass | undefined;

  constructor(private readonly shape: Shape, state: State) {
    this.grid = inputsOf(state, mapGrid(UNIT_SIDE));
  }

  /** UNIT_SIDE^2 bytes for each unit, layer by layer; 127.5 stands for 0. */
  draw(w: Float64Array): Uint8Array {
    const { depth, width } = this.shape;
    const pass = (this.pass = forward(this.shape, w, this.grid, this.pass));
    const shown = Math.min(width, MAX_UNITS_SHOWN);
    const cells = UNIT_SIDE ** 2;
    const out = new Uint8Array(depth * shown * cells);
    for (let l = 0; l < depth; l++) {
      const h = pass.inputs[l + 1]!;
      for (let u = 0; u < shown; u++) {
        let size = 1e-9;
        for (let c = 0; c < cells; c++) size = Math.max(size, Math.abs(h[c * width + u]!));
        for (let c = 0; c < cells; c++) out[(l * shown + u) * cells + c] = 127.5 + (127 * h[c * width + u]!) / size;
      }
    }
    return out;
  }
}
