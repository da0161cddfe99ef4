// What the worker file starts with. The exports are for the tests, which read the same file.
import { makeHandler } from "./worker";
import type { FromWorker, ToWorker } from "./protocol";

export * from "../core/index";
export { lessonState, LESSONS } from "../ui/lessons";
export { asPython } from "../ui/python";
export { bandOf } from "./band";
export { Run } from "./run";
export { makeHandler };

const scope = self as unknown as { postMessage?: (m: FromWorker) => void; onmessage?: (e: MessageEvent<ToWorker>) => void };
if (typeof scope.postMessage === "function") {
  const handle = makeHandler((message) => scope.postMessage!(message));
  scope.onmessage = (event) => handle(event.data);
}
