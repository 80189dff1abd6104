/**
 * Users with their passwords, as settings name them: `user:password`, separated by blanks or lines,
 * or the lines of a password file of htpasswd. A password is plain text, a digest of bcrypt or
 * `{SHA}` with a digest in base64.
 */

import { isSameBytes, sha256 } from "./crypto.ts";

export type Login = { user: string; password: string };

type ParsedLogins = { ok: true; logins: readonly Login[] } | { ok: false; reason: string };

const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
/** Each step doubles the time of a check; 2^12 rounds take about 0.3 s. */
const MAX_BCRYPT_COST = 12;
const SHA1 = /^\{SHA\}([A-Za-z0-9+/]{27}=)$/;
/** Digests of htpasswd and crypt that are not checked here. */
const UNKNOWN_DIGEST = /^(?:\$(?:apr1|[0-9a-z]{1,6})\$|\{S?SHA\d*\})/i;
/** Longest password of a client. */
const MAX_PASSWORD_CHARACTERS = 1024;

/** Lines that begin with `#` are comments. */
export function parseLogins(text: string): ParsedLogins {
  const words = text
    .split("\n")
    .filter((line) => !line.trimStart().startsWith("#"))
    .flatMap((line) => line.split(/\s+/))
    .filter((word) => word !== "");
  const logins = words.map(loginOf);
  const reason = logins.length === 0 ? "there is no user" : logins.map(fault).find(isText);
  return reason === undefined ? { ok: true, logins } : { ok: false, reason };
}

function loginOf(word: string): Login {
  const colon = word.indexOf(":");
  return colon === -1
    ? { user: word, password: "" }
    : { user: word.slice(0, colon), password: word.slice(colon + 1) };
}

/** The message names no password. */
function fault({ user, password }: Login, at: number): string | undefined {
  if (user === "") return `entry ${at + 1} has no user`;
  if (password === "") return `user ${at + 1} has no password`;
  const cost = BCRYPT.exec(password)?.[1];
  if (cost !== undefined) {
    return Number(cost) <= MAX_BCRYPT_COST
      ? undefined
      : `the bcrypt cost of user ${at + 1} is more than ${MAX_BCRYPT_COST}`;
  }
  if (SHA1.test(password) || !UNKNOWN_DIGEST.test(password)) return undefined;
  return `the password of user ${at + 1} is a digest of another kind than bcrypt (htpasswd -B)`;
}

function isText(text: string | undefined): text is string {
  return text !== undefined;
}

export type LoginCheck = (user: string, password: string) => Promise<boolean>;

/** Compares in constant time. Digests of bcrypt are checked one after the other, off this thread. */
export function createLoginCheck(logins: readonly Login[]): LoginCheck {
  /** Digests of the credentials that were right; at most one for each login. */
  const known = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();

  async function isRight({ password: stored }: Login, password: string): Promise<boolean> {
    if (BCRYPT.test(stored)) {
      const check = last.then(() => Bun.password.verify(password, stored, "bcrypt"));
      last = check.catch(() => undefined);
      return check;
    }
    const digest = SHA1.exec(stored)?.[1];
    return digest === undefined
      ? isSameText(stored, password)
      : isSameText(digest, new Bun.CryptoHasher("sha1").update(password).digest("base64"));
  }

  return async (user, password) => {
    if (password.length > MAX_PASSWORD_CHARACTERS) return false;
    const digest = sha256(JSON.stringify([user, password]));
    if (known.has(digest)) return true;
    for (const login of logins) {
      if (login.user !== user || !(await isRight(login, password))) continue;
      known.add(digest);
      return true;
    }
    return false;
  };
}

function isSameText(one: string, other: string): boolean {
  return isSameBytes(Buffer.from(sha256(one)), Buffer.from(sha256(other)));
}
