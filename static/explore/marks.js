// Where the marks of the chart stand, in pixels. Across, values are left to Vega's scale.

import { day, hosts } from "./view.js";

/** More bars than these nobody can read. */
export const MOST_BARS = 72;

/** A character is at most so wide, as a share of the size of the type. */
const CHARACTER = 0.58;

/**
 * The data of each layer of explore/bars.mjs, and the sizes of the chart.
 *
 * @typedef {object} Marks
 * @property {object[]} bars
 * @property {object[]} intervals
 * @property {object[]} values
 * @property {object[]} texts
 * @property {{ left: number, right: number, top: number, bottom: number }} padding
 * @property {number} width between the paddings
 * @property {number} height
 */

/**
 * A bar for each figure, under the title of its scenario and, if there are several, of its host.
 * Names stand before the bars, or above them where the page is narrow.
 *
 * @param {import("./view.js").Group[]} groups
 * @param {string} unit what stands under the axis
 * @param {number} total width in pixels
 * @param {number} size of the type in pixels
 * @returns {Marks}
 */
export function marks(groups, unit, total, size) {
  const all = groups.flatMap((group) => group.figures);
  const severalHosts = hosts(all).length > 1;
  const repeated = groups.some(({ figures }) => {
    return new Set(figures.map((figure) => figure.label)).size < figures.length;
  });
  /** @param {import("./view.js").Figure} figure */
  const named = (figure) => (repeated ? `${figure.label}, ${day(figure.date)}` : figure.label);
  /** @param {import("./view.js").Figure} figure */
  const told = (figure) => (figure.valid ? figure.text : `${figure.text} (not counted)`);
  /** @param {string[]} texts */
  const room = (texts) => Math.max(...texts.map((text) => text.length)) * CHARACTER * size;

  const before = room(all.map(named)) + size;
  const behind = room(all.map(told)) + size;
  const narrow = before + behind > 0.6 * total;
  const left = narrow ? 0 : before;
  const right = narrow ? 0 : behind;
  const line = 1.45 * size;
  /** @type {object[]} */ const bars = [];
  /** @type {object[]} */ const intervals = [];
  /** @type {object[]} */ const values = [];
  /** @type {object[]} */ const texts = [];
  let y = 0;

  /** Adds a text that starts at the left edge, in lines. @param {string} text @param {object} look @param {number} room */
  function heading(text, look, room) {
    for (const part of wrapped(text, room / (CHARACTER * size * 1.08))) {
      texts.push({ text: part, x: -left, y: y + line / 2, align: "left", ...look });
      y += line;
    }
  }

  for (const group of groups) {
    const title = group.name.charAt(0).toUpperCase() + group.name.slice(1);
    heading(title, { weight: 600, colour: "var(--ink)" }, total);
    let host = "";
    for (const figure of group.figures) {
      if (severalHosts && figure.host !== host) {
        host = figure.host;
        heading(host, { weight: 400, colour: "var(--soft)" }, total);
      }
      const look = { weight: 400, colour: "var(--ink)" };
      if (narrow) {
        const at = y + line / 2;
        texts.push({ text: told(figure), x: total, y: at, align: "right", ...look, weight: 600 });
        heading(named(figure), look, total - room([told(figure)]) - size);
      }
      const middle = y + (narrow ? 0.5 * size : line / 2);
      if (!narrow) {
        texts.push({ text: named(figure), x: -size / 2, y: middle, align: "right", ...look });
        values.push({
          text: told(figure),
          end: Math.max(figure.value, figure.high ?? 0),
          y: middle,
        });
      }
      bars.push({
        value: figure.value,
        y: middle,
        colour: `var(--${figure.colour})`,
        opacity: figure.valid ? 1 : 0.3,
      });
      if (figure.low !== undefined && figure.high !== undefined)
        intervals.push({ low: figure.low, high: figure.high, y: middle });
      y += narrow ? 1.5 * size : line;
    }
    y += size;
  }
  texts.push({
    ...{ text: unit, x: 0, y: y + 2.9 * size, align: "left" },
    ...{ weight: 400, colour: "var(--soft)" },
  });
  return {
    ...{ bars, intervals, values, texts },
    padding: { left, right, top: 0, bottom: 3.8 * size },
    width: total - left - right,
    height: y,
  };
}

/**
 * A text in lines of at most so many characters, broken between words.
 *
 * @param {string} text
 * @param {number} most
 * @returns {string[]}
 */
function wrapped(text, most) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
