// The data of Compare: what newest.json has of two implementations. tlsperf computes all ratios;
// here they are only looked up, turned round and written.

/**
 * @typedef {number | number[] | [number, number, number, string] | null | undefined} Pair
 * @typedef {[row: number, runs: number[], texts: string[], pairs: Pair[]]} Kept
 * @typedef {[id: string, command: string, files: [string, string][]]} Run
 * @typedef {{ id: string, page: string, folder: string, title: string, date: string, host: number,
 *   implementations: number[], runs: Run[], rows: Kept[] }} Part
 * @typedef {[anchor: string, name: string, kind: number, unit: number, group: number,
 *   better: string, path: string]} Row
 * @typedef {{ implementations: [string, string, string][], hosts: [string, string][],
 *   kinds: string[], units: string[], rows: Row[], defaults: Record<string, number>,
 *   older: Record<string, number[]>, parts: Part[] }} Data
 */

/**
 * A ratio of the first implementation to the second.
 *
 * @typedef {object} Ratio
 * @property {number} value above 1: the first is better
 * @property {[number, number] | null} interval
 * @property {"difference" | "same" | "untested"} verdict
 * @property {string} size of the smallest difference that would have shown, if it is known
 */

/**
 * Two implementations in a row of a part.
 *
 * @typedef {object} Measurement
 * @property {number} row
 * @property {Part} part
 * @property {Run[]} runs that measured the row
 * @property {string} a figure of the first, as the report has it
 * @property {string} b
 * @property {Ratio | null} ratio null if the report has none
 */

/** The groups of rows, as `contract.compared` numbers them. @type {[id: string, name: string][]} */
export const GROUPS = [
  ["speed", "Connections and data"],
  ["latency", "Latency"],
  ["set-up", "Set-up"],
  ["primitives", "Primitives"],
  ["memory", "Memory"],
  ["counts", "Counts"],
];

/** The ratio of two places in a list of pairs. @param {Pair[]} pairs @param {number} a @param {number} b @returns {Ratio | null} */
export function ratioOf(pairs, a, b) {
  const later = Math.max(a, b);
  const pair = pairs[(later * (later - 1)) / 2 + Math.min(a, b)];
  if (pair === null || pair === undefined) return null;
  const found = read(pair);
  if (later === a) return found;
  const { value, interval } = found;
  return {
    ...found,
    value: 1 / value,
    interval: interval && [1 / interval[1], 1 / interval[0]],
  };
}

/** @param {number | (number | string)[]} pair @returns {Ratio} */
function read(pair) {
  if (!Array.isArray(pair)) {
    const verdict = pair ? "difference" : "same";
    return { value: pair || 1, interval: null, verdict, size: "" };
  }
  const [value, low, high] = pair.map(Number);
  const size = `${pair[3] ?? ""}`;
  const interval = low && high ? /** @type {[number, number]} */ ([low, high]) : null;
  const tested = pair.length === 3 ? "difference" : "untested";
  return { value: value ?? 1, interval, verdict: size ? "same" : tested, size };
}

/** The place of an implementation by its id, or by that of a library. @param {Data} data @param {string | undefined} name @returns {number | undefined} */
export function placeOf(data, name) {
  const at = data.implementations.findIndex(([id]) => id === name);
  return at < 0 ? data.defaults[name ?? ""] : at;
}

/** The hosts that measured both in one run, those of the newest first. @param {Data} data @param {number} a @param {number} b */
export function hostsOf(data, a, b) {
  const both = data.parts.filter((part) => has(part, a, b));
  return [...new Set(both.map((part) => part.host))];
}

/** The implementations that were measured in one run with another. @param {Data} data @param {number} a */
export function partnersOf(data, a) {
  const parts = data.parts.filter((part) => part.implementations.includes(a));
  const found = new Set(parts.flatMap((part) => part.implementations));
  found.delete(a);
  return found;
}

/** @param {Part} part @param {number} a @param {number} b */
const has = (part, a, b) => part.implementations.includes(a) && part.implementations.includes(b);

/** The newest measurement of each row on a host, by the place of the row. @param {Data} data @param {number} a @param {number} b @param {number} host */
export function newest(data, a, b, host) {
  /** @type {Map<number, Measurement>} */
  const found = new Map();
  for (const part of data.parts) {
    if (part.host !== host || !has(part, a, b)) continue;
    for (const kept of part.rows) {
      const one = found.has(kept[0]) ? null : measurement(part, kept, a, b);
      if (one) found.set(kept[0], one);
    }
  }
  return found;
}

