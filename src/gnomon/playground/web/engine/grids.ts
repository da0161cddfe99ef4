// Where and when a run is looked at: the points of the curve, the cells of the map, the steps that are recorded.
import { CURVE_POINTS } from "./protocol";

const RECORDS = 200;

/** Step counts of the records: 0, 1, 2, ... and then evenly spaced in the logarithm. */
export function recordSteps(steps: number): number[] {
  const out = new Set<number>([0]);
  for (let k = 0; k < RECORDS; k++) out.add(Math.round((steps + 1) ** (k / (RECORDS - 1)) - 1));
  return [...out].sort((a, b) => a - b);
}

export function curveGrid(): Float64Array {
  return Float64Array.from({ length: CURVE_POINTS }, (_, i) => -2 + (4 * i) / (CURVE_POINTS - 1));
}

/** Centers of the cells of a map, rows from top to bottom. */
export function mapGrid(side: number): Float64Array {
  const out = new Float64Array(2 * side * side);
  for (let r = 0; r < side; r++)
    for (let c = 0; c < side; c++) {
      out[2 * (r * side + c)] = -2 + (4 * (c + 0.5)) / side;
      out[2 * (r * side + c) + 1] = 2 - (4 * (r + 0.5)) / side;
    }
  return out;
}
