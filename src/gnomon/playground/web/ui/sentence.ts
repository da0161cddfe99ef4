// The sentence at the top: what is happening now, in words.
import type { State } from "../core/state";
import { count, show } from "./dom";
import { changeWords, dialWords, type Progress } from "./panels";

/** `revealed` is false while the reader still guesses, so the sentence must not tell the answer. */
export function sentence(state: State, p: Progress, running: boolean, revealed: boolean): string {
  const { setup, frame } = p;
  const total = setup.records.at(-1)!;
  if (frame.diverged) {
    const above = state.rate > 1 ? `, because the learning rate is ${show(state.rate)} times the largest stable one` : "";
    return `The loss diverged at step ${count(frame.step)}${above}. Lower the learning rate and run again.`;
  }
  const predicted = setup.predicted?.loss[Math.max(0, p.record)];
  const drift = frame.drift ?? 0;
  if (frame.step === 0) {
    if (!revealed && !setup.messages.length) return "Guess first. Then theory shows its prediction, and the network runs.";
    const last = setup.predicted?.loss.at(-1);
    if (last === undefined || !Number.isFinite(last) || state.rate === 0) return [...setup.messages, "Press Run."].join(" ");
    const notes = setup.messages.length ? `${setup.messages.join(" ")} ` : "";
    return notes + `Theory predicts: the loss will go from ${show(frame.loss)} to ${show(last)} in ${count(total)} steps. Press Run to see whether the network agrees.`;
  }
  const where = running ? `Step ${count(frame.step)} of ${count(total)}` : `After ${count(frame.step)} steps`;
  const compared = predicted !== undefined && Number.isFinite(predicted) && p.record >= 0 ? `loss ${show(frame.loss)}, predicted ${show(predicted)}` : `loss ${show(frame.loss)}`;
  const regime = dialWords(drift);
  if (setup.predicted === null) return `${where}: ${compared}. Adam is not covered by the prediction. The kernel changed by ${changeWords(drift)} (${regime}).`;
  if (state.batch && state.batch < setup.y.length) return `${where}: ${compared}. Batches of ${state.batch} make the steps noisy; the prediction is for all points.`;
  const scale = distance(setup.y, new Float64Array(setup.y.length)) || 1;
  const agrees = p.record >= 0 && distance(frame.outputs, setup.predicted.outputs[p.record]!) < 0.1 * scale;
  if (state.rate > 1 && !agrees) return `${where}: ${compared}. At ${show(state.rate)} times the largest stable rate the loss rises first. The network may recover in a flatter region, which theory cannot follow.`;
  const verdict = agrees ? "it is where theory predicted" : drift < 0.05 ? "small changes of the kernel have added up" : frame.loss < (predicted ?? 0) ? "it learns features and beats its prediction" : "it learns features and leaves its prediction";
  return `${where}: ${compared}. The kernel changed by ${changeWords(drift)} (${regime}): ${verdict}.`;
}

/** Root mean square of the difference. */
function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i]! - b[i]!) ** 2;
  return Math.sqrt(sum / Math.max(1, a.length));
}
