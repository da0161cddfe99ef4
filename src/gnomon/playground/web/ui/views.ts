// The large picture in the middle: a curve in function space, a map of two classes, or outputs of a user's own network.
import { Chart } from "./chart";
import { contour } from "./contour";
import { rgb, show, type Palette } from "./dom";
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
  width: number;
  depth: number;
}

const MARGIN = { left: 36, right: 12, top: 12, bottom: 24 };
const LABELED = { left: 56, right: 12, top: 12, bottom: 36 };
/** The coordinates of the page's own data. */
const PAGE_COORDINATES = { low: [-2, -2], high: [2, 2], names: ["", ""] };

export function drawCurve(chart: Chart, p: Picture, c: Palette): void {
  chart.begin();
  const { setup, frame } = p;
  const { low, high, names } = setup.coordinates ?? PAGE_COORDINATES;
  chart.axes({ from: low[0]!, to: high[0]!, label: names[0] }, { from: low[1]!, to: high[1]!, label: names[1] }, c, setup.coordinates ? LABELED : MARGIN);
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
  for (let i = 0; i < setup.marks.length; i++) {
    const [x, y] = [setup.x[i]!, setup.marks[i]!];
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
  const side = Math.min(chart.height - (p.setup.coordinates ? 44 : 20), chart.width - room - 16);
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
  const { low, high } = setup.coordinates ?? PAGE_COORDINATES;
  const place = (x: number, y: number): [number, number] =>
    [left + ((x - low[0]!) / (high[0]! - low[0]!)) * side, top + ((high[1]! - y) / (high[1]! - low[1]!)) * side];
  if (setup.best) marginLine(g, setup.best, place, c.theory);
  else if (setup.predicted && p.showEnd) contour(g, setup.predicted.curves.at(-1)!, left, top, side, c.theory, [8, 5], 2.4);
  contour(g, frame.curve, left, top, side, c.ink, [], 2);
  g.restore();
  g.strokeStyle = c.faint;
  g.lineWidth = 1;
  g.strokeRect(left, top, side, side);
  if (setup.coordinates) labelMap(chart, setup.coordinates, left, top, side, c);
  for (let i = 0; i < setup.marks.length; i++) {
    const [px, py] = place(setup.x[2 * i]!, setup.x[2 * i + 1]!);
    g.beginPath();
    if (setup.marks[i]! > 0) g.arc(px, py, 5, 0, 7);
    else g.rect(px - 4.3, py - 4.3, 8.6, 8.6);
    g.fillStyle = setup.marks[i]! > 0 ? c.plus : c.minus;
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

/** Names and ends of the two inputs of a user's network. */
function labelMap(chart: Chart, { low, high, names }: NonNullable<Setup["coordinates"]>, left: number, top: number, side: number, c: Palette): void {
  chart.text(show(low[0]!), left, top + side + 9, c.muted);
  chart.text(names[0]!, left + side / 2, top + side + 9, c.muted, "center");
  chart.text(show(high[0]!), left + side, top + side + 9, c.muted, "right");
  chart.text(show(high[1]!), left - 6, top + 6, c.muted, "right");
  chart.text(names[1]!, left - 6, top + side / 2, c.muted, "right");
  chart.text(show(low[1]!), left - 6, top + side - 6, c.muted, "right");
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
