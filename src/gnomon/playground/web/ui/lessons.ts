// The twelve lessons: a setting, a short story, a question to answer before the run, and what to try afterwards.
import { BASE, consistent, type State } from "../core/state";
import { count } from "./dom";

export type PanelName =
  | "influence" | "waves" | "neurons" | "sweep" | "sharpness" | "spread" | "signals" | "descent" | "margin" | "momentum"
  | "stopping" | "kernel";

type Ask = (state: State) => string;

export type Question =
  | { kind: "curve"; ask: Ask }
  | { kind: "number"; ask: Ask; from: number; to: number; log: boolean; unit: string; start: number; name: string }
  | { kind: "choice"; ask: Ask; options: string[] };

export interface Lesson {
  id: string;
  title: string;
  story: string;
  question: Question | null;
  tryNext: string;
  panel: PanelName;
  panelTitle: string;
  state: Partial<State>;
  /** Other seeds that are trained in the background and drawn in gray. */
  seeds?: number;
}

/** Points with a gap in the middle. */
const GAP: State["points"] = {
  dimension: 1, x: Float64Array.of(-1.72, -1.4, -1.12, -0.8, 0.8, 1.12, 1.4, 1.72), y: Float64Array.of(0.78, 0.32, -0.3, -0.82, 0.82, 0.3, -0.32, -0.78),
};

