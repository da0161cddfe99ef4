// The run on the screen: asks the engine for records, keeps them, and shows one per frame of the screen.
import type { State } from "../core/state";
import type { Frame, FromWorker, Setup } from "../engine/protocol";
import type { Engine } from "./engine";
import type { Progress } from "./panels";

export interface PlayerEvents {
  /** A new setting is known and predicted, at step 0. */
  ready(): void;
  /** Something on the screen has changed. */
  changed(): void;
  /** The last record is on the screen. */
  ended(): void;
  failed(words: string): void;
}

export class Player {
  setup: Setup | null = null;
  running = false;
  /** Record that is shown in place of the newest one. */
  scrub: number | null = null;
  /** Whether the newest setting has been answered. */
  answered = true;
  readonly history: Frame[] = [];
  private frame: Frame | null = null;
  private arrived: Frame[] = [];
  private waiting = false;
  private pending: { state: State; sharpness: boolean } | null = null;
  private id = 0;

  private events: PlayerEvents | null = null;

  constructor(private readonly engine: Engine) {}

  /** Tells the page what happens from now on. */
  listen(events: PlayerEvents): void {
    this.events = events;
    if (this.setup && this.answered) events.ready();
  }

  /** Asks for a new setting; while one is being computed only the newest is kept. */
  prepare(state: State, sharpness: boolean): void {
    this.scrub = null;
    this.running = false;
    if (!this.answered) {
      this.pending = { state, sharpness };
      return;
    }
    this.answered = false;
    this.pending = null;
    this.engine.send({ type: "setup", id: ++this.id, state, sharpness });
  }

  receive(message: FromWorker): void {
    if (message.type === "failed") {
      this.answered = true;
      this.waiting = this.running = false;
      this.events?.failed(message.words);
    } else if (message.id !== this.id) {
      return;
    } else if (message.type === "ready") {
      this.setup = message.setup;
      this.history.length = this.arrived.length = 0;
      this.frame = null;
      this.waiting = false;
    } else if (message.type === "frame") this.receiveFrame(message.frame);
  }

  private receiveFrame(frame: Frame): void {
    this.waiting = false;
    this.arrived.push(frame);
    if (this.answered) {
      // The next record is computed while this one waits for the screen, but no further ahead.
      if (!this.running) this.showAll();
      else if (this.arrived.length === 1) this.request();
      return;
    }
    this.answered = true;
    this.showAll();
    this.events?.ready();
    if (this.pending) this.prepare(this.pending.state, this.pending.sharpness);
  }

  /** Called for every frame of the screen. */
  tick(): void {
    if (this.arrived.length) this.show(this.arrived.shift()!);
    if (this.running && this.answered && this.arrived.length < 2) this.request();
  }

  private showAll(): void {
    while (this.arrived.length) this.show(this.arrived.shift()!);
  }

  private show(frame: Frame): void {
    this.frame = frame;
    if (frame.record >= 0 || frame.diverged) this.history.push(frame);
    if (this.atEnd) {
      this.running = false;
      this.events?.ended();
    }
    this.events?.changed();
  }

  /** Whether the newest record on the screen is the last one. */
  get atEnd(): boolean {
    return this.frame !== null && this.isLast(this.frame);
  }

  private isLast(frame: Frame): boolean {
    return this.setup !== null && (frame.diverged || frame.step >= this.setup.records.at(-1)!);
  }

  private request(): void {
    const newest = this.arrived.at(-1) ?? this.frame;
    if (this.waiting || !newest || this.isLast(newest)) return;
    this.waiting = true;
    this.engine.send({ type: "advance", id: this.id, records: 1 });
  }

  /** Runs on from the newest record. */
  run(): void {
    this.scrub = null;
    this.running = true;
    if (this.answered) this.request();
  }

  pause(): void {
    this.running = false;
    this.showAll();
  }

  step(): void {
    this.pause();
    this.scrub = null;
    this.request();
  }

  scrubTo(index: number): void {
    this.pause();
    this.scrub = Math.min(index, this.history.length - 1);
  }

  /** Position of the record on the screen in the history. */
  get position(): number {
    return this.scrub ?? this.history.length - 1;
  }

  /** Whether the newest setting is on the screen. */
  get settled(): boolean {
    return this.answered && this.pending === null && this.setup !== null;
  }

  /** What is on the screen; null before the first answer. */
  progress(): Progress | null {
    const { setup, history } = this;
    const frame = this.scrub === null ? this.frame : (history[this.scrub] ?? this.frame);
    if (!setup || !frame) return null;
    return { setup, frame, history, record: frame.record >= 0 ? frame.record : recordBefore(setup.records, frame.step) };
  }
}

function recordBefore(records: number[], step: number): number {
  let k = 0;
  while (k + 1 < records.length && records[k + 1]! <= step) k++;
  return k;
}
