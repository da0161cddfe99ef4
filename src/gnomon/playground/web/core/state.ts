// The state of the page and its form in a link. Every value is on a grid, so a link reproduces it exactly.
import type { Activation } from "./activations";
import { CLASSES, CURVES, SURFACES, featureCount, isCurve, makeData, snap, withFeatures, type DataName, type Points } from "./data";
import type { Shape } from "./network";
import type { LossName, OptimizerName } from "./train";

export interface State {
  lesson: string;
  data: DataName;
  n: number;
  noise: number;
  dataSeed: number;
  features: number;
  width: number;
  depth: number;
  activation: Activation;
  scale: number;
  weightStd: number;
  biasStd: number;
  centered: boolean;
  lastOnly: boolean;
  seed: number;
  rate: number;
  loss: LossName;
  optimizer: OptimizerName;
  momentum: number;
  batch: number;
  steps: number;
  /** Points moved by hand; null if the data set is as it was made. */
  points: Points | null;
}

export const WIDTHS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096];
export const SCALES = [0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100];
export const STEPS = [10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 3000, 5000, 10000, 20000];
export const BATCHES = [0, 1, 2, 4, 8, 16, 32];
export const DEPTHS = [0, 1, 2, 3, 4, 5, 6, 8, 10];
export const MAX_POINTS = 128;
/** The most points that a link can carry one by one. */
export const MAX_MOVED_POINTS = 48;
export const DATA_NAMES: readonly DataName[] = [...CURVES, ...CLASSES, ...SURFACES];

export const BASE: State = {
  lesson: "free", data: "sine", n: 16, noise: 0, dataSeed: 1, features: 3, width: 256, depth: 1, activation: "relu",
  scale: 1, weightStd: 1.4, biasStd: 0.5, centered: false, lastOnly: false, seed: 1, rate: 0.5, loss: "squared",
  optimizer: "gd", momentum: 0, batch: 0, steps: 1000, points: null,
};

type Codec<T> = { write(value: T): string; read(text: string): T | undefined };
/** Names written as one letter each, so that links stay short. */
const lettered = <T extends string>(values: Record<string, T>): Codec<T> => ({
  write: (v) => Object.keys(values).find((letter) => values[letter] === v)!,
  read: (text) => (Object.hasOwn(values, text) ? values[text] : undefined),
});
const oneOf = <T extends string>(values: readonly T[]): Codec<T> => ({
  write: (v) => v,
  read: (text) => values.find((v) => v === text),
});
const listed = (values: readonly number[]): Codec<number> => ({
  write: String,
  read: (text) => values.find((v) => v === Number(text) && text.trim() !== ""),
});
const grid = (least: number, most: number, step: number): Codec<number> => {
  const digits = step < 1 ? 2 : 0;
  return {
    write: (v) => String(Number(v.toFixed(digits))),
    read(text) {
      const v = Number(text);
      if (text.trim() === "" || !(v >= least && v <= most)) return undefined;
      return Number((Math.round(v / step) * step).toFixed(digits));
    },
  };
};
const flag: Codec<boolean> = { write: (v) => (v ? "1" : "0"), read: (t) => (t === "1" ? true : t === "0" ? false : undefined) };

type Plain = Omit<State, "lesson" | "points">;
const CODECS: { [K in keyof Plain]: [string, Codec<Plain[K]>] } = {
  data: ["data", oneOf(DATA_NAMES)],
  n: ["n", grid(1, MAX_POINTS, 1)],
  noise: ["noise", grid(0, 1, 0.05)],
  dataSeed: ["ds", grid(0, 9999, 1)],
  features: ["in", grid(1, 127, 1)],
  width: ["w", listed(WIDTHS)],
  depth: ["d", listed(DEPTHS)],
  activation: ["a", lettered<Activation>({ r: "relu", t: "tanh", e: "erf", g: "gelu", s: "sin", i: "sigmoid", l: "linear" })],
  scale: ["s", listed(SCALES)],
  weightStd: ["sw", grid(0, 4, 0.05)],
  biasStd: ["sb", grid(0, 2, 0.05)],
  centered: ["c", flag],
  lastOnly: ["f", flag],
  seed: ["r", grid(0, 9999, 1)],
  rate: ["lr", grid(0, 4, 0.01)],
  loss: ["o", lettered<LossName>({ s: "squared", l: "logistic" })],
  optimizer: ["q", lettered<OptimizerName>({ g: "gd", a: "adam" })],
  momentum: ["m", grid(0, 0.99, 0.01)],
  batch: ["b", listed(BATCHES)],
  steps: ["t", listed(STEPS)],
};
const KEYS = Object.keys(CODECS) as (keyof Plain)[];

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function writePoints(points: Points): string {
  const bits: number[] = [];
  const push = (value: number, count: number) => {
    for (let k = count - 1; k >= 0; k--) bits.push((value >> k) & 1);
  };
  const place = (v: number) => push(Math.round((v + 2) * 250), 10);
  for (let i = 0; i < points.y.length; i++) {
    if (points.dimension === 1) place(points.x[i]!);
    else [points.x[2 * i]!, points.x[2 * i + 1]!].forEach(place);
    if (points.dimension === 1) place(points.y[i]!);
    else push(points.y[i]! > 0 ? 1 : 0, 1);
  }
  while (bits.length % 6) bits.push(0);
  let text = "";
  for (let k = 0; k < bits.length; k += 6) text += ALPHABET[bits.slice(k, k + 6).reduce((a, b) => 2 * a + b, 0)];
  return text;
}

