// Compares pictures pixel by pixel, as a part of browser.mjs: for each pair, the share that differs.
// A request: { pairs: [[path, path]], threshold: 0 to 255 }. Chromium decodes the pictures.

import { readFileSync } from "node:fs";

export async function compare(browser, request) {
  const page = await browser.newPage();
  const shares = [];
  for (const pair of request.pairs) {
    const pictures = pair.map((path) => `data:image/png;base64,${readFileSync(path).toString("base64")}`);
    shares.push(
      await page.evaluate(
        async ([pictures, threshold]) => {
          const [a, b] = await Promise.all(
            pictures.map(async (address) => {
              const picture = new Image();
              picture.src = address;
              await picture.decode();
              const { width, height } = picture;
              const canvas = new OffscreenCanvas(width, height).getContext("2d");
              canvas.drawImage(picture, 0, 0);
              return { width, height, data: canvas.getImageData(0, 0, width, height).data };
            }),
          );
          if (a.width !== b.width || a.height !== b.height) return 1;
          let different = 0;
          for (let i = 0; i < a.data.length; i += 4)
            if ([0, 1, 2].some((c) => Math.abs(a.data[i + c] - b.data[i + c]) > threshold)) different += 1;
          return different / (a.width * a.height);
        },
        [pictures, request.threshold],
      ),
    );
  }
  await page.close();
  return shares;
}
