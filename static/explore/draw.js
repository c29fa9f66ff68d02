// Draws the charts of Explore as SVG, only with attributes: the page's policy forbids styles.

import { domain, marks, named, printed, scale, ticks } from "./marks.js";

/** @typedef {import("./view.js").Group} Group */

export const INK = "var(--ink)";

/** @param {string} name @param {Record<string, string | number>} attributes @param {...(Node | string)} children */
export function make(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** A number on an axis. @param {number} value */
export const shown = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 });

/**
 * A drawing with its title and a text alternative.
 *
 * @param {number} id number of the drawing on the page
 * @param {string} title
 * @param {Group[]} groups
 * @param {number} width
 * @param {number} height
 */
export function drawing(id, title, groups, width, height) {
  const names = [`explore-title-${id}`, `explore-desc-${id}`];
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return make(
    "svg",
    { ...size, role: "img", "aria-labelledby": names.join(" ") },
    make("title", { id: names[0] ?? "" }, title),
    make("desc", { id: names[1] ?? "" }, described(groups)),
  );
}

/** The text alternative of a drawing. @param {Group[]} groups */
function described(groups) {
  const name = named(groups);
  /** @param {Group} group */
  const each = (group) => group.figures.map((one) => `${name(one)} ${printed(one)}`).join(", ");
  return groups.map((group) => `${group.name}: ${each(group)}`).join("; ");
}

/**
 * Bars of one or several scenarios over one axis.
 *
 * @param {Group[]} groups
 * @param {{ title: string, unit: string, width: number, size: number, log: boolean, id: number, domain?: [number, number] }} look
 */
export function bars(groups, look) {
  const { title, unit, width, size, log, id } = look;
  const made = marks(groups, unit, width, size);
  const { left, bottom } = made.padding;
  const all = groups.flatMap((group) => group.figures);
  const within = look.domain ?? extent(all, log);
  const at = scale(within, made.width, log);
  const svg = drawing(id, title, groups, width, made.height + bottom);
  const area = make("g", { transform: `translate(${left} 0)`, "font-size": size });
  const axis = make("g", { class: "explore-axis" });
  area.append(axis);
  for (const tick of ticks(within, Math.max(2, Math.floor(made.width / (7 * size))), log)) {
    const x = at(tick);
    // If there is no room beside the axis, its first and last label are aligned inwards.
    const first = x < size && left < 2 * size ? "start" : undefined;
    const anchor = first ?? (x > made.width - 2 * size ? "end" : "middle");
    const text = { x, y: made.height + 1.4 * size, fill: INK, "text-anchor": anchor };
    axis.append(
      make("line", { x1: x, x2: x, y1: 0, y2: made.height, stroke: "var(--rule)" }),
      make("text", text, shown(tick)),
    );
  }
  for (const { value, y, library, opacity } of made.bars)
    area.append(
      make("line", {
        ...{ x1: 0, x2: Math.max(0, at(value)), y1: y, y2: y },
        ...{ class: library, stroke: "var(--library)" },
        ...{ "stroke-width": 0.9 * size, "stroke-opacity": opacity },
      }),
    );
  for (const { low, high, y } of made.intervals)
    area.append(
      make("line", { x1: at(low), x2: at(high), y1: y, y2: y, stroke: INK, "stroke-width": 2 }),
    );
  for (const { text, end, y } of made.values)
    area.append(
      make("text", { x: at(end) + 6, y, fill: INK, "dominant-baseline": "middle" }, text),
    );
  for (const { text, x, y, weight, colour, align } of made.texts)
    area.append(
      make(
        "text",
        {
          ...{ x, y, fill: colour, "font-weight": weight, "dominant-baseline": "middle" },
          "text-anchor": align === "right" ? "end" : "start",
        },
        text,
      ),
    );
  svg.append(area);
  return svg;
}

/** The smallest and largest value that an axis must contain. @param {import("./view.js").Figure[]} figures @param {boolean} log */
export function extent(figures, log) {
  const values = figures.flatMap((one) => [one.value, one.low ?? one.value, one.high ?? one.value]);
  return domain(values, log);
}
