/** Removes from links the parts that may be credentials or tokens. */

import { isSecretName, wordsOfName } from "./secret-names.ts";
import { isTokenLike } from "./secret-texts.ts";

const LEFT_OUT = "…";
/** Words of paths after which a secret follows, in addition to names of secrets. */
const ACTIONS: ReadonlySet<string> = new Set(
  "login logon signin signup join accept register verify confirm activate unlock unsubscribe optout optin approve claim redeem hook hooks webhook webhooks".split(
    " ",
  ),
);
/** A part of a slug: a word, a short number, or a word with a short number after it. */
const SLUG_PART = /^(?:\p{L}[\p{L}\p{M}]*\d{0,3}|\d{1,4})?$/u;
const SEPARATOR = /[-_.~+,@!()'* ]/;
/** Parts of a path that are shown. */
const MAX_SEGMENTS = 30;
const NUMBER = /^\d{1,12}$/;
const YEAR = /^(?:19|20)\d{2}$/;

/**
 * A link without query, fragment and password, and with `…` for each part of its path that may be a
 * token: one that is not made of words, or that follows a word such as `reset`.
 */
export function plainLink(link: string): string {
  // Browsers read a backslash as a slash.
  const [plain = ""] = link.replaceAll("\\", "/").split(/[?#;]/, 1);
  const [scheme = "", , host = "", ...path] = plain.split("/");
  if (/(?:^|[.@])(?:web)?hooks?\./i.test(host)) return plainHost(plain);
  return [scheme, "", withoutUser(host), ...plainPath(path)].join("/");
}

/** A link without a scheme, such as `shop.example/reset/a` or `/reset/a`, in the same way. */
export function plainPathOnly(text: string): string {
  const [start = "", ...path] = text.split("/");
  return [start, ...plainPath(path)].join("/");
}

/** Scheme and host of a link, and `…` for the rest. */
export function plainHost(link: string): string {
  const [, scheme = "", host = "", rest = ""] =
    /^([a-z][a-z0-9+.-]{1,19}):\/\/([^/?#\\]*)(.*)$/is.exec(link) ?? [];
  if (host === "") return LEFT_OUT;
  return `${scheme}://${withoutUser(host)}${rest === "" || rest === "/" ? rest : `/${LEFT_OUT}`}`;
}

function withoutUser(host: string): string {
  const name = host.slice(host.lastIndexOf("@") + 1);
  const labels = name.split(".").map((label) => (isTokenLike(label) ? LEFT_OUT : label));
  return labels.join(".");
}

function plainPath(path: readonly string[]): string[] {
  const shown: string[] = [];
  let isAfterAction = false;
  for (const [at, segment] of path.slice(0, MAX_SEGMENTS).entries()) {
    const before = at === 0 ? null : (path[at - 1] ?? "");
    const isShown = segment === "" || (!isAfterAction && isPlain(decoded(segment), before));
    shown.push(isShown ? segment : LEFT_OUT);
    isAfterAction ||= startsSecret(segment);
  }
  return path.length > MAX_SEGMENTS ? [...shown, LEFT_OUT] : shown;
}

/** Whether the part of a path after this one may be a secret. */
function startsSecret(segment: string): boolean {
  if (segment.length > 100) return false;
  const words = wordsOfName(segment);
  // The slug of an article may have such a word.
  if (words.length > 3) return false;
  return words.some((word) => ACTIONS.has(word)) || isSecretName(segment);
}

const isSlug = (segment: string): boolean =>
  segment.split(SEPARATOR).every((part) => SLUG_PART.test(part));

function isPlain(segment: string, before: string | null): boolean {
  if (isTokenLike(segment) || !(isSlug(segment) || NUMBER.test(segment))) return false;
  if (YEAR.test(segment)) return true;
  // A number at the start, and a word or a number after /r/, may be a code.
  if (before === null) return !/^\d+$/.test(segment);
  return before.length !== 1 || /\p{L}{3}[-_]\p{L}/u.test(segment);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
