/** Compiled templates by source, so that a body sent a thousand times is parsed once. */

import { type Compiled, compileTemplate, type Template, type TemplateKind } from "./template.ts";

export type TemplateCache = {
  /** As `compileTemplate`. A template with an error is compiled each time. */
  compile(source: string, kind: TemplateKind): Compiled;
  readonly entries: number;
  /** A rough estimate of the memory that the entries take. */
  readonly bytes: number;
};

/** What a compiled template takes: for a character of its source, for a tag, for a character in tags. */
const BYTES_PER_UNIT = 4;
const BYTES_PER_TAG = 1_300;
const BYTES_PER_CODE_UNIT = 150;
const BYTES_PER_ENTRY = 1_024;

/** A cache that drops the entry that was used longest ago. */
export function templateCache(limits: { maxEntries: number; maxBytes: number }): TemplateCache {
  const found: Record<TemplateKind, Map<string, Template>> = {
    html: new Map(),
    text: new Map(),
    url: new Map(),
  };
  /** All kinds in order of use: the first was used longest ago. */
  const order = new Set<Template>();
  let bytes = 0;

  function touch(template: Template): void {
    order.delete(template);
    order.add(template);
  }

  function keep(template: Template): void {
    if (sizeOf(template) > limits.maxBytes || limits.maxEntries < 1) return;
    found[template.kind].set(template.source, template);
    order.add(template);
    bytes += sizeOf(template);
    for (const oldest of order) {
      if (order.size <= limits.maxEntries && bytes <= limits.maxBytes) return;
      found[oldest.kind].delete(oldest.source);
      order.delete(oldest);
      bytes -= sizeOf(oldest);
    }
  }

  return {
    compile(source, kind) {
      const template = found[kind].get(source);
      if (template !== undefined) {
        touch(template);
        return { ok: true, template };
      }
      const compiled = compileTemplate(source, kind);
      if (compiled.ok) keep(compiled.template);
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
