// Axes and marks on a canvas.
import { show, superscript, type Palette } from "./dom";

export interface Axis {
  from: number;
  to: number;
  log?: boolean;
  label?: string;
  /** Labels at chosen values in place of automatic ones. */
  ticks?: [number, string][];
}

export interface Stroke {
  color: string;
  width?: number;
  dash?: number[];
  alpha?: number;
}

const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

export class Chart {
  readonly g: CanvasRenderingContext2D;
  width = 0;
  height = 0;
  private left = 0;
  private top = 0;
  private innerWidth = 1;
  private innerHeight = 1;
  private x: Axis = { from: 0, to: 1 };
  private y: Axis = { from: 0, to: 1 };

  constructor(readonly canvas: HTMLCanvasElement) {
    this.g = canvas.getContext("2d")!;
  }

  /** Clears the canvas at the resolution of the screen. */
  begin(): void {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [w, h] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
      this.canvas.width = Math.round(w * ratio);
      this.canvas.height = Math.round(h * ratio);
    }
    [this.width, this.height] = [w, h];
    this.g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.g.clearRect(0, 0, w, h);
    this.g.font = FONT;
  }

  /** Draws the frame of a plot and its ticks. */
  axes(x: Axis, y: Axis, colors: Palette, margin = { left: 40, right: 10, top: 10, bottom: 28 }): void {
    [this.x, this.y] = [x, y];
    [this.left, this.top] = [margin.left, margin.top];
    this.innerWidth = Math.max(1, this.width - margin.left - margin.right);
    this.innerHeight = Math.max(1, this.height - margin.top - margin.bottom);
    const { g } = this;
    g.lineWidth = 1;
    g.fillStyle = colors.muted;
    const bottom = this.top + this.innerHeight;
    g.textAlign = "center";
    g.textBaseline = "top";
    let last = -1e9;
    for (const [value, label] of ticks(x, this.innerWidth / 60)) {
      const at = this.X(value);
      g.strokeStyle = colors.grid;
      line(g, at, this.top, at, bottom);
      const half = g.measureText(label).width / 2;
      if (at - half < last + 6) continue;
      g.fillText(label, Math.min(at, this.width - half - 1), bottom + 5);
      last = at + half;
    }
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const [value, label] of ticks(y, this.innerHeight / 34)) {
      const at = this.Y(value);
      g.strokeStyle = colors.grid;
      line(g, this.left, at, this.left + this.innerWidth, at);
      g.fillText(label, this.left - 6, at);
    }
    if (x.label) {
      g.textAlign = "right";
      g.textBaseline = "bottom";
      g.fillText(x.label, this.left + this.innerWidth, this.height);
    }
    if (y.label) {
      g.save();
      g.translate(Math.max(9, this.left - (this.left > 55 ? 50 : 36)), this.top);
      g.rotate(-Math.PI / 2);
      g.textAlign = "right";
      g.textBaseline = "middle";
      g.fillText(y.label, 0, 0);
      g.restore();
    }
  }

  X(v: number): number {
    return this.left + position(this.x, v) * this.innerWidth;
  }

  Y(v: number): number {
    return this.top + (1 - position(this.y, v)) * this.innerHeight;
  }

  /** The value of the horizontal axis at a pixel. */
  valueAt(px: number): number {
    const t = Math.max(0, Math.min(1, (px - this.left) / this.innerWidth));
    const { from, to, log } = this.x;
    return log ? from * (to / from) ** t : from + t * (to - from);
  }

  heightAt(py: number): number {
    const t = 1 - Math.max(0, Math.min(1, (py - this.top) / this.innerHeight));
    return this.y.log ? this.y.from * (this.y.to / this.y.from) ** t : this.y.from + t * (this.y.to - this.y.from);
  }

  get box() {
    return { left: this.left, top: this.top, width: this.innerWidth, height: this.innerHeight };
  }

  clipped(draw: () => void): void {
    this.g.save();
    this.g.beginPath();
    this.g.rect(this.left, this.top - 1, this.innerWidth, this.innerHeight + 2);
    this.g.clip();
    draw();
    this.g.restore();
  }

  line(xs: ArrayLike<number>, ys: ArrayLike<number>, stroke: Stroke, until = xs.length): void {
    const { g } = this;
    this.pen(stroke);
    g.beginPath();
    let started = false;
    for (let i = 0; i < until; i++) {
      const y = ys[i]!;
      if (!Number.isFinite(y) || (this.y.log && y <= 0) || (this.x.log && xs[i]! <= 0)) {
        started = false;
        continue;
      }
      const [px, py] = [this.X(xs[i]!), Math.max(-5000, Math.min(5000, this.Y(y)))];
      if (started) g.lineTo(px, py);
      else g.moveTo(px, py);
      started = true;
    }
    g.stroke();
    this.rest();
  }

  /** The area between two curves. */
  area(xs: ArrayLike<number>, low: ArrayLike<number>, high: ArrayLike<number>, color: string, alpha = 1): void {
    const { g } = this;
    g.globalAlpha = alpha;
    g.fillStyle = color;
    g.beginPath();
    for (let i = 0; i < xs.length; i++) g.lineTo(this.X(xs[i]!), Math.max(-5000, Math.min(5000, this.Y(high[i]!))));
    for (let i = xs.length - 1; i >= 0; i--) g.lineTo(this.X(xs[i]!), Math.max(-5000, Math.min(5000, this.Y(low[i]!))));
    g.fill();
    g.globalAlpha = 1;
  }

  dots(xs: ArrayLike<number>, ys: ArrayLike<number>, color: string, radius = 2.2, alpha = 1): void {
    const { g } = this;
    g.fillStyle = color;
    g.globalAlpha = alpha;
    g.beginPath();
    for (let i = 0; i < xs.length; i++) {
      if (!Number.isFinite(ys[i]!) || (this.y.log && ys[i]! <= 0)) continue;
      const [px, py] = [this.X(xs[i]!), this.Y(ys[i]!)];
      g.moveTo(px + radius, py);
      g.arc(px, py, radius, 0, 7);
    }
    g.fill();
    g.globalAlpha = 1;
  }

  vertical(at: number, stroke: Stroke, label = "", align: CanvasTextAlign = "left", row = 0): void {
    this.pen(stroke);
    line(this.g, this.X(at), this.top, this.X(at), this.top + this.innerHeight);
    this.rest();
    if (label) this.text(label, this.X(at) + (align === "left" ? 4 : -4), this.top + 8 + 13 * row, stroke.color, align);
  }

  horizontal(at: number, stroke: Stroke, label = ""): void {
    this.pen(stroke);
    line(this.g, this.left, this.Y(at), this.left + this.innerWidth, this.Y(at));
    this.rest();
    if (label) this.text(label, this.left + 6, this.Y(at) - 7, stroke.color);
  }

  text(words: string, px: number, py: number, color: string, align: CanvasTextAlign = "left", font = FONT): void {
    const { g } = this;
    g.font = font;
    g.fillStyle = color;
    g.textAlign = align;
    g.textBaseline = "middle";
    g.fillText(words, px, py);
    g.font = FONT;
  }

  private pen({ color, width = 1.5, dash, alpha = 1 }: Stroke): void {
    this.g.strokeStyle = color;
    this.g.lineWidth = width;
    this.g.globalAlpha = alpha;
    this.g.setLineDash(dash ?? []);
    this.g.lineJoin = "round";
  }

  private rest(): void {
    this.g.setLineDash([]);
    this.g.globalAlpha = 1;
  }
}

