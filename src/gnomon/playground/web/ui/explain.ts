// The "?" of every quantity: formula with the current numbers, assumptions checked for the current setting, claim, call.
import type { State } from "../core/state";
import { LOSS } from "../core/train";
import { chiAtFixedPoint } from "../core/meanfield";
import { descentRisk } from "../core/models";
import { count, h, percent, show } from "./dom";
import { DESCENT } from "./jobs";
import type { Progress } from "./panels";

export interface Explanation {
  title: string;
  meaning: string;
  /** HTML: the formula, then the same with numbers. */
  formula: string;
  numbers: string;
  assumptions: [string, boolean][];
  /** Identifier of the statement in the atlas. */
  claim: string | null;
  call: string;
}

const v = (name: string) => `<var>${name}</var>`;
const sub = (name: string, index: string) => `<var>${name}</var><sub>${index}</sub>`;
const num = (value: number | null | undefined) => `<b>${show(value)}</b>`;

function checks(state: State, p: Progress) {
  const drift = p.frame.drift ?? 0;
  return {
    lazy: [`The kernel stays constant (changed by ${percent(drift)} so far)`, drift < 0.1] as [string, boolean],
    wide: wideEnough(state, p),
    squared: ["The loss is squared", state.loss === "squared"] as [string, boolean],
    descent: ["Steps follow the gradient (not Adam)", state.optimizer === "gd"] as [string, boolean],
    whole: ["Every step uses all points", !state.batch || state.batch >= p.setup.marks.length] as [string, boolean],
    stable: [`The learning rate is below the largest stable one (${show(state.rate)} of it)`, state.rate < 1] as [string, boolean],
  };
}

/** Laws of infinite width need many units; of a reader's own network only the number of parameters is known. */
function wideEnough(state: State, { setup }: Progress): [string, boolean] {
  const n = setup.marks.length;
  if (setup.own) return [`Many more parameters (${count(setup.parameters)}) than points (${count(n)})`, setup.parameters >= 100 * n];
  return [`The network is wide (${count(state.width)} units)`, state.depth === 0 || state.width >= 128];
}

type Build = (state: State, p: Progress) => Explanation;

