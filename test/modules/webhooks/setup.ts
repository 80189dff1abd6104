/** Creates applications with webhooks, and the servers that receive their requests. */

import { Webhook } from "standardwebhooks";
import type { Config } from "../../../src/config/settings.ts";
import { testApp, type TestApp, type TestOptions } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { waitUntil } from "../../support/eventually.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
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

export type StartedWebhook = Awaited<ReturnType<typeof startWebhook>>;

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const closers: (() => Promise<void>)[] = [];

/** Closes all applications and servers of a test; for `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}

export async function startReceiver(answer?: WebServer["answer"]): Promise<WebServer> {
  const server = await startWebServer(answer === undefined ? {} : { answer });
  closers.push(() => server.close());
  return server;
}

/** Creates an application. Its clock begins at the system time, which verifiers of signatures use. */
export async function webhookApp(options: TestOptions = {}): Promise<TestApp> {
  const config: Partial<Config> = { allowPrivateAddresses: true, ...options.config };
  const t = await testApp({ clock: manualClock(Date.now()), ...options, config });
  closers.push(() => t.close());
  return t;
}

type WebhookOptions = { events?: string[]; answer?: WebServer["answer"] };

/** Starts an application with one webhook, which by default receives all events. */
export async function startWebhook(options: WebhookOptions = {}) {
  return addWebhook(await webhookApp(), options);
}

/**
 * The same on one application, with a new project for each test. Its clock goes on from test to test, so a
 * verifier of signatures soon finds them too new.
 */
export function webhooksPerTest() {
  const projects = projectPerTest({
    clock: manualClock(Date.now()),
    config: { allowPrivateAddresses: true },
  });

  async function nextApp(): Promise<TestApp> {
    const t = await projects.next();
    closers.push(async () => {
      const { body } = await t.call("GET", "/webhooks");
      for (const webhook of listAt(body, "data.items"))
        await t.call("DELETE", `/webhooks/${stringAt(webhook, "id")}`);
    });
    return t;
  }

  return {
    nextApp,
    nextWebhook: async (options: WebhookOptions = {}) => addWebhook(await nextApp(), options),
  };
}

async function addWebhook(t: TestApp, { events = ["*"], answer }: WebhookOptions) {
  await t.deliver();
  const server = await startReceiver(answer);
  const created = await t.call("POST", "/webhooks", { url: `${server.origin}/hook`, events });
  const id = created.text("data.id");
  return { t, server, id, secret: created.text("data.secret"), ...observe(t) };
}

/** Functions that track events and observe the deliveries of a project. */
export function observe(t: TestApp) {
  const rows = (): DeliveryRow[] =>
    t.db.sqlite
      .query<DeliveryRow, [number]>(
        `SELECT d.seq, d.id, d.webhook_seq AS webhookSeq, e.name AS event, d.status, d.attempts,
           d.next_at AS nextAt, d.response_code AS responseCode, d.error
         FROM webhook_deliveries d JOIN events e ON e.seq = d.event_seq
         WHERE e.project_seq = ? ORDER BY d.seq`,
      )
      .all(t.project.seq);
  const totalAttempts = () => rows().reduce((sum, { attempts }) => sum + attempts, 0);

  return {
    rows,
    totalAttempts,

    track: (event: string, email = "ada@example.net", data?: unknown) =>
      t.create(
        "/v1/track",
        { event, email, ...(data === undefined ? {} : { data }) },
        "data.event",
      ),

    /** Waits until the stored number of tries of all deliveries is `count`. */
    attempted: (count: number) => waitUntil(() => totalAttempts() === count),

    /** Waits until there are `count` deliveries and none of them is due. */
    settled: (count: number) =>
      waitUntil(() => {
        const all = rows();
        const now = t.clock.now();
        return all.length === count && all.every(({ nextAt }) => nextAt === null || nextAt > now);
      }),

    /** Advances the clock to the earliest due time, and waits until the try is stored. */
    async advanceToNextTry(): Promise<void> {
      const times = rows().flatMap(({ nextAt }) => (nextAt === null ? [] : [nextAt]));
      const before = totalAttempts();
      t.clock.advance(Math.max(0, Math.min(...times) - t.clock.now()));
      await waitUntil(() => totalAttempts() > before);
    },
  };
}

/** Verifies the signature as a receiver does, and returns the body. Throws if it is invalid. */
export function verifiedBody(secret: string, { headers, body }: WebRequest): unknown {
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

/** The types of the received events, in order. */
export const receivedTypes = (server: WebServer): string[] =>
  server.requests.map(({ body }) => stringAt(JSON.parse(body), "type"));
