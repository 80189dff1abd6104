/** Paths to values in nested data. */

/** Splits a path at its dots. `\.` is a dot in a key, and `\\` is a backslash. */
export function splitPath(text: string): string[] {
  const keys: string[] = [];
  let key = "";
  for (let i = 0; i < text.length; i++) {
    const next = text.charAt(i + 1);
    if (text[i] === ".") {
      keys.push(key);
      key = "";
    } else if (text[i] === "\\" && (next === "." || next === "\\")) {
      key += next;
      i++;
    } else {
      key += text.charAt(i);
    }
  }
  return [...keys, key];
}

/** Writes keys as `splitPath` reads them. */
export function joinPath(keys: readonly string[]): string {
  return keys.map((key) => key.replaceAll(/[\\.]/g, "\\$&")).join(".");
}
