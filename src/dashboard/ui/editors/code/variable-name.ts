/** A key of letters, digits and spaces, which a placeholder may contain as it is. */
const PLAIN = /^[\p{L}_][\p{L}\p{N}_-]*(?: [\p{L}\p{N}_-]+)*$/u;
/** Words that mean something else in Liquid or in another template language. */
const RESERVED = /^(?:true|false|nil|null|empty|blank|this|else|and|or|not|contains|if|for)(?: |$)/;

/** The key of the data of a contact as a placeholder contains it; null if it cannot contain it. */
export function variableName(key: string): string | null {
  if (PLAIN.test(key) && !RESERVED.test(key) && !/ (?:and|or|contains|in|if) /.test(key))
    return key;
  if (/[\r\n]/.test(key)) return null;
  if (!key.includes('"')) return `data["${key}"]`;
  return key.includes("'") ? null : `data['${key}']`;
}
