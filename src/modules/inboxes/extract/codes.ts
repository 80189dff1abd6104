/**
 * Finds one-time codes in a message. Each candidate gets points for words such as "code" near it,
 * for standing alone on its line, and for its form; it loses points for words such as "order" and
 * for the forms of years, prices and telephone numbers. Candidates without enough points are left
 * out.
 */

/** Longest text that is read, in characters. */
const MAX_CHARACTERS = 128 * 1024;
const MAX_CANDIDATES = 300;
const MAX_CODES = 20;
/** Characters around a candidate that are compared with the words below. */
const AROUND = 60;
const MIN_SCORE = 4;

type FoundCode = {
  /** As a recipient types it: without spaces, and without hyphens between digits. */
  code: string;
  /** The text around the code. */
  context: string;
};

/** Digits in one or two groups, or capital letters with digits, not within a longer word or number. */
const CANDIDATE =
  /(?<![\p{L}\p{N}_.,:/@#+$€£-])(?:[A-Z]-)?(?:\d{3,4}[ \u00a0-]\d{3,4}|\d{4,10}|[A-Z0-9]{4}-[A-Z0-9]{4}|[A-Z0-9]{5,10})(?![\p{L}\p{N}_@%€]|[.,:/-]\d)/gu;
const URLS = /(?:https?:\/\/|www\.)[^\s<>"]{1,8192}/gi;
const CODE_WORD =
  /\b(?:code|otp|passcode|pass code|pin|2fa|mfa|one[- ]time|token|verification|verify|einmal|bestätigungs|sicherheits|codigo|código|codice|vérification|kod|kode)|код|验证码|驗證碼|認証|確認コード|コード|인증/iu;
const OTHER_WORD =
  /\b(?:order|invoice|ticket|case|reference|ref|account|customer|phone|tel|fax|call|zip|postal|suite|street|floor|copyright|bestellung|rechnung|kunde|plz|commande|facture|pedido|tracking|po box|version|error|promo|coupon|discount|gift)\b|©|№|promo code|discount code|coupon code/iu;
const VALID_FOR = /^\s{0,3}(?:minutes?|mins?|hours?|days?|seconds?|minuten|stunden|usd|eur|gbp)\b/i;

export function findCodes(message: { subject: string; text: string }): FoundCode[] {
  const text = `${message.subject}\n\n${message.text}`.slice(0, MAX_CHARACTERS);
  const withoutUrls = text.replaceAll(URLS, (url) => " ".repeat(url.length));
  const best = new Map<string, { found: FoundCode; score: number }>();
  let candidates = 0;
  for (const match of withoutUrls.matchAll(CANDIDATE)) {
    if (++candidates > MAX_CANDIDATES) break;
    const [written] = match;
    const score = scoreOf(withoutUrls, match.index, written, message.subject.length);
    if (score < MIN_SCORE) continue;
    const code = typed(written);
    const known = best.get(code);
    const found = { code, context: contextOf(text, match.index, written.length) };
    if (known === undefined || known.score < score) best.set(code, { found, score });
  }
  return [...best.values()]
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_CODES)
    .map(({ found }) => found);
}

/** Google writes G-123456 and asks for 123456; codes of letters keep their hyphen. */
function typed(written: string): string {
  const bare = written.replace(/^[A-Z]-(?=\d)/, "");
  return /[A-Z]/.test(bare) ? bare : bare.replaceAll(/[ \u00a0-]/g, "");
}

function scoreOf(text: string, index: number, written: string, subjectLength: number): number {
  const end = index + written.length;
  const before = text.slice(Math.max(0, index - AROUND), index);
  const after = text.slice(end, end + AROUND);
  const form = formScore(written);
  if (form === null) return -1;
  const lineStart = before.slice(before.lastIndexOf("\n") + 1);
  const [lineEnd = ""] = after.split("\n", 1);
  const isAlone = lineStart.trim() === "" && /^[\s.*]{0,20}$/.test(lineEnd);
  const isNear = CODE_WORD.test(lineStart) || CODE_WORD.test(lineEnd);
  return (
    form +
    (isNear ? 4 : CODE_WORD.test(before) || CODE_WORD.test(after) ? 2 : 0) +
    (/(?:is|lautet|est|es|è|:|=)[\s*]{0,6}$/iu.test(before) ? 1 : 0) +
    (isAlone ? 2 : 0) +
    (index < subjectLength ? 1 : 0) -
    (OTHER_WORD.test(lineStart) || /^[^\n]{0,20}\b(?:order|invoice)\b/i.test(after) ? 6 : 0) -
    (VALID_FOR.test(after) ? 6 : 0)
  );
}

/** Points for the form of a code; null if it cannot be one. */
function formScore(written: string): number | null {
  const bare = typed(written);
  if (/^\d+$/.test(bare)) {
    if (bare.length > 10) return null;
    if (/^(?:19|20)\d\d$/.test(bare)) return -3;
    if (bare.length === 6) return 2;
    return bare.length <= 8 ? 1 : -1;
  }
  const letters = /[A-Z]/.test(bare);
  const digits = /\d/.test(bare);
  if (letters && digits) return 1;
  // Words in capitals are common; a code of letters has a hyphen in the middle.
  return /^[A-Z]{4}-[A-Z]{4}$/.test(bare) ? 1 : null;
}

function contextOf(text: string, index: number, length: number): string {
  const around = text.slice(Math.max(0, index - AROUND), index + length + AROUND);
  return around.toWellFormed().replaceAll(/\s+/g, " ").trim();
}
