// Data sets as functions of their size, noise and seed. Coordinates are multiples of 1/250 between -2 and 2.
import { normals, uniforms } from "./random";

export const CURVES = ["sine", "waves", "step", "bump", "line"] as const;
export const CLASSES = ["circle", "xor", "gauss", "spiral", "margin"] as const;
export const SURFACES = ["plane", "hills"] as const;
export type DataName = (typeof CURVES)[number] | (typeof CLASSES)[number] | (typeof SURFACES)[number];

/** Points: x has one or two coordinates each, y a value or a class +1 / -1. */
export interface Points {
  dimension: 1 | 2;
  x: Float64Array;
  y: Float64Array;
}

export const isCurve = (name: DataName) => (CURVES as readonly string[]).includes(name);
export const isClasses = (name: DataName) => (CLASSES as readonly string[]).includes(name);

/** The nearest grid value. */
export const snap = (v: number) => Math.max(0, Math.min(1000, Math.floor((v + 2) * 250 + 0.5))) / 250 - 2;

/** The function behind a curve. */
export function curveTarget(name: DataName, x: number): number {
  switch (name) {
    case "waves": return 0.8 * Math.sin(1.75 * x) + 0.4 * Math.sin(7 * x);
    case "step": return x < 0 ? -0.8 : 0.8;
    case "bump": return 1.3 * Math.exp(-4 * x * x) - 0.3;
    case "line": return 0.6 * x;
    default: return 0.9 * Math.sin(2.5 * x);
  }
}

const SPREAD = 1.8;

export function makeData(name: DataName, n: number, noise: number, seed: number): Points {
  if (isCurve(name)) {
    const jitter = uniforms(seed, 0, n);
    const error = normals(seed, 1, n);
    const x = new Float64Array(n);
    const y = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      x[i] = snap(-SPREAD + (2 * SPREAD * (i + 0.5 + 0.4 * (jitter[i]! - 0.5))) / n);
      y[i] = snap(curveTarget(name, x[i]!) + noise * error[i]!);
    }
    return { dimension: 1, x, y };
  }
  const u = uniforms(seed, 0, 2 * n);
  const z = normals(seed, 1, 2 * n);
  const x = new Float64Array(2 * n);
  const y = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const [a, b, label] = cleanPoint(name, i, n, u[2 * i]!, u[2 * i + 1]!);
    x[2 * i] = snap(a + 0.4 * noise * z[2 * i]!);
    x[2 * i + 1] = snap(b + 0.4 * noise * z[2 * i + 1]!);
    y[i] = label ?? surfaceTarget(name, x[2 * i]!, x[2 * i + 1]!);
  }
  return { dimension: 2, x, y };
}

export function surfaceTarget(name: DataName, a: number, b: number): number {
  if (name === "plane") return (a + b) / 2;
  const hill = (ca: number, cb: number) => Math.exp(-2 * ((a - ca) ** 2 + (b - cb) ** 2));
  return hill(-0.8, 0.8) + hill(0.8, -0.8) - hill(0.8, 0.8) - hill(-0.8, -0.8);
}

/** One point without noise; the label is null if it is a value of the surface. */
function cleanPoint(name: DataName, i: number, n: number, u: number, v: number): [number, number, number | null] {
  const label = i % 2 ? -1 : 1;
  const turn = 2 * Math.PI * v;
  switch (name) {
    case "circle": {
      const r = label > 0 ? 0.9 * Math.sqrt(u) : 1.25 + 0.55 * u;
      return [r * Math.cos(turn), r * Math.sin(turn), label];
    }
    case "xor": {
      const side = i % 4 < 2 ? 1 : -1;
      return [side * (0.15 + 1.6 * u), side * label * (0.15 + 1.6 * v), label];
    }
    case "spiral": {
      const t = (Math.floor(i / 2) + 0.5 + 0.3 * (u - 0.5)) / Math.ceil(n / 2);
      const around = 3.5 * Math.PI * t + (label > 0 ? 0 : Math.PI);
      return [1.8 * t * Math.sin(around), 1.8 * t * Math.cos(around), label];
    }
    case "margin": {
      const across = label * (0.3 + 1.1 * u);
      const along = 2.6 * (v - 0.5);
      return [0.8 * across - 0.6 * along, 0.6 * across + 0.8 * along, label];
    }
    case "gauss": {
      const r = 0.75 * Math.sqrt(u);
      return [0.9 * label + r * Math.cos(turn), 0.9 * label + r * Math.sin(turn), label];
    }
    default: return [3.6 * (u - 0.5), 3.6 * (v - 0.5), null];
  }
}

export const FEATURES = ["x1", "x2", "x1²", "x2²", "x1·x2", "sin 3x1", "sin 3x2"] as const;

/** Inputs of the network for two coordinates: the features whose bit is set in the mask, in the order of FEATURES. */
export function withFeatures(x: Float64Array, mask: number): Float64Array {
  if (mask === 3) return x;
  const chosen = FEATURES.map((_, k) => k).filter((k) => mask & (1 << k));
  const n = x.length / 2;
  const out = new Float64Array(n * chosen.length);
  for (let i = 0; i < n; i++) {
    const [a, b] = [x[2 * i]!, x[2 * i + 1]!];
    const all = [a, b, a * a, b * b, a * b, Math.sin(3 * a), Math.sin(3 * b)];
    chosen.forEach((k, j) => (out[i * chosen.length + j] = all[k]!));
  }
  return out;
}

/** The number of inputs for a mask of features. */
export const featureCount = (mask: number) => FEATURES.filter((_, k) => mask & (1 << k)).length;
