// Messages between the page and whatever computes: a worker in the browser, or the package behind a local server.
import type { State } from "../core/state";

/** What is known before the first step. */
export interface Setup {
  /** Whether the network is the reader's own, behind a local server. */
  own: boolean;
  /** Coordinates of an input: 1, 2, or 0 if inputs cannot be drawn (more coordinates, or other shapes). */
  dimension: 0 | 1 | 2;
  x: Float64Array;
  /** Targets, one for each output of each point. */
  y: Float64Array;
  /** What is drawn for each point: its target, or its class as +1 or -1. */
  marks: Float64Array;
  f0: Float64Array;
  parameters: number;
  lr: number;
  /** Largest stable learning rate; infinite if the kernel is zero. */
  largest: number;
  /** Rates of the modes (eigenvalues of K / n), and the initial error along each. */
  rates: Float64Array;
  coefficients: Float64Array;
  kernel: Float64Array;
  alignment: number | null;
  /** Steps at which the run is recorded. */
  records: number[];
  /** Coordinates of the curve in one dimension, or empty. */
  grid: Float64Array;
  /** Kernel between the grid and the points, in one dimension; empty otherwise. */
  cross: Float32Array;
  /** Direction of largest margin (two slopes and a constant) for a linear model on separable classes. */
  best: Float64Array | null;
  /** Ranges of the drawn coordinates, low and high for each; null for the range -2 to 2 of the page's own data. */
  coordinates: { low: number[]; high: number[]; names: string[] } | null;
  /** Output before training on the grid (curve or map). */
  start: Float32Array;
  /** Predictions at every record (a map: `curves` only at the last one); null if the theory does not cover the setting. */
  predicted: { loss: number[]; outputs: Float64Array[]; curves: Float32Array[]; modes: Float64Array[] } | null;
  /** Why there is no prediction, or what is wrong with the setting. */
  messages: string[];
}

/** One state of the run. */
export interface Frame {
  step: number;
  /** Index in `records`, or -1 between records. */
  record: number;
  loss: number;
  outputs: Float64Array;
  curve: Float32Array;
  /** Error along each mode of the initial kernel. */
  modes: Float64Array;
  drift: number | null;
  alignment: number | null;
  sharpness: number | null;
  /** First-layer neurons of one-dimensional inputs: kink position and contribution to the slope, in pairs. */
  neurons: Float32Array | null;
  /** Small heat maps of hidden units for two-dimensional inputs, UNIT_SIDE^2 bytes each, layer by layer. */
  units: Uint8Array | null;
  /** Angle to the direction of largest margin and margin, for a linear model on separable classes. */
  margin: { angle: number; margin: number; best: number } | null;
  diverged: boolean;
}

export const UNIT_SIDE = 16;
export const MAP_SIDE = 36;
export const CURVE_POINTS = 121;
export const MAX_UNITS_SHOWN = 8;

export type ToWorker =
  | { type: "setup"; id: number; state: State; sharpness: boolean }
  | { type: "band"; id: number; state: State; lr: number }
  | { type: "advance"; id: number; records: number }
  | { type: "seeds"; id: number; state: State; count: number }
  | { type: "sweep"; id: number; state: State; rates: number[]; steps: number }
  | { type: "phase"; id: number; state: State }
  | { type: "signals"; id: number; state: State }
  | { type: "descent"; id: number; n: number; total: number; noise: number; draws: number; sizes: number[] };

export type FromWorker =
  | { type: "ready"; id: number; setup: Setup }
  | { type: "band"; id: number; mean: Float32Array; std: Float32Array }
  | { type: "frame"; id: number; frame: Frame }
  | { type: "seed"; id: number; index: number; curve: Float32Array }
  | { type: "sweep"; id: number; rate: number; ratio: number }
  | { type: "phase"; id: number; border: Float64Array; chi: Float64Array; columns: number; rows: number }
  | { type: "signals"; id: number; measured: number[]; predicted: number[]; variance: number[]; predictedVariance: number[] }
  | { type: "descent"; id: number; size: number; measured: number }
  | { type: "failed"; id: number; words: string };
