// Signals in deep networks: variance and correlation from layer to layer, and the border between order and chaos.
import { DUALS, FUNCTIONS, type Activation } from "./activations";

const NODES = 160;
const REACH = 10;

/** E[f(sqrt(q) z)^2] by the trapezoidal rule. */
function meanSquare(f: (z: number) => number, q: number): number {
  const h = (2 * REACH) / NODES;
  let sum = 0;
  for (let i = 0; i <= NODES; i++) {
    const z = -REACH + i * h;
    sum += f(Math.sqrt(q) * z) ** 2 * Math.exp((-z * z) / 2);
  }
  return (sum * h) / Math.sqrt(2 * Math.PI);
}

/** Variance of the next layer's pre-activations. */
export function nextVariance(activation: Activation, weightStd: number, biasStd: number, q: number): number {
  const mean = activation === "relu" ? q / 2 : meanSquare(FUNCTIONS[activation].value, q);
  return weightStd ** 2 * mean + biasStd ** 2;
}

/** Factor by which a small difference between two inputs grows in a layer, chi = w^2 E[phi'^2]. */
export function chi(activation: Activation, weightStd: number, q: number): number {
  const mean = activation === "relu" ? 0.5 : meanSquare(FUNCTIONS[activation].slope, q);
  return weightStd ** 2 * mean;
}

/** The variance at which signals settle; null if they grow without bound. */
export function fixedVariance(activation: Activation, weightStd: number, biasStd: number): number | null {
  let q = 1;
  for (let k = 0; k < 400; k++) {
    const next = nextVariance(activation, weightStd, biasStd, q);
    if (!(next < 1e4)) return null;
    if (Math.abs(next - q) < 1e-12 * (q + 1e-3)) return next;
    q = next;
  }
  return q;
}

/** chi at the fixed variance; weightStd^2 phi'(0)^2 if signals die out. */
export function chiAtFixedPoint(activation: Activation, weightStd: number, biasStd: number): number {
  const q = fixedVariance(activation, weightStd, biasStd);
  return chi(activation, weightStd, q === null ? 1e4 : q);
}

/** Correlation of two inputs after a layer, if both have variance q. */
export function nextCorrelation(activation: Activation, weightStd: number, biasStd: number, q: number, c: number): number {
  const product = DUALS[activation].product(q, q, c * q);
  return Math.min(1, (weightStd ** 2 * product + biasStd ** 2) / nextVariance(activation, weightStd, biasStd, q));
}

/** The weightStd at which chi = 1 for this biasStd; null if there is none below 4. */
export function criticalWeightStd(activation: Activation, biasStd: number): number | null {
  let [low, high] = [0.02, 4];
  if (chiAtFixedPoint(activation, high, biasStd) < 1) return null;
  for (let k = 0; k < 40; k++) {
    const middle = (low + high) / 2;
    if (chiAtFixedPoint(activation, middle, biasStd) < 1) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
