/** An application with a webhook, and the receiver it talks to. */

import { Webhook } from "standardwebhooks";
import type { Config } from "../../../src/config.ts";
import { testApp, type TestApp, type TestOptions } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { eventually } from "../../support/eventually.ts";
import { textAt } from "../../support/json.ts";
import { startWebServer, type WebRequest, type WebServer } from "../../support/web-server.ts";

export type DeliveryRow = {
  seq: number;
  id: string;
  webhookSeq: number;
  event: string;
  status: string;
  attempts: number;
  nextAt: number | null;
  responseCode: number | null;
  error: string | null;
};

export type Hooked = Awaited<ReturnType<typeof startHooked>>;

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const closers: (() => Promise<void>)[] = [];

/** For `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}

export async function receiver(answer?: WebServer["answer"]): Promise<WebServer> {
  const server = await startWebServer(answer === undefined ? {} : { answer });
  closers.push(() => server.close());
  return server;
}

/** Signatures are checked against the time of the machine, so the clock stands at it. */
export async function hookedApp(options: TestOptions = {}): Promise<TestApp> {
  const config: Partial<Config> = { allowPrivateAddresses: true, ...options.config };
  const t = await testApp({ clock: manualClock(Date.now()), ...options, config });
  closers.push(() => t.close());
  return t;
}

/** Started, with one webhook that hears of everything unless told otherwise. */
export async function startHooked(
  options: { app?: TestOptions; events?: string[]; answer?: WebServer["answer"] } = {},
) {
  const t = await hookedApp(options.app);
  await t.deliver();
  const server = await receiver(options.answer);
  const { events = ["*"] } = options;
  const created = await t.call("POST", "/webhooks", { url: `${server.origin}/hook`, events });
  const id = created.text("data.id");
  return { t, server, id, secret: created.text("data.secret"), ...watching(t) };
}

/** What tests do with an application whose webhooks they watch. */
export function watching(t: TestApp) {
  const rows = (): DeliveryRow[] =>
    t.db.sqlite
      .query<DeliveryRow, []>(
        `SELECT d.seq, d.id, d.webhook_seq AS webhookSeq, e.name AS event, d.status, d.attempts,
           d.next_at AS nextAt, d.response_code AS responseCode, d.error
         FROM webhook_deliveries d JOIN events e ON e.seq = d.event_seq ORDER BY d.seq`,
      )
      .all();
  const tries = () => rows().reduce((sum, { attempts }) => sum + attempts, 0);

  return {
    rows,
    tries,

    track: (event: string, email = "ada@example.net", data?: unknown) =>
      t.create(
        "/v1/track",
        { event, email, ...(data === undefined ? {} : { data }) },
        "data.event",
      ),

    /** Waits until so many tries in all have been written down. */
    tried: (count: number) => eventually(() => tries() === count),

    /** Waits until there are so many deliveries and none of them is due. */
    settled: (count: number) =>
      eventually(() => {
        const all = rows();
        const now = t.clock.now();
        return all.length === count && all.every(({ nextAt }) => nextAt === null || nextAt > now);
      }),

    /** Goes to the time of the next try of whichever is next, and waits until it was made. */
    async nextTry(): Promise<void> {
      const times = rows().flatMap(({ nextAt }) => (nextAt === null ? [] : [nextAt]));
      const before = tries();
      t.clock.advance(Math.max(0, Math.min(...times) - t.clock.now()));
      await eventually(() => tries() > before);
    },
  };
}

/** Checks the signature as a receiver would, and returns the body. Throws where it is wrong. */
export function verified(secret: string, { headers, body }: WebRequest): unknown {
  const text = (name: string) => {
    const value = headers[name];
    if (typeof value !== "string") throw new Error(`no ${name}`);
    return value;
  };
  return new Webhook(secret).verify(body, {
    "webhook-id": text("webhook-id"),
    "webhook-timestamp": text("webhook-timestamp"),
    "webhook-signature": text("webhook-signature"),
  });
}

/** Names of the events that arrived, in order. */
export const arrived = (server: WebServer): string[] =>
  server.requests.map(({ body }) => textAt(JSON.parse(body), "type"));
