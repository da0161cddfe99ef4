// Starts the page.
import { readState } from "../core/state";
import { isTensorflowLink, readTensorflowLink } from "../core/tfplayground";
import type { FromWorker } from "../engine/protocol";
import { App } from "./app";
import { localEngine, servedEngine } from "./engine";
import { lessonOf, lessonState, measuresSharpness } from "./lessons";
import { Player } from "./player";

/** Waits until the browser has painted what is there. */
const painted = () => new Promise<void>((done) => requestAnimationFrame(() => setTimeout(done)));

async function main(): Promise<void> {
  let player: Player | null = null;
  const receive = (message: FromWorker) => player?.receive(message);
  const served = await servedEngine(receive);
  const link = isTensorflowLink(location.hash) ? null : readState(location.hash, lessonState);
  const start = served ? lessonState("free")! : (link?.state ?? readTensorflowLink(location.hash).state);
  player = new Player(served?.engine ?? localEngine(receive));
  player.prepare(start, measuresSharpness(lessonOf(start.lesson)!)); // computed while the page is painted and built
  await painted();
  const app = new App(link?.chrome ?? true, start, served?.network ?? null, player);
  (window as unknown as { playground: App }).playground = app;
  app.start();
}

void main();
