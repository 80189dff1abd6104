/**
 * Templates that take all that they can get. Their contacts have `items`, a list of 64 numbers:
 * loops over it are not bounded by the limits on ranges and filters.
 */

export const ITEMS = Array.from({ length: 64 }, (_, i) => i);

/** Puts the content into `depth` nested loops, so that it runs 64 to the power of `depth` times. */
function nested(depth: number, content: string): string {
  const loops = Array.from({ length: depth }, (_, i) => `{% for i${i} in items %}`).join("");
  return loops + content + "{% endfor %}".repeat(depth);
}

const SUM = "{% assign total = total | plus: 1 %}";

export const HOSTILE: readonly (readonly [name: string, body: string])[] = [
  // Sixteen million steps.
  ["computes for ten seconds", `{% assign total = 0 %}${nested(4, SUM)}<p>{{ total }}</p>`],
  // A million times a thousand characters.
  ["writes a gigabyte", nested(4, "x".repeat(64))],
  ["never ends", `{% assign total = 0 %}${nested(12, SUM)}<p>{{ total }}</p>`],
];
