/** Builds the script of the page and that of its worker into a folder, which is its one argument. */
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const given = process.argv[2];
if (given === undefined) throw new Error("say where to: node build.mjs FOLDER");
const folder = resolve(given);
const common = {
  absWorkingDir: dirname(fileURLToPath(import.meta.url)),
  bundle: true,
  minify: true,
  target: "es2022",
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
};
await build({
  ...common,
  entryPoints: ["src/main.tsx"],
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
  outfile: `${folder}/page.js`,
});
await build({ ...common, entryPoints: ["src/worker.ts"], format: "iife", outfile: `${folder}/worker.js` });
await build({ ...common, entryPoints: ["src/page.css"], outfile: `${folder}/page.css` });
