// The large picture in the middle: a curve in function space, a map of two classes, or outputs of a user's own network.
import { Chart } from "./chart";
import { rgb, type Palette } from "./dom";
import { MAP_SIDE, MAX_UNITS_SHOWN, UNIT_SIDE, type Frame, type Setup } from "../engine/protocol";

/** Everything the picture shows. */
export interface Picture {
  setup: Setup;
  frame: Frame;
  /** Index of the record that predictions "now" are drawn for; -1 for none. */
  record: number;
  band: { mean: Float32Array; std: Float32Array } | null;
  seeds: Float32Array[];
  guess: Float64Array | null;
  guessX: number[];
  guessOpen: boolean;
  selected: number;
  focused: boolean;
  showEnd: boolean;
  best: Float64Array | null;
  width: number;
  depth: number;
}

const MARGIN = { left: 36, right: 12, top: 12, bottom: 24 };

export function drawCurve(chart: Chart, p: Picture, c: Palette): void {
  chart.begin();
  chart.axes({ from: -2, to: 2 }, { from: -2, to: 2 }, c, MARGIN);
  const { setup, frame } = p;
  const last = setup.predicted?.curves.at(-1);
  chart.clipped(() => {
    if (p.band) {
      const low = p.band.mean.map((m, i) => m - 2 * p.band!.std[i]!);
      const high = p.band.mean.map((m, i) => m + 2 * p.band!.std[i]!);
      chart.area(setup.grid, low, high, c.band);
    }
    for (const one of p.seeds) chart.line(setup.grid, one, { color: c.seeds, width: 1, alpha: 0.75 });
    chart.line(setup.grid, setup.start, { color: c.muted, width: 1.2, dash: [1, 3] });
    const now = p.record > 0 && p.record < setup.records.length - 1 ? setup.predicted?.curves[p.record] : undefined;
    if (now) chart.line(setup.grid, now, { color: c.theory, width: 1.4, dash: [1.5, 3] });
    if (p.guess) {
      chart.line(p.guessX, p.guess, { color: c.guess, width: 2, alpha: p.guessOpen ? 0.9 : 0.55 });
    }
    chart.line(setup.grid, frame.curve, { color: c.network, width: 3 });
    if (last && p.showEnd) chart.line(setup.grid, last, { color: c.theory, width: 2.4, dash: [8, 5] });
  });
  drawPoints(chart, p, c);
  if (p.guess && p.guessOpen) p.guess.forEach((v, i) => ring(chart, p.guessX[i]!, v, 6.5, c.guess, c.paper));
}

function drawPoints(chart: Chart, p: Picture, c: Palette): void {
  const { setup } = p;
  for (let i = 0; i < setup.y.length; i++) {
    const [x, y] = [setup.x[i]!, setup.y[i]!];
    ring(chart, x, y, 5, c.paper, c.ink);
    if (p.focused && i === p.selected) {
      chart.g.strokeStyle = c.guess;
      chart.g.lineWidth = 2.5;
      chart.g.beginPath();
      chart.g.arc(chart.X(x), chart.Y(y), 10, 0, 7);
      chart.g.stroke();
    }
  }
}

function ring(chart: Chart, x: number, y: number, radius: number, edge: string, fill: string): void {
  const { g } = chart;
  g.beginPath();
  g.arc(chart.X(x), chart.Y(y), radius, 0, 7);
  g.fillStyle = fill;
  g.fill();
  g.lineWidth = 2;
  g.strokeStyle = edge;
  g.stroke();
}

/** The side of the square of a map inside its canvas, and where it starts; units are drawn to the left of it. */
export function mapBox(chart: Chart, p: Picture): { left: number; top: number; side: number; units: number } {
  const units = p.depth ? Math.min(p.depth, 5) * 52 + 24 : 0;
  const room = chart.width > 560 ? units : 0;
  const side = Math.min(chart.height - 20, chart.width - room - 16);
  return { left: room + Math.max(8, (chart.width - room - side) / 2), top: (chart.height - side) / 2, side, units: room };
}

