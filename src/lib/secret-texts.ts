/** Tells secrets in texts by their form: keys of known services, random tokens, named values. */

import { hasSecretWord, isSecretName, wordsOfName } from "./secret-names.ts";

/** The part of a text that is searched for sentences. */
const LONGEST_SENTENCE = 10_000;

/** Matches secrets in any text: signed tokens, keys in PEM, and keys of known services. */
const CREDENTIAL = new RegExp(
  [
    /\beyJ[\w-]{5,}\.[\w-]{2,}\.?[\w-]*/,
    /-----BEGIN [A-Z ]{1,40}/,
    /\b(?:sk|rk|whsec|shp(?:at|ca|pa|ss)|sq0\w{3}|do[opr]_v1|gh[opsur]|github_pat|xkeysib|glsa|sntrys|lin_api)_[\w.-]{6,}/,
    /\b(?:sk|pk|rk|whsec)_(?:live|test)_?[\w-]*/,
    /\bsk-[\w-]{6,}/,
    /\bsmtp_[A-Za-z0-9]{43}/,
    /\b(?:gl(?:pat|dt|rt)|xkeysib|xsmtpsib|xapp|xox[a-z])[-.][\w.-]{6,}/,
    /\bSG\.[\w-]{3,}/,
    /\b(?:AKIA|ASIA)[A-Z0-9]{8,}/,
    /\bAIza[\w-]{10,}/,
    /\bya29\.[\w-]{4,}/,
    /\bEAA[A-Za-z0-9]{10,}/,
  ]
    .map(({ source }) => source)
    .join("|"),
);

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const ADDRESS = /^[^\s@:/]{1,64}@[^\s@:/]{1,255}$/;
/** A long run of letters and digits. */
const RUN = /[a-z0-9]{16}/i;

/** Whether a text has a credential that its form proves. */
export function hasCredential(text: string): boolean {
  return CREDENTIAL.test(text);
}

/**
 * Whether a word without spaces looks random, as tokens do: it is a UUID or a long run with digits, its
 * letters and digits alternate, or it has groups of them as licence keys do. Words with hyphens
 * between them, names of products, dates and addresses do not.
 */
export function isTokenLike(word: string): boolean {
  if (word.length < 8 || ADDRESS.test(word)) return false;
  if (UUID.test(word)) return true;
  const [letters, digits] = [/[a-z]/i.test(word), /\d/.test(word)];
  if (digits && RUN.test(word)) return true;
  if (!letters) return false;
  const parts = word.split(/[^\p{L}\d]+/u).filter((part) => part !== "");
  if (digits && isGrouped(parts)) return true;
  const changes = parts.reduce((sum, part) => sum + changesIn(part), 0);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return changes >= (digits ? 4 : 5) && changes >= length * (digits ? 0.4 : 0.25);
}

/** Groups of capitals and digits of one length, such as `7F3K-92QM`. */
function isGrouped(parts: readonly string[]): boolean {
  const [first = ""] = parts;
  if (parts.length < 2 || first.length < 4 || first.length > 8) return false;
  if (parts.some((part) => part.length !== first.length || !/^[A-Z\d]+$/.test(part))) return false;
  return parts.length > 2 || parts.some((part) => /\d/.test(part) && /[A-Z]/.test(part));
}

/** Changes between small letters, capitals and digits, apart from the capital of a word. */
function changesIn(part: string): number {
  const kinds = part
    .replace(/\p{Ll}/gu, "a")
    .replace(/\p{Lu}/gu, "A")
    .replace(/\d/g, "0");
  let changes = 0;
  for (let at = 1; at < kinds.length; at++) if (kinds[at] !== kinds[at - 1]) changes++;
  return kinds.startsWith("Aa") ? changes - 1 : changes;
}

/** A name with a value: `token=a`, `"token": "a"`. */
const NAMED =
  /(?<![\p{L}\p{M}])([\p{L}\p{M}][\p{L}\p{M}\d_. -]{0,60}?)["'\\]{0,4}\s{0,3}(?:[:=：]|=>|%3[aAdD])\s{0,3}\S/gu;
/** An element of XML: `<token>a</token>`. */
const ELEMENT = /<([\p{L}][\p{L}\d_.:-]{0,60})[^<>]{0,100}>\s{0,10}[^\s<]/gu;
/** The same in a sentence: `the password is a`. */
const SAID =
  /(?<![\p{L}\p{M}])([\p{L}\p{M}]{1,40}[ -]?[\p{L}\p{M}]{0,40})\s(?:is|ist|lautet|heißt|est|es|è|é|to|jest|är|er)\s\S/giu;
/** Words that are followed by the secret. */
const SCHEME = /\bbearer\s+\S|\bbasic\s+(?=\S*[\d=])[a-z0-9+/]{6,}={0,2}(?:\s|$)/i;
/** The user and the password before a host. */
const USER_INFO =
  /(?<![\w.+-])(?!(?:e-?mail|mailto|to|from|cc|bcc|reply-to):)[\w.+-]{1,64}:[^\s:@/]{1,64}@[\w-]{1,63}/i;
/** Something to type: at least four digits, or capitals with digits. */
const TYPED =
  /(?<![\p{L}\d])(?:\d[ -]?){3,9}\d(?![\p{L}\d])|(?<![\p{L}\d])(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{4,12}(?![\p{L}\d])/u;
/** Words that are secret as names, but frequent in sentences without a secret. */
const FREQUENT: ReadonlySet<string> = new Set(
  "key keys pass session sessions reset confirm confirmation invite invitation recover recovery magic signature signatures promo unlock verify activate clave parole chave tan salt".split(
    " ",
  ),
);
const CODE_WORD =
  /(?<![\p{L}])(?:codes?|c[oó]digo|codice|kode?|код|代码|コード|코드)(?![\p{L}])|\p{L}code(?!\p{L})/iu;
const ORDINARY_CODE =
  /(?:post(?:al)?|zip|country|area|language|error|status|http|smtp|exit|response|return|reason|product|item|source|currency|region|state|dress|tax|color|colour)[\s-]{0,3}codes?|code postal|c[oó]digo postal/giu;

/** Whether a text says a secret, such as `Your code is 123456`, `token=a` and `Bearer a`. */
export function saysSecret(text: string): boolean {
  const read = text.slice(0, LONGEST_SENTENCE);
  if (hasCredential(text) || SCHEME.test(read) || USER_INFO.test(read)) return true;
  for (const [match, name = ""] of read.matchAll(NAMED)) {
    // A time of day is no value.
    if (!/\d:\d$/.test(match) && isSecretName(name.split(/\s+/).slice(-3).join(" "))) return true;
  }
  for (const [, name = ""] of read.matchAll(ELEMENT)) if (isSecretName(name)) return true;
  for (const [, name = ""] of read.matchAll(SAID)) {
    const words = wordsOfName(name).filter((word) => !FREQUENT.has(word));
    if (isSecretName(words.join(" "))) return true;
  }
  if (!TYPED.test(read)) return false;
  if (/\bto (?:sign|log)[ -]?(?:in|on)\b/i.test(read)) return true;
  const words = wordsOfName(read).filter((word) => !FREQUENT.has(word));
  return hasSecretWord(words) || CODE_WORD.test(read.replace(ORDINARY_CODE, ""));
}
