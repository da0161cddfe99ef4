// The computations inside playground.html, for node.
import { readFileSync } from "node:fs";

export function coreOf(page) {
  const text = readFileSync(page, "utf8");
  const source = page.endsWith(".html") ? text.match(/<script type="text\/plain" id="worker">([\s\S]*?)<\/script>/)[1] : text;
  // Not a context of its own: there, every use of Math is a slow lookup.
  return new Function("self", "setTimeout", `${source}; return Playground`)({}, (work) => work());
}
