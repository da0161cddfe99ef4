// Small tools for elements and numbers.

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

/** Creates an element; `on...` properties are listeners, `class` and attributes are set as they are. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value as EventListener);
    else if (key === "html") element.innerHTML = value as string;
    else if (key === "value") (element as unknown as HTMLInputElement).value = String(value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

/** A number with three significant digits, readable at a glance. */
export function show(v: number | null | undefined, digits = 3): string {
  if (v === null || v === undefined || Number.isNaN(v)) return "–";
  if (!Number.isFinite(v)) return v > 0 ? "∞" : "−∞";
  const size = Math.abs(v);
  if (size === 0) return "0";
  if (size >= 1e5 || size < 1e-3) {
    const [m, e] = v.toExponential(digits - 2).split("e") as [string, string];
    return `${m.replace("-", "−")}·10${superscript(Number(e))}`;
  }
  const text = Number(v.toPrecision(digits));
  return (size >= 1000 ? Math.round(v).toLocaleString("en-US") : String(text)).replace("-", "−");
}

const SUPERSCRIPT: Record<string, string> = { "-": "⁻", "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹" };
export const superscript = (e: number) => [...String(e)].map((c) => SUPERSCRIPT[c] ?? c).join("");
export const percent = (v: number) => (v < 0.0995 ? `${show(100 * v, 2)}\u00a0%` : `${Math.round(100 * v)}\u00a0%`);
export const count = (v: number) => Math.round(v).toLocaleString("en-US");

/** Colors of the page, read from the style sheet so that light and dark need no code. */
export interface Palette {
  ink: string; muted: string; faint: string; grid: string; paper: string; network: string; theory: string; band: string;
  seeds: string; guess: string; bad: string; good: string; positive: string; negative: string; zero: string; plus: string; minus: string;
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const names = ["ink", "muted", "faint", "grid", "paper", "network", "theory", "band", "seeds", "guess", "bad", "good", "positive", "negative", "zero", "plus", "minus"];
  return Object.fromEntries(names.map((n) => [n, read(n)])) as unknown as Palette;
}

/** The three parts of a color "#rrggbb". */
export function rgb(hex: string): [number, number, number] {
  const v = parseInt(hex.slice(1), 16);
  return [(v >> 16) & 255, (v >> 8) & 255, v & 255];
}
