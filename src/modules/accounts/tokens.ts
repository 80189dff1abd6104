/**
 * Tokens that work once: for the set-up of the first owner, sign-in links, invitations and new
 * passwords. A token is 43 characters of base 62 (256 bits of entropy), and only its SHA-256 digest
 * is stored.
 */

import { and, eq, gt, isNull, lt } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { userTokens } from "../../db/schema/accounts.ts";
import type { Change } from "../../db/writer.ts";
import { countRows } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { randomBase62, sha256 } from "../../lib/crypto.ts";
import { AppError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";

type TokenRow = typeof userTokens.$inferSelect;
type TokenKind = TokenRow["kind"];

const RANDOM_CHARACTERS = 43;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const LIFETIMES_MS: Readonly<Record<TokenKind, number>> = {
  SETUP: 30 * MINUTE_MS,
  LINK: HOUR_MS,
  RESET: HOUR_MS,
  INVITATION: 7 * DAY_MS,
};

/** Used and expired tokens are removed after this time. */
const KEPT_MS = 30 * DAY_MS;

type NewToken = Pick<TokenRow, "kind"> &
  Partial<Pick<TokenRow, "email" | "userSeq" | "projectSeq" | "role">>;

export function createTokens({ db, clock }: { db: Db; clock: Pick<Clock, "now"> }) {
  /** The conditions of a token that still works. */
  const isValid = () => and(isNull(userTokens.usedAt), gt(userTokens.expiresAt, clock.now()));

  return {
    refused: tokenRefused,

    /** Part of a change: the text of a token is only in a mail to the address. */
    setMailed(seq: number): void {
      db.update(userTokens).set({ isMailed: true }).where(eq(userTokens.seq, seq)).run();
    },

    /** Creates a token. Its text is only in the result and is not stored. */
    issue(token: NewToken): Change<{ row: TokenRow; text: string }> {
      return () => {
        const now = clock.now();
        const text = randomBase62(RANDOM_CHARACTERS);
        const row = db
          .insert(userTokens)
          .values({
            ...token,
            id: newId(now),
            digest: sha256(text),
            createdAt: now,
            expiresAt: now + LIFETIMES_MS[token.kind],
          })
          .returning()
          .get();
        return { row, text };
      };
    },

    /** Finds a token that still works. Throws 404 if there is none. */
    find(kind: TokenKind, text: string): TokenRow {
      const match = and(eq(userTokens.digest, sha256(text)), eq(userTokens.kind, kind), isValid());
      const row = db.select().from(userTokens).where(match).limit(1).get();
      if (row === undefined) throw tokenRefused();
      return row;
    },

    /** Uses a token up, so that of two requests with it one is refused with 404. */
    redeem(kind: TokenKind, text: string): Change<TokenRow> {
      return () => {
        const row = db
          .update(userTokens)
          .set({ usedAt: clock.now() })
          .where(and(eq(userTokens.digest, sha256(text)), eq(userTokens.kind, kind), isValid()))
          .returning()
          .get();
        if (row === undefined) throw tokenRefused();
        return row;
      };
    },

    /** The number of tokens of a user that still work. */
    countOpen: (kind: TokenKind, userSeq: number): number =>
      countRows(
        db,
        userTokens,
        and(eq(userTokens.userSeq, userSeq), eq(userTokens.kind, kind), isValid()),
      ),

    /** Part of a change: makes the unused set-up tokens of earlier starts useless. */
    withdrawSetup(): void {
      db.update(userTokens)
        .set({ usedAt: clock.now() })
        .where(and(eq(userTokens.kind, "SETUP"), isNull(userTokens.usedAt)))
        .run();
    },

    /** Part of a change: makes the unused links of a user useless, such as after a new password. */
    withdrawOfUser(userSeq: number): void {
      db.update(userTokens)
        .set({ usedAt: clock.now() })
        .where(and(eq(userTokens.userSeq, userSeq), isNull(userTokens.usedAt)))
        .run();
    },

    /** Part of a change: removes tokens that have not worked for 30 days. */
    purge(): void {
      const before = clock.now() - KEPT_MS;
      db.delete(userTokens).where(lt(userTokens.expiresAt, before)).run();
    },

    /** Part of a change: moves the lifetimes of tokens, because the clock was set. */
    shift(byMs: number): void {
      db.sqlite
        .query("UPDATE user_tokens SET expires_at = expires_at + +? WHERE used_at IS NULL")
        .run(byMs);
    },
  };
}

/** One answer for unknown, used and expired tokens. */
function tokenRefused(): AppError {
  return new AppError(404, "TOKEN_NOT_FOUND", "This link is not valid, or it was used before.", {
    suggestion: "Ask for a new link. Each link works once, and for a limited time.",
  });
}
