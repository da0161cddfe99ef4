// A linear model on two classes: how far it is from the line of largest margin.
import { largestMargin, smallestMargin } from "../core/models";
import type { Shape } from "../core/network";
import type { Frame } from "./protocol";

export class Margins {
  private readonly inputs: Float64Array;
  private readonly best: NonNullable<ReturnType<typeof largestMargin>> | null;

  constructor(private readonly shape: Shape, x: Float64Array, private readonly y: Float64Array) {
    this.inputs = withConstant(shape, x);
    this.best = largestMargin(this.inputs, y, shape.inputs + 1);
  }

  /** The line of largest margin as two slopes and a constant; null if no line separates the classes. */
  get line(): Float64Array | null {
    if (!this.best || this.shape.inputs !== 2) return null;
    const gain = this.shape.weightStd / Math.SQRT2;
    const { u } = this.best;
    return Float64Array.of(gain * u[0]!, gain * u[1]!, this.shape.biasStd * u[2]!);
  }

  /** Angle and margin of the parameters w of the model. */
  of(w: Float64Array): Frame["margin"] {
    if (!this.best) return null;
    const size = Math.sqrt(w.reduce((a, b) => a + b * b, 0)) || 1;
    const cosine = w.reduce((sum, c, k) => sum + c * this.best!.u[k]!, 0) / size;
    const margin = smallestMargin(w, this.inputs, this.y, w.length) / size;
    return { angle: Math.acos(Math.max(-1, Math.min(1, cosine))), margin, best: this.best.margin };
  }
}

/** Inputs of a linear model with the constant that multiplies its bias. */
function withConstant(shape: Shape, x: Float64Array): Float64Array {
  const d = shape.inputs;
  const n = x.length / d;
  const out = new Float64Array(n * (d + 1));
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < d; k++) out[i * (d + 1) + k] = (shape.weightStd / Math.sqrt(d)) * x[i * d + k]!;
    out[i * (d + 1) + d] = shape.biasStd;
  }
  return out;
}
