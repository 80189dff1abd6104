/** Slugs: the readable part of a segment's event names, which never changes. */

/** Longest slug of a name, in characters. */
const LONGEST = 60;

/** Makes "grosste-kunden" of "Größte Kunden!" and keeps letters of other scripts. */
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

/** Returns the first of `base`, `base-2`, `base-3` and so on that is not taken. */
export function freeSlug(base: string, taken: ReadonlySet<string>): string {
  let slug = base;
  for (let n = 2; taken.has(slug); n++) slug = `${base}-${n}`;
  return slug;
}

/** One hyphen stands for every run of other characters, so there is at most one at either end. */
function trimHyphens(text: string): string {
  return text.replace(/^-/, "").replace(/-$/, "");
}
