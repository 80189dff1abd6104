/**
 * Cache of compiled templates by source, so that a body that is sent a thousand times is parsed
 * once.
 */

import { perApp } from "../../lib/per-app.ts";
import { type Compiled, compileTemplate, type Template, type TemplateKind } from "./template.ts";

export type TemplateCache = {
  /** Like `compileTemplate`, with a cache. Templates with an error and those without tags are not cached. */
  compile(source: string, kind: TemplateKind): Compiled;
  readonly entries: number;
  /** Rough estimate of the memory that the entries use. */
  readonly bytes: number;
};

/** Estimated memory of a compiled template for each UTF-16 unit of its source. */
const BYTES_PER_UNIT = 4;
/** Estimated memory for each output or tag. */
const BYTES_PER_TAG = 1_300;
/** Estimated memory for each UTF-16 unit inside outputs and tags. */
const BYTES_PER_CODE_UNIT = 150;
/** Estimated memory for each entry of the cache. */
const BYTES_PER_ENTRY = 1_024;

/** The cache of an application. */
export const compiledTemplates = perApp(() =>
  templateCache({ maxEntries: 500, maxBytes: 32 * 1024 * 1024 }),
);

/** Creates a cache that evicts the least recently used entry. */
export function templateCache(limits: { maxEntries: number; maxBytes: number }): TemplateCache {
  const templates: Record<TemplateKind, Map<string, Template>> = {
    html: new Map(),
    text: new Map(),
    header: new Map(),
    url: new Map(),
    json: new Map(),
  };
  /** All entries, the least recently used one first. */
  const order = new Set<Template>();
  let bytes = 0;

  function touch(template: Template): void {
    order.delete(template);
    order.add(template);
  }

  function store(template: Template): void {
    if (sizeOf(template) > limits.maxBytes || limits.maxEntries < 1) return;
    templates[template.kind].set(template.source, template);
    order.add(template);
    bytes += sizeOf(template);
    for (const oldest of order) {
      if (order.size <= limits.maxEntries && bytes <= limits.maxBytes) return;
      templates[oldest.kind].delete(oldest.source);
      order.delete(oldest);
      bytes -= sizeOf(oldest);
    }
  }

  return {
    compile(source, kind) {
      const template = templates[kind].get(source);
      if (template !== undefined) {
        touch(template);
        return { ok: true, template };
      }
      const compiled = compileTemplate(source, kind);
      // A finished body has nothing to compile, and applications send a different one each time.
      if (compiled.ok && compiled.template.nodes !== null) store(compiled.template);
      return compiled;
    },
    get entries() {
      return order.size;
    },
    get bytes() {
      return bytes;
    },
  };
}

function sizeOf({ source, size }: Template): number {
  const compiled = size.tags * BYTES_PER_TAG + size.code * BYTES_PER_CODE_UNIT;
  return source.length * BYTES_PER_UNIT + compiled + BYTES_PER_ENTRY;
}
