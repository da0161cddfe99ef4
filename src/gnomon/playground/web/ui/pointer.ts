// Dragging points and guess handles, with mouse, touch or keyboard.
import { snap, type Points } from "../core/data";
import { MAX_MOVED_POINTS, movable } from "../core/state";
import { Chart } from "./chart";
import { HANDLES, type Guess } from "./guess";
import { mapBox, type Picture } from "./views";

export interface PointerHost {
  chart: Chart;
  picture(): Picture | null;
  points(): Points;
  guess: Guess;
  guessing(): boolean;
  editable(): boolean;
  moved(points: Points, final: boolean): void;
  guessed(): void;
  selected: number;
  redraw(): void;
  say(words: string): void;
}

const NEAR = 22;

export function listen(canvas: HTMLCanvasElement, host: PointerHost): void {
  let dragging: { kind: "point" | "handle"; index: number } | null = null;

  const place = (event: PointerEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const toScreen = (i: number): [number, number] => {
    const p = host.points();
    if (p.dimension === 1) return [host.chart.X(p.x[i]!), host.chart.Y(p.y[i]!)];
    const { left, top, side } = mapBox(host.chart, host.picture()!);
    return [left + ((p.x[2 * i]! + 2) / 4) * side, top + ((2 - p.x[2 * i + 1]!) / 4) * side];
  };
  const toData = (px: number, py: number): [number, number] => {
    if (host.points().dimension === 1) return [host.chart.valueAt(px), host.chart.heightAt(py)];
    const { left, top, side } = mapBox(host.chart, host.picture()!);
    return [-2 + (4 * (px - left)) / side, 2 - (4 * (py - top)) / side];
  };
  const nearest = (px: number, py: number): { kind: "point" | "handle"; index: number } | null => {
    let best: { kind: "point" | "handle"; index: number } | null = null;
    let distance = NEAR;
    const consider = (kind: "point" | "handle", index: number, [x, y]: [number, number], bonus: number) => {
      const d = Math.hypot(px - x, py - y) - bonus;
      if (d < distance) [best, distance] = [{ kind, index }, d];
    };
    if (host.guessing()) HANDLES.forEach((x, k) => consider("handle", k, [host.chart.X(x), host.chart.Y(host.guess.curve[k]!)], 6));
    if (host.editable()) host.points().y.forEach((_, i) => consider("point", i, toScreen(i), 0));
    return best;
  };
  const movePoint = (i: number, x: number, y: number, final: boolean) => {
    const points = movable(host.points());
    if (i >= points.y.length) return host.say(`Only the first ${MAX_MOVED_POINTS} points can be moved, because the link must hold them.`);
    if (points.dimension === 1) {
      points.x[i] = snap(x);
      points.y[i] = snap(y);
    } else {
      points.x[2 * i] = snap(x);
      points.x[2 * i + 1] = snap(y);
    }
    host.moved(points, final);
  };
  const setHandle = (k: number, y: number) => {
    host.guess.curve[k] = Math.max(-2, Math.min(2, y));
    host.guess.touched = true;
    host.guessed();
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (!host.picture()) return;
    const found = nearest(...place(event));
    if (!found) return;
    event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    dragging = found;
    if (found.kind === "point") host.selected = found.index;
    host.redraw();
  });
  canvas.addEventListener("pointermove", (event) => {
    const [px, py] = place(event);
    if (!dragging) {
      canvas.style.cursor = host.picture() && nearest(px, py) ? "grab" : "default";
      return;
    }
    const [x, y] = toData(px, py);
    if (dragging.kind === "handle") setHandle(dragging.index, y);
    else movePoint(dragging.index, x, y, false);
  });
  const release = (event: PointerEvent) => {
    if (dragging?.kind === "point") movePoint(dragging.index, ...toData(...place(event)), true);
    dragging = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", () => (dragging = null));
  canvas.addEventListener("touchstart", (event) => {
    const touch = event.touches[0];
    const box = canvas.getBoundingClientRect();
    if (touch && host.picture() && nearest(touch.clientX - box.left, touch.clientY - box.top)) event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => addPoint(event as unknown as PointerEvent));

  const addPoint = (event: PointerEvent) => {
    if (!host.editable() || !host.picture()) return;
    const points = movable(host.points());
    if (points.y.length >= MAX_MOVED_POINTS) return host.say(`There can be at most ${MAX_MOVED_POINTS} points of your own.`);
    const [x, y] = toData(...place(event)).map(snap) as [number, number];
    const append = (a: Float64Array, ...more: number[]) => Float64Array.from([...a, ...more]);
    host.moved(points.dimension === 1
      ? { dimension: 1, x: append(points.x, x), y: append(points.y, y) }
      : { dimension: 2, x: append(points.x, x, y), y: append(points.y, event.shiftKey ? -1 : 1) }, true);
  };

  canvas.addEventListener("keydown", (event) => {
    if (!host.picture()) return;
    const n = host.guessing() ? HANDLES.length : host.points().y.length;
    const step = event.shiftKey ? 0.2 : 0.04;
    const key = event.key;
    if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Delete"].includes(key)) return;
    event.preventDefault();
    host.selected = Math.min(host.selected, n - 1);
    const i = host.selected;
    const sign = key === "ArrowUp" || key === "ArrowRight" ? 1 : -1;
    if (!event.altKey && (key === "ArrowLeft" || key === "ArrowRight")) {
      host.selected = (i + sign + n) % n;
      host.redraw();
      const p = host.points();
      host.say(host.guessing() ? `Handle at x = ${HANDLES[host.selected]}.` : `Point ${host.selected + 1} of ${n} at ${Array.from(p.x.slice(host.selected * p.dimension, (host.selected + 1) * p.dimension), (v) => v.toFixed(2)).join(", ")}, target ${p.y[host.selected]!.toFixed(2)}.`);
    } else if (host.guessing() && key !== "Delete") {
      setHandle(i, host.guess.curve[i]! + sign * step);
      host.say(`Guess ${host.guess.curve[i]!.toFixed(2)}.`);
    } else if (host.editable()) {
      const p = host.points();
      if (key === "Delete") {
        if (n < 2) return;
        const points = movable(p);
        const keep = (_: number, k: number) => Math.floor(k / points.dimension) !== i;
        host.moved({ dimension: points.dimension, x: points.x.filter(keep), y: points.y.filter((_, k) => k !== i) }, true);
      } else {
        const sideways = key === "ArrowLeft" || key === "ArrowRight";
        const [x, y] = p.dimension === 1 ? [p.x[i]!, p.y[i]!] : [p.x[2 * i]!, p.x[2 * i + 1]!];
        movePoint(i, x + (sideways ? sign * step : 0), y + (sideways ? 0 : sign * step), true);
      }
    }
  });
}
