// Looks at pages, as a part of browser.mjs. A request: { base, pages: [path],
// views: [[width in px, "light" | "dark"]], axe: pages on which axe runs as well, paper: true to look
// at it as it is printed }, or with shots: a folder, and { height }, for pictures instead. The answer: one object a page and view.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

// Runs in the page: what is wider than the box it stands in, also where a reader has to open it. A
// scrolling box may hold more.
function overflowing() {
  const found = [];
  const closed = [...document.querySelectorAll("details:not([open])")];
  for (const details of closed) details.open = true;
  const name = (e) => `${e.tagName.toLowerCase()}.${e.getAttribute("class") ?? ""} "${e.textContent.trim().slice(0, 40)}"`;
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) found.push(`page: ${page.scrollWidth} of ${page.clientWidth} px`);
  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest("svg") || element.matches(".skip, .unseen, thead, thead *")) continue;
    const style = getComputedStyle(element);
    if (style.overflowX === "auto" || style.overflowX === "scroll" || style.display.startsWith("inline")) continue;
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0) found.push(name(element));
  }
  for (const svg of document.querySelectorAll("svg[viewBox]")) {
    const box = svg.getBoundingClientRect();
    // The box of a text is that of its line, somewhat higher than its letters.
    const slack = (2 * box.width) / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    texts.forEach(([label, a], i) => {
      for (const [other, b] of texts.slice(i + 1)) {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // Lines of one label may touch; letters of two may not.
        if (across > slack && down > 0.5 * Math.min(a.height, b.height)) found.push(`labels of a chart overlap: ${label} / ${other}`);
      }
    });
    for (const text of svg.querySelectorAll("text")) {
      const inner = text.getBoundingClientRect();
      if (inner.width && (inner.left < box.left - slack || inner.right > box.right + slack || inner.top < box.top - slack || inner.bottom > box.bottom + slack))
        found.push(`label of a chart: ${text.textContent}`);
    }
  }
  for (const details of closed) details.open = false;
  return found;
}

// Runs in the page: numbers that a line break cuts in two. What is to be copied may break anywhere.
function cutNumbers() {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest("svg, pre, code, .address, .files, dd, thead")) continue;
    for (const match of node.data.matchAll(/\d[\d,.]*\d/g)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const lines = new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top)));
      if (lines.size > 1) found.push(`${match[0]} in "${node.data.trim().slice(0, 40)}"`);
    }
  }
  return found;
}