function readPoints(text: string, dimension: 1 | 2): Points | null {
  const bits = [...text].flatMap((c) => {
    const v = ALPHABET.indexOf(c);
    return v < 0 ? [] : [5, 4, 3, 2, 1, 0].map((k) => (v >> k) & 1);
  });
  const size = dimension === 1 ? 20 : 21;
  const n = Math.min(Math.floor(bits.length / size), MAX_MOVED_POINTS);
  if (n < 1) return null;
  const x = new Float64Array(n * dimension);
  const y = new Float64Array(n);
  const number = (at: number, count: number) => bits.slice(at, at + count).reduce((a, b) => 2 * a + b, 0);
  const place = (at: number) => Math.min(1000, number(at, 10)) / 250 - 2;
  for (let i = 0; i < n; i++) {
    x[i * dimension] = place(i * size);
    if (dimension === 1) y[i] = place(i * size + 10);
    else {
      x[2 * i + 1] = place(i * size + 10);
      y[i] = bits[i * size + 20] ? 1 : -1;
    }
  }
  return { dimension, x, y };
}

/** The link of a state: the lesson, and whatever differs from the lesson's own setting. */
export function writeState(state: State, defaults: State): string {
  const parts = [`lesson=${state.lesson}`];
  for (const key of KEYS) {
    const [name, codec] = CODECS[key] as [string, Codec<unknown>];
    if (state.points && (key === "n" || key === "noise" || key === "dataSeed")) continue;
    if (state[key] !== defaults[key]) parts.push(`${name}=${codec.write(state[key])}`);
  }
  const own = state.points && writePoints(state.points);
  const usual = defaults.points && writePoints(defaults.points);
  if (state.points && (own !== usual || state.points.dimension !== defaults.points?.dimension)) parts.push(`p${state.points.dimension}=${own}`);
  if (!state.points && usual) parts.push("p=0");
  return parts.join("&");
}

export interface ReadState {
  state: State;
  chrome: boolean;
  /** What could not be read, in words. */
  problems: string[];
}

/** Reads a link; a value that is missing or wrong is the lesson's own, and a wrong one is reported. */
export function readState(text: string, defaultsOf: (lesson: string) => State | undefined): ReadState {
  const given = new Map(text.replace(/^#/, "").split("&").filter(Boolean).map((part) => {
    const at = part.indexOf("=");
    return [decodeURIComponentSafely(at < 0 ? part : part.slice(0, at)), decodeURIComponentSafely(at < 0 ? "" : part.slice(at + 1))] as const;
  }));
  const problems: string[] = [];
  const wanted = given.get("lesson");
  const found = wanted === undefined ? undefined : defaultsOf(wanted);
  if (wanted !== undefined && !found) problems.push(`There is no lesson "${wanted}".`);
  const state: State = { ...(found ?? defaultsOf("function-space") ?? BASE) };
  for (const key of KEYS) {
    const [name, codec] = CODECS[key] as [string, Codec<never>];
    const value = given.get(name);
    if (value === undefined) continue;
    const read = codec.read(value);
    if (read === undefined) problems.push(`The link says ${name}=${value}, which is not possible; the lesson's own value is used.`);
    else state[key] = read;
  }
  if (given.get("p") === "0") state.points = null;
  for (const dimension of [1, 2] as const) {
    const value = given.get(`p${dimension}`);
    if (value === undefined) continue;
    const points = readPoints(value, dimension);
    if (points && isCurve(state.data) === (dimension === 1)) state.points = points;
    else problems.push("The points in the link cannot be read; the lesson's own points are used.");
  }
  return { state: consistent(state), chrome: given.get("chrome") !== "0", problems };
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Changes what cannot be combined: classes need labels for the logistic loss, moved points carry their own number. */
export function consistent(state: State): State {
  const out = { ...state };
  if (out.points && (out.points.dimension === 1) !== isCurve(out.data)) out.points = null;
  if (!(CLASSES as readonly string[]).includes(out.data)) out.loss = "squared";
  if (isCurve(out.data) || featureCount(out.features) === 0) out.features = 3;
  if (out.points) {
    out.n = out.points.y.length;
    out.noise = 0;
    out.dataSeed = 1;
  }
  return out;
}

/** The points of a state. */
export function pointsOf(state: State): Points {
  return state.points ?? makeData(state.data, state.n, state.noise, state.dataSeed);
}

/** The points on the grid, so that they fit in a link; at most MAX_MOVED_POINTS of them. */
export function movable(points: Points): Points {
  const n = Math.min(points.y.length, MAX_MOVED_POINTS);
  return {
    dimension: points.dimension,
    x: points.x.slice(0, n * points.dimension).map(snap),
    y: points.y.slice(0, n).map(points.dimension === 1 ? snap : (v) => (v > 0 ? 1 : -1)),
  };
}

/** The network of a state. */
export function shapeOf(state: State): Shape {
  const { width, depth, activation, scale, weightStd, biasStd, lastOnly } = state;
  const inputs = isCurve(state.data) ? 1 : featureCount(state.features);
  return { inputs, width, depth, activation, scale, weightStd, biasStd, lastOnly };
}

/** Inputs of the network for coordinates of points. */
export function inputsOf(state: State, x: Float64Array): Float64Array {
  return isCurve(state.data) ? x : withFeatures(x, state.features);
}
