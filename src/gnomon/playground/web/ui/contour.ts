// Where a map crosses zero, as lines whose dashes continue.
import { MAP_SIDE } from "../engine/protocol";

/** Draws the zero line of a map by marching squares. */
export function contour(g: CanvasRenderingContext2D, f: Float32Array, left: number, top: number, side: number, color: string, dash: number[], width: number): void {
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
