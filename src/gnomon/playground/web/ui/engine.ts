// The page's side of the computation: a worker in the browser, or the package behind a local server.
import type { State } from "../core/state";
import { makeHandler } from "../engine/worker";
import type { Frame, FromWorker, Setup, ToWorker } from "../engine/protocol";

export interface Engine {
  send(message: ToWorker): void;
}

type Receive = (message: FromWorker) => void;

/** A worker made from the text inside the page, so that the page works from disk; without workers, the page itself. */
export function localEngine(receive: Receive): Engine {
  try {
    const source = document.getElementById("worker")!.textContent!;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    worker.onmessage = (event: MessageEvent<FromWorker>) => receive(event.data);
    worker.onerror = (event) => receive({ type: "failed", id: -1, words: event.message });
    return { send: (message) => worker.postMessage(message) };
  } catch {
    const handle = makeHandler(receive);
    return { send: (message) => setTimeout(() => handle(message), 0) };
  }
}

/** What the local server says about the user's network. */
export interface ServedNetwork {
  name: string;
  module: string;
  data: string;
  loss: string;
}

export interface Served {
  engine: Engine;
  network: ServedNetwork;
}

/** The engine of `gnomon playground model.py:build`; null if the page is not served by it. */
export async function servedEngine(receive: Receive): Promise<Served | null> {
  const address = document.querySelector<HTMLMetaElement>('meta[name="gnomon-server"]')?.content;
  if (!address) return null;
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const ask = async (path: string, body?: unknown) => {
    const options = { method: body ? "POST" : "GET", headers: { "X-Gnomon-Token": token, "Content-Type": "application/json" }, ...(body ? { body: JSON.stringify(body) } : {}) };
    const answer = await fetch(`${address}/${path}`, options);
    const read = (await answer.json()) as { error?: string };
    if (!answer.ok) throw new Error(read.error ?? `the server answered ${answer.status}`);
    return read as never;
  };
  const network = (await ask("network")) as ServedNetwork;
  const failed = (id: number) => (reason: unknown) => receive({ type: "failed", id, words: reason instanceof Error ? reason.message : String(reason) });
  const send = (message: ToWorker) => {
    const { id } = message;
    if (message.type === "setup") {
      ask("setup", settings(message.state)).then((answer: { setup: Setup; frame: Frame }) => {
        receive({ type: "ready", id, setup: readSetup(answer.setup) });
        receive({ type: "frame", id, frame: readFrame(answer.frame) });
      }).catch(failed(id));
    } else if (message.type === "advance") {
      ask("advance", { records: message.records }).then((frame: Frame) => receive({ type: "frame", id, frame: readFrame(frame) })).catch(failed(id));
    }
  };
  return { engine: { send }, network };
}

const settings = ({ rate, momentum, optimizer, steps, seed, batch }: State) => ({ rate, momentum, optimizer, steps, seed, batch });
const floats = (values: ArrayLike<number | null>) => Float64Array.from(values, (v) => v ?? NaN);

function readSetup(s: Setup): Setup {
  const predicted = s.predicted && {
    loss: s.predicted.loss.map((v) => v ?? NaN), outputs: s.predicted.outputs.map(floats),
    curves: s.predicted.curves.map((c) => Float32Array.from(c)), modes: s.predicted.modes.map(floats),
  };
  return { ...s, x: floats(s.x), y: floats(s.y), marks: floats(s.marks), f0: floats(s.f0), rates: floats(s.rates), coefficients: floats(s.coefficients),
    kernel: floats(s.kernel), grid: floats(s.grid), start: Float32Array.from(s.start), cross: Float32Array.from(s.cross), best: null, predicted };
}

function readFrame(f: Frame): Frame {
  return { ...f, loss: f.loss ?? Infinity, outputs: floats(f.outputs), curve: Float32Array.from(f.curve), modes: floats(f.modes), neurons: null, units: null, margin: null };
}
