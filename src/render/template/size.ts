/**
 * Measures the Liquid in a template before it is compiled. A compiled tag uses a hundred times the
 * memory of its source, and its compilation takes several microseconds. A template of 1 MiB with
 * only tags would use 230 MiB and take most of a second.
 */

/** Most outputs and tags of one template. */
const MAX_TAGS = 10_000;
/**
 * Most UTF-16 units inside all outputs and tags: one tag can contain many filters or statements.
 */
const MAX_CODE = 128 * 1024;

const DELIMITERS = [
  { open: "{{", close: "}}" },
  { open: "{%", close: "%}" },
] as const;

/** Number of outputs and tags, and the UTF-16 units inside them. */
export type TemplateSize = { tags: number; code: number };

export function measureTemplate(source: string): TemplateSize {
  const size = { tags: 0, code: 0 };
  for (const { open, close } of DELIMITERS) {
    let at = source.indexOf(open);
    while (at !== -1) {
      const found = source.indexOf(close, at + open.length);
      const end = found === -1 ? source.length : found;
      size.tags++;
      size.code += end - at - open.length;
      at = source.indexOf(open, end);
    }
  }
  return size;
}

/** The reason why a template is too large; null if it is not. */
export function sizeFault({ tags, code }: TemplateSize): string | null {
  if (tags > MAX_TAGS) {
    return `the template has more than ${MAX_TAGS.toLocaleString("en-US")} outputs and tags`;
  }
  return code > MAX_CODE ? "the outputs and tags have more than 128 KiB of code" : null;
}
