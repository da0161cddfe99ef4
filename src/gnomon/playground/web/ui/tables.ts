// Tables with the numbers behind every picture.
import { count, h, show } from "./dom";
import { numbersOf, spreadOf, type PanelInput } from "./lessonnumbers";
import type { Progress } from "./panels";

type Table = { head: string[]; rows: string[][] };

const some = <T>(values: ArrayLike<T>, most: number): number[] => {
  const n = values.length;
  return Array.from({ length: Math.min(n, most) }, (_, k) => Math.round((k * (n - 1)) / Math.max(1, Math.min(n, most) - 1)));
};

export function tableOf(id: string, p: Progress, input: PanelInput): Table {
  const { setup, frame, history } = p;
  switch (id) {
    case "picture":
      if (setup.dimension === 1) {
        return { head: ["x", "network", "before training", "predicted at the end"], rows: some(setup.grid, 21).map((i) => [show(setup.grid[i]), show(frame.curve[i]), show(setup.start[i]), show(setup.predicted?.curves.at(-1)?.[i])]) };
      }
      return { head: ["point", ...(setup.dimension === 2 ? ["x1", "x2"] : []), "target", "network", "predicted at the end"],
        rows: some(setup.y, 128).map((i) => [count(i + 1), ...(setup.dimension === 2 ? [show(setup.x[2 * i]), show(setup.x[2 * i + 1])] : []), show(setup.y[i]), show(frame.outputs[i]), show(setup.predicted?.outputs.at(-1)?.[i])]) };
    case "loss":
      return { head: ["step", "measured", "predicted"], rows: some(setup.records, 25).map((r) => [count(setup.records[r]!), show(history.find((f) => f.record === r)?.loss), show(setup.predicted?.loss[r])]) };
    case "modes":
      return { head: ["mode", "rate", "error at the start", "error now", "predicted now"], rows: Array.from(setup.rates.slice(0, 20), (rate, k) => [count(k + 1), show(rate), show(Math.abs(setup.coefficients[k]!)), show(Math.abs(frame.modes[k]!)), show(Math.abs(setup.predicted?.modes[Math.max(0, p.record)]?.[k] ?? NaN))]) };
    case "regime":
      return { head: ["step", "kernel drift", "alignment"], rows: some(history, 20).map((i) => [count(history[i]!.step), show(history[i]!.drift), show(history[i]!.alignment)]) };
  }
  return lessonTable(id, p, input);
}

function lessonTable(id: string, { setup, history }: Progress, input: PanelInput): Table {
  const { background } = input;
  if (id === "sweep" || id === "momentum") return { head: ["learning rate", "loss / first loss"], rows: background.sweep.map((s) => [show(s.rate * setup.largest), show(s.ratio)]) };
  if (id === "descent") return { head: ["features", "measured error"], rows: background.descent.map((d) => [count(d.size), show(d.measured)]) };
  if (id === "signals" && background.signals) return { head: ["layer", "correlation measured", "predicted"], rows: background.signals.measured.map((m, k) => [count(k + 1), show(m), show(background.signals!.predicted[k])]) };
  if (id === "spread" && background.seeds.length > 2) {
    const spread = spreadOf(background.seeds);
    return { head: ["x", "measured spread", "infinite width"], rows: some(setup.grid, 21).map((i) => [show(setup.grid[i]), show(spread[i]), show(background.band?.std[i])]) };
  }
  if (id === "sharpness") return { head: ["step", "sharpness"], rows: some(history, 25).map((i) => [count(history[i]!.step), show(history[i]!.sharpness)]) };
  if (id === "margin") return { head: ["step", "angle in degrees", "margin"], rows: some(history, 25).map((i) => [count(history[i]!.step), show((180 / Math.PI) * (history[i]!.margin?.angle ?? NaN)), show(history[i]!.margin?.margin)]) };
  const { theory, truth } = numbersOf(input.state.lesson, input);
  if (theory !== null) return { head: ["", "value"], rows: [["theory", show(theory)], ["measured", show(truth)]] };
  return { head: ["mode", "rate"], rows: Array.from(setup.rates.slice(0, 20), (rate, k) => [count(k + 1), show(rate)]) };
}

export function tableView({ head, rows }: Table): HTMLElement {
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" },
    h("table", {},
      h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text || " ")))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((text) => h("td", {}, text)))))));
}
