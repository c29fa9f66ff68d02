// Makes static/explore/chart.js, and beside it the licences of what is in it.
//
//   node explore/bundle.mjs           writes both
//   node explore/bundle.mjs --check   fails if what is committed differs

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { compile } from "vega-lite";
import { parse } from "vega-parser";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const target = join(root, "static", "explore", "chart.js");

/** Compiles a Vega-Lite specification and parses what comes of it, expressions included. */
const specifications = {
  name: "specifications",
  /** @param {import("esbuild").PluginBuild} bundler */
  setup(bundler) {
    bundler.onResolve({ filter: /^specification:/ }, ({ path }) => ({
      path: path.replace("specification:", ""),
      namespace: "specification",
    }));
    bundler.onLoad({ filter: /.*/, namespace: "specification" }, async ({ path }) => {
      const { default: specification } = await import(join(here, path));
      const runtime = parse(compile(specification).spec, undefined, { ast: true });
      return { contents: JSON.stringify(runtime), loader: "json" };
    });
  },
};

/** The folder of the package that a bundled file belongs to. @param {string} input */
function packageOf(input) {
  const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
  return found?.[1];
}

/** Name, version, licence and its text of a package. @param {string} folder */
function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = ["LICENSE", "LICENSE.md", "LICENSE.txt"].find((f) => existsSync(join(folder, f)));
  if (!license || !file) throw new Error(`${name} ${version}: no licence in ${folder}`);
  const text = readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim();
  return { head: `${name} ${version}, ${license}`, text };
}

const bundled = await build({
  absWorkingDir: root,
  entryPoints: [join(here, "chart.mjs")],
  bundle: true,
  charset: "utf8",
  format: "esm",
  legalComments: "none",
  metafile: true,
  minify: true,
  plugins: [specifications],
  target: "es2022",
  write: false,
});
const [output] = Object.values(bundled.metafile.outputs);
const used = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput);
const folders = new Set(used.flatMap(([input]) => packageOf(input) ?? []));
const packages = [...folders].map((folder) => licence(join(root, folder)));
packages.sort((a, b) => (a.head < b.head ? -1 : 1));
const heads = packages.map(({ head }) => head);
/** @type {Map<string, string[]>} */
const texts = new Map();
for (const { head, text } of packages) texts.set(text, [...(texts.get(text) ?? []), head]);
const licences = [
  "chart.js is made by `make bundle` of these packages, whose licences follow.",
  heads.join("\n"),
  ...[...texts].map(([text, of]) => `${"-".repeat(80)}\n${of.join("\n")}\n\n${text}`),
].join("\n\n");
const made = {
  [target]: `// Made by \`make bundle\`; what is in it and its licences: chart.licences.txt\n${bundled.outputFiles[0]?.text}`,
  [target.replace(/\.js$/, ".licences.txt")]: `${licences}\n`,
};
for (const [path, text] of Object.entries(made)) {
  const name = relative(root, path);
  if (process.argv.includes("--check")) {
    if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
      console.error(`${name}: differs from what its packages give; run \`make bundle\``);
      process.exitCode = 1;
    }
  } else {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
    console.log(`wrote ${name}, ${Buffer.byteLength(text)} bytes`);
  }
}
