/**
 * Fetches the reports that wait in a mailbox.
 *
 * 1. New messages are found: in IMAP by UIDs above the last one that was read, in POP3 by unique ids
 *    that are not stored.
 * 2. Each is read by the same code as a report that arrives over SMTP, and only mails of the project
 *    count. One change stores its effect and that it was read, so it counts once.
 * 3. Only after the commit, a report about a mail of the project is marked as seen (IMAP) or deleted
 *    (POP3) on the server. All other messages stay as they are.
 *
 * A message that the server refuses to send ends the round, and is tried again in the next one. If five
 * rounds have ended so, the round goes on with the messages after it. Once one of them was read, the
 * message is given up. While none is readable, the server has a fault and nothing is given up.
 */

import type { App } from "../../core/app.ts";
import { statement } from "../../db/statement.ts";
import { ImapSession } from "../../protocols/mailboxes/imap.ts";
import { MailboxFault } from "../../protocols/mailboxes/mailbox-fault.ts";
import type { Pop3Session } from "../../protocols/mailboxes/pop3.ts";
import { MAX_READ_BYTES } from "../../protocols/mime/read-parts.ts";
import { prepareReport, type ReportResult } from "../bounces/bounces.ts";
import { type MailboxRow, withSession } from "./mailbox-session.ts";

/** Messages of one round; the next round comes soon if there are more. */
const MAX_MESSAGES = 100;
/** Longest time of one round. */
const ROUND_MS = 5 * 60_000;
/** Older messages are not read: reports about mail of so long ago are refused by SMTP as well. */
const MAX_AGE_MS = 30 * 24 * 60 * 60_000;
/** Rounds that a refused message ends. */
const MAX_REFUSALS = 5;

/** The rounds, one after the other, in which each message was refused; a restart begins anew. */
export type Refusals = Map<string, number>;

type Round = { signal: AbortSignal; refusals: Refusals };

/**
 * Reads at most 100 new messages. Resolves to whether there are more. Throws MailboxFault, also if the
 * last message that was tried was refused.
 */
export async function fetchReports(
  app: App,
  mailbox: MailboxRow,
  { signal, refusals }: Round,
): Promise<boolean> {
  const limits = { sessionMs: ROUND_MS, signal };
  const hasMore = await withSession(app, mailbox, limits, (session) =>
    session instanceof ImapSession
      ? readFolder(app, { mailbox, refusals }, session)
      : readMaildrop(app, { mailbox, refusals }, session),
  );
  refusals.clear();
  await app.writer.write(() => void storeEnd(app).run(app.clock.now(), mailbox.seq));
  return hasMore;
}

const storeEnd = statement<unknown, [number, number]>(
  "UPDATE report_mailboxes SET last_fetched_at = ?, failed_at = NULL, failure = NULL WHERE seq = +?",
);

const moveCursor = statement<unknown, [number, number, number]>(
  "UPDATE report_mailboxes SET uid_validity = ?, last_uid = ? WHERE seq = +?",
);

/** A mailbox and the refusals of its messages. */
type Source = { mailbox: MailboxRow; refusals: Refusals };

async function readFolder(
  app: App,
  { mailbox, refusals }: Source,
  session: ImapSession,
): Promise<boolean> {
  const { uidValidity } = session.folder;
  const lastUid = mailbox.uidValidity === uidValidity ? mailbox.lastUid : 0;
  const uids = await session.findUids(lastUid, new Date(app.clock.now() - MAX_AGE_MS));
  const reader = createReader(app, { mailbox, refusals });
  for (const uid of uids.slice(0, MAX_MESSAGES)) {
    const reading = await reader.read(`${uidValidity}/${uid}`, () =>
      session.read(uid, MAX_READ_BYTES),
    );
    if (reading === "passed over") continue;
    if (reading === "refused") break;
    const { raw } = reading;
    const { matched } = await storeMessage(app, mailbox, {
      raw,
      remember: () => void moveCursor(app).run(uidValidity, uid, mailbox.seq),
    });
    // The cursor is now behind the messages that were passed over.
    reader.giveUpPassed();
    if (matched) await session.markSeen(uid);
  }
  await session.logOut();
  reader.throwRefusal();
  return uids.length > MAX_MESSAGES;
}

const findKnown = statement<{ uid: string; isReport: number }, [number]>(
  "SELECT uid, is_report AS isReport FROM report_mailbox_messages WHERE mailbox_seq = +?",
);
const insertKnown = statement<unknown, [number, string, number]>(
  "INSERT OR REPLACE INTO report_mailbox_messages (mailbox_seq, uid, is_report) VALUES (?, ?, ?)",
);
const deleteKnown = statement<unknown, [number, string]>(
  "DELETE FROM report_mailbox_messages WHERE mailbox_seq = +? AND uid = +?",
);

