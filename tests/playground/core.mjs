// The computations inside playground.html, for node.
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

export function coreOf(page) {
  const text = readFileSync(page, "utf8");
  const source = page.endsWith(".html") ? text.match(/<script type="text\/plain" id="worker">([\s\S]*?)<\/script>/)[1] : text;
  const names = { Float64Array, Float32Array, Uint8Array, Array, Math, Number, Map, Set, URLSearchParams, decodeURIComponent, Object, String, JSON };
  const context = { ...names, self: {}, performance, setTimeout: (work) => work() };
  runInNewContext(`${source}; self.core = Playground`, context);
  return context.self.core;
}