const scratch = new Map<number, HTMLCanvasElement>();
function paint(values: ArrayLike<number>, side: number, color: (v: number) => [number, number, number]): HTMLCanvasElement {
  let canvas = scratch.get(side);
  if (!canvas) {
    canvas = document.createElement("canvas");
    canvas.width = canvas.height = side;
    scratch.set(side, canvas);
  }
  const g = canvas.getContext("2d")!;
  const image = g.createImageData(side, side);
  for (let k = 0; k < side * side; k++) {
    const [r, gr, b] = color(values[k]!);
    image.data[4 * k] = r;
    image.data[4 * k + 1] = gr;
    image.data[4 * k + 2] = b;
    image.data[4 * k + 3] = 255;
  }
  g.putImageData(image, 0, 0);
  return canvas;
}

/** Color of an output between -1 and 1. */
export function diverging(c: Palette): (v: number) => [number, number, number] {
  const [zero, plus, minus] = [rgb(c.zero), rgb(c.positive), rgb(c.negative)];
  return (v) => {
    const t = Math.min(1, Math.abs(v));
    const end = v > 0 ? plus : minus;
    return [zero[0] + t * (end[0] - zero[0]), zero[1] + t * (end[1] - zero[1]), zero[2] + t * (end[2] - zero[2])];
  };
}

export function drawMap(chart: Chart, p: Picture, c: Palette): void {
  chart.begin();
  const { left, top, side, units } = mapBox(chart, p);
  const { g } = chart;
  const { setup, frame } = p;
  g.imageSmoothingEnabled = true;
  const color = diverging(c);
  const clip = () => {
    g.beginPath();
    g.rect(left, top, side, side);
    g.clip();
  };
  g.save();
  clip();
  g.drawImage(paint(frame.curve, MAP_SIDE, (v) => color(Math.tanh(0.7 * v))), left, top, side, side);
  const place = (x: number, y: number): [number, number] => [left + ((x + 2) / 4) * side, top + ((2 - y) / 4) * side];
  if (p.best) marginLine(g, p.best, place, c.theory);
  else if (setup.predicted && p.showEnd) contour(g, setup.predicted.curves.at(-1)!, left, top, side, c.theory, [8, 5], 2.4);
  contour(g, frame.curve, left, top, side, c.ink, [], 2);
  g.restore();
  g.strokeStyle = c.faint;
  g.lineWidth = 1;
  g.strokeRect(left, top, side, side);
  for (let i = 0; i < setup.y.length; i++) {
    const [px, py] = place(setup.x[2 * i]!, setup.x[2 * i + 1]!);
    g.beginPath();
    if (setup.y[i]! > 0) g.arc(px, py, 5, 0, 7);
    else g.rect(px - 4.3, py - 4.3, 8.6, 8.6);
    g.fillStyle = setup.y[i]! > 0 ? c.plus : c.minus;
    g.fill();
    g.lineWidth = 1.6;
    g.strokeStyle = c.paper;
    g.stroke();
    if (p.focused && i === p.selected) {
      g.beginPath();
      g.arc(px, py, 10, 0, 7);
      g.strokeStyle = c.guess;
      g.lineWidth = 2.5;
      g.stroke();
    }
  }
  if (units && frame.units) drawUnits(chart, p, c, color);
}

function drawUnits(chart: Chart, p: Picture, c: Palette, color: (v: number) => [number, number, number]): void {
  const shown = Math.min(p.width, MAX_UNITS_SHOWN);
  const size = Math.min(38, (chart.height - 40) / shown - 6);
  const cells = UNIT_SIDE ** 2;
  const total = p.frame.units!.length / (shown * cells);
  const layers = Math.min(total, 5);
  for (let l = 0; l < layers; l++) {
    const x = 12 + l * 52;
    const height = shown * (size + 6) - 6;
    const top = (chart.height - height) / 2 + 6;
    chart.text(`layer ${l + 1}`, x + size / 2, top - 12, c.muted, "center");
    for (let u = 0; u < shown; u++) {
      const at = (l * shown + u) * cells;
      const image = paint(p.frame.units!.subarray(at, at + cells), UNIT_SIDE, (v) => color((v - 127.5) / 127));
      chart.g.drawImage(image, x, top + u * (size + 6), size, size);
      chart.g.strokeStyle = c.faint;
      chart.g.lineWidth = 1;
      chart.g.strokeRect(x, top + u * (size + 6), size, size);
    }
    if (p.width > shown) chart.text(`+${p.width - shown}`, x + size / 2, top + height + 9, c.muted, "center");
  }
}

