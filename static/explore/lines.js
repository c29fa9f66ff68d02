// Draws the versions of each library of a scenario as lines.

import { drawing, extent, INK, make, shown } from "./draw.js";
import {
  CHARACTER,
  named,
  printed,
  scale,
  ticks,
  versionAxis,
  versionLines,
  wrapped,
} from "./marks.js";

/** @typedef {import("./view.js").Group} Group */
/** @typedef {import("./view.js").Figure} Figure */

/** Dashes that distinguish lines of one colour: reports or providers. */
const DASHES = ["none", "7 4", "2 3", "9 3 2 3"];
/** Shapes of points around (0, 0). */
const SHAPES = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
  "M-3.6 -3.6h7.2v7.2h-7.2z",
  "M0 -5L5 0L0 5L-5 0z",
  "M0 -4.6L4.6 3.8H-4.6z",
  "M0 4.6L4.6 -3.8H-4.6z",
];

/**
 * The versions of each library of a scenario as lines. A figure that does not count is a point
 * without fill, not on the line.
 *
 * @param {Group} group
 * @param {{ title: string, width: number, size: number, log: boolean, id: number }} look
 */
export function lines(group, look) {
  const { title, width, size, log, id } = look;
  const versions = versionLines(group.figures);
  const heading = `${group.name.charAt(0).toUpperCase()}${group.name.slice(1)}`;
  const titles = wrapped(heading, width / (CHARACTER * size * 1.08));
  const top = (1.2 + 1.4 * titles.length) * size;
  const place = { left: 5.5 * size, right: size, top, height: 13 * size };
  const across = width - place.left - place.right;
  const axis = versionAxis(group.figures, across, size);
  const within = extent(group.figures, log);
  const up = scale(within, place.height, log);
  /** @param {number} value */
  const y = (value) => place.height - up(value);
  const name = named([group]);
  const most = (width - 3.5 * size) / (CHARACTER * size);
  const names = versions.map((of) => {
    const [first, last] = [of[0], of.at(-1)];
    if (!first || !last) return [];
    const span = of.length > 1 ? `${first.label} to ${last.version}` : first.label;
    return wrapped(name(first).replace(first.label, span), most);
  });
  const hollow = group.figures.some((one) => !one.valid) ? 1 : 0;
  const legend = place.height + axis.height + 1.2 * size;
  const height = place.top + legend + (names.flat().length + hollow) * 1.6 * size;
  const svg = drawing(id, title, [group], width, height);
  const head = { x: 0, fill: INK, "font-weight": 600, "font-size": size };
  svg.append(
    ...titles.map((text, line) => make("text", { ...head, y: (1 + 1.4 * line) * size }, text)),
  );
  const area = make("g", {
    transform: `translate(${place.left} ${place.top})`,
    "font-size": 0.9 * size,
  });
  for (const tick of ticks(within, 4, log))
    area.append(
      make("line", { x1: 0, x2: across, y1: y(tick), y2: y(tick), stroke: "var(--rule)" }),
      make(
        "text",
        {
          ...{ x: -0.6 * size, y: y(tick), fill: INK },
          ...{ "text-anchor": "end", "dominant-baseline": "middle" },
        },
        shown(tick),
      ),
    );
  const labels = make("g", { class: "explore-versions" });
  for (const { text, x, upright } of axis.labels) {
    const at = place.height + (upright ? 0.7 : 1.3) * size;
    const transform = `rotate(${upright ? -90 : 0} ${x} ${at})`;
    const anchor = upright ? "end" : "middle";
    const look = { x, y: at, fill: INK, "text-anchor": anchor, "dominant-baseline": "middle" };
    labels.append(make("text", { ...look, transform }, text));
  }
  area.append(labels);
  const key = make("g", { transform: `translate(${-place.left} 0)` });
  area.append(key);
  let below = legend;
  /** @type {Map<string, number>} */
  const drawn = new Map();
  versions.forEach((of, index) => {
    const colour = of[0]?.colour ?? "";
    const before = drawn.get(colour) ?? 0;
    drawn.set(colour, before + 1);
    const line = stroke(colour, before);
    const counted = of.filter((one) => one.valid);
    const points = counted.map((one) => `${axis.at(one)},${y(one.value)}`).join(" ");
    if (counted.length > 1) area.append(make("polyline", { ...line, points, fill: "none" }));
    for (const one of of) {
      const dot = point(axis.at(one), y(one.value), colour, before, one.valid);
      const why = one.valid ? "" : `: ${one.note ?? "no reason given"}`;
      dot.append(make("title", {}, `${name(one)}: ${printed(one)}${why}`));
      area.append(dot);
    }
    key.append(
      make("line", { ...line, x1: 0, x2: 2.4 * size, y1: below, y2: below }),
      point(1.2 * size, below, colour, before, true),
    );
    for (const text of names[index] ?? []) {
      key.append(entry(text, below, size));
      below += 1.6 * size;
    }
  });
  if (hollow) {
    key.append(point(1.2 * size, below, "", 0, false), entry("not counted", below, size));
  }
  svg.append(area);
  return svg;
}

/** A line of the legend. @param {string} text @param {number} y @param {number} size */
function entry(text, y, size) {
  return make("text", { x: 3 * size, y, fill: INK, "dominant-baseline": "middle" }, text);
}

/** The style of a line, by the number of earlier lines with its colour. @param {string} colour @param {number} before */
function stroke(colour, before) {
  const dash = DASHES[before % DASHES.length] ?? "none";
  return {
    ...{ class: `library-${colour}`, stroke: "var(--library)" },
    ...{ "stroke-width": 2, "stroke-dasharray": dash },
  };
}

/** A point of a line. @param {number} x @param {number} y @param {string} colour @param {number} before @param {boolean} valid */
function point(x, y, colour, before, valid) {
  const own = colour ? "var(--library)" : INK;
  const shape = colour ? `explore-point library-${colour}` : "explore-point";
  const fill = { fill: valid ? own : "none", stroke: own, "stroke-width": 1.5 };
  const d = SHAPES[before % SHAPES.length] ?? "";
  return make("path", { class: shape, transform: `translate(${x} ${y})`, d, ...fill });
}