/** A report that is still listed was not deleted, because the session before did not end as it should. */
async function readMaildrop(
  app: App,
  { mailbox, refusals }: Source,
  session: Pop3Session,
): Promise<boolean> {
  const listed = await session.list();
  const known = new Map(
    findKnown(app)
      .all(mailbox.seq)
      .map(({ uid, isReport }) => [uid, isReport]),
  );
  await forgetGone(app, mailbox, {
    known: [...known.keys()],
    listed: listed.map(({ uid }) => uid),
  });
  const reader = createReader(app, { mailbox, refusals });
  let count = 0;
  for (const { number, uid } of listed) {
    const isReport = known.get(uid);
    if (isReport === 1) await session.remove(number);
    if (isReport !== undefined) continue;
    if (count === MAX_MESSAGES) break;
    count++;
    const reading = await reader.read(uid, () => session.read(number, MAX_READ_BYTES));
    if (reading === "passed over") continue;
    if (reading === "refused") break;
    const { raw } = reading;
    const { matched } = await storeMessage(app, mailbox, {
      raw,
      remember(result) {
        for (const passed of reader.passed()) insertKnown(app).run(mailbox.seq, passed, 0);
        insertKnown(app).run(mailbox.seq, uid, Number(result.matched));
      },
    });
    reader.giveUpPassed();
    known.set(uid, Number(matched));
    if (session.isSpent) return true;
    if (matched) await session.remove(number);
  }
  await session.quit();
  reader.throwRefusal();
  return count === MAX_MESSAGES;
}

/** Reads the messages of one round, and keeps count of those that the server refuses. */
function createReader({ log }: App, { mailbox, refusals }: Source) {
  /** Refused messages after which no message was read. */
  let passed: string[] = [];
  let refusal: MailboxFault | null = null;
  return {
    passed: (): readonly string[] => passed,
    /** `raw` is null if the message is gone. After "refused" the round ends. */
    async read(
      uid: string,
      fetch: () => Promise<Uint8Array | null>,
    ): Promise<{ raw: Uint8Array | null } | "passed over" | "refused"> {
      try {
        const raw = await fetch();
        refusals.delete(uid);
        return { raw };
      } catch (error) {
        if (!(error instanceof MailboxFault) || error.kind !== "unreadable") throw error;
        refusal = error;
        const rounds = (refusals.get(uid) ?? 0) + 1;
        refusals.set(uid, rounds);
        if (rounds <= MAX_REFUSALS) return "refused";
        passed.push(uid);
        return "passed over";
      }
    },
    /** To be called when a message after them is stored, with which they count as read. */
    giveUpPassed(): void {
      for (const uid of passed) {
        refusals.delete(uid);
        log.warn("a message that the server of a mailbox refuses is given up", {
          mailbox: mailbox.id,
          message: uid,
          error: refusal?.message,
        });
      }
      passed = [];
      refusal = null;
    },
    /** Throws the last refusal, unless a message was read after it. */
    throwRefusal(): void {
      if (refusal !== null) throw refusal;
    },
  };
}

async function forgetGone(
  app: App,
  { seq }: MailboxRow,
  uids: { known: readonly string[]; listed: readonly string[] },
): Promise<void> {
  const listed = new Set(uids.listed);
  const gone = uids.known.filter((uid) => !listed.has(uid));
  if (gone.length === 0) return;
  await app.writer.write(() => {
    for (const uid of gone) deleteKnown(app).run(seq, uid);
  });
}

const addCounts = statement<unknown, [number, number, number]>(`
  UPDATE report_mailboxes
  SET received = received + 1, counted = counted + ?, unknown = unknown + ?
  WHERE seq = +?`);

/** `remember` is part of the change that stores the effect. `raw` is null if the message is gone. */
async function storeMessage(
  app: App,
  { seq, projectSeq }: MailboxRow,
  message: { raw: Uint8Array | null; remember: (result: ReportResult) => void },
): Promise<ReportResult> {
  const raw = message.raw ?? new Uint8Array();
  const prepared = await prepareReport(app, { raw, recipient: null }, { projectSeq });
  return app.writer.write<ReportResult>(() => {
    const result = prepared.isMatched ? prepared.store() : prepared.result;
    const isCounted = result.effect !== "none";
    const { changes } = addCounts(app).run(Number(isCounted), Number(!result.matched), seq);
    if (changes === 0) throw new MailboxFault("closed", "the mailbox was removed here");
    message.remember(result);
    return result;
  });
}
