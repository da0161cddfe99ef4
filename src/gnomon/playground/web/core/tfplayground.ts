// Reads links of tensorflow-playground as far as the settings exist here.
import { BASE, WIDTHS, consistent, type State } from "./state";

const DATA: Record<string, State["data"]> = {
  circle: "circle", xor: "xor", gauss: "gauss", spiral: "spiral", "reg-plane": "plane", "reg-gauss": "hills",
};
const INPUTS = ["x", "y", "xSquared", "ySquared", "xTimesY", "sinX", "sinY"];

/** Whether a link (or its part after #) is one of tensorflow-playground. */
export function isTensorflowLink(text: string): boolean {
  return /networkShape=|regularizationRate=|percTrainData=|regDataset=/.test(text);
}

/** The state nearest to such a link, and what had to be changed. */
export function readTensorflowLink(text: string): { state: State; notes: string[] } {
  const given = new URLSearchParams(text.slice(text.indexOf("#") + 1));
  const notes: string[] = [];
  const regression = given.get("problem") === "regression";
  const name = (regression ? given.get("regDataset") : given.get("dataset")) ?? (regression ? "reg-plane" : "circle");
  const layers = (given.get("networkShape") ?? "4,2").split(",").map(Number).filter((k) => k >= 1);
  const widest = Math.max(1, ...layers);
  const width = WIDTHS.find((w) => w >= widest) ?? 8;
  if (new Set(layers).size > 1 || width !== widest) notes.push(`all hidden layers have ${width} units`);
  let features = 0;
  INPUTS.forEach((key, k) => {
    if (given.get(key) === "true" || (k < 2 && given.get(key) === null)) features |= 1 << k;
  });
  const activation = ({ relu: "relu", tanh: "tanh", sigmoid: "sigmoid", linear: "linear" } as const)[
    (given.get("activation") ?? "tanh") as "relu"] ?? "tanh";
  const batch = Number(given.get("batchSize") ?? 10);
  const nearest = [1, 2, 4, 8, 16, 32].reduce((a, b) => (Math.abs(b - batch) < Math.abs(a - batch) ? b : a));
  if (nearest !== batch) notes.push(`a batch has ${nearest} points`);
  notes.push("the learning rate is half of the largest stable one");
  if (Number(given.get("regularizationRate") ?? 0) > 0) notes.push("there is no regularization");
  const state = consistent({
    ...BASE, lesson: "free", data: DATA[name] ?? "circle", n: 100, width, depth: Math.min(6, layers.length), activation,
    noise: Math.round(Number(given.get("noise") ?? 0) / 5) * 0.05 || 0, features: features || 3, batch: nearest,
    loss: regression ? "squared" : "logistic", rate: 0.5, steps: 2000, biasStd: 0.3, weightStd: 1.5,
    seed: Math.floor(Math.abs(Number("0." + (given.get("seed") ?? "0.1").replace(/^0?\./, "")) * 10000)) % 10000 || 1,
  });
  state.noise = Math.min(1, Math.max(0, Number(state.noise.toFixed(2))));
  return { state, notes };
}
