// Work in the background that is not part of the run: other seeds, sweeps, phase diagrams, the band of the ensemble.
import type { State } from "../core/state";
import { isCurve } from "../core/data";
import { hasBand, type Band } from "../engine/band";
import type { FromWorker } from "../engine/protocol";
import { localEngine, type Engine } from "./engine";
import type { Lesson } from "./lessons";

const SWEEP = [0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.85, 0.92, 0.97, 1.0, 1.03, 1.08, 1.15, 1.3, 1.5, 2, 3, 4];
const SWEEP_STEPS = 200;
export const DESCENT = { n: 40, total: 120, noise: 0.25, signal: 1 };
export const DESCENT_SIZES = [2, 6, 10, 15, 20, 25, 29, 32, 35, 37, 38, 39, 40, 41, 42, 43, 45, 48, 52, 58, 65, 75, 85, 95, 105, 115, 120];
const DESCENT_DRAWS = 12;

/** Results of jobs in the background. */
export interface Background {
  seeds: Float32Array[];
  sweep: { rate: number; ratio: number }[];
  phase: Extract<FromWorker, { type: "phase" }> | null;
  signals: Extract<FromWorker, { type: "signals" }> | null;
  descent: { size: number; measured: number }[];
  band: Band | null;
}

const nothing = (): Background => ({ seeds: [], sweep: [], phase: null, signals: null, descent: [], band: null });

export class Jobs {
  results = nothing();
  private worker: Engine | null = null;
  private id = 0;
  private phaseActivation = "";
  private bandId = 0;
  private bandAsked = false;
  private bandPending: { state: State; lr: number } | null = null;

  constructor(private readonly changed: () => void) {}

  private send(message: Parameters<Engine["send"]>[0]): void {
    this.worker ??= localEngine((answer) => this.receive(answer));
    this.worker.send(message);
  }

  /** Starts what a lesson needs for a state; results that would give the answer away wait for the guess. */
  start(state: State, lesson: Lesson, guessed: boolean): void {
    const { phase, band } = this.results;
    this.results = { ...nothing(), phase: this.phaseActivation === state.activation ? phase : null, band };
    const id = ++this.id;
    const { panel } = lesson;
    if (panel === "signals") {
      this.send({ type: "signals", id, state });
      if (!this.results.phase) this.send({ type: "phase", id, state });
      this.phaseActivation = state.activation;
    }
    if (!guessed) return;
    if (panel === "sweep" || panel === "momentum") this.send({ type: "sweep", id, state: { ...state, batch: 0 }, rates: SWEEP, steps: SWEEP_STEPS });
    if (panel === "descent") this.send({ type: "descent", id, ...DESCENT, draws: DESCENT_DRAWS, sizes: DESCENT_SIZES });
    if (lesson.seeds) this.send({ type: "seeds", id, state, count: lesson.seeds });
  }

  /** Computes the band for a state; the old one stays until then. While one is computed only the newest is kept. */
  askForBand(state: State, lr: number): void {
    if (!isCurve(state.data) || !hasBand(state) || !Number.isFinite(lr)) {
      this.bandPending = null;
      this.bandId++;
      this.results.band = null;
    } else if (this.bandAsked) this.bandPending = { state, lr };
    else {
      this.bandAsked = true;
      this.bandPending = null;
      this.send({ type: "band", id: ++this.bandId, state, lr });
    }
  }

  private receive(message: FromWorker): void {
    const { results } = this;
    if (message.type === "band") {
      if (message.id === this.bandId) results.band = { mean: message.mean, std: message.std };
      this.bandAsked = false;
      if (this.bandPending) this.askForBand(this.bandPending.state, this.bandPending.lr);
    } else if (message.type === "phase") results.phase = message;
    else if (message.id === this.id) {
      if (message.type === "seed") results.seeds.push(message.curve);
      if (message.type === "sweep") results.sweep.push({ rate: message.rate, ratio: message.ratio });
      if (message.type === "signals") results.signals = message;
      if (message.type === "descent") results.descent.push({ size: message.size, measured: message.measured });
    }
    this.changed();
  }
}
