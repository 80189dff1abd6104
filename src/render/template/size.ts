/**
 * Measures the Liquid in a template before it is compiled. A compiled tag takes a hundred times the
 * memory of its source and several microseconds, so a template of 1 MiB with nothing but tags would
 * take 230 MiB and most of a second.
 */

/** Outputs and tags of one template. */
const MOST_TAGS = 10_000;
/** Characters inside of all outputs and tags: one tag can hold many filters or statements. */
const MOST_CODE = 128 * 1024;

const KINDS = [
  { open: "{{", close: "}}" },
  { open: "{%", close: "%}" },
] as const;

/** Number of outputs and tags, and the characters inside of them. */
export type TemplateSize = { tags: number; code: number };

export function measureTemplate(source: string): TemplateSize {
  const size = { tags: 0, code: 0 };
  for (const { open, close } of KINDS) {
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

/** What is too large about a template; null if nothing is. */
export function sizeFault({ tags, code }: TemplateSize): string | null {
  if (tags > MOST_TAGS) {
    return `the template has more than ${MOST_TAGS.toLocaleString("en-US")} outputs and tags`;
  }
  return code > MOST_CODE ? "the outputs and tags have more than 128 KiB of code" : null;
}
