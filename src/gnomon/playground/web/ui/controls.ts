// The controls on the left.
import { ACTIVATIONS } from "../core/activations";
import { CLASSES, CURVES, FEATURES, SURFACES, isClasses, isCurve } from "../core/data";
import { BATCHES, DEPTHS, SCALES, STEPS, WIDTHS, type State } from "../core/state";
import { count, h, show } from "./dom";

export type Change = (part: Partial<State>, final: boolean) => void;
type Sync = (state: State) => void;

const NAMES: Record<string, string> = {
  sine: "Sine", waves: "Two waves", step: "Step", bump: "Bump", line: "Line", circle: "Circle", xor: "Exclusive or",
  gauss: "Two blobs", spiral: "Spiral", margin: "Two sides of a line", plane: "Plane", hills: "Hills", relu: "ReLU", tanh: "tanh",
  erf: "erf", gelu: "GELU", sin: "sin", sigmoid: "Sigmoid", linear: "Linear", squared: "Squared", logistic: "Logistic",
  gd: "SGD", adam: "Adam",
};

let serial = 0;

const pair = (...children: (HTMLElement | null)[]) => h("div", { class: "pair" }, ...children);

export class Controls {
  readonly root: HTMLElement;
  private readonly syncs: Sync[] = [];

  constructor(private readonly change: Change, private readonly ask: (id: string) => void, served: boolean) {
    const steps = this.list("steps", "Steps", STEPS, count);
    const training = this.group("Training", "momentum",
      this.grid("rate", "Learning rate", 0, 3, 0.01, (v) => `${v.toFixed(2)} × max`, "rate"),
      served ? null : this.select("loss", "Loss", [["", ["squared", "logistic"]]], (s) => (isClasses(s.data) ? null : "logistic")),
      this.select("optimizer", "Optimizer", [["", ["gd", "adam"]]]),
      pair(this.grid("momentum", "Momentum", 0, 0.99, 0.01, (v) => v.toFixed(2)),
        served ? null : this.list("batch", "Batch", BATCHES, (v) => (v ? String(v) : "all"))),
      steps);
    const data = this.group("Data", "data",
      this.select("data", "Data set", [["Curves", [...CURVES]], ["Classes", [...CLASSES]], ["Surfaces", [...SURFACES]]]),
      pair(this.grid("n", "Points", 1, 128, 1, String), this.grid("noise", "Noise", 0, 1, 0.05, (v) => v.toFixed(2))),
      this.features(),
      this.seed("dataSeed", "New data"));
    const network = this.group("Network", "network",
      pair(this.list("width", "Width", WIDTHS, count), this.list("depth", "Depth", DEPTHS, String)),
      this.select("activation", "Activation", [["", [...ACTIVATIONS]]]),
      this.list("scale", "Output scale", SCALES, String, "scale"),
      pair(this.grid("weightStd", "Weights", 0, 4, 0.05, (v) => v.toFixed(2), "init"), this.grid("biasStd", "Biases", 0, 2, 0.05, (v) => v.toFixed(2))),
      this.check("centered", "Subtract the initial output"),
      this.check("lastOnly", "Train only the last layer"),
      this.seed("seed", "New weights"));
    this.root = h("div", { class: "controls" }, served ? null : data, served ? null : network, training);
  }

  sync(state: State): void {
    for (const one of this.syncs) one(state);
  }

  private group(title: string, explain: string, ...children: (HTMLElement | null)[]): HTMLElement {
    return h("section", { class: "group" },
      h("h2", {}, title, h("button", { class: "q", type: "button", "aria-label": `Explain: ${title}`, onclick: () => this.ask(explain) }, "?")),
      ...children);
  }

