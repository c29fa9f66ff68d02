// Positions of the marks of a chart, in pixels. Pure functions.

import { hosts } from "./view.js";

/** With more bars than this a chart is not readable: each scenario gets its own. */
export const MOST_BARS = 72;

/** Largest width of a character, as a share of the font size. */
export const CHARACTER = 0.58;

/** A figure's value, and whether it counts. @param {import("./view.js").Figure} figure */
export const printed = (figure) => (figure.valid ? figure.text : `${figure.text} (not counted)`);

/**
 * The name of a figure of these scenarios: its label, with its report if labels repeat.
 *
 * @param {import("./view.js").Group[]} groups
 */
export function named(groups) {
  const repeated = groups.some(({ figures }) => {
    return new Set(figures.map((figure) => figure.label)).size < figures.length;
  });
  /** @param {import("./view.js").Figure} figure */
  return (figure) => (repeated ? `${figure.label}, ${figure.report}` : figure.label);
}

/**
 * The marks of a bar chart, and its sizes. Horizontal values are not scaled yet.
 *
 * @typedef {{ text: string, y: number, weight: number, colour: string, align: string }} Look
 * @typedef {object} Marks
 * @property {{ value: number, y: number, library: string, opacity: number }[]} bars
 * @property {{ low: number, high: number, y: number }[]} intervals
 * @property {{ text: string, end: number, y: number }[]} values
 * @property {(Look & { x: number })[]} texts
 * @property {{ left: number, right: number, top: number, bottom: number }} padding
 * @property {number} width between the paddings
 * @property {number} height
 */

/**
 * A bar for each figure, under the title of its scenario and, if there are several, of its host.
 * Names are before the bars, or above them on a narrow page.
 *
 * @param {import("./view.js").Group[]} groups
 * @param {string} unit the text under the axis
 * @param {number} total width in pixels
 * @param {number} size of the type in pixels
 * @returns {Marks}
 */
export function marks(groups, unit, total, size) {
  const all = groups.flatMap((group) => group.figures);
  const severalHosts = hosts(all).length > 1;
  const name = named(groups);
  /** @param {string[]} texts */
  const room = (texts) => Math.max(...texts.map((text) => text.length)) * CHARACTER * size;

  const before = room(all.map(name)) + size;
  const behind = room(all.map(printed)) + size;
  const narrow = before + behind > 0.6 * total;
  const left = narrow ? 0 : before;
  const right = narrow ? 0 : behind;
  const line = 1.45 * size;
  /** @type {Marks["bars"]} */ const bars = [];
  /** @type {Marks["intervals"]} */ const intervals = [];
  /** @type {Marks["values"]} */ const values = [];
  /** @type {Marks["texts"]} */ const texts = [];
  let y = 0;

  /** Adds a text that starts at the left edge, in lines. @param {string} text @param {{ weight: number, colour: string }} look @param {number} room */
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
        texts.push({
          text: printed(figure),
          x: total,
          y: at,
          align: "right",
          ...look,
          weight: 600,
        });
        heading(name(figure), look, total - room([printed(figure)]) - size);
      }
      const middle = y + (narrow ? 0.5 * size : line / 2);
      if (!narrow) {
        texts.push({ text: name(figure), x: -size / 2, y: middle, align: "right", ...look });
        values.push({
          text: printed(figure),
          end: Math.max(figure.value, figure.high ?? 0),
          y: middle,
        });
      }
      bars.push({
        value: figure.value,
        y: middle,
        library: `library-${figure.colour}`,
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
 * Steps of an axis: round numbers, or powers of ten and their halves.
 *
 * @param {[number, number]} domain
 * @param {number} count approximate number of steps
 * @param {boolean} log
 */
export function ticks([low, high], count, log) {
  if (log) {
    /** @param {number[]} digits */
    const within = (digits) => {
      const all = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1)
        for (const digit of digits) all.push(digit * 10 ** power);
      return all.filter((tick) => tick >= low && tick <= high);
    };
    const few = within([1, 2, 5]);
    return few.length > 2 ? few : within([1, 2, 3, 4, 5, 6, 8]);
  }
  const rough = high / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((digit) => digit * power >= rough) ?? 10);
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, index) => index * step);
}

