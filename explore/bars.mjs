// The chart of Explore as a Vega-Lite specification. Heights are laid out in pixels by
// static/explore/marks.js; across, Vega's scale maps values to the width of the page.

/** @param {string} field */
const pixels = (field) => ({ field, type: "quantitative", scale: null, axis: null });

/** @param {string} field */
const across = (field) => ({ field, type: "quantitative", title: null });

const ink = "var(--ink)";

export default {
  $schema: "https://vega.github.io/schema/vega-lite/v6.json",
  autosize: "none",
  padding: 0,
  width: 600,
  height: 400,
  params: [
    { name: "fontSize", value: 12 },
    { name: "thickness", value: 12 },
    { name: "ticks", value: 5 },
  ],
  layer: [
    {
      data: { name: "bars" },
      mark: { type: "rule", aria: false, strokeWidth: { expr: "thickness" }, strokeCap: "butt" },
      encoding: {
        x: {
          ...across("value"),
          axis: {
            format: ",~f",
            tickCount: { expr: "ticks" },
            grid: true,
          },
          scale: { domainMin: 0, nice: false, zero: true },
        },
        x2: { datum: 0 },
        y: pixels("y"),
        color: { field: "colour", type: "nominal", scale: null },
        strokeOpacity: { field: "opacity", type: "quantitative", scale: null },
      },
    },
    {
      data: { name: "intervals" },
      mark: { type: "rule", aria: false, strokeWidth: 2, color: ink },
      encoding: { x: across("low"), x2: { field: "high" }, y: pixels("y") },
    },
    {
      data: { name: "values" },
      mark: { type: "text", aria: false, align: "left", baseline: "middle", dx: 6, color: ink },
      encoding: { x: across("end"), y: pixels("y"), text: { field: "text" } },
    },
    {
      data: { name: "texts" },
      mark: {
        type: "text",
        aria: false,
        baseline: "middle",
        color: { expr: "datum.colour" },
        align: { expr: "datum.align" },
        fontWeight: { expr: "datum.weight" },
      },
      encoding: { x: pixels("x"), y: pixels("y"), text: { field: "text" } },
    },
  ],
  config: {
    aria: false,
    background: null,
    font: "inherit",
    view: { stroke: null },
    text: { fontSize: { expr: "fontSize" } },
    axis: {
      domain: false,
      ticks: false,
      gridColor: "var(--rule)",
      labelColor: ink,
      labelFontSize: { expr: "fontSize" },
      labelPadding: 6,
    },
  },
};