export const EXPLANATIONS: Record<string, Build> = {
  network: (s, p) => ({
    title: "The network",
    meaning: "The solid line shows the network as it is now: its output at every input, or the border between two classes.",
    formula: `${v("f")} = ${v("α")} ${sub("z", "L+1")},  ${sub("z", "l+1")} = (${sub("σ", "w")}/√${v("m")}) ${v("W")} φ(${sub("z", "l")}) + ${sub("σ", "b")} ${v("b")}`,
    numbers: p.setup.own ? `your network, with ${num(p.setup.parameters)} parameters` : `${v("α")} = ${num(s.scale)}, ${v("m")} = ${num(s.width)} units, ${v("L")} = ${num(s.depth)} hidden layers, ${sub("σ", "w")} = ${num(s.weightStd)}, ${sub("σ", "b")} = ${num(s.biasStd)}; ${num(p.setup.parameters)} parameters ${v("W")}, ${v("b")} drawn from N(0, 1) with seed ${s.seed}`,
    assumptions: [], claim: null,
    call: `net = gnomon.playground.DenseNetwork(${p.setup.dimension || 1}, width=${s.width}, depth=${s.depth})`,
  }),
  prediction: (s, p) => {
    const c = checks(s, p);
    return {
      title: "The prediction from the kernel",
      meaning: "The dashed line is where gradient descent will take the network, computed before the first step from its tangent kernel K.",
      formula: `${sub("f", "t")}(${v("x")}) = ${sub("f", "0")}(${v("x")}) + ${v("K")}(${v("x")}, ${v("X")}) ${v("K")}⁻¹ (1 − (1 − ${v("η")}${v("K")}/${v("n")})<sup>t</sup>) (${v("y")} − ${sub("f", "0")})`,
      numbers: `${v("n")} = ${num(p.setup.marks.length)}, ${v("η")} = ${num(p.setup.lr)}, ${v("t")} = ${num(s.steps)}: the loss goes from ${num(p.setup.predicted?.loss[0])} to ${num(p.setup.predicted?.loss.at(-1))}`,
      assumptions: [c.lazy, c.wide, c.descent, c.whole], claim: "ntk-closed-form-trajectory",
      call: `gnomon.predict(net, (x, y), test=x_test, optimizer=SGD(${show(p.setup.lr)}), times=[lr * ${s.steps}])`,
    };
  },
  band: (s, p) => {
    const c = checks(s, p);
    return {
      title: "The infinitely wide ensemble",
      meaning: "The band holds 95 % of infinitely wide networks with random initial weights, after the same training.",
      formula: `mean ${v("A")}${v("y")}, variance ${v("S")}(x,x) − 2${v("A")}${v("S")}(X,x) + ${v("A")}${v("S")}${v("A")}ᵀ, with ${v("A")} = ${v("T")}(x,X) ${v("T")}⁻¹(1 − (1 − ${v("η")}${v("T")}/${v("n")})<sup>t</sup>)`,
      numbers: `${v("S")}: Gaussian-process kernel, ${v("T")}: tangent kernel of infinite width with weight scale ${num(s.weightStd)} and bias scale ${num(s.biasStd)}`,
      assumptions: [c.wide, c.squared, c.descent, c.whole, ["The initial output is not subtracted (else all networks agree)", !s.centered]],
      claim: "gp-infinite-width-uncertainty", call: "gnomon.dynamics.ensemble(ntk, nngp, y, ...)",
    };
  },
  loss: (s, p) => ({
    title: "The loss",
    meaning: "Dots are measured while the network trains, the dashed line was computed before.",
    formula: s.loss === "squared" ? `${v("L")} = (1/${v("n")}) Σ<sub>i</sub> (${v("f")}(${sub("x", "i")}) − ${sub("y", "i")})² / 2` : `${v("L")} = (1/${v("n")}) Σ<sub>i</sub> log(1 + exp(−${sub("y", "i")} ${v("f")}(${sub("x", "i")})))`,
    numbers: `at step ${num(p.frame.step)}: measured ${num(p.frame.loss)}${p.record >= 0 && p.setup.predicted ? `, predicted ${num(p.setup.predicted.loss[p.record])}` : ""}`,
    assumptions: [checks(s, p).lazy, checks(s, p).descent, checks(s, p).whole], claim: "linearised-closed-form",
    call: `gnomon.train(net, (x, y), optimizer=SGD(${show(p.setup.lr)}), steps=${s.steps}).loss`,
  }),
  modes: (s, p) => {
    const [a, k] = [p.setup.rates[0] ?? 0, Math.min(3, p.setup.rates.length - 1)];
    const b = p.setup.rates[k] ?? 0;
    return {
      title: "Error left in each mode",
      meaning: "The kernel has n independent patterns (modes). Each is learned at its own rate λ, the fastest first. Bars: what is left now; orange marks: prediction.",
      formula: `left in mode ${v("k")} after ${v("t")} steps = (1 − ${v("η")} ${sub("λ", "k")})<sup>t</sup>`,
      numbers: `${sub("λ", "1")} = ${num(a)}: (1 − ${show(p.setup.lr)} · ${show(a)})<sup>${count(p.frame.step)}</sup> = ${num((1 - p.setup.lr * a) ** p.frame.step)};  ${sub("λ", String(k + 1))} = ${num(b)}: ${num((1 - p.setup.lr * b) ** p.frame.step)}`,
      assumptions: [checks(s, p).lazy, checks(s, p).squared, checks(s, p).descent, ["No momentum (the formula with momentum is longer; the marks include it)", s.momentum === 0]],
      claim: "ntk-eigenmode-decay", call: "gnomon.dynamics.modes(gnomon.ntk(net, x), y)",
    };
  },
  regime: (s, p) => ({
    title: "Lazy or rich",
    meaning: "Lazy: the kernel hardly changes, so the prediction holds and the network acts like a fixed kernel method. Rich: the kernel changes because the units learn features.",
    formula: `drift = |${sub("K", "t")} − ${sub("K", "0")}| / |${sub("K", "0")}|,  alignment = cos(${sub("K", "t")}, ${v("y")}${v("y")}ᵀ)`,
    numbers: `drift ${num(p.frame.drift)}, alignment ${num(p.setup.alignment)} at the start and ${num(p.frame.alignment)} now. Drift falls like 1 / (scale · √width) = 1 / (${show(s.scale)} · √${s.width}) = ${num(1 / (s.scale * Math.sqrt(s.width)))}`,
    assumptions: [["The drift is small: lazy", (p.frame.drift ?? 0) < 0.1]], claim: "lazy-regime-definition",
    call: "gnomon.tangent.kernel_drift([net, run.model], x)",
  }),
  rate: (s, p) => ({
    title: "The largest stable learning rate",
    meaning: "The slider is in units of the largest stable learning rate. Above 1 the fastest mode overshoots by more at every step.",
    formula: `${sub("η", "max")} = 2 (1 + ${v("β")}) / (${sub("λ", "1")} ${v("c")}),  ${v("c")} = largest curvature of the loss`,
    numbers: s.optimizer === "adam" ? `Adam has no such limit; η = ${num(p.setup.lr)}` : `2 · (1 + ${show(s.momentum)}) / (${show(p.setup.rates[0])} · ${LOSS[s.loss].largestCurvature}) = ${num(p.setup.largest)}; now ${v("η")} = ${show(s.rate)} · ${show(p.setup.largest)} = ${num(p.setup.lr)}`,
    assumptions: [checks(s, p).descent, checks(s, p).lazy, checks(s, p).whole], claim: "step-size-two-over-l",
    call: "gnomon.dynamics.modes(gnomon.ntk(net, x), y).largest_lr",
  }),
  scale: (s) => ({
    title: "Output scale",
    meaning: "Multiplies the output. With a large scale, small movements of the weights change the output enough: training is lazy. With a small scale the weights must move far: training is rich.",
    formula: `${v("f")} = ${v("α")} · network`, numbers: `${v("α")} = ${num(s.scale)}`, assumptions: [], claim: "alpha-scaling",
    call: `gnomon.playground.DenseNetwork(1, scale=${s.scale})`,
  }),
  init: (s) => ({
    title: "Weight and bias scale",
    meaning: "Standard deviations of the initial weights (times √inputs of the layer) and biases. They decide whether signals survive in a deep network.",
    formula: `${v("q")}<sub>l+1</sub> = ${sub("σ", "w")}² E[φ(√${v("q")} z)²] + ${sub("σ", "b")}²`, numbers: `${sub("σ", "w")} = ${num(s.weightStd)}, ${sub("σ", "b")} = ${num(s.biasStd)}`,
    assumptions: [["ReLU keeps the size of signals if the weight scale is √2 ≈ 1.41", s.activation !== "relu" || Math.abs(s.weightStd - Math.SQRT2) < 0.06]],
    claim: "variance-recursion-relu", call: `gnomon.limit(net, init=gnomon.InitializationLaw(${s.weightStd}, ${s.biasStd}))`,
  }),
  momentum: (s, p) => ({
    title: "Momentum and batch size",
    meaning: "Momentum adds β times the last step. A batch is the number of points used in a step; a small one makes steps noisy.",
    formula: `${v("v")} ← ${v("β")}${v("v")} + gradient,  ${v("w")} ← ${v("w")} − ${v("η")}${v("v")}`, numbers: `${v("β")} = ${num(s.momentum)}, stable up to ${v("η")} = ${num(p.setup.largest)}, batch: ${s.batch || "all"} of ${p.setup.marks.length}`,
    assumptions: [checks(s, p).whole], claim: "heavy-ball-momentum", call: `SGD(lr, momentum=${s.momentum})`,
  }),
  sharpness: (s, p) => ({
    title: "Sharpness",
    meaning: "The largest eigenvalue of the Hessian of the loss. A step overshoots if it is above 2 / learning rate.",
    formula: `${v("S")} = ${sub("λ", "max")}(∇²${v("L")}),  limit 2(1 + ${v("β")}) / ${v("η")}`, numbers: `${v("S")} = ${num(p.frame.sharpness)}, limit 2 · ${show(1 + s.momentum)} / ${show(p.setup.lr)} = ${num((2 * (1 + s.momentum)) / p.setup.lr)}`,
    assumptions: [checks(s, p).descent, checks(s, p).whole], claim: "learning-rate-regimes", call: "gnomon.landscape.sharpness(net, (x, y), lr=lr)",
  }),
  data: (s, p) => ({
    title: "Data", meaning: "Points to learn. Drag them in the picture; a link keeps them.",
    formula: `${v("y")} = target(${v("x")}) + noise`, numbers: `${num(p.setup.marks.length)} points, noise ${num(s.noise)}, seed ${s.dataSeed}`, assumptions: [],
    claim: null, call: `x, y = gnomon.playground.make_data("${s.data}", ${s.n}, noise=${s.noise}, seed=${s.dataSeed})`,
  }),
};

