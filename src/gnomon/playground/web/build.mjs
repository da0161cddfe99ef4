// Builds playground.html from the sources in this folder. Run it with `make playground`, which installs esbuild.
// Usage: node build.mjs <folder with node_modules>
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const tools = resolve(process.argv[2] ?? ".");
const { buildSync } = createRequire(join(tools, "package.json"))("esbuild");

const files = (folder) => readdirSync(folder).sort().flatMap((name) => {
  const path = join(folder, name);
  return statSync(path).isDirectory() ? files(path) : [path];
});
const bundle = (entry, options) =>
  buildSync({ entryPoints: [join(here, entry)], bundle: true, minify: true, format: "iife", target: "es2022", write: false, charset: "utf8", ...options })
    .outputFiles[0].text.trim().replaceAll("</script", "<\\/script");

// The page names a hash of its sources, so that a test without node can tell whether it was built from them.
const hash = createHash("sha256");
for (const path of files(here).map((p) => relative(here, p).split("\\").join("/")).sort()) {
  hash.update(`${path}\0`);
  hash.update(readFileSync(join(here, path)));
}
const parts = {
  hash: hash.digest("hex"),
  style: buildSync({ entryPoints: [join(here, "style.css")], minify: true, write: false }).outputFiles[0].text.trim(),
  worker: bundle("engine/entry.ts", { globalName: "Playground" }),
  main: bundle("ui/main.ts"),
};
const page = readFileSync(join(here, "page.html"), "utf8").replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
writeFileSync(join(here, "..", "playground.html"), page);
console.log(`playground.html: ${page.length} characters`);
