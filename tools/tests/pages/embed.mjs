// Measures the contrast of every text of an embedded report, as a part of browser.mjs.
//
// A request: { base, pages, schemes: ["light" | "dark"] }. The answer: for each page and scheme, how
// many texts there are, those below 4.5 to 1, and the color of the site's own heading.

function measured() {
  const channels = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const [r, g, b, a = 1] = channels(getComputedStyle(e).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const low = [];
  let texts = 0;
  const walker = document.createTreeWalker(document.querySelector(".tls-performance"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || element.closest("svg") || !element.checkVisibility()) continue;
    texts += 1;
    const color = channels(getComputedStyle(element).color).slice(0, 3);
    const [a, b] = [luminance(color), luminance(ground(element))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) low.push(`${contrast.toFixed(2)} ${element.tagName} ${walker.currentNode.textContent.trim().slice(0, 40)}`);
  }
  return {
    texts,
    low,
    own: getComputedStyle(document.querySelector("header h1")).color,
    size: getComputedStyle(document.querySelector(".tls-performance table.results td")).fontSize,
    spacing: getComputedStyle(document.querySelector(".tls-performance .lead")).letterSpacing,
    picture: document.querySelector(".tls-performance .picture img").getBoundingClientRect().width,
    wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  };
}

export async function embed(browser, request) {
  const seen = [];
  for (const scheme of request.schemes) {
    const context = await browser.newContext({ colorScheme: scheme, viewport: { width: 1280, height: 900 } });
    for (const path of request.pages) {
      const page = await context.newPage();
      await page.goto(new URL(path, request.base).href, { waitUntil: "load" });
      seen.push({ page: path, scheme, ...(await page.evaluate(measured)) });
      await page.close();
    }
    await context.close();
  }
  return seen;
}