const PANEL_EXPLANATIONS: Record<string, [string, string]> = {
  influence: ["Reach of one point", "One gradient step on the chosen point changes the output at x in proportion to K(x, xᵢ). All these numbers form the tangent kernel."],
  waves: ["Spectral bias", "The part of each wave that is not yet learned. Dots are measured, dashed lines are predicted. The fast wave lies in modes with small rates."],
  neurons: ["The units", "Every unit bends the curve at one place. Gray: where units started. In lazy training they stay; in rich training they move to where bends are needed."],
  sweep: ["Sweep of learning rates", "Each dot is a short training run with another learning rate. Right of the dashed line theory predicts that the loss rises."],
  spread: ["Spread of the ensemble", "Standard deviation between trained networks with other seeds (dots), and at infinite width (dashed)."],
  signals: ["Signals in deep networks", "Left: below the dashed border differences between inputs shrink from layer to layer (order), beyond it they grow (chaos). Right: correlation of two inputs by layer."],
  descent: ["Double descent", "Expected error: (σ² + unused signal) · (1 + p / (n − p − 1)) for p < n − 1, finite again for p > n + 1. Here n = 40 and σ² = 0.25; dots are means of 12 draws."],
  margin: ["Implicit bias", "Gradient descent on separable classes converges in direction to the line of largest margin, as slowly as 1 / log t."],
  momentum: ["Stability with momentum", "Blue: the error of a mode shrinks, faster where it is darker. The border is learning rate × λ = 2 (1 + β)."],
  stopping: ["Early stopping", "Mean squared error / 2 against the true curve. First the signal is learned, then the noise."],
  kernel: ["The tangent kernel", "Left: K for every pair of points. Right: its rates λ, one per mode."],
};
const PANEL_CLAIMS: Record<string, string> = {
  influence: "ntk-empirical-definition", waves: "spectral-bias-frequency", neurons: "ntk-constancy", sweep: "gd-epsilon-critical-rate",
  spread: "gp-infinite-width-uncertainty", signals: "vanishing-exploding-criterion", descent: "double-descent-three-cases",
  margin: "max-margin-gd", momentum: "heavy-ball-momentum", stopping: "signal-before-noise", kernel: "ntk-empirical-definition",
};