function line(g: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x2, y2);
  g.stroke();
}

function position(axis: Axis, v: number): number {
  if (axis.log) return Math.log(v / axis.from) / Math.log(axis.to / axis.from);
  return (v - axis.from) / (axis.to - axis.from);
}

/** Round values along an axis with their labels. */
function ticks(axis: Axis, about: number): [number, string][] {
  if (axis.ticks) return axis.ticks;
  const out: [number, string][] = [];
  if (axis.log) {
    const [low, high] = [Math.ceil(Math.log10(axis.from) - 1e-9), Math.floor(Math.log10(axis.to) + 1e-9)];
    const stride = Math.max(1, Math.ceil((high - low + 1) / Math.max(2, about)));
    for (let e = low; e <= high; e += stride) {
      const v = 10 ** e;
      out.push([v, e >= -2 && e <= 4 ? (e < 0 ? String(v) : v.toLocaleString("en-US")) : `10${superscript(e)}`]);
    }
    return out;
  }
  const span = axis.to - axis.from;
  const raw = span / Math.max(2, about);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= raw) ?? raw;
  for (let v = Math.ceil(axis.from / step - 1e-9) * step; v <= axis.to + 1e-9 * span; v += step) {
    out.push([v, show(Math.abs(v) < 1e-12 * span ? 0 : v)]);
  }
  return out;
}
