// What a browser of a width shows of figures: the box of each text that can be seen, and its size.
//
// { ask: "texts", html, width } -> { width, figures: [{ box, texts: [{ text, size, box }] }] }
// A box is [left, top, right, bottom] in pixels; `width` is that of all content.

export async function texts(browser, { html, width }) {
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  try {
    await page.setContent(html);
    return await page.evaluate(() => {
      const boxOf = (element) => {
        const { left, top, right, bottom } = element.getBoundingClientRect();
        return [left, top, right, bottom];
      };
      const seen = [...document.querySelectorAll("svg[role=img]")].filter((svg) => svg.getClientRects().length);
      return {
        width: document.documentElement.scrollWidth,
        figures: seen.map((svg) => ({
          box: boxOf(svg),
          texts: [...svg.querySelectorAll("text")].map((text) => ({
            text: text.textContent,
            size: parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a,
            box: boxOf(text),
          })),
        })),
      };
    });
  } finally {
    await page.close();
  }
}
