/**
 * Tokens that permit one change. A dry run of a tool returns a token for its arguments, and the change
 * is made only with it, within ten minutes, and once. A token is an HMAC over the tool, the arguments,
 * the project and the time until which it is valid. The key lives as long as the process, so no token
 * of an earlier process is valid.
 */

import { randomBytes } from "node:crypto";
import type { Clock } from "../../lib/clock.ts";
import { hmac, isSameBytes, randomBase62 } from "../../lib/crypto.ts";
import { ToolRefusal } from "./api-client.ts";

const LIFETIME_MS = 10 * 60_000;
/** Used tokens of a project that are remembered until they expire. */
const MAX_USED = 500;
const NONCE_CHARACTERS = 16;
const TOKEN = /^(\d{1,16})\.([0-9A-Za-z]{16})\.([\w-]{43})$/;

type Change = {
  tool: string;
  args: Readonly<Record<string, unknown>>;
};

export type Confirmations = {
  issue(change: Change): { token: string; validForSeconds: number };
  /** Uses the token up. Throws a ToolRefusal if it does not permit the change. */
  redeem(token: string, change: Change): { nonce: string };
};

/** Makes the tokens of one process, for one project at a time. */
export function createConfirmations({ elapsed }: Pick<Clock, "elapsed">) {
  const key = randomBytes(32);
  /** By project, the tokens that were used, with the time when they expire. */
  const used = new Map<string, Map<string, number>>();

  const signature = (
    project: string,
    { tool, args }: Change,
    [expiresAt, nonce]: [string, string],
  ) => hmac(key, JSON.stringify([tool, sorted(args), project, expiresAt, nonce]));

  function markUsed(project: string, nonce: string, expiresAt: number): void {
    const known = used.get(project) ?? new Map<string, number>();
    used.set(project, known);
    for (const [other, end] of known) if (end <= elapsed()) known.delete(other);
    if (known.has(nonce)) throw new ToolRefusal(`The token was used before. ${AGAIN}`);
    if (known.size >= MAX_USED) {
      throw new ToolRefusal(`${MAX_USED} changes were made in ten minutes. Wait some minutes.`);
    }
    known.set(nonce, expiresAt);
  }

  return (project: string): Confirmations => ({
    issue(change) {
      const end = String(Math.ceil(elapsed() + LIFETIME_MS));
      const nonce = randomBase62(NONCE_CHARACTERS);
      const signed = signature(project, change, [end, nonce]).toString("base64url");
      return { token: `${end}.${nonce}.${signed}`, validForSeconds: LIFETIME_MS / 1_000 };
    },
    redeem(token, change) {
      const [, end = "", nonce = "", signed = ""] = TOKEN.exec(token) ?? [];
      const expected = signature(project, change, [end, nonce]);
      if (!isSameBytes(Buffer.from(signed, "base64url"), expected)) {
        throw new ToolRefusal(`The token is not one of a dry run with these arguments. ${AGAIN}`);
      }
      if (Number(end) <= elapsed()) throw new ToolRefusal(`The token has expired. ${AGAIN}`);
      markUsed(project, nonce, Number(end));
      return { nonce };
    },
  });
}

const AGAIN = "Call the tool without a token first, and then with the token of that answer.";

/** The arguments in one order, so that the order of a caller makes no difference. */
function sorted(args: Change["args"]): [string, unknown][] {
  return Object.entries(args)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
