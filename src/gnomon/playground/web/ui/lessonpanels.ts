// One panel per lesson.
import { descentRisk } from "../core/models";
import { Chart } from "./chart";
import { count, show, type Palette } from "./dom";
import { DESCENT } from "./jobs";
import { contraction, firstUnstable, spreadOf, testError, wavesLeft, type PanelInput } from "./lessonnumbers";
import type { PanelName } from "./lessons";
import { shifted, stepAxis, thinned } from "./panels";
import { diverging } from "./views";

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
    chart.axes({ from: 1, to: 20, ticks: [1, 5, 10, 15, 20].map((k) => [k, String(k)]), label: "layer" }, { from: -0.2, to: 1.05, label: "correlation" }, c, { ...LABELED, left: half + 64 });
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
      chart.vertical(DESCENT.n, { color: c.muted, dash: [2, 3] });
      chart.text("p = number of examples", chart.X(DESCENT.n) + 5, chart.Y(0.14), c.muted);
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
    const below = chart.Y(state.momentum) + (state.momentum > 0.5 ? 14 : -14);
    chart.text("now", chart.X(Math.min(4, at)), below, c.ink, "center");
    const border = firstUnstable(background.sweep);
    if (border !== null) {
      const x = border * 2 * (1 + state.momentum);
      chart.dots([x], [state.momentum], c.network, 5);
      chart.text("measured limit", chart.X(x) - 8, below, c.network, "right");
    }
    if (guess !== null) {
      chart.dots([Math.min(4, 2 * guess)], [state.momentum], c.guess, 6);
      chart.text("your guess", chart.X(Math.min(4, 2 * guess)) + (guess > 1.6 ? -2 : 0), below + (state.momentum > 0.5 ? 14 : -14), c.guess, guess > 1.6 ? "right" : "center");
    }
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
    const n = setup.marks.length;
    const side = Math.min(chart.height - 24, chart.width * 0.45);
    const { g } = chart;
    const cell = side / n;
    const top = Math.max(...setup.kernel.map(Math.abs), 1e-12);
    const color = diverging(c);
    const order = Array.from({ length: n }, (_, i) => i).sort((a, b) => (setup.dimension === 1 ? setup.x[a]! - setup.x[b]! : setup.marks[a]! - setup.marks[b]!));
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
