// One Chromium for all tests of pages: answers a request a line, and ends with its input.
//
//   node browser.mjs <path of Chromium>
//
// A request: { ask: "look" | "pick" | "embed" | "compare" | "cores" | "texts", … }, with the rest as the module of
// that name has it. An answer: a line of JSON, { answer } or { error }.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { compare } from "./compare.mjs";
import { cores } from "./cores.mjs";
import { embed } from "./embed.mjs";
import { look } from "./look.mjs";
import { pick } from "./pick.mjs";
import { texts } from "./texts.mjs";

const { chromium } = createRequire(import.meta.url)("playwright-core");
const asked = { compare, cores, embed, look, pick, texts };
const browser = await chromium.launch({
  executablePath: process.argv[2],
  args: ["--no-sandbox", "--font-render-hinting=none", "--hide-scrollbars", "--disable-background-networking"],
});

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, ...request } = JSON.parse(line);
  try {
    console.log(JSON.stringify({ answer: await asked[ask](browser, request) }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error.stack ?? error) }));
  }
}
await browser.close();
