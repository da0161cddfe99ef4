// One panel per lesson, and the comparison of guess, theory and truth.
import { curveTarget } from "../core/data";
import { descentRisk } from "../core/models";
import type { State } from "../core/state";
import type { FromWorker } from "../engine/protocol";
import { Chart } from "./chart";
import { count, percent, show, type Palette } from "./dom";
import type { PanelName } from "./lessons";
import { shifted, stepAxis, thinned, type Progress } from "./panels";
import { diverging } from "./views";

/** Results of jobs in the background. */
export interface Background {
  seeds: Float32Array[];
  sweep: { rate: number; ratio: number }[];
  phase: Extract<FromWorker, { type: "phase" }> | null;
  signals: Extract<FromWorker, { type: "signals" }> | null;
  descent: { size: number; measured: number }[];
  band: { mean: Float32Array; std: Float32Array } | null;
}

export interface PanelInput {
  progress: Progress;
  state: State;
  background: Background;
  /** The reader's guess of a number; null if none or not on this panel. */
  guess: number | null;
  selected: number;
}

export const DESCENT = { n: 40, total: 120, noise: 0.25, signal: 1 };
export const DESCENT_SIZES = [2, 6, 10, 15, 20, 25, 29, 32, 35, 37, 38, 39, 40, 41, 42, 43, 45, 48, 52, 58, 65, 75, 85, 95, 105, 115, 120];
export const DESCENT_DRAWS = 12;
const MARGIN = { left: 46, right: 12, top: 10, bottom: 24 };
const LABELED = { ...MARGIN, bottom: 36 };

type Draw = (chart: Chart, input: PanelInput, c: Palette) => void;