function marginLine(g: CanvasRenderingContext2D, u: Float64Array, place: (x: number, y: number) => [number, number], color: string): void {
  const at = (x: number): [number, number] => (Math.abs(u[1]!) > Math.abs(u[0]!) ? [x, -(u[0]! * x + u[2]!) / u[1]!] : [-(u[1]! * x + u[2]!) / u[0]!, x]);
  g.strokeStyle = color;
  g.lineWidth = 2.4;
  g.setLineDash([8, 5]);
  g.beginPath();
  g.moveTo(...place(...at(-4)));
  g.lineTo(...place(...at(4)));
  g.stroke();
  g.setLineDash([]);
}

/** Where a map crosses zero, by marching squares. */
function contour(g: CanvasRenderingContext2D, f: Float32Array, left: number, top: number, side: number, color: string, dash: number[], width: number): void {
  const n = MAP_SIDE;
  const cell = side / n;
  g.strokeStyle = color;
  g.lineWidth = width;
  g.lineJoin = "round";
  const segments: [number, number, number, number][] = [];
  for (let r = 0; r < n - 1; r++)
    for (let k = 0; k < n - 1; k++) {
      const v = [f[r * n + k]!, f[r * n + k + 1]!, f[(r + 1) * n + k + 1]!, f[(r + 1) * n + k]!];
      const corners = [[k, r], [k + 1, r], [k + 1, r + 1], [k, r + 1]];
      const cuts: [number, number][] = [];
      for (let e = 0; e < 4; e++) {
        const [a, b] = [v[e]!, v[(e + 1) % 4]!];
        if (a > 0 === b > 0) continue;
        const t = a / (a - b);
        const [p, q] = [corners[e]!, corners[(e + 1) % 4]!];
        cuts.push([p[0]! + t * (q[0]! - p[0]!) + 0.5, p[1]! + t * (q[1]! - p[1]!) + 0.5]);
      }
      for (let e = 0; e + 1 < cuts.length; e += 2) segments.push([...cuts[e]!, ...cuts[e + 1]!]);
    }
  g.setLineDash(dash);
  for (const path of chained(segments)) {
    g.beginPath();
    for (const [x, y] of path) g.lineTo(left + x * cell, top + y * cell);
    g.stroke();
  }
  g.setLineDash([]);
}

type Place = [number, number];

/** Joins segments that share an end to paths, so that dashes continue along them. */
function chained(segments: [number, number, number, number][]): Place[][] {
  const key = (x: number, y: number) => `${x.toFixed(4)} ${y.toFixed(4)}`;
  const ends = new Map<string, number[]>();
  segments.forEach(([x1, y1, x2, y2], i) => {
    for (const k of [key(x1, y1), key(x2, y2)]) ends.set(k, [...(ends.get(k) ?? []), i]);
  });
  const used = new Set<number>();
  const follow = (path: Place[]): void => {
    for (;;) {
      const [x, y] = path.at(-1)!;
      const next = ends.get(key(x, y))?.find((i) => !used.has(i));
      if (next === undefined) return;
      used.add(next);
      const [x1, y1, x2, y2] = segments[next]!;
      path.push(key(x1, y1) === key(x, y) ? [x2, y2] : [x1, y1]);
    }
  };
  const paths: Place[][] = [];
  segments.forEach(([x1, y1, x2, y2], i) => {
    if (used.has(i)) return;
    used.add(i);
    const path: Place[] = [[x1, y1], [x2, y2]];
    follow(path);
    path.reverse();
    follow(path);
    paths.push(path);
  });
  return paths;
}

/** Outputs of a network whose inputs cannot be drawn: predicted against measured, one dot per example. */
export function drawOutputs(chart: Chart, p: Picture, c: Palette): void {
  chart.begin();
  const { setup, frame } = p;
  const predicted = setup.predicted?.outputs[Math.max(0, p.record)];
  const values = [...frame.outputs, ...setup.y, ...(predicted ?? [])].filter(Number.isFinite);
  const [low, high] = [Math.min(-0.2, ...values), Math.max(0.2, ...values)];
  const pad = 0.06 * (high - low);
  const axis = { from: low - pad, to: high + pad };
  chart.axes({ ...axis, label: "output predicted from the kernel" }, { ...axis, label: "output of the network" }, c, { left: 52, right: 14, top: 14, bottom: 40 });
  chart.line([low - pad, high + pad], [low - pad, high + pad], { color: c.theory, dash: [8, 5], width: 2 });
  if (predicted) chart.dots(predicted, frame.outputs, c.network, 4, 0.75);
  else chart.dots(setup.y, frame.outputs, c.network, 4, 0.75);
}