type Filled = [formula: string, numbers: string, call: string];
const eta = v("η");

/** Formula of a panel, the same with the current numbers, and the call of gnomon. */
const PANEL_FORMULAS: Record<string, (s: State, p: Progress) => Filled> = {
  influence: (_s, p) => [`${v("K")}(${v("x")}, ${sub("x", "i")}) = Σ over parameters ${v("w")} of ∂${v("f")}(${v("x")})/∂${v("w")} · ∂${v("f")}(${sub("x", "i")})/∂${v("w")}`,
    `sum over ${num(p.setup.parameters)} parameters; ${v("K")}(${sub("x", "1")}, ${sub("x", "1")}) = ${num(p.setup.kernel[0])}`, "gnomon.ntk(net, grid, x)"],
  waves: (_s, p) => [`left after ${v("t")} steps = Σ<sub>k</sub> (1 − ${eta}${sub("λ", "k")})<sup>t</sup> · part of the wave in mode ${v("k")}`,
    `${eta} = ${num(p.setup.lr)}, ${v("t")} = ${num(p.frame.step)}, ${sub("λ", "1")} = ${num(p.setup.rates[0])}, ${sub("λ", "10")} = ${num(p.setup.rates[9])}`, "gnomon.tangent.frequency_curve(...)"],
  neurons: (s, p) => [`unit ${v("j")} bends at ${v("x")} = −${sub("σ", "b")}${sub("b", "j")} / (${sub("σ", "w")}${sub("w", "j")})`,
    `${num(s.width)} units, ${sub("σ", "b")} = ${num(s.biasStd)}, ${sub("σ", "w")} = ${num(s.weightStd)}; the kernel changed by ${num(p.frame.drift)}`, "gnomon.tangent.unit_changes(net, run.model, x)"],
  sweep: (s, p) => [`stable below ${sub("η", "max")} = 2(1 + ${v("β")}) / (${sub("λ", "1")}${v("c")})`,
    `2 · ${show(1 + s.momentum)} / (${show(p.setup.rates[0])} · ${LOSS[s.loss].largestCurvature}) = ${num(p.setup.largest)}`, "gnomon.dynamics.modes(gnomon.ntk(net, x), y).largest_lr"],
  spread: (s) => [`variance = ${v("S")}(x,x) − 2${v("A")}${v("S")}(X,x) + ${v("A")}${v("S")}${v("A")}ᵀ`, `after ${num(s.steps)} steps, with weight scale ${num(s.weightStd)} and bias scale ${num(s.biasStd)}`, "gnomon.dynamics.ensemble(ntk, nngp, y, ...).std"],
  signals: (s) => [`χ = ${sub("σ", "w")}² E[φ′(√${v("q")} z)²]; order if χ &lt; 1, chaos if χ &gt; 1`, `${sub("σ", "w")} = ${num(s.weightStd)}, ${sub("σ", "b")} = ${num(s.biasStd)}: χ = ${num(chiAtFixedPoint(s.activation, s.weightStd, s.biasStd))}`, "gnomon.checks.mean_field(activation, weight_std=..., bias_std=...)"],
  descent: () => [`error = (${v("σ")}² + unused signal)(1 + ${v("p")} / (${v("n")} − ${v("p")} − 1)) − ${v("σ")}² for ${v("p")} &lt; ${v("n")} − 1`,
    `${v("n")} = 40, ${v("σ")}² = 0.25: error ${num(descentRisk(DESCENT, 20))} at ${v("p")} = 20, ${num(descentRisk(DESCENT, 38))} at 38, ${num(descentRisk(DESCENT, 110))} at 110`, "gnomon.bounds.double_descent(fit, sizes, data, test)"],
  margin: (_s, p) => [`angle between ${v("w")} and the direction of largest margin ≈ ${v("c")} / log ${v("t")}`, `${v("t")} = ${num(p.frame.step)}: angle ${num(p.frame.margin ? (180 / Math.PI) * p.frame.margin.angle : null)}°, margin ${num(p.frame.margin?.margin)} of at most ${num(p.frame.margin?.best)}`, "gnomon.decisions.margin_growth(checkpoints, x, y)"],
  momentum: (s, p) => [`stable if ${eta}λ &lt; 2(1 + ${v("β")})`, `${show(p.setup.lr)} · ${show(p.setup.rates[0])} = ${num(p.setup.lr * (p.setup.rates[0] ?? 0))} against 2 · ${show(1 + s.momentum)} = ${num(2 * (1 + s.momentum))}`, `SGD(${show(p.setup.lr)}, momentum=${s.momentum})`],
  stopping: (s, p) => [`error(${v("t")}) = mean over the curve of (${sub("f", "t")} − target)² / 2`, `noise ${num(s.noise)}, ${num(p.setup.marks.length)} points; the loss on the points is ${num(p.frame.loss)} at step ${num(p.frame.step)}`, "gnomon.dynamics.equivalent_stopping_time(...)"],
  kernel: (_s, p) => [`${v("K")} = ${v("J")}${v("J")}ᵀ, rates λ = eigenvalues of ${v("K")} / ${v("n")}`, `${v("n")} = ${num(p.setup.marks.length)}: ${sub("λ", "1")} = ${num(p.setup.rates[0])}, smallest ${num(p.setup.rates.at(-1))}`, "gnomon.ntk(net, x)"],
};