/**
 * The domain of an axis: from zero, or on a logarithmic axis from the smallest value above zero.
 *
 * @param {number[]} values
 * @param {boolean} log
 * @returns {[number, number]}
 */
export function domain(values, log) {
  const high = Math.max(...values);
  const least = Math.min(...values.filter((value) => value > 0));
  return log ? [least * 0.9, high * 1.02] : [0, high];
}

/**
 * The scale from values to positions between 0 and a length.
 *
 * @param {[number, number]} domain
 * @param {number} length
 * @param {boolean} log
 */
export function scale([low, high], length, log) {
  return (/** @type {number} */ value) =>
    length * (log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : value / high);
}

/**
 * Compares versions of a library; numbers by value.
 *
 * @param {string} a
 * @param {string} b
 */
export function byVersion(a, b) {
  return a.localeCompare(b, "en", { numeric: true });
}

/** Versions on an axis are cut at a comma or this length; legend and points have them whole. */
const LONGEST_VERSION = 16;

/**
 * An axis of versions, grouped by library: labels, positions, and the height of the labels.
 * Labels are vertical if they have no room side by side. If they still have no room, some are left
 * out.
 *
 * @param {import("./view.js").Figure[]} figures
 * @param {number} across
 * @param {number} size of the type
 */
export function versionAxis(figures, across, size) {
  /** @param {import("./view.js").Figure} one */
  const key = (one) => `${one.family} ${one.version}`;
  const families = [...new Set(figures.map((one) => one.family))];
  const first = new Map(figures.map((one) => [key(one), one]));
  const order = [...first.values()].sort(
    (a, b) =>
      families.indexOf(a.family) - families.indexOf(b.family) || byVersion(a.version, b.version),
  );
  const step = across / Math.max(1, order.length);
  const texts = order.map(({ version }) => {
    const [text = ""] = version.split(",");
    return text.length > LONGEST_VERSION ? `${text.slice(0, LONGEST_VERSION - 1)}…` : text;
  });
  const widest = Math.max(0, ...texts.map((text) => text.length)) * CHARACTER * 0.9 * size;
  const upright = widest > 0.95 * step;
  const every = upright ? Math.max(1, Math.ceil((1.1 * size) / step)) : 1;
  /** @param {number} index */
  const place = (index) => (index + 0.5) * step;
  const keys = order.map(key);
  return {
    labels: texts
      .map((text, index) => ({ text, x: place(index), upright }))
      .filter((_, index) => index % every === 0),
    height: upright ? widest + 0.9 * size : 2 * size,
    /** @param {import("./view.js").Figure} one */
    at: (one) => place(keys.indexOf(key(one))),
  };
}

/**
 * The width that a chart needs to name each version of its scenario.
 *
 * @param {import("./view.js").Group[]} groups
 * @param {number} size of the type
 */
export function versionsWidth(groups, size) {
  const counts = groups.map(
    ({ figures }) => new Set(figures.map((one) => `${one.family} ${one.version}`)).size,
  );
  return (6.5 + 1.1 * Math.max(0, ...counts)) * size;
}

/**
 * A line for each library, report and provider of a scenario: its versions in their order.
 *
 * @param {import("./view.js").Figure[]} figures
 */
export function versionLines(figures) {
  /** @type {Map<string, import("./view.js").Figure[]>} */
  const found = new Map();
  for (const figure of figures) {
    const kind = figure.label.replace(figure.version, "").replace(/\s+/g, " ").trim();
    const id = `${kind}~${figure.report}`;
    found.set(id, [...(found.get(id) ?? []), figure]);
  }
  return [...found.values()].map((of) => of.sort((a, b) => byVersion(a.version, b.version)));
}

/**
 * A text in lines of at most so many characters, broken between words.
 *
 * @param {string} text
 * @param {number} most
 * @returns {string[]}
 */
export function wrapped(text, most) {
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