export async function look(browser, request) {
  const seen = [];
  for (const [width, scheme] of request.views) {
    const context = await browser.newContext({
      viewport: { width, height: request.height ?? 900 },
      colorScheme: scheme,
      reducedMotion: "reduce",
    });
    await context.addInitScript(() => {
      globalThis.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) globalThis.shift += entry.value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    // One tab a view: a new one costs a process, 0.4 s.
    const page = await context.newPage();
    for (const path of request.pages) {
      const found = request.shots ? picture(request, page, path, `${width}-${scheme}`) : seenAt(request, page, path);
      seen.push({ page: path, width, scheme, ...(await found) });
      page.removeAllListeners();
    }
    await context.close();
  }
  return seen;
}

// Runs in the page: the typeface is optional, so a page is shown without it if it arrives late. After
// this, the page has it: lengths and pictures do not depend on how busy the host is.
async function typeface() {
  const style = document.querySelector('link[rel="stylesheet"][href*="style.css"]');
  if (!style) return;
  const url = new URL("fonts/public-sans.woff2", style.href).href;
  const face = new FontFace("Public Sans", `url(${url})`, { weight: "400 750" });
  document.fonts.add(face);
  await face.load();
}

// The page that a script fills is looked at when it is filled.
async function settled(page) {
  if (await page.$("#compare form")) await page.waitForSelector("#compare form:not([hidden])");
}

async function picture(request, page, path, view) {
  await page.goto(new URL(path, request.base).href, { waitUntil: "load" });
  await settled(page);
  await page.evaluate(typeface);
  const name = path.replace(/index\.html$/, "").replaceAll(/[/#]+/g, " ").trim().replaceAll(" ", "-") || "home";
  const shot = join(request.shots, `${name}-${view}.png`);
  await page.screenshot({ path: shot });
  return { shot };
}

async function onPaper(page) {
  await page.emulateMedia({ media: "print" });
  const printed = await page.evaluate(() => ({
    navigation: [...document.querySelectorAll("nav, .skip, footer.site")].filter((e) => e.checkVisibility()).length,
    heads: [...new Set([...document.querySelectorAll("thead")].map((e) => getComputedStyle(e).display))],
    cut: [...document.querySelectorAll(".scroll")].filter((e) => getComputedStyle(e).overflowX !== "visible").length,
    // Dense tables have a page across, 267 mm wide.
    beyond: [...document.querySelectorAll("table")]
      .filter((e) => e.getBoundingClientRect().right > (e.matches(".dense") ? Math.max(1009, innerWidth) : innerWidth) + 1)
      .map((e) => e.id || e.className),
    broken: [...document.querySelectorAll("figure, tr")].filter((e) => getComputedStyle(e).breakInside !== "avoid").length,
  }));
  await page.emulateMedia({ media: "screen" });
  return printed;
}

async function seenAt(request, page, path) {
  const messages = []; // what the page says, and what of it did not arrive
  const requests = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  const own = new Set(); // the page before it in the tab may have requests that its end stops
  page.on("request", (r) => own.add(r) && requests.push(r.url()));
  page.on("requestfailed", (r) => own.has(r) && messages.push(`failed: ${r.url()} ${r.failure()?.errorText}`));
  page.on("response", (r) => r.status() >= 400 && messages.push(`${r.status()}: ${r.url()}`));
  await page.goto(new URL(path, request.base).href, { waitUntil: "load" });
  await settled(page);
  const seen = await page.evaluate(() => ({
    shift: globalThis.shift,
    scrolling: getComputedStyle(document.documentElement).scrollBehavior,
    animations: document.getAnimations().length,
    address: location.href,
    height: document.documentElement.scrollHeight,
    owned: globalThis.owned ?? null,
  }));
  await page.evaluate(typeface);
  const overflow = await page.evaluate(overflowing);
  const cut = await page.evaluate(cutNumbers);
  // Charts: the smallest text in px as shown, and what a reader would have to scroll sideways.
  const charts = await page.evaluate(() => {
    const sizes = [...document.querySelectorAll("svg.panel")]
      .filter((svg) => svg.checkVisibility())
      .map((svg) => (12 * svg.getBoundingClientRect().width) / svg.viewBox.baseVal.width);
    const wide = [...document.querySelectorAll("figure")].filter((e) => [e, ...e.children].some((c) => c.scrollWidth > c.clientWidth + 1));
    return { smallest: sizes.length ? Math.min(...sizes) : null, scrolled: wide.map((e) => e.id) };
  });
  // Tables that are scrolled sideways, and how the name of a row behaves then.
  const tables = await page.evaluate(() =>
    [...document.querySelectorAll(".scroll:has(tbody th[scope='row'])")]
      .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.checkVisibility())
      .map((e) => ({
        caption: e.ariaLabel,
        class: e.querySelector("table").className,
        sign: getComputedStyle(e).backgroundImage,
        name: getComputedStyle(e.querySelector("tbody th[scope='row']")).position,
      })),
  );
  await page.keyboard.press("Tab");
  const skip = await page.evaluate(() => {
    const { left, top, width } = document.activeElement.getBoundingClientRect();
    return { target: document.activeElement.getAttribute("href"), visible: left >= 0 && top >= 0 && width > 0 };
  });
  const unreachable = await page.evaluate(() =>
    [...document.querySelectorAll("a[href], summary")].filter((e) => e.tabIndex < 0).map((e) => e.textContent),
  );
  const heard = [...messages]; // before axe adds what looking makes the page say
  const answer = { ...seen, overflow, cut, charts, tables, skip, unreachable, requests, messages: heard };
  if (request.paper) answer.printed = await onPaper(page);
  if (!request.axe?.includes(path)) return answer;
  // Evaluated through the debugger, which the page's policy does not bind.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"], rules: { "target-size": { enabled: true } } }));
  const where = (violation) => violation.nodes.map((n) => n.target.join(" ")).slice(0, 5).join("; ");
  return { ...answer, violations: violations.map((v) => `${v.impact} ${v.id}: ${where(v)}`) };
}