  private slider(label: string, max: number, read: (s: State) => number, write: (index: number) => Partial<State>, words: (index: number) => string, explain?: string): HTMLElement {
    const id = `c${serial++}`;
    const output = h("output", { for: id });
    const input = h("input", { id, type: "range", min: 0, max, step: 1,
      oninput: () => apply(false), onchange: () => apply(true) });
    const apply = (final: boolean) => {
      this.tell(input, output, words(Number(input.value)));
      this.change(write(Number(input.value)), final);
    };
    this.syncs.push((state) => {
      input.value = String(read(state));
      this.tell(input, output, words(read(state)));
    });
    const mark = explain && h("button", { class: "q", type: "button", "aria-label": `Explain: ${label}`, onclick: () => this.ask(explain) }, "?");
    return h("div", { class: "control" }, h("div", { class: "row" }, h("label", { for: id }, label), mark || null, output), input);
  }

  private tell(input: HTMLInputElement, output: HTMLElement, text: string): void {
    output.textContent = text;
    input.setAttribute("aria-valuetext", text);
    const max = Number(input.max) || 1;
    input.style.setProperty("--at", `${(100 * Number(input.value)) / max}%`);
  }

  private list<K extends "width" | "depth" | "scale" | "steps" | "batch">(key: K, label: string, values: readonly number[], words: (v: number) => string, explain?: string): HTMLElement {
    return this.slider(label, values.length - 1, (s) => Math.max(0, values.indexOf(s[key])), (i) => ({ [key]: values[i] }) as Partial<State>, (i) => words(values[i]!), explain);
  }

  private grid<K extends "rate" | "momentum" | "n" | "noise" | "weightStd" | "biasStd">(key: K, label: string, from: number, to: number, step: number, words: (v: number) => string, explain?: string): HTMLElement {
    const value = (i: number) => Number((from + i * step).toFixed(2));
    return this.slider(label, Math.round((to - from) / step), (s) => Math.round((s[key] - from) / step), (i) => ({ [key]: value(i), ...(key === "n" || key === "noise" ? { points: null } : {}) }) as Partial<State>, (i) => words(value(i)), explain);
  }

  private select(key: "data" | "activation" | "loss" | "optimizer", label: string, groups: [string, string[]][], disabled?: (s: State) => string | null): HTMLElement {
    const id = `c${serial++}`;
    const option = (value: string) => h("option", { value }, NAMES[value] ?? value);
    const input = h("select", { id, onchange: () => this.change({ [key]: input.value, ...(key === "data" ? { points: null } : {}) } as Partial<State>, true) },
      ...groups.flatMap(([name, values]) => (name ? [h("optgroup", { label: name }, ...values.map(option))] : values.map(option))));
    this.syncs.push((state) => {
      for (const one of input.options) one.disabled = disabled?.(state) === one.value;
      input.value = state[key];
    });
    return h("div", { class: "control inline" }, h("label", { for: id }, label), input);
  }

  private check(key: "centered" | "lastOnly", label: string): HTMLElement {
    const id = `c${serial++}`;
    const input = h("input", { id, type: "checkbox", onchange: () => this.change({ [key]: input.checked }, true) });
    this.syncs.push((state) => (input.checked = state[key]));
    return h("div", { class: "control check" }, input, h("label", { for: id }, label));
  }

  private seed(key: "seed" | "dataSeed", label: string): HTMLElement {
    const words = h("span", { class: "muted" });
    let now = 0;
    const button = h("button", { type: "button", class: "small", onclick: () => this.change({ [key]: (now + 1) % 10000, ...(key === "dataSeed" ? { points: null } : {}) }, true) }, `⚂ ${label}`);
    this.syncs.push((state) => {
      now = state[key];
      words.textContent = `seed ${show(now, 4)}`;
    });
    return h("div", { class: "control inline" }, button, words);
  }

  private features(): HTMLElement {
    const boxes = FEATURES.map((name, k) => {
      const button = h("button", { type: "button", class: "chip", "aria-pressed": "false", onclick: () => this.change({ features: (mask ^ (1 << k)) || 3 }, true) }, name);
      return button;
    });
    let mask = 3;
    const root = h("div", { class: "control chips", role: "group", "aria-label": "Inputs of the network" }, ...boxes);
    this.syncs.push((state) => {
      mask = state.features;
      root.hidden = isCurve(state.data);
      boxes.forEach((box, k) => box.setAttribute("aria-pressed", mask & (1 << k) ? "true" : "false"));
    });
    return root;
  }
}
