// "Copy as Python": the same computation with the package.
import { featureCount, isCurve } from "../core/data";
import type { State } from "../core/state";

const py = (v: number) => (Number.isInteger(v) ? `${v}.0` : String(v));
const bool = (v: boolean) => (v ? "True" : "False");

function dataLines(state: State): string[] {
  if (!state.points) {
    const more = isCurve(state.data) || state.features === 3 ? "" : `, features=${state.features}`;
    return [`x, y = make_data("${state.data}", ${state.n}, noise=${state.noise}, seed=${state.dataSeed}${more})`];
  }
  const { dimension, x, y } = state.points;
  const rows = Array.from(y, (_, i) => `[${Array.from(x.slice(i * dimension, (i + 1) * dimension)).join(", ")}]`);
  const lines = [`points = [${rows.join(", ")}]  # moved by hand`];
  if (dimension === 2 && state.features !== 3) {
    lines.push(`x = with_features([tuple(point) for point in points], ${state.features})`);
  } else lines.push("x = torch.tensor(points, dtype=torch.float64)");
  lines.push(`y = torch.tensor([${Array.from(y).join(", ")}], dtype=torch.float64)`);
  return lines;
}

function imports(state: State): string[] {
  const rule = state.optimizer === "adam" ? "Adam" : "SGD";
  const loss = state.loss === "squared" ? "Squared" : "Logistic";
  const features = state.points?.dimension === 2 && state.features !== 3;
  return [
    "import torch", "", "import gnomon",
    `from gnomon.playground import DenseNetwork, ${state.batch ? "fixed_batches, " : ""}make_data${features ? ", with_features" : ""}`,
    `from gnomon.training import ${rule === "Adam" ? "Adam, " : ""}${loss}${rule === "SGD" ? ", SGD" : ""}`,
  ];
}

/** A script that prints the learning rate, the predicted loss and the measured one. */
export function asPython(state: State): string {
  const inputs = isCurve(state.data) ? 1 : featureCount(state.features);
  const loss = state.loss === "squared" ? "Squared()" : "Logistic()";
  const curvature = state.loss === "squared" ? "1.0" : "0.25";
  const adam = state.optimizer === "adam";
  const lines = [
    ...imports(state), "",
    ...dataLines(state),
    "net = DenseNetwork(",
    `    ${inputs}, width=${state.width}, depth=${state.depth}, activation="${state.activation}", scale=${py(state.scale)},`,
    `    weight_std=${py(state.weightStd)}, bias_std=${py(state.biasStd)}, centered=${bool(state.centered)}, last_only=${bool(state.lastOnly)}, seed=${state.seed},`,
    ")",
    "kernel = gnomon.ntk(net, x)  # the tangent kernel before training",
    "top_rate = float(torch.linalg.eigvalsh(kernel / len(x))[-1])",
    `largest = ${py(2 * (1 + state.momentum))} / (${curvature} * top_rate) if top_rate > 0 else 1.0`,
    adam ? `lr = ${0.05 * state.rate}` : `lr = ${py(state.rate)} * largest`,
    `print(f"largest stable learning rate {largest:.6g}, used {lr:.6g}")`,
  ];
  if (!(state.rate > 0)) return [...lines, 'print("the learning rate is 0: nothing will move")', ""].join("\n");
  const rule = adam ? "Adam(lr)" : `SGD(lr, momentum=${py(state.momentum)})`;
  if (!adam) {
    lines.push(
      `predicted = gnomon.predict(net, (x, y), loss=${loss}, optimizer=${rule}, times=[lr * ${state.steps}])`,
      'print(f"predicted loss {float(predicted.loss[-1]):.6g}")',
    );
  }
  const batch = state.batch ? `, batch=fixed_batches(x, y, ${state.batch}, ${state.steps}, seed=${state.seed})` : "";
  lines.push(
    `run = gnomon.train(net, (x, y), loss=${loss}, optimizer=${rule}, steps=${state.steps}, record=[${state.steps}]${batch})`,
    'print(f"measured loss {float(run.loss[-1]):.6g}")',
  );
  return [...lines, ""].join("\n");
}
