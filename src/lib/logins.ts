/**
 * Users with their passwords, as settings name them: `user:password`, separated by blanks or lines,
 * or the lines of a password file of htpasswd. A password is plain text, a digest of bcrypt or
 * `{SHA}` with a digest in base64.
 */

import { isSameBytes, sha256 } from "./crypto.ts";
import { createFairQueue } from "./fair-queue.ts";

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
/** Checks of digests that wait, which take a quarter of a second each at most. */
const MAX_WAITING = 40;

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

/** `network` is that of the client. Rejects with QueueFullError if too many digests wait for their check. */
export type LoginCheck = (user: string, password: string, network: string) => Promise<boolean>;

/**
 * Compares in constant time. Digests of bcrypt are checked one after the other, off this thread, and the
 * networks of the clients take turns.
 */
export function createLoginCheck(logins: readonly Login[]): LoginCheck {
  /** Digests of the credentials that were right; at most one for each login. */
  const known = new Set<string>();
  const underWay = new Map<string, Promise<boolean>>();
  const queue = createFairQueue({ running: 1, waiting: MAX_WAITING });

  async function isRight(
    { password: stored }: Login,
    password: string,
    network: string,
  ): Promise<boolean> {
    if (BCRYPT.test(stored)) {
      return queue.run(network, () => Bun.password.verify(password, stored, "bcrypt"));
    }
    const digest = SHA1.exec(stored)?.[1];
    return digest === undefined
      ? isSameText(stored, password)
      : isSameText(digest, new Bun.CryptoHasher("sha1").update(password).digest("base64"));
  }

  async function check(user: string, password: string, network: string): Promise<boolean> {
    for (const login of logins) {
      if (login.user === user && (await isRight(login, password, network))) return true;
    }
    return false;
  }

  return async (user, password, network) => {
    if (password.length > MAX_PASSWORD_CHARACTERS) return false;
    const digest = sha256(JSON.stringify([user, password]));
    if (known.has(digest)) return true;
    // Requests at the same time with the same credentials share one check.
    const checking =
      underWay.get(digest) ?? check(user, password, network).finally(() => underWay.delete(digest));
    underWay.set(digest, checking);
    const isAdmitted = await checking;
    if (isAdmitted) known.add(digest);
    return isAdmitted;
  };
}

function isSameText(one: string, other: string): boolean {
  return isSameBytes(Buffer.from(sha256(one)), Buffer.from(sha256(other)));
}
