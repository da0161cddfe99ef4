// The question of a lesson: the reader's guess, and the score of guess, theory and truth.
import { h, show } from "./dom";
import type { State } from "../core/state";
import type { Lesson } from "./lessons";
import { choiceOf, numbersOf, type PanelInput } from "./lessonnumbers";

export const HANDLES = [-1.6, -1.2, -0.8, -0.4, 0, 0.4, 0.8, 1.2, 1.6];

export interface Guess {
  curve: Float64Array;
  number: number | null;
  choice: number | null;
  touched: boolean;
  locked: boolean;
  /** The question as it was asked when the guess was locked. */
  asked: string;
  /** The score. It belongs to the setting of the guess, so it stays when settings change later. */
  score: Score | null;
}

export const newGuess = (lesson: Lesson): Guess => ({
  curve: new Float64Array(HANDLES.length),
  number: lesson.question?.kind === "number" ? lesson.question.start : null,
  choice: null, touched: false, locked: lesson.question === null, asked: "", score: null,
});

/** Takes back a guess that is locked but not scored, because its setting has changed. True if there was one. */
export function withdraw(guess: Guess): boolean {
  const waiting = guess.locked && guess.touched && guess.score === null;
  if (waiting) [guess.locked, guess.touched, guess.choice] = [false, false, null];
  return waiting;
}

/** Whether numbers on the page would give the answer away. */
export const asksForNumbers = (lesson: Lesson, guess: Guess) => lesson.question !== null && lesson.question.kind !== "choice" && !guess.locked;

/** Guess, theory and truth of a finished lesson; null while something is missing. */
export interface Score {
  rows: [string, string, string][];
  stars: number | null;
  words: string;
}

const STARS: [number, string][] = [[3, "Very close."], [2, "Close."], [1, "The right order of magnitude."], [0, "Not this time."]];

/** The score of a guess: the one it got first, or the one it gets now. */
export function scoreOf(lesson: Lesson, guess: Guess, input: PanelInput): Score | null {
  if (guess.score) return guess.score;
  const score = judge(lesson, guess, input);
  if (score?.stars != null) guess.score = score;
  return score;
}

function judge(lesson: Lesson, guess: Guess, input: PanelInput): Score | null {
  const { question } = lesson;
  if (!question) return null;
  if (question.kind === "choice") {
    const outcome = choiceOf(lesson.id, input);
    if (!outcome) return null;
    const right = guess.choice === outcome.right;
    return {
      rows: [...(guess.choice === null ? [] : [["you", "Your answer", question.options[guess.choice]!] as [string, string, string]]), ["truth", "What happened", question.options[outcome.right]!]],
      stars: guess.choice === null ? null : right ? 3 : 0, words: `${guess.choice === null ? "" : right ? "Right. " : "Not this time. "}${outcome.why}`,
    };
  }
  if (question.kind === "curve") return curveScore(guess, input);
  const { theory, truth } = numbersOf(lesson.id, input);
  if (theory === null || truth === null) return null;
  const unit = question.unit ? ` ${question.unit}` : "";
  const rows: Score["rows"] = [["theory", "Theory", show(theory) + unit], ["truth", "Measured", show(truth) + unit]];
  if (!guess.touched || guess.number === null) return { rows, stars: null, words: "" };
  rows.unshift(["you", "Your guess", show(guess.number) + unit]);
  const off = (v: number) => (question.log ? Math.abs(Math.log(v / truth)) / Math.LN10 : (3 * Math.abs(v - truth)) / (question.to - question.from));
  const stars = off(guess.number) < 0.11 ? 3 : off(guess.number) < 0.32 ? 2 : off(guess.number) < 0.7 ? 1 : 0;
  return { rows, stars, words: STARS.find(([s]) => s === stars)![1] };
}

function curveScore(guess: Guess, { progress: { setup, history } }: PanelInput): Score | null {
  const last = history.at(-1);
  if (!last || last.record !== setup.records.length - 1) return null;
  const at = (curve: ArrayLike<number>, x: number) => curve[Math.round(((x + 2) / 4) * (setup.grid.length - 1))]!;
  const distance = (value: (k: number) => number) => Math.sqrt(HANDLES.reduce((s, x, k) => s + (value(k) - at(last.curve, x)) ** 2, 0) / HANDLES.length);
  const theory = setup.predicted ? distance((k) => at(setup.predicted!.curves.at(-1)!, HANDLES[k]!)) : NaN;
  const rows: Score["rows"] = [["theory", "Theory is off by", show(theory, 2)]];
  if (!guess.touched) return { rows, stars: null, words: "" };
  const mine = distance((k) => guess.curve[k]!);
  rows.unshift(["you", "You are off by", show(mine, 2)]);
  const stars = mine < 0.15 ? 3 : mine < 0.3 ? 2 : mine < 0.6 ? 1 : 0;
  return { rows, stars, words: STARS.find(([s]) => s === stars)![1] };
}

