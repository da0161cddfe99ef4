// The numbers behind the panels of the lessons, and what theory and measurement answer to each question.
import { curveTarget } from "../core/data";
import type { State } from "../core/state";
import { percent, show } from "./dom";
import { DESCENT, DESCENT_SIZES, type Background } from "./jobs";
import type { Progress } from "./panels";

export interface PanelInput {
  progress: Progress;
  state: State;
  background: Background;
  /** The reader's guess of a number; null if none or not on this panel. */
  guess: number | null;
  selected: number;
}

/** Largest root of the heavy-ball recursion: the factor by which an error shrinks (below 1) or grows in a step. */
export function contraction(a: number, beta: number): number {
  const half = (1 + beta - a) / 2;
  return half * half < beta ? Math.sqrt(beta) : Math.abs(half) + Math.sqrt(half * half - beta);
}

/** Parts of the slow and the fast wave that are left in y - f, by least squares on both. */
export function wavesLeft(x: Float64Array, y: Float64Array, f: Float64Array): [number, number] {
  const fit = (r: (i: number) => number) => {
    let [aa, ab, bb, ar, br] = [0, 0, 0, 0, 0];
    for (let i = 0; i < y.length; i++) {
      const [a, b] = [Math.sin(1.75 * x[i]!), Math.sin(7 * x[i]!)];
      aa += a * a;
      ab += a * b;
      bb += b * b;
      ar += a * r(i);
      br += b * r(i);
    }
    const d = aa * bb - ab * ab || 1;
    return [(ar * bb - br * ab) / d, (br * aa - ar * ab) / d] as const;
  };
  const [now, first] = [fit((i) => y[i]! - f[i]!), fit((i) => y[i]!)];
  return [Math.abs(now[0] / (first[0] || 1)), Math.abs(now[1] / (first[1] || 1))];
}

/** Mean squared error / 2 against the true curve, between the first and the last point. */
export function testError(state: State, grid: Float64Array, f: ArrayLike<number>): number {
  if (state.points) return NaN;
  let [sum, n] = [0, 0];
  for (let i = 0; i < grid.length; i++) {
    if (Math.abs(grid[i]!) > 1.8) continue;
    sum += (f[i]! - curveTarget(state.data, grid[i]!)) ** 2 / 2;
    n++;
  }
  return sum / n;
}

/** Standard deviation of the curves at every point of the grid. */
export function spreadOf(curves: Float32Array[]): number[] {
  return Array.from(curves[0]!, (_, i) => {
    const mean = curves.reduce((s, f) => s + f[i]!, 0) / curves.length;
    return Math.sqrt(curves.reduce((s, f) => s + (f[i]! - mean) ** 2, 0) / (curves.length - 1));
  });
}

/** The smallest fraction of the stable rate in a sweep at which the loss has grown, halfway from the one before. */
export function firstUnstable(sweep: { rate: number; ratio: number }[]): number | null {
  const k = sweep.findIndex((s) => s.ratio > 1);
  if (k < 0) return null;
  return k ? Math.sqrt(sweep[k]!.rate * sweep[k - 1]!.rate) : sweep[k]!.rate;
}

const firstBelow = (values: number[], steps: number[], level: number): number | null => {
  const k = values.findIndex((v) => v < level);
  return k < 0 ? null : steps[k]!;
};

/** Theory and truth for a lesson's question about a number; null while one is not known. */
export function numbersOf(lesson: string, { progress, state, background }: PanelInput): { theory: number | null; truth: number | null } {
  const { setup, history } = progress;
  const ended = history.at(-1)?.record === setup.records.length - 1 || history.at(-1)?.diverged === true;
  switch (lesson) {
    case "spectral-bias": {
      const theory = (setup.predicted?.outputs ?? []).map((f) => wavesLeft(setup.x, setup.y, f)[1]);
      const measured = history.map((f) => wavesLeft(setup.x, setup.y, f.outputs)[1]);
      return { theory: firstBelow(theory, setup.records, 0.5), truth: firstBelow(measured, history.map((f) => f.step), 0.5) };
    }
    case "stable-rate": {
      const border = firstUnstable(background.sweep);
      return { theory: setup.largest, truth: border === null ? null : border * setup.largest };
    }
    case "edge-of-stability": {
      const tail = history.slice(-Math.ceil(history.length / 8)).map((f) => f.sharpness ?? NaN).filter(Number.isFinite);
      return { theory: (2 * (1 + state.momentum)) / setup.lr, truth: ended && tail.length ? tail.reduce((a, b) => a + b, 0) / tail.length : null };
    }
    case "gaussian-process": {
      const middle = (setup.grid.length - 1) / 2;
      return { theory: background.band?.std[middle] ?? null, truth: background.seeds.length >= 20 ? spreadOf(background.seeds)[middle]! : null };
    }
    case "depth-and-signals": return { theory: background.signals?.predicted.at(-1) ?? null, truth: background.signals?.measured.at(-1) ?? null };
    case "double-descent": {
      const done = background.descent.length === DESCENT_SIZES.length;
      const peak = background.descent.reduce((a, b) => (b.measured > a.measured ? b : a), { size: 0, measured: 0 });
      return { theory: DESCENT.n, truth: done ? peak.size : null };
    }
    case "momentum": {
      const border = firstUnstable(background.sweep);
      return { theory: 1 + state.momentum, truth: border === null ? null : border * (1 + state.momentum) };
    }
    case "early-stopping": {
      const theory = (setup.predicted?.curves ?? []).map((f) => testError(state, setup.grid, f));
      const measured = history.map((f) => testError(state, setup.grid, f.curve));
      return {
        theory: setup.records[theory.indexOf(Math.min(...theory))] ?? null,
        truth: ended ? (history[measured.indexOf(Math.min(...measured))]?.step ?? null) : null,
      };
    }
  }
  return { theory: null, truth: null };
}

/** The right option of a lesson's choice after the run, and a sentence why; null before. */
export function choiceOf(lesson: string, { progress }: PanelInput): { right: number; why: string } | null {
  const { setup, history } = progress;
  const last = history.at(-1);
  if (!last || last.record !== setup.records.length - 1) return null;
  if (lesson === "lazy-to-rich") {
    const predicted = setup.predicted?.loss.at(-1) ?? NaN;
    const ratio = last.loss / predicted;
    const why = `The loss is ${show(last.loss)}; the kernel of the start predicted ${show(predicted)}. The kernel changed by ${percent(last.drift ?? 0)}.`;
    return { right: Math.abs(Math.log(ratio)) < 0.2 ? 0 : ratio < 1 ? 1 : 2, why };
  }
  if (lesson === "max-margin") {
    const early = history.find((f) => f.step >= 10)?.margin;
    if (!early || !last.margin) return null;
    const [a, b] = [early, last.margin].map((m) => (180 / Math.PI) * m.angle) as [number, number];
    const why = `The angle to the line of largest margin went from ${show(a, 2)}° to ${show(b, 2)}°.`;
    return { right: Math.abs(a - b) < 0.5 ? 0 : b < a ? 1 : 2, why };
  }
  return null;
}
