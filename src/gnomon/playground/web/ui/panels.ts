// The three panels on the right: loss, modes, and the dial from lazy to rich.
import { Chart } from "./chart";
import { percent, show, type Palette } from "./dom";
import type { Frame, Setup } from "../engine/protocol";

export interface Progress {
  setup: Setup;
  frame: Frame;
  history: Frame[];
  record: number;
}

const SMALL = { left: 44, right: 10, top: 8, bottom: 22 };

/** Steps as positions on a logarithmic axis that shows step 0 as well. */
export const shifted = (steps: number[]) => steps.map((s) => s + 1);
export const stepAxis = (steps: number, label = "steps") => ({
  from: 1, to: steps + 1, log: true, label: "",
  ticks: [0, 1, 10, 100, 1000, 10000].filter((s) => s <= steps).map((s): [number, string] => [s + 1, s === 0 ? `0 ${label}` : s.toLocaleString("en-US")]),
});

export function drawLoss(chart: Chart, p: Progress, c: Palette): void {
  chart.begin();
  const { setup, history } = p;
  const predicted = setup.predicted?.loss ?? [];
  const measured = history.map((f) => f.loss);
  const all = [...predicted, ...measured].filter((v) => Number.isFinite(v) && v > 0);
  const high = Math.min(Math.max(...all, 1e-12) * 1.5, (all[0] ?? 1) * 1e4);
  const low = Math.max(Math.min(...all, high / 10) * 0.7, high * 1e-9, 1e-14);
  chart.axes(stepAxis(setup.records.at(-1)!), { from: low, to: high, log: true }, c, SMALL);
  chart.clipped(() => {
    if (predicted.length) chart.line(shifted(setup.records), predicted, { color: c.theory, width: 2, dash: [7, 4] });
    const kept = thinned(history);
    chart.dots(kept.map((f) => f.step + 1), kept.map((f) => f.loss), c.network, 2.4);
    ball(chart, p.frame.step + 1, p.frame.loss, c);
  });
}

/** About fifty records, so that dots stay dots. */
export const thinned = (history: Frame[]) => history.filter((f, i) => f.record < 0 || f.record % Math.max(1, Math.floor(history.length / 50)) === 0 || i === history.length - 1);

function ball(chart: Chart, x: number, y: number, c: Palette): void {
  if (!(y > 0) || !Number.isFinite(y)) return;
  const { g } = chart;
  g.beginPath();
  g.arc(chart.X(x), chart.Y(y), 4.5, 0, 7);
  g.fillStyle = c.network;
  g.fill();
  g.lineWidth = 2;
  g.strokeStyle = c.paper;
  g.stroke();
}

export const MODES_SHOWN = 14;

/** Remaining error per mode: bars measured, marks predicted, both relative to the start. */
export function drawModes(chart: Chart, p: Progress, c: Palette): void {
  chart.begin();
  const { setup, frame } = p;
  const n = Math.min(MODES_SHOWN, setup.rates.length);
  const labels: [number, string][] = [];
  for (let k = 0; k < n; k += n > 8 ? 2 : 1) labels.push([k + 0.5, String(k + 1)]);
  chart.axes({ from: 0, to: n, ticks: labels }, { from: 0, to: 1, ticks: [[0, "0"], [0.5, "½"], [1, "all"]] }, c, SMALL);
  const predicted = setup.predicted?.modes[Math.max(0, p.record)];
  const total = Math.max(...Array.from(setup.coefficients, Math.abs), 1e-12);
  const { g } = chart;
  chart.clipped(() => {
    for (let k = 0; k < n; k++) {
      const first = Math.abs(setup.coefficients[k]!);
      if (!(first > 1e-9 * total)) continue;
      const left = Math.min(1.05, Math.abs(frame.modes[k]!) / first);
      const [x1, x2] = [chart.X(k + 0.18), chart.X(k + 0.82)];
      g.fillStyle = c.network;
      g.globalAlpha = 0.3 + 0.7 * Math.sqrt(first / total);
      g.fillRect(x1, chart.Y(left), x2 - x1, chart.Y(0) - chart.Y(left));
      g.globalAlpha = 1;
      if (predicted && Number.isFinite(predicted[k]!)) {
        const mark = chart.Y(Math.min(1.05, Math.abs(predicted[k]!) / first));
        g.fillStyle = c.theory;
        g.fillRect(chart.X(k + 0.06), mark - 1.5, chart.X(k + 0.94) - chart.X(k + 0.06), 3);
      }
    }
  });
}

/** Position on the dial: 0 is lazy (drift 0.3 %), 1 is rich (the kernel changed by more than itself). */
export const dialPosition = (drift: number) => Math.max(0, Math.min(1, Math.log10(Math.max(drift, 1e-9) / 0.003) / Math.log10(1000)));

export function drawDial(chart: Chart, p: Progress, c: Palette): void {
  chart.begin();
  const { g, width, height } = chart;
  const radius = Math.max(10, Math.min(height - 22, width / 2 - 56));
  const [cx, cy] = [width / 2, height - 10];
  const arc = (from: number, to: number, color: string, thick: number) => {
    g.beginPath();
    g.arc(cx, cy, radius, Math.PI * (1 + from), Math.PI * (1 + to));
    g.strokeStyle = color;
    g.lineWidth = thick;
    g.stroke();
  };
  const parts = 48;
  for (let k = 0; k < parts; k++) {
    g.globalAlpha = 0.25 + 0.75 * Math.abs(2 * ((k + 0.5) / parts) - 1);
    arc(k / parts, (k + 1.05) / parts, k < parts / 2 ? c.theory : c.network, 11);
  }
  g.globalAlpha = 1;
  const drift = p.frame.drift ?? 0;
  const t = dialPosition(drift);
  const turn = Math.PI * (1 + t);
  if (p.frame.step > 0) { // before the first step nothing is known
    g.strokeStyle = c.ink;
    g.lineWidth = 3;
    g.lineCap = "round";
    g.beginPath();
    g.moveTo(cx, cy);
    g.lineTo(cx + (radius - 14) * Math.cos(turn), cy + (radius - 14) * Math.sin(turn));
    g.stroke();
    g.lineCap = "butt";
  }
  g.beginPath();
  g.arc(cx, cy, 5, 0, 7);
  g.fillStyle = c.ink;
  g.fill();
  const bold = "600 12px system-ui, sans-serif";
  chart.text("lazy", cx - radius - 12, cy - 4, c.ink, "right", bold);
  chart.text("rich", cx + radius + 12, cy - 4, c.ink, "left", bold);
}

/** A drift as a short text, and in a sentence. */
export const change = (drift: number) => (drift < 1.5 ? percent(drift) : `${show(drift, 2)}\u00a0×`);
export const changeWords = (drift: number) => (drift < 1.5 ? percent(drift) : `${show(drift, 2)} times its size`);
export const dialWords = (drift: number) => (drift < 0.05 ? "lazy" : drift < 0.3 ? "in between" : "rich");
export const lossSummary = (p: Progress) =>
  `Loss at step ${p.frame.step}: measured ${show(p.frame.loss)}${p.setup.predicted && p.record >= 0 ? `, predicted ${show(p.setup.predicted.loss[p.record])}` : ""}.`;
