/** Slugs: the stable, readable part of a segment's event names. */

const LONGEST = 60;

/** "Größte Kunden!" → "grosste-kunden"; letters of other scripts stay. */
export function slugOf(name: string): string {
  const plain = name
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  return trimHyphens(Array.from(trimHyphens(plain)).slice(0, LONGEST).join("")) || "segment";
}

/** `base`, or `base-2`, `base-3` and so on: the first one that is not taken. */
export function freeSlug(base: string, taken: ReadonlySet<string>): string {
  let slug = base;
  for (let n = 2; taken.has(slug); n++) slug = `${base}-${n}`;
  return slug;
}

function trimHyphens(text: string): string {
  return text.replaceAll(/^-+|-+$/g, "");
}