/** @param {Part} part @param {Kept} kept @param {number} a @param {number} b @returns {Measurement | null} */
function measurement(part, [row, runs, texts, pairs], a, b) {
  const [first, second] = [part.implementations.indexOf(a), part.implementations.indexOf(b)];
  const [one, other] = [texts[first], texts[second]];
  if (!one || !other) return null;
  return {
    row,
    part,
    runs: runs.flatMap((at) => (part.runs[at] ? [part.runs[at]] : [])),
    a: one,
    b: other,
    ratio: ratioOf(pairs, first, second),
  };
}

/**
 * All measurements of a row on all hosts, newest first.
 *
 * @param {Data} data
 * @param {number} row
 * @param {number} a
 * @param {number} b
 * @param {(folder: string) => Promise<any[]>} load the file of a part, which has what newest.json leaves out
 */
export async function measurements(data, row, a, b, load) {
  const older = new Set(data.older[row] ?? []);
  const found = data.parts.map(async (part, at) => {
    if (!has(part, a, b)) return null;
    const whole = older.has(at) ? wholeRow(data, part, row, await load(part.folder)) : null;
    const kept = whole ?? part.rows.find((one) => one[0] === row);
    return kept ? measurement(part, kept, a, b) : null;
  });
  const all = (await Promise.all(found)).filter((one) => one !== null);
  /** @param {Measurement} one */
  const source = ({ part, runs }) => `${part.host} ${runs.map(([id]) => id)}`;
  return all.filter((one, n) => all.findIndex((of) => source(of) === source(one)) === n);
}

/** A row as the file of its part has it. @param {Data} data @param {Part} part @param {number} row @param {any[]} file @returns {Kept | null} */
function wholeRow(data, part, row, file) {
  const [anchor, , , unit] = data.rows[row] ?? [];
  const of = file.find((one) => one.host === data.hosts[part.host]?.[0]);
  const found = of?.rows.find(
    (/** @type {any} */ one) => one.row.anchor === anchor && one.row.unit === data.units[unit ?? 0],
  );
  return found ? [row, found.runs, found.texts, found.pairs] : null;
}

/** Rows that differ first, the largest difference first; then those without one. @param {Measurement} one @param {Measurement} other */
export function byDifference(one, other) {
  /** @param {Measurement} of */
  const rank = ({ ratio }) => (ratio ? (ratio.verdict === "same" ? 1 : 0) : 2);
  /** @param {Measurement} of */
  const size = ({ ratio }) => Math.abs(Math.log(ratio?.value ?? 1));
  return rank(one) - rank(other) || size(other) - size(one) || one.row - other.row;
}

/** A ratio as tables of reports have it; near 1 with as many digits as it needs to be another. @param {number} value */
function factor(value) {
  if (value >= 100) return Math.round(value).toLocaleString("en");
  if (value >= 10) return value.toFixed(1);
  if (value < 0.1) return value.toFixed(3);
  let digits = 2;
  while (digits < 5 && Number(value.toFixed(digits)) === 1 && value !== 1) digits += 1;
  return value.toFixed(digits);
}

/**
 * A ratio as readers see it: above 1 the first is better, also of bytes and times. "1.92×", or "= 7%"
 * where no difference is shown and 7% would have shown.
 *
 * @param {Measurement} of
 * @returns {[text: string, interval: string]}
 */
export function ratioTexts({ ratio }) {
  if (!ratio) return ["–", ""];
  const { value, interval, verdict, size } = ratio;
  const same = size ? `= ${size.replace("x", "×")}` : "=";
  return [
    verdict === "same" ? same : `${factor(value)}×`,
    (interval ?? []).map(factor).join(" to "),
  ];
}

/** How many rows of which kind, in a sentence. @param {Measurement[]} rows @param {string} a @param {string} b */
export function summary(rows, a, b) {
  /** @param {(ratio: Ratio) => boolean} is */
  const count = (is) => rows.filter(({ ratio }) => ratio && is(ratio)).length;
  const better = count((r) => r.verdict === "difference" && r.value > 1);
  const worse = count((r) => r.verdict === "difference" && r.value < 1);
  const same = count((r) => r.verdict === "same");
  const rest = rows.length - better - worse - same;
  const parts = [`${a} is better in ${better}`, `${b} in ${worse}`];
  if (same) parts.push(`no difference shown in ${same}`);
  if (rest) parts.push(`${rest} not tested`);
  return `${parts.join(", ")}.`;
}
