// The band of infinitely wide networks after training, on the grid of the curve.
import { DRAWN_DUALS } from "../core/activations";
import { limitKernels, outputVariances } from "../core/limit";
import { ensembleAt } from "../core/predict";
import { inputsOf, pointsOf, shapeOf, type State } from "../core/state";
import { curveGrid } from "./grids";

export interface Band {
  mean: Float32Array;
  std: Float32Array;
}

/** Whether the theory of the band covers a setting. */
export const hasBand = (state: State) => state.loss === "squared" && state.optimizer === "gd";

/** The band at the last step, from the state and the learning rate of the run. */
export function bandOf(state: State, lr: number): Band {
  const points = pointsOf(state);
  const shape = shapeOf(state);
  const x = inputsOf(state, points.x);
  const grid = inputsOf(state, curveGrid());
  const here = limitKernels(shape, x, x, DRAWN_DUALS);
  const cross = limitKernels(shape, grid, x, DRAWN_DUALS);
  const parts = { T: cross.ntk, S: cross.nngp, variance: outputVariances(shape, grid, DRAWN_DUALS) };
  const { mean, std } = ensembleAt(here.ntk, here.nngp, parts, points.y, lr, state.momentum, state.steps, state.centered);
  return { mean: Float32Array.from(mean), std: Float32Array.from(std) };
}
