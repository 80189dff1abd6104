/**
 * The queue of notices: the messages to each target, in the order of their causes. A notice is
 * stored in the change that raises or clears its alert, so a crash delays it and does not lose it. A
 * target has at most one notice under way, and targets do not wait for each other. A notice whose
 * result was not stored, because the process ended, is sent again with the same id.
 */

import type { App } from "../../core/app.ts";
import { writeResult } from "../../db/write-result.ts";
import type { NOTICE_KINDS } from "../../db/schema/alerts.ts";
import { statement } from "../../db/statement.ts";
import { type BackoffPolicy, nextTryAt } from "../../lib/backoff.ts";
import { describeError } from "../../lib/log.ts";
import { perApp } from "../../lib/per-app.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import { createWorker, endsWithin } from "../../lib/worker.ts";
import { readAlert } from "./alert-rows.ts";
import { digestMail } from "./digest.ts";
import type { AlertMessage } from "./messages.ts";
import { closeOperatorMail } from "./operator-mail.ts";
import { alertTargets, type AlertTarget, type TargetResult } from "./targets.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** About a day; after it the notice is given up. */
const BACKOFF: BackoffPolicy = {
  delaysMs: [
    30 * SECOND_MS,
    MINUTE_MS,
    2 * MINUTE_MS,
    5 * MINUTE_MS,
    10 * MINUTE_MS,
    30 * MINUTE_MS,
    ...Array.from({ length: 23 }, () => HOUR_MS),
  ],
  jitter: 0.1,
  requestedJitter: 0,
};
/** A notice that could not be sent in this time is old, and those behind it matter more. */
const MAX_AGE_MS = DAY_MS;
/** After this it is not sent at all. */
const MAX_WAIT_MS = 7 * DAY_MS;
const KEPT_MS = 90 * DAY_MS;
const PAUSE_AFTER_ERROR_MS = 5 * SECOND_MS;
/** A notice is not sent again within this time if its result could not be stored. */
const UNSTORED_MS = MINUTE_MS;
const STOP_GRACE_MS = 3 * SECOND_MS;

type NoticeKind = (typeof NOTICE_KINDS)[number];
type Notice = {
  seq: number;
  kind: NoticeKind;
  alertSeq: number | null;
  createdAt: number;
  attempts: number;
  nextAt: number;
};

const findHead = statement<Notice, [string]>(`
  SELECT seq, kind, alert_seq AS alertSeq, created_at AS createdAt, attempts, next_at AS nextAt
  FROM alert_notices WHERE target = +? AND next_at IS NOT NULL ORDER BY seq LIMIT 1`);
/** Only a notice that waits is settled, so that a result is stored once. */
const settleNotice = statement<
  unknown,
  [number, number | null, number, number, string, number, number]
>(`UPDATE alert_notices
   SET attempts = ?, next_at = ?, tried_at = ?, is_delivered = ?, reply = ?
   WHERE seq = +? AND attempts = +? AND next_at IS NOT NULL`);
const insertNotice = statement<unknown, [string, NoticeKind, number | null, number, number]>(`
  INSERT INTO alert_notices (target, kind, alert_seq, created_at, next_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (alert_seq, kind, target) DO NOTHING`);
/** True if the target knows of the alert, or will. */
const findRaised = statement<{ seq: number }, [number, string]>(`
  SELECT seq FROM alert_notices WHERE alert_seq = +? AND kind = 'RAISED' AND target = +?
    AND (is_delivered = 1 OR next_at IS NOT NULL)`);
const shiftNotices = statement<unknown, [number, number]>(
  "UPDATE alert_notices SET next_at = next_at + ? WHERE next_at > +?",
);
const purgeDigests = statement<unknown, [number]>(
  "DELETE FROM alert_notices WHERE alert_seq IS NULL AND created_at < +?",
);
const findLastTried = statement<
  { at: number; isDelivered: number; reply: string | null },
  [string]
>(`SELECT tried_at AS at, is_delivered AS isDelivered, reply FROM alert_notices
   WHERE target = +? AND tried_at IS NOT NULL ORDER BY seq DESC LIMIT 1`);
const countWaiting = statement<{ count: number }, [string]>(
  "SELECT count(*) AS count FROM alert_notices WHERE target = +? AND next_at IS NOT NULL",
);

/** Part of a change: every target is told of an alert, or each address of the weekly digest. */
export function addNotices(
  app: App,
  kind: NoticeKind,
  { alertSeq = null }: { alertSeq?: number | null } = {},
): void {
  const now = app.clock.now();
  for (const { name, sendMail } of alertTargets(app)) {
    if (kind === "DIGEST" && sendMail === null) continue;
    const isUnknown = kind === "CLEARED" && alertSeq !== null && !isTold(app, alertSeq, name);
    if (!isUnknown) insertNotice(app).run(name, kind, alertSeq, now, now);
  }
}

const isTold = (app: App, alertSeq: number, target: string): boolean =>
  findRaised(app).get(alertSeq, target) !== null;

/** Part of a change. The notices of an alert are removed with it. */
export function removeOldDigests(app: App): void {
  purgeDigests(app).run(app.clock.now() - KEPT_MS);
}

/** Part of a change: moves the due times, because the clock was set. */
export function moveNotices(app: App, { byMs, after }: DueShift): void {
  shiftNotices(app).run(byMs, after);
}