export const LESSONS: Lesson[] = [
  {
    id: "function-space", title: "Training moves a curve",
    story: "The blue curve is a network with 2,048 units. Each gradient step pulls it toward the eight points. A pull at one point also moves the curve at other places. How far it reaches is the tangent kernel K. It is known before training, so the final curve can be predicted.",
    question: { kind: "curve", ask: (s) => `Drag the purple handles to where the curve will be after ${count(s.steps)} steps. Then press Run.` },
    tryNext: "Drag a point: the dashed prediction follows at once, without any training.",
    panel: "influence", panelTitle: "Reach of one point",
    state: { data: "sine", n: 8, width: 2048, steps: 300, biasStd: 0.6, noise: 0.1, dataSeed: 4, seed: 7 },
  },
  {
    id: "spectral-bias", title: "Slow waves are learned first",
    story: "The target is a slow wave plus a fast wave. The tangent kernel splits the error into patterns, called modes. Each mode shrinks at its own rate, and smooth modes shrink fastest.",
    question: { kind: "number", ask: () => "After how many steps is half of the fast wave learned?", from: 1, to: 2000, log: true, unit: "steps", start: 30, name: "Half of the fast wave" },
    tryNext: "Change the activation to sin or raise the bias to 2. Which one learns the fast wave sooner?",
    panel: "waves", panelTitle: "What is left of each wave",
    state: { data: "waves", n: 40, width: 512, steps: 2000, biasStd: 1, scale: 10, centered: true },
  },
  {
    id: "lazy-to-rich", title: "Lazy or rich?",
    story: "A network can learn in two ways. Lazy: the weights hardly move, the kernel stays the same, and the dashed prediction is right. Rich: the units move to where they are needed (feature learning), so the kernel changes. A small output scale makes the weights move far.",
    question: { kind: "choice", ask: (s) => `The output scale is ${s.scale}. Where will the solid curve end?`, options: ["On the dashed curve", "Closer to the points than the dashed curve", "Further from the points"] },
    tryNext: "Set the output scale to 10 and run again: the needle stays at lazy, and the solid curve ends on the dashed one.",
    panel: "neurons", panelTitle: "The units: where each bends, and how strongly",
    state: { data: "step", n: 16, width: 64, activation: "tanh", scale: 0.1, centered: true, steps: 1000, rate: 0.4, biasStd: 0.7 },
  },
  {
    id: "stable-rate", title: "The largest stable learning rate",
    story: "A step that is too long overshoots. If every step overshoots by more than the last one, the loss rises. Theory gives the limit before training: 2 / λ, with λ the largest eigenvalue of the kernel. Just above the limit the loss rises first, and the network may then recover in a flatter region; far above it the loss diverges.",
    question: { kind: "number", ask: () => "What is the largest learning rate at which the loss never rises?", from: 0.01, to: 10, log: true, unit: "", start: 0.3, name: "Largest stable rate" },
    tryNext: "Run with 0.97 and with 1.03 times the limit. Then set the output scale to 0.5: the loss still rises, but the network jumps to a flatter place and recovers.",
    panel: "sweep", panelTitle: "Loss after 200 steps (its peak, if it rose)",
    state: { data: "sine", n: 12, width: 512, scale: 2, centered: true, steps: 200, rate: 0.5 },
  },
  {
    id: "edge-of-stability", title: "The edge of stability",
    story: "Sharpness is the largest curvature of the loss. It rises while the network learns features. Above 2 / learning rate every step overshoots, so the sharpness cannot stay there.",
    question: { kind: "number", ask: () => "The sharpness will rise. At which value will it stop?", from: 0.5, to: 200, log: true, unit: "", start: 3, name: "Final sharpness" },
    tryNext: "Halve the learning rate: the sharpness stops at twice the value.",
    panel: "sharpness", panelTitle: "Sharpness while training",
    state: { data: "waves", n: 10, width: 32, activation: "tanh", depth: 2, scale: 1, steps: 2000, rate: 0.4, weightStd: 1.5, biasStd: 0.5 },
  },
  {
    id: "gaussian-process", title: "An ensemble is a Gaussian process",
    story: "Twenty networks differ only in their random seed. After training they agree at the points and differ between them. For infinitely wide networks theory gives the spread: the band is two standard deviations on each side.",
    question: { kind: "number", ask: () => "How large is the standard deviation between the seeds in the gap, at x = 0?", from: 0.01, to: 2, log: true, unit: "", start: 0.1, name: "Spread at x = 0" },
    tryNext: "Drag a point into the gap: the band closes there.",
    panel: "spread", panelTitle: "Spread of the ensemble",
    state: { data: "sine", n: 8, width: 1024, steps: 1000, biasStd: 0.6, scale: 1, points: GAP },
    seeds: 20,
  },
  {
    id: "depth-and-signals", title: "Can a signal cross twenty layers?",
    story: "Two inputs enter a deep network. Small weights make them more alike in every layer (order), large weights less alike (chaos). In both cases their difference is lost, and the network cannot learn. Signals survive only near the border.",
    question: { kind: "number", ask: () => "Two inputs have correlation 0.6. What is it after twenty layers?", from: -0.2, to: 1, log: false, unit: "", start: 0.6, name: "Correlation after 20 layers" },
    tryNext: "Find a weight scale at which the correlation stays near 0.6, and see where that is in the phase diagram.",
    panel: "signals", panelTitle: "Phase diagram, and correlation by layer",
    state: { data: "sine", n: 12, width: 64, depth: 3, activation: "tanh", weightStd: 2.5, biasStd: 0.3, steps: 200, rate: 0.5 },
  },
  {
    id: "double-descent", title: "More parameters, less error",
    story: "Fit 40 noisy examples by least squares with p features. At p = 40 one solution passes through every example, and its weights are huge. With more features there are many such solutions. The one with the smallest weights predicts well again.",
    question: { kind: "number", ask: () => "With how many features is the test error largest?", from: 2, to: 118, log: false, unit: "features", start: 100, name: "Features at the peak" },
    tryNext: "The network above trains only its last layer, and has as many units as points. Set its width to 512.",
    panel: "descent", panelTitle: "Test error against the number of features",
    state: { data: "sine", n: 12, noise: 0.3, width: 12, lastOnly: true, steps: 20000, biasStd: 1, dataSeed: 3 },
  },
  {
    id: "max-margin", title: "Which of many solutions?",
    story: "Many lines separate these two classes. A linear model with logistic loss finds one of them after a few steps. Training goes on, although every point is already on the right side.",
    question: { kind: "choice", ask: (s) => `What will the line do during the next ${count(s.steps)} steps?`, options: ["Stay where it is", "Turn slowly to the widest gap between the classes", "Turn away to pass close to the points"] },
    tryNext: "Drag one point toward the other class: the dashed line of largest margin follows it.",
    panel: "margin", panelTitle: "Angle to the line of largest margin",
    state: { data: "margin", n: 24, depth: 0, loss: "logistic", steps: 20000, rate: 0.9, biasStd: 0.5, scale: 1, dataSeed: 2 },
  },
  {
    id: "momentum", title: "Momentum, and the noise of batches",
    story: "Momentum adds β times the last step to the next one, which allows a larger learning rate. Small batches add noise instead: the loss stops falling at a floor.",
    question: { kind: "number", ask: (s) => `With β = ${s.momentum}, how many times larger can the learning rate be than without momentum?`, from: 0.5, to: 20, log: true, unit: "times", start: 10, name: "Factor" },
    tryNext: "Set the batch size to 2: the dots leave the line and the loss stays at a floor.",
    panel: "momentum", panelTitle: "Where gradient descent with momentum is stable",
    state: { data: "sine", n: 16, width: 256, scale: 2, centered: true, steps: 300, momentum: 0.9, rate: 0.1 },
  },
  {
    id: "early-stopping", title: "Stop before the noise is learned",
    story: "The targets are noisy. The smooth signal is learned first, the rough noise last. Between them lies the best moment to stop, and theory predicts it.",
    question: { kind: "number", ask: () => "After how many steps is the test error smallest?", from: 1, to: 5000, log: true, unit: "steps", start: 1500, name: "Best moment to stop" },
    tryNext: "Set the noise to 0: the best moment moves to the end.",
    panel: "stopping", panelTitle: "Error on the true curve",
    state: { data: "sine", n: 24, noise: 0.4, width: 512, steps: 5000, biasStd: 1, scale: 10, centered: true, dataSeed: 5 },
  },
  {
    id: "free", title: "Free play",
    story: "Everything is open: data, network and training. Paste a tensorflow-playground link to see the same setting with its theory.",
    question: null,
    tryNext: "Choose the spiral and three layers of 16 units. The prediction fails, because the network learns features.",
    panel: "kernel", panelTitle: "The tangent kernel of the points",
    state: { data: "circle", n: 48, width: 8, depth: 2, activation: "tanh", loss: "logistic", steps: 1000, rate: 0.9, weightStd: 1.6, biasStd: 0.5, noise: 0.2 },
  },
];

export const lessonOf = (id: string) => LESSONS.find((one) => one.id === id);

/** Sharpness is measured only where a lesson shows it, because it costs more than training. */
export const measuresSharpness = (lesson: Lesson) => lesson.panel === "sharpness";

/** The state in which a lesson starts. */
export function lessonState(id: string): State | undefined {
  const lesson = lessonOf(id);
  return lesson && consistent({ ...BASE, ...lesson.state, lesson: id });
}