/** What a "?" shows. */
export function explain(id: string, state: State, p: Progress): Explanation {
  const build = EXPLANATIONS[id];
  if (build) return build(state, p);
  const [title, meaning] = PANEL_EXPLANATIONS[id] ?? [id, ""];
  const [formula, numbers, call] = PANEL_FORMULAS[id]?.(state, p) ?? ["", "", "gnomon.ntk(net, x)"];
  const c = checks(state, p);
  const exact = id === "descent" || id === "signals" || id === "kernel" || id === "influence";
  return { title, meaning, formula, numbers, assumptions: exact ? [c.wide] : [c.lazy, c.wide, c.descent, c.whole], claim: PANEL_CLAIMS[id] ?? null, call };
}

/** The explanation as elements. */
export function explanationView(e: Explanation): HTMLElement {
  return h("div", { class: "explanation" },
    h("p", {}, e.meaning),
    e.formula ? h("p", { class: "formula", html: e.formula }) : null,
    e.numbers ? h("p", { class: "formula numbers", html: e.numbers }) : null,
    e.assumptions.length ? h("h3", {}, "Assumptions, checked for this setting") : null,
    e.assumptions.length ? h("ul", { class: "checks" }, ...e.assumptions.map(([text, ok]) => h("li", { class: ok ? "ok" : "no" }, h("span", { "aria-hidden": "true" }, ok ? "✓" : "✗"), ` ${text}${ok ? "" : " (not met)"}`))) : null,
    e.claim ? h("p", {}, "Statement of the atlas, tested by running it: ", claimLink(e.claim)) : null,
    e.call ? h("p", {}, "With gnomon: ", h("code", {}, e.call)) : null);
}

/** A page of the atlas if this page is told where the atlas is (`?atlas=../atlas/`), else the command that runs the claim. */
function claimLink(id: string): HTMLElement {
  const atlas = new URLSearchParams(location.search).get("atlas");
  if (atlas === null || !/^[\w./-]*$/.test(atlas)) return h("code", {}, `gnomon atlas run ${id}`);
  return h("a", { href: `${atlas}claims/${id}.html`, target: "_top" }, id.replaceAll("-", " "));
}