/** The latest try of a target, and the number of its notices that wait. */
export function noticeState(app: App, target: string) {
  return {
    last: findLastTried(app).get(target),
    waiting: countWaiting(app).get(target)?.count ?? 0,
  };
}

export const noticeSender = perApp(createNoticeSender);

function createNoticeSender(app: App) {
  const { clock, log } = app;
  /** The targets to which nothing is sent now, by name. */
  const busy = new Set<string>();
  const underWay = new Set<Promise<void>>();
  let aborter = new AbortController();
  const worker = createWorker({
    clock,
    step,
    onError: (error) => log.error("alerts could not be read", { error: describeError(error) }),
    pauseMs: PAUSE_AFTER_ERROR_MS,
  });

  /** Starts the first notice of each target if it is due. Returns the delay until the next one. */
  function step(): number | null {
    const now = clock.now();
    let next = Infinity;
    for (const target of alertTargets(app)) {
      if (busy.has(target.name)) continue;
      const notice = findHead(app).get(target.name);
      if (notice === null) continue;
      if (notice.nextAt > now) next = Math.min(next, notice.nextAt - now);
      else start(target, notice);
    }
    return next === Infinity ? null : next;
  }

  function start(target: AlertTarget, notice: Notice): void {
    busy.add(target.name);
    const work = sendAndRelease(target, notice).finally(() => underWay.delete(work));
    underWay.add(work);
  }

  async function sendAndRelease(target: AlertTarget, notice: Notice): Promise<void> {
    const isStored = await sendAndStore(target, notice);
    if (isStored || !worker.isRunning()) release(target.name);
    else clock.after(UNSTORED_MS, () => release(target.name));
  }

  function release(name: string): void {
    busy.delete(name);
    worker.wake();
  }

  /** Resolves to false if the result could not be stored, or if the stop has ended the try. */
  async function sendAndStore(target: AlertTarget, notice: Notice): Promise<boolean> {
    const { signal } = aborter;
    const result = await send(app, target, notice, signal).catch((error: unknown) => {
      log.error("an alert could not be sent", { target: target.kind, error: describeError(error) });
      return DEFECT;
    });
    if (signal.aborted) return false;
    const { isStored } = await writeResult(app, () => store(target, notice, result), {
      isStopping: () => !worker.isRunning(),
      error: (error) =>
        log.error("the result of an alert could not be stored", { error: describeError(error) }),
    });
    return isStored;
  }

  function store(target: AlertTarget, notice: Notice, result: TargetResult): void {
    const { isDelivered, isFinal, reply } = result;
    const now = clock.now();
    const tries = notice.attempts + 1;
    const isOld = now - notice.createdAt >= MAX_AGE_MS;
    const nextAt =
      isDelivered || isFinal || isOld
        ? null
        : nextTryAt(BACKOFF, { tries, now, retryAfterMs: null, random: app.random() });
    settleNotice(app).run(
      tries,
      nextAt,
      now,
      Number(isDelivered),
      reply,
      notice.seq,
      notice.attempts,
    );
    if (isDelivered) return;
    log.warn(nextAt === null ? "a target of alerts was given up" : "a target of alerts failed", {
      target: target.kind,
      reply,
      tries,
    });
  }

  return {
    /** A notice may be due. */
    wake: worker.wake,

    start(): void {
      aborter = new AbortController();
      worker.start();
    },

    /** Resolves when nothing is due or under way. */
    async idle(): Promise<void> {
      await worker.idle();
      while (underWay.size > 0) {
        await Promise.all(underWay);
        await worker.idle();
      }
    },

    /**
     * Waits a little for the notices that are under way. Notices that do not end are sent again by
     * the next start.
     */
    async stop(): Promise<void> {
      await worker.stop();
      const ended = Promise.all(underWay);
      if (await endsWithin(clock, STOP_GRACE_MS, ended)) return;
      aborter.abort();
    },

    close: () => closeOperatorMail(app),
  };
}

const DEFECT: TargetResult = {
  isDelivered: false,
  isFinal: false,
  reply: "An unexpected error of the server; the log contains its details.",
};

/** Its target was no setting for a while, or the server was off. */
const TOO_OLD: TargetResult = {
  isDelivered: false,
  isFinal: true,
  reply: "It waited for more than a week, so it was not sent.",
};

const GONE: TargetResult = { isDelivered: false, isFinal: true, reply: "It was removed." };

async function send(
  app: App,
  target: AlertTarget,
  { kind, alertSeq, createdAt }: Notice,
  signal: AbortSignal,
): Promise<TargetResult> {
  if (app.clock.now() - createdAt > MAX_WAIT_MS) return TOO_OLD;
  if (kind === "DIGEST") {
    const mail = await digestMail(app, createdAt);
    return target.sendMail?.({ ...mail, id: `digest-${createdAt}`, at: createdAt }) ?? GONE;
  }
  const alert = alertSeq === null ? null : readAlert(app, alertSeq);
  if (alert === null) return GONE;
  const { condition, severity, title, finding, fix, raisedAt } = alert;
  const message: AlertMessage = {
    kind,
    id: `${alert.id}.${kind.toLowerCase()}`,
    condition,
    severity,
    title,
    finding,
    fix,
    raisedAt,
    clearedAt: kind === "CLEARED" ? alert.clearedAt : null,
  };
  return target.send(message, signal);
}
