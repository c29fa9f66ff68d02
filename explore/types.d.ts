// Of Vega only what is used here is declared: its packages have no types of their own.

declare module "specification:*" {
  const specification: object;
  export default specification;
}

declare module "vega-parser" {
  export function parse(specification: object, config: undefined, options: { ast: true }): object;
}

declare module "vega-dataflow" {
  export const transforms: Record<string, object>;
}

declare module "vega-encode" {
  export const axisticks: object, datajoin: object, encode: object, scale: object;
}

declare module "vega-transforms" {
  export const collect: object, extent: object, filter: object, multiextent: object;
  export const proxy: object, relay: object, sieve: object;
}

declare module "vega-view-transforms" {
  export const bound: object, mark: object, overlap: object, render: object, viewlayout: object;
}

declare module "vega-interpreter" {
  export const expressionInterpreter: object;
}

declare module "vega-view" {
  export class View {
    constructor(
      specification: object,
      options: { expr: object; renderer: "svg"; container: HTMLElement },
    );
  }
}
