// Fills in the page about cores, as a part of browser.mjs.
//
// A request: { base, page, given: [{ name: value, … }, …] }. The answer: the result after each, and what
// the page shows without JavaScript.

export async function cores(browser, request) {
  const address = new URL(request.page, request.base).href;
  const page = await browser.newPage();
  await page.goto(address, { waitUntil: "load" });
  const results = [];
  for (const fields of request.given) {
    for (const [name, value] of Object.entries(fields)) {
      const field = page.locator(`#cores [name="${name}"]`);
      await (["library", "key"].includes(name) ? field.selectOption(value) : field.fill(value));
    }
    results.push(await page.locator("#cores output").textContent());
  }
  await page.close();
  const context = await browser.newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(address, { waitUntil: "load" });
  const form = await plain.locator("#cores").isVisible();
  const cells = await plain.locator("table td").allTextContents();
  await context.close();
  return { results, form, cells };
}