export const PANELS: Record<PanelName, Draw> = {
  influence(chart, { progress: { setup }, selected }, c) {
    const n = setup.y.length;
    const column = setup.grid.length ? Float32Array.from(setup.grid, (_, g) => setup.cross[g * n + selected] ?? 0) : new Float32Array(0);
    const high = Math.max(1e-9, ...column) * 1.1;
    chart.axes({ from: -2, to: 2, label: "x" }, { from: Math.min(0, ...column), to: high, label: "K(x, xᵢ)" }, c, LABELED);
    chart.vertical(setup.x[selected] ?? 0, { color: c.muted, dash: [2, 3] }, `point ${selected + 1}`);
    chart.line(setup.grid, column, { color: c.theory, width: 2.4 });
    const xs = setup.x.filter((_, i) => i < n);
    chart.dots(xs, xs.map((_, i) => setup.kernel[i * n + selected] ?? 0), c.ink, 3.5);
  },
  waves(chart, { progress, guess }, c) {
    const { setup } = progress;
    const history = thinned(progress.history);
    chart.axes(stepAxis(setup.records.at(-1)!), { from: 0, to: 1.3, ticks: [[0, "0"], [0.5, "half"], [1, "all"]] }, c, MARGIN);
    const theory = (setup.predicted?.outputs ?? []).map((f) => wavesLeft(setup.x, setup.y, f));
    const now = history.map((f) => wavesLeft(setup.x, setup.y, f.outputs));
    chart.clipped(() => {
      (["slow", "fast"] as const).forEach((name, k) => {
        chart.line(shifted(setup.records), theory.map((w) => w[k]!), { color: c.theory, width: 2, dash: [7, 4] });
        chart.dots(history.map((f) => f.step + 1), now.map((w) => w[k]!), k ? c.network : c.good, 2.4);
        const middle = theory.findIndex((w) => w[k]! < 0.8);
        if (middle > 0) chart.text(`${name} wave`, chart.X(setup.records[middle]! + 1) + 8, chart.Y(k ? 0.85 : 0.62), c.ink);
      });
      if (guess !== null) chart.vertical(guess + 1, { color: c.guess, width: 2 }, "your guess", "right", 6);
    });
  },
  neurons(chart, { progress }, c) {
    const [first, now] = [progress.history[0]?.neurons, progress.frame.neurons];
    if (!first || !now) return words(chart, c, "This picture needs one hidden layer and one-dimensional inputs.");
    let size = 0.02;
    for (let k = 1; k < now.length; k += 2) if (Math.abs(now[k - 1]!) < 2) size = Math.max(size, Math.abs(now[k]!), Math.abs(first[k]!));
    chart.axes({ from: -2, to: 2, label: "where the unit bends" }, { from: -1.1 * size, to: 1.1 * size, label: "bend" }, c, LABELED);
    chart.clipped(() => {
      const { g } = chart;
      g.strokeStyle = c.seeds;
      g.lineWidth = 1;
      g.beginPath();
      for (let k = 0; k < now.length; k += 2) {
        g.moveTo(chart.X(first[k]!), chart.Y(first[k + 1]!));
        g.lineTo(chart.X(now[k]!), chart.Y(now[k + 1]!));
      }
      g.stroke();
      const pick = (a: Float32Array, odd: number) => Array.from({ length: a.length / 2 }, (_, k) => a[2 * k + odd]!);
      chart.dots(pick(first, 0), pick(first, 1), c.muted, 1.6, 0.7);
      chart.dots(pick(now, 0), pick(now, 1), c.network, 3, 0.85);
    });
  },
  sweep(chart, { progress: { setup }, background, guess }, c) {
    const [low, high] = [setup.largest / 30, setup.largest * 8];
    if (!Number.isFinite(high)) return words(chart, c, "The kernel is zero: every learning rate is stable, and nothing is learned.");
    chart.axes({ from: low, to: high, log: true, label: "learning rate" }, { from: 1e-6, to: 1e6, log: true, label: "loss / first loss" }, c, { ...LABELED, left: 60 });
    const { left, width, top, height } = chart.box;
    chart.g.fillStyle = c.bad;
    chart.g.globalAlpha = 0.1;
    chart.g.fillRect(chart.X(setup.largest), top, left + width - chart.X(setup.largest), height);
    chart.g.globalAlpha = 1;
    chart.horizontal(1, { color: c.faint });
    chart.vertical(setup.largest, { color: c.theory, width: 2, dash: [7, 4] }, `2 / λ = ${show(setup.largest)}`);
    chart.vertical(setup.lr, { color: c.network, width: 1.5 }, "now", setup.lr > setup.largest ? "left" : "right", 1);
    chart.clipped(() => {
      const sweep = background.sweep.map((s) => [s.rate * setup.largest, Math.min(5e5, s.ratio)] as const);
      chart.line(sweep.map((s) => s[0]), sweep.map((s) => s[1]), { color: c.network, width: 1, alpha: 0.5 });
      chart.dots(sweep.map((s) => s[0]), sweep.map((s) => s[1]), c.network, 3.2);
      if (guess !== null) chart.vertical(guess, { color: c.guess, width: 2 }, "your guess", "left", 8);
    });
  },
  sharpness(chart, { progress, guess, state }, c) {
    const { setup } = progress;
    const history = thinned(progress.history);
    const limit = (2 * (1 + state.momentum)) / setup.lr;
    const measured = history.map((f) => f.sharpness ?? NaN);
    const high = Math.max(limit * 1.5, ...measured.filter(Number.isFinite).map((v) => v * 1.1));
    chart.axes(stepAxis(setup.records.at(-1)!), { from: 0, to: Math.min(high, limit * 3), label: "sharpness" }, c, MARGIN);
    chart.clipped(() => {
      chart.dots(history.map((f) => f.step + 1), measured, c.network, 2.6);
      if (guess !== null) chart.horizontal(guess, { color: c.guess, width: 2 }, "your guess");
      chart.horizontal(limit, { color: c.theory, width: 2, dash: [7, 4] }, `2 / learning rate = ${show(limit)}`);
    });
  },
  spread(chart, { progress: { setup }, background, guess }, c) {
    const { band, seeds } = background;
    const measured = seeds.length > 2 ? spreadOf(seeds) : [];
    const high = Math.max(0.2, ...(band?.std ?? []), ...measured) * 1.15;
    chart.axes({ from: -2, to: 2, label: "x" }, { from: 0, to: high, label: "standard deviation" }, c, LABELED);
    if (band) chart.line(setup.grid, band.std, { color: c.theory, width: 2.2, dash: [7, 4] });
    chart.dots(measured.length ? setup.grid : [], measured, c.network, 2.4);
    chart.text(`${seeds.length} networks trained`, chart.box.left + 8, chart.box.top + 9, c.muted);
    if (guess !== null) chart.dots([0], [guess], c.guess, 6);
  },
  signals(chart, { background: { phase, signals }, state, guess }, c) {
    const half = chart.width * 0.46;
    chart.axes({ from: 0, to: 4, label: "weight scale" }, { from: 0, to: 2, label: "bias scale" }, c, { ...LABELED, right: chart.width - half });
    if (phase) {
      const color = diverging(c);
      const { g } = chart;
      const [dx, dy] = [4 / phase.columns, 2 / phase.rows];
      for (let r = 0; r < phase.rows; r++)
        for (let k = 0; k < phase.columns; k++) {
          const [red, green, blue] = color(Math.max(-0.6, Math.min(0.6, Math.log(Math.max(1e-3, phase.chi[r * phase.columns + k]!)) * 0.5)));
          g.fillStyle = `rgb(${red} ${green} ${blue})`;
          const [x, y] = [chart.X(k * dx), chart.Y((r + 1) * dy)];
          g.fillRect(x, y, chart.X((k + 1) * dx) - x + 0.6, chart.Y(r * dy) - y + 0.6);
        }
      const rows = Array.from(phase.border, (_, r) => (r + 0.5) * dy);
      chart.line(phase.border, rows, { color: c.theory, width: 2.2, dash: [7, 4] });
      chart.text("order", chart.X(0.3), chart.Y(1.75), c.ink);
      chart.text("chaos", chart.X(3.1), chart.Y(0.2), c.ink);
    } else chart.text("computing …", chart.X(1.2), chart.Y(1), c.muted);
    chart.dots([state.weightStd], [Math.min(2, state.biasStd)], c.paper, 8);
    chart.dots([state.weightStd], [Math.min(2, state.biasStd)], c.ink, 5.5);
    chart.axes({ from: 1, to: 20, ticks: [1, 5, 10, 15, 20].map((k) => [k, String(k)]), label: "layer" }, { from: -0.2, to: 1.05, label: "correlation" }, c, { ...LABELED, left: half + 52 });
    if (!signals) return;
    const layers = signals.predicted.map((_, k) => k + 1);
    chart.line(layers, signals.predicted, { color: c.theory, width: 2.2, dash: [7, 4] });
    chart.dots(layers, signals.measured, c.network, 3);
    if (guess !== null) chart.dots([20], [guess], c.guess, 6);
  },
  descent(chart, { background, guess }, c) {
    chart.axes({ from: 0, to: 120, label: "number of features p" }, { from: 0.1, to: 100, log: true, label: "test error" }, c, LABELED);
    const sizes = Array.from({ length: 120 }, (_, k) => k + 1);
    chart.clipped(() => {
      chart.vertical(40, { color: c.muted, dash: [2, 3] }, "p = number of examples", "left");
      chart.line(sizes, sizes.map((p) => Math.min(1e4, descentRisk(DESCENT, p))), { color: c.theory, width: 2.2, dash: [7, 4] });
      chart.dots(background.descent.map((d) => d.size), background.descent.map((d) => d.measured), c.network, 3.2);
      if (guess !== null) chart.vertical(guess, { color: c.guess, width: 2 }, "your guess", "left", 8);
    });
  },
  margin(chart, { progress }, c) {
    const { setup } = progress;
    const history = thinned(progress.history);
    const angles = history.map((f) => (f.margin ? (180 / Math.PI) * f.margin.angle : NaN));
    if (!history[0]?.margin) return words(chart, c, "This picture needs a linear model (0 hidden layers) and classes that a line separates.");
    const high = Math.max(5, ...angles.filter((_, i) => (history[i]?.step ?? 0) > 0)) * 1.15;
    chart.axes(stepAxis(setup.records.at(-1)!), { from: 0, to: high, label: "degrees" }, c, MARGIN);
    chart.clipped(() => chart.dots(history.map((f) => f.step + 1), angles, c.network, 2.6));
    chart.horizontal(0, { color: c.theory, width: 2, dash: [7, 4] }, "largest margin");
  },
  momentum(chart, { progress: { setup }, state, guess, background }, c) {
    chart.axes({ from: 0, to: 4, label: "learning rate × λ" }, { from: 0, to: 1, label: "momentum β" }, c, LABELED);
    const { g } = chart;
    const cells = 40;
    for (let i = 0; i < cells; i++)
      for (let j = 0; j < cells; j++) {
        const [a, beta] = [(4 * (i + 0.5)) / cells, (j + 0.5) / cells];
        const size = contraction(a, beta);
        g.fillStyle = size < 1 ? c.network : c.bad;
        g.globalAlpha = size < 1 ? 0.12 + 0.55 * (1 - size) : 0.14;
        const [x, y] = [chart.X((4 * i) / cells), chart.Y((j + 1) / cells)];
        g.fillRect(x, y, chart.X((4 * (i + 1)) / cells) - x + 0.5, chart.Y(j / cells) - y + 0.5);
      }
    g.globalAlpha = 1;
    chart.line([2, 4], [0, 1], { color: c.theory, width: 2.4, dash: [7, 4] });
    chart.text("stable", chart.X(0.4), chart.Y(0.12), c.ink);
    chart.text("diverges", chart.X(3.1), chart.Y(0.12), c.ink);
    const at = setup.lr * (setup.rates[0] ?? 0);
    chart.dots([Math.min(4, at)], [state.momentum], c.paper, 8);
    chart.dots([Math.min(4, at)], [state.momentum], c.ink, 5.5);
    const border = firstUnstable(background.sweep);
    if (border !== null) chart.dots([border * 2 * (1 + state.momentum)], [state.momentum], c.network, 5);
    if (guess !== null) chart.dots([Math.min(4, 2 * guess)], [state.momentum], c.guess, 6);
  },
  stopping(chart, { progress, state, guess }, c) {
    const { setup } = progress;
    const history = thinned(progress.history);
    const theory = (setup.predicted?.curves ?? []).map((f) => testError(state, setup.grid, f));
    const measured = history.map((f) => testError(state, setup.grid, f.curve));
    const all = [...theory, ...measured].filter((v) => Number.isFinite(v) && v > 0);
    if (!all.length) return words(chart, c, "Points moved by hand have no true curve to compare with.");
    chart.axes(stepAxis(setup.records.at(-1)!), { from: Math.min(...all) * 0.7, to: Math.min(Math.max(...all), theory[0]! * 3) * 1.4, log: true, label: "test error" }, c, MARGIN);
    chart.clipped(() => {
      if (guess !== null) chart.vertical(guess + 1, { color: c.guess, width: 2 }, "your guess", "right", 6);
      const best = theory.indexOf(Math.min(...theory));
      if (best > 0) chart.vertical(setup.records[best]! + 1, { color: c.theory, width: 1.5, dash: [2, 3] }, `best: ${count(setup.records[best]!)}`, "left");
      chart.line(shifted(setup.records), theory, { color: c.theory, width: 2.2, dash: [7, 4] });
      chart.dots(history.map((f) => f.step + 1), measured, c.network, 2.4);
    });
  },
  kernel(chart, { progress: { setup } }, c) {
    const n = setup.y.length;
    const side = Math.min(chart.height - 24, chart.width * 0.45);
    const { g } = chart;
    const cell = side / n;
    const top = Math.max(...setup.kernel.map(Math.abs), 1e-12);
    const color = diverging(c);
    const order = Array.from({ length: n }, (_, i) => i).sort((a, b) => (setup.dimension === 1 ? setup.x[a]! - setup.x[b]! : setup.y[a]! - setup.y[b]!));
    order.forEach((i, r) => order.forEach((j, k) => {
      const [red, green, blue] = color(setup.kernel[i * n + j]! / top);
      g.fillStyle = `rgb(${red} ${green} ${blue})`;
      g.fillRect(12 + k * cell, 12 + r * cell, cell + 0.6, cell + 0.6);
    }));
    g.strokeStyle = c.faint;
    g.strokeRect(12, 12, side, side);
    chart.axes({ from: 1, to: Math.max(2, Math.min(n, 40)), label: "mode" }, { from: Math.max((setup.rates[0] || 1) * 1e-8, 1e-12), to: (setup.rates[0] || 1) * 2, log: true, label: "rate" }, c, { ...LABELED, left: side + 84 });
    const shown = Array.from(setup.rates.slice(0, 40));
    chart.dots(shown.map((_, k) => k + 1), shown, c.theory, 3);
  },
};

function words(chart: Chart, c: Palette, text: string): void {
  chart.text(text, chart.width / 2, chart.height / 2, c.muted, "center");
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
    const why = `The angle to the line of largest margin went from ${show(a, 2)}° after 10 steps to ${show(b, 2)}°.`;
    return { right: Math.abs(a - b) < 0.5 ? 0 : b < a ? 1 : 2, why };
  }
  return null;
}
