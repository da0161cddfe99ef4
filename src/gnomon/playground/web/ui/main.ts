// Starts the page.
import { readState } from "../core/state";
import { isTensorflowLink, readTensorflowLink } from "../core/tfplayground";
import type { FromWorker } from "../engine/protocol";
import { App } from "./app";
import { localEngine, servedEngine } from "./engine";
import { lessonState } from "./lessons";

async function main(): Promise<void> {
  let app: App | null = null;
  const receive = (message: FromWorker) => app?.receive(message);
  const served = await servedEngine(receive);
  const engine = served?.engine ?? localEngine(receive);
  const link = isTensorflowLink(location.hash) ? null : readState(location.hash, lessonState);
  const start = served ? lessonState("free")! : (link?.state ?? readTensorflowLink(location.hash).state);
  app = new App(link?.chrome ?? true, start, served?.network ?? null, engine);
  (window as unknown as { playground: App }).playground = app;
  app.start();
}

// The title is painted before the page is built.
requestAnimationFrame(() => setTimeout(() => void main()));
