/** The webhooks of the demonstration, and the deliveries of the newest events. */

import type { Database } from "bun:sqlite";
import { type Random, uuidAt } from "../random.ts";
import type { Api, SetClock } from "./api.ts";
import { DAY_MS } from "./people.ts";

const WEBHOOKS = [
  {
    url: "https://shop.harbourbooks.example/hooks/mail",
    events: ["email.*"],
    description: "The shop system shows the state of each mail beside the order",
  },
  {
    url: "https://crm.harbourbooks.example/mailstead",
    events: ["contact.*", "email.bounced", "email.complained"],
    description: "Keeps the customer database current",
  },
  {
    url: "https://old-shop.harbourbooks.example/notify",
    events: ["email.delivered"],
    description: "The shop system before the move; it was switched off",
  },
] as const;

const MINUTE = 60_000;
/** Deliveries of the first webhook that will be tried again. */
const WAITING = 4;
/** Deliveries of each webhook at full scale. */
const DELIVERIES = 900;

export async function createWebhooks(
  api: Api,
  { clock, untilMs }: { clock: SetClock; untilMs: number },
): Promise<void> {
  for (const [i, webhook] of WEBHOOKS.entries()) {
    clock.set(untilMs - (300 - i * 40) * DAY_MS);
    await api.create("/webhooks", webhook);
  }
}

type Found = { seq: number; contactSeq: number | null; at: number };

export function insertDeliveries(
  sqlite: Database,
  { random, untilMs, scale }: { random: Random; untilMs: number; scale: number },
): void {
  const count = Math.max(60, Math.min(DELIVERIES, Math.ceil(DELIVERIES * scale)));
  sqlite.transaction(() => {
    for (const [i, { events }] of WEBHOOKS.entries()) {
      const condition = events.map((name) => `name GLOB '${name}'`).join(" OR ");
      const newest = sqlite
        .query<Found, [number]>(
          `SELECT seq, contact_seq AS contactSeq, created_at AS at FROM events
           WHERE (${condition}) AND seq > (SELECT max(seq) - 60000 FROM events)
           ORDER BY seq DESC LIMIT ?`,
        )
        .all(count)
        .toReversed();
      for (const [place, event] of newest.entries()) {
        const isWaiting = i === 0 && place >= newest.length - WAITING;
        insertDelivery(sqlite, { webhookSeq: i + 1, event, isWaiting, random, untilMs });
      }
    }
    const disabled =
      "is_enabled = 0, disabled_reason = 'FAILING', failing_since = ?, updated_at = ?";
    sqlite
      .query(`UPDATE webhooks SET ${disabled} WHERE seq = ?`)
      .run(untilMs - 6 * DAY_MS, untilMs - DAY_MS, WEBHOOKS.length);
    sqlite.run("UPDATE webhooks SET start_seq = (SELECT max(seq) FROM events)");
  })();
}

type Given = {
  webhookSeq: number;
  event: Found;
  isWaiting: boolean;
  random: Random;
  untilMs: number;
};

function insertDelivery(sqlite: Database, given: Given): void {
  const { webhookSeq, event, random, untilMs } = given;
  const at = event.at + 40 + random.integer(400);
  const { status, attempts, code, text, error, nextAt } = resultOf(given);
  const lastAt = attempts === 0 ? null : Math.min(untilMs, at + (attempts - 1) * MINUTE);
  sqlite
    .query(
      `INSERT INTO webhook_deliveries (id, webhook_seq, event_seq, contact_seq, status, attempts,
         next_at, is_holding, last_attempt_at, response_code, response_excerpt, error, created_at,
         duration_ms, earlier_attempts)
       VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      uuidAt(at, random),
      webhookSeq,
      event.seq,
      event.contactSeq,
      status,
      attempts,
      nextAt,
      lastAt,
      code,
      text,
      error,
      at,
      attempts === 0 ? null : durationOf(event.seq, error),
      earlierAttempts(at, { ...given, attempts, code, error }),
    );
}

/** The attempts before the latest one. If the delivery succeeded, its earlier attempts had no answer. */
function earlierAttempts(
  at: number,
  {
    event,
    attempts,
    code,
    error,
  }: Pick<Given, "event"> & Pick<Result, "attempts" | "code" | "error">,
): string | null {
  if (attempts < 2) return null;
  const failure = code === 200 ? { code: null, error: NO_ANSWER } : { code, error };
  const earlier = Array.from({ length: attempts - 1 }, (_, i) => ({
    at: at + i * MINUTE,
    durationMs: durationOf(event.seq + i, failure.error),
    responseCode: failure.code,
    error: failure.error,
  }));
  return JSON.stringify(earlier);
}

/** Milliseconds; a receiver that did not answer took the whole time limit. */
const durationOf = (number: number, error: string | null): number =>
  error === NO_ANSWER ? 10_000 + (number % 5) : 38 + ((number * 7) % 160);

type Result = {
  status: "PENDING" | "SUCCEEDED" | "FAILED";
  attempts: number;
  code: number | null;
  text: string | null;
  error: string | null;
  nextAt: number | null;
};

const OK = { code: 200, text: '{"received":true}', error: null, nextAt: null };
const BUSY = {
  code: 503,
  text: "<h1>Service Unavailable</h1>",
  error: "The receiver answered 503.",
};
const NO_ANSWER = "The receiver did not answer within 10 seconds.";

function resultOf({ webhookSeq, isWaiting, random, untilMs }: Given): Result {
  const dice = random.integer(1000);
  if (webhookSeq === WEBHOOKS.length) {
    const error = "The host old-shop.harbourbooks.example does not exist.";
    return { status: "FAILED", attempts: 8, code: null, text: null, error, nextAt: null };
  }
  if (isWaiting) {
    const nextAt = untilMs + (1 + random.integer(300)) * MINUTE;
    return { status: "PENDING", attempts: 4 + random.integer(3), ...BUSY, nextAt };
  }
  if (dice < 25) {
    const answer = random.pick([
      { code: 500, text: "Internal Server Error", error: "The receiver answered 500." },
      { code: 410, text: "Gone", error: "The receiver answered 410." },
      { code: null, text: null, error: NO_ANSWER },
    ]);
    return { status: "FAILED", attempts: 8, ...answer, nextAt: null };
  }
  return { status: "SUCCEEDED", attempts: dice < 80 ? 2 : 1, ...OK };
}
