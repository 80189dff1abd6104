/**
 * The queue of the mails of the product itself: invitations, and links for a new password. They
 * belong to no project, so they are not emails of the outbox: their content is encrypted, and shown
 * in no answer, event, inbox or log. `mail-sender.ts` sends them.
 */

import { asc, eq, lte } from "drizzle-orm";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Db } from "../../db/open.ts";
import { systemMails } from "../../db/schema/accounts.ts";
import type { Clock } from "../../lib/clock.ts";
import { seal, unseal } from "../../lib/crypto.ts";
import { newId } from "../../lib/id.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import type { Mailbox } from "../../protocols/mime/mailbox.ts";
import { invitationText, type MailText, resetText } from "./mail-texts.ts";

export type AccountMails = ReturnType<typeof createAccountMails>;

/** Finds the sender for mail about these projects; null if no mail can be sent. */
export type FindSender = (projectSeqs: readonly number[]) => Mailbox | null;

const Content = Type.Object({
  to: Type.String(),
  from: Type.Object({
    address: Type.String(),
    name: Type.Union([Type.String(), Type.Null()]),
  }),
  subject: Type.String(),
  text: Type.String(),
  html: Type.String(),
});
export type MailContent = Static<typeof Content>;

export type QueuedMail = Omit<typeof systemMails.$inferSelect, "content">;

const SENT_AT_ONCE = 10;

export function createAccountMails(deps: {
  db: Db;
  clock: Pick<Clock, "now">;
  sealKey: Uint8Array;
  findSender: FindSender;
}) {
  const { db, clock, sealKey, findSender } = deps;

  /** Part of a change: queues a mail. False if no mail can be sent. */
  function put(
    mail: MailText & { to: string },
    { projectSeqs, expiresAt }: { projectSeqs: readonly number[]; expiresAt: number },
  ): boolean {
    const from = findSender(projectSeqs);
    if (from === null) return false;
    const now = clock.now();
    const content = seal(sealKey, Buffer.from(JSON.stringify({ ...mail, from })));
    db.insert(systemMails)
      .values({ id: newId(now), content, nextAt: now, createdAt: now, expiresAt })
      .run();
    return true;
  }

  return {
    /** Whether mail about these projects can be sent. */
    canSend: (projectSeqs: readonly number[]): boolean => findSender(projectSeqs) !== null,

    /** Part of a change: queues an invitation. False if no mail can be sent. */
    sendInvitation(mail: {
      to: string;
      project: { seq: number; name: string };
      by: string;
      link: string;
      expiresAt: number;
    }): boolean {
      const { to, project, by, link, expiresAt } = mail;
      const text = invitationText({ project: project.name, by, link });
      return put({ ...text, to }, { projectSeqs: [project.seq], expiresAt });
    },

    /** Part of a change: queues a link for a new password. False if no mail can be sent. */
    sendReset(mail: {
      to: string;
      projectSeqs: readonly number[];
      link: string;
      expiresAt: number;
    }): boolean {
      const { to, projectSeqs, link, expiresAt } = mail;
      return put({ ...resetText({ link }), to }, { projectSeqs, expiresAt });
    },

    /** The mails that are due, in their order. */
    due: (): QueuedMail[] =>
      db
        .select({
          seq: systemMails.seq,
          id: systemMails.id,
          attempts: systemMails.attempts,
          nextAt: systemMails.nextAt,
          createdAt: systemMails.createdAt,
          expiresAt: systemMails.expiresAt,
        })
        .from(systemMails)
        .where(lte(systemMails.nextAt, clock.now()))
        .orderBy(asc(systemMails.nextAt))
        .limit(SENT_AT_ONCE)
        .all(),

    /** The content of a queued mail; null if it was encrypted with another secret. */
    contentOf(seq: number): MailContent | null {
      const row = db.select().from(systemMails).where(eq(systemMails.seq, seq)).limit(1).get();
      const plain = row === undefined ? null : unseal(sealKey, row.content);
      if (plain === null) return null;
      return Value.Parse(Content, JSON.parse(plain.toString()));
    },

    /** Part of a change: an attempt begins or was deferred; the next one is at `nextAt`. */
    postpone(seq: number, { attempts, nextAt }: { attempts: number; nextAt: number }): void {
      db.update(systemMails).set({ attempts, nextAt }).where(eq(systemMails.seq, seq)).run();
    },

    /** Part of a change: the mail was sent, or cannot be sent any more. */
    remove(seq: number): void {
      db.delete(systemMails).where(eq(systemMails.seq, seq)).run();
    },

    /** Part of a change: moves the due times, because the clock was set. */
    shift({ byMs, after }: DueShift): void {
      db.sqlite
        .query("UPDATE system_mails SET next_at = next_at + +? WHERE next_at > +?")
        .run(byMs, after);
    },
  };
}