export interface GuessEvents {
  changed(): void;
  lock(): void;
}

const LOCK = { number: "Lock my guess", curve: "Lock my curve", choice: "Lock my answer" };
const FIRST = { number: "Move the slider first.", curve: "Drag a handle first.", choice: "Choose an answer first." };

/** The form below the story. The lock opens once the reader has answered. */
export function questionView(lesson: Lesson, state: State, guess: Guess, score: Score | null, events: GuessEvents): HTMLElement {
  const { question } = lesson;
  if (!question) return h("div", {});
  const body: HTMLElement[] = [];
  if (!guess.locked) {
    const first = FIRST[question.kind];
    const lock = h("button", { type: "button", class: "primary", title: guess.touched ? "" : first, ...(guess.touched ? {} : { disabled: true }), onclick: () => events.lock() }, LOCK[question.kind]);
    const answered: GuessEvents = { ...events, changed: () => { lock.disabled = false; lock.title = ""; events.changed(); } };
    if (question.kind === "number") body.push(numberInput(question, guess, answered));
    if (question.kind === "choice") body.push(choiceInput(question.options, guess, answered));
    body.push(h("div", { class: "row" }, lock,
      h("button", { type: "button", class: "quiet", onclick: () => { guess.touched = false; guess.choice = null; events.lock(); } }, "Show me without guessing")));
  } else if (score) body.push(scoreView(score));
  else body.push(h("p", { class: "muted" }, question.kind === "number" && lesson.panel !== "sharpness" && lesson.panel !== "waves" && lesson.panel !== "stopping" ? "Measuring …" : "Locked. Now press Run."));
  return h("div", { class: "question" }, h("p", { class: "ask" }, guess.locked && guess.asked ? guess.asked : question.ask(state)), ...body);
}

function numberInput(q: { from: number; to: number; log: boolean; unit: string; name: string }, guess: Guess, events: GuessEvents): HTMLElement {
  const steps = 200;
  const value = (i: number) => {
    const v = q.log ? q.from * (q.to / q.from) ** (i / steps) : q.from + ((q.to - q.from) * i) / steps;
    return q.unit === "steps" || q.unit === "features" ? Math.round(v) : Number(v.toPrecision(3));
  };
  const place = (v: number) => Math.round(steps * (q.log ? Math.log(v / q.from) / Math.log(q.to / q.from) : (v - q.from) / (q.to - q.from)));
  const words = (v: number) => `${show(v)}${q.unit ? ` ${q.unit}` : ""}`;
  const output = h("output", { class: "you" }, words(guess.number!));
  const input = h("input", { type: "range", class: "guess", min: 0, max: steps, value: place(guess.number!), "aria-label": q.name, "aria-valuetext": words(guess.number!), oninput: () => {
    guess.number = value(Number(input.value));
    guess.touched = true;
    output.textContent = words(guess.number);
    input.setAttribute("aria-valuetext", words(guess.number));
    events.changed();
  } });
  return h("div", { class: "row" }, input, output);
}

function choiceInput(options: string[], guess: Guess, events: GuessEvents): HTMLElement {
  return h("div", { role: "radiogroup", "aria-label": "Your answer", class: "choices" },
    ...options.map((text, k) => h("label", {}, h("input", { type: "radio", name: "choice", ...(guess.choice === k ? { checked: true } : {}), onchange: () => { guess.choice = k; guess.touched = true; events.changed(); } }), ` ${text}`)));
}

function scoreView(score: Score): HTMLElement {
  return h("div", { class: "score" },
    score.stars !== null ? h("p", { class: "muted" }, "For the setting of your guess:") : null,
    h("dl", {}, ...score.rows.flatMap(([kind, name, value]) => [h("dt", { class: kind }, name), h("dd", { class: kind }, value)])),
    score.stars !== null ? h("p", { class: "stars" }, h("span", { "aria-label": `${score.stars} of 3 stars`, role: "img" }, "★".repeat(score.stars) + "☆".repeat(3 - score.stars)), ` ${score.words}`) : score.words ? h("p", {}, score.words) : null);
}
